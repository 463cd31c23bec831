//! Findings that need more than the summary: request and answer of a failed node, the item that it was working on with its outliers,
//! what was edited since the last good run; and the outliers of an execution that succeeded.
//!
//! All of it comes from the tools, asked like every client asks them.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::Cause;
use super::sentence::Sentence;
use super::wording::{Source, Wording, source};
use crate::n8n::Progress;
use crate::tools::executions::{compare_executions, get_execution_fields};
use crate::tools::view::request::request;
use crate::tools::view::view_node;
use crate::tools::{Context, Error, Tool};

/// The token budget of each question.
const TOKENS: u64 = 8000;

/// What is asked about an execution.
pub(in crate::tools::view) struct Asked<'a> {
    pub context: &'a Arc<Context>,
    pub id: &'a str,
    pub ignore_size_limit: bool,
    pub wording: Wording,
}

impl Asked<'_> {
    /// The answer of a tool about this execution.
    async fn ask(&self, tool: &'static Tool, arguments: Value) -> Result<Value, Error> {
        let mut given = arguments.as_object().cloned().unwrap_or_default();
        given.insert("id".to_owned(), self.id.into());
        given.insert("maxTokens".to_owned(), TOKENS.into());
        if self.ignore_size_limit {
            given.insert("ignoreDataSizeLimit".to_owned(), true.into());
        }
        let answer = tool.run(self.context.clone(), given, Progress::default()).await?;
        let mut answer: Map<String, Value> = serde_json::from_str(&answer).unwrap_or_default();
        Ok(answer.remove("data").unwrap_or(Value::Object(answer)))
    }

    /// Why a node failed in a run; without one, in its first failed run. `said`: what the summary says already; `retry_of`: the
    /// execution that this one retries.
    ///
    /// # Errors
    /// The node cannot be read.
    pub(in crate::tools::view) async fn of_failure(
        &self,
        (node, run): (&str, Option<u64>),
        said: &str,
        retry_of: Option<&str>,
    ) -> Result<Cause, Error> {
        let mut asked = json!({"nodeName": node, "limit": 1});
        if let Some(run) = run {
            asked["runIndex"] = run.into();
        }
        let answer = self.ask(&view_node::TOOL, asked).await?;
        let is_saved = self.context.executions().own_id(self.id).is_none();
        Ok(Cause {
            request: request(&answer).map(|request| Sentence::default().code(&request, 300)),
            answered: self.wording.answered(&answer["error"], said),
            items: self.items(node, &answer).await,
            edited: if is_saved { None } else { self.edited(retry_of).await },
            ..Cause::default()
        })
    }

    /// The item that the node was processing, and the outliers of its input.
    async fn items(&self, node: &str, answer: &Value) -> Vec<Sentence> {
        let fields = match source(answer) {
            Some(Source { node, run, output }) => {
                let asked = json!({"nodeName": node, "runIndex": run, "outputIndex": output});
                self.ask(&get_execution_fields::TOOL, asked).await.ok()
            }
            None => None,
        };
        self.wording.items(node, answer, fields.as_ref())
    }

    /// Whether the workflow is the one that was good the last time, or that of the execution that this one retries. There may be
    /// no such execution.
    async fn edited(&self, retry_of: Option<&str>) -> Option<Sentence> {
        let answer = self.ask(&compare_executions::TOOL, json!({})).await.ok()?;
        self.wording.edited(&answer, retry_of)
    }

    /// The outliers of all nodes, one per item, and how the items of a node differ. The nodes `told` are left out: the sentences
    /// about the flow already name them.
    ///
    /// # Errors
    /// The values cannot be read.
    pub(in crate::tools::view) async fn of_success(&self, told: &HashSet<String>) -> Result<Cause, Error> {
        Ok(self.wording.success(&self.ask(&get_execution_fields::TOOL, json!({})).await?, told))
    }
}
