//! `view_summary`: the summary of an execution without a token budget, for a person at a terminal, with the sentences that the page
//! begins with, and the next command.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::json;

use super::findings::{Asked, Cause, SENT_AGAIN, Sentence, Wording, of_flow};
use crate::execution::Failure;
use crate::execution::summary::{Summary, SummaryProjection};
use crate::json::Projection;
use crate::n8n::Progress;
use crate::toolkit::answer::extended;
use crate::toolkit::{ArgumentError, Arguments, FromArguments, Locale};
use crate::tools::executions::get_execution::{self, GetExecution};
use crate::tools::executions::{execution, summary_answer};
use crate::tools::view::shell::quoted;
use crate::tools::{Context, Error, Handler, Tool, ToolCall};

/// The call. Its answer has the shape of `get_execution`'s, plus `findings` and `next`.
pub static TOOL: Tool =
    Tool { name: "view_summary", handler: Handler::of::<ViewSummary>().shared(), ..get_execution::TOOL };

/// The arguments of `get_execution`; the offset is ignored.
struct ViewSummary(GetExecution);

impl FromArguments for ViewSummary {
    fn read(arguments: Arguments) -> Result<Self, ArgumentError> {
        GetExecution::read(arguments).map(Self)
    }
}

/// The most nodes of an answer; the others are counted.
const NODES: usize = 200;

/// The sources of the sentences below a summary.
struct Known {
    /// The sentences that need no further call.
    flow: Vec<Sentence>,
    /// The node that ended the execution, if it ran.
    failed: Option<Failed>,
    retry_of: Option<String>,
    is_success: bool,
    /// Nodes whose outliers say nothing new.
    known: HashSet<String>,
    bytes: u64,
}

/// The node that ended the execution.
struct Failed {
    node: String,
    /// Its last failed run.
    run: Option<u64>,
    /// The text of its error.
    said: String,
}

impl Known {
    fn of(summary: &Summary) -> Self {
        let nodes = || summary.nodes.iter();
        let error = summary.error.as_ref().map(Failure::readable);
        let failed = error.and_then(|error| {
            let name = error.node_name?;
            let run = nodes().find(|node| node.name == name)?.last_failed.map(u64::from);
            let said = [error.message, error.description].into_iter().flatten().map(|text| text.kept);
            Some(Failed { node: name, run, said: said.collect::<Vec<_>>().join("\n") })
        });
        Self {
            flow: of_flow(summary, Locale::En),
            failed,
            retry_of: summary.header.retry_of.clone(),
            is_success: summary.header.status.as_deref() == Some("success") && !summary.nodes.is_empty(),
            known: nodes()
                .filter(|node| node.failed_runs > 0 || node.error_items.is_some())
                .map(|node| node.name.clone())
                .collect(),
            bytes: summary.header.json_size_bytes.unwrap_or_default(),
        }
    }
}

type Findings = (Vec<Sentence>, Option<Sentence>);

impl ToolCall for ViewSummary {
    async fn run(self, context: Arc<Context>, progress: Progress) -> Result<String, Error> {
        let compose = |summary: Summary| (summary_answer::compose_for_people(&summary, NODES), Known::of(&summary));
        let projection = SummaryProjection.map(move |summary| summary.map(compose));
        let execution = execution(self.0.id, self.0.ignore_data_size_limit);
        let source = context.executions();
        let read = source.read(&execution, &projection, &progress).await?;
        let (answer, known) = read.view?;
        // n8n would have to send a large execution again for each question; standard input can be read only once.
        let is_near = context.store.is_some() || source.own_id(&execution.id).is_none();
        let looks = (is_near || known.bytes <= SENT_AGAIN) && !source.is_read_once(&execution.id);
        let asked = Asked {
            context: &context,
            id: &execution.id,
            ignore_size_limit: execution.ignore_size_limit,
            wording: Wording { locale: Locale::En, audience: None },
        };
        let findings = findings(&asked, known, looks).await;
        let next = next(source.own_id(&execution.id).as_deref(), &findings.0);
        Ok(read.origin.mark(with(&answer, &findings, &next)))
    }
}

/// All sentences about an execution, and the one about what was not looked at.
async fn findings(asked: &Asked<'_>, known: Known, looks: bool) -> Findings {
    let Known { flow, failed, retry_of, is_success, known, .. } = known;
    let cause = match failed {
        Some(Failed { node, run, said }) if looks => asked.of_failure((&node, run), &said, retry_of.as_deref()).await,
        None if looks && is_success => asked.of_success(&known).await,
        _ => Ok(Cause::default()),
    };
    cause.unwrap_or_else(|error| asked.wording.not_read(&error)).with(flow)
}

/// The command that shows more.
fn next(id: Option<&str>, findings: &[Sentence]) -> String {
    let id = id.unwrap_or("FILE");
    match findings.iter().find_map(Sentence::leads_to) {
        Some(node) => format!("n8n-lens node {id} {}", quoted(node)),
        None => format!("n8n-lens describe {id}"),
    }
}

/// The answer, with the sentences and the command as its last members.
fn with(answer: &str, (findings, unseen): &Findings, next: &str) -> String {
    let findings: Vec<_> = findings.iter().map(Sentence::plain).collect();
    let unseen = unseen.as_ref().map(Sentence::plain);
    let (findings, unseen, next) = (json!(findings), json!(unseen), json!(next));
    extended(answer, &format!(r#""findings":{findings},"unseen":{unseen},"next":{next}"#))
}
