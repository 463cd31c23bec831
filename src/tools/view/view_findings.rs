//! `view_findings`: why an execution failed, or its outliers if it succeeded, in sentences: what the first picture does not show.

use std::collections::HashSet;
use std::sync::Arc;

use super::findings::{Asked, Wording};
use super::{PAGE, locale};
use crate::n8n::Progress;
use crate::toolkit::answer::success;
use crate::toolkit::{Effect, Flag, Id, Index, Text, arguments};
use crate::tools::executions::{ID, IGNORE_SIZE_LIMIT_AGAIN};
use crate::tools::{Context, Error, Handler, Tool, ToolCall};

/// The call.
pub static TOOL: Tool = Tool {
    name: "view_findings",
    title: "Why it failed",
    description: "Why an execution failed, or what is unusual in it, in sentences.",
    parameters: ViewFindings::PARAMETERS,
    effect: Effect::Read,
    handler: Handler::of::<ViewFindings>().shared(),
};

arguments! {
    struct ViewFindings {
        id: Id = ID,
        node_name: Option<Text> = "The node that ended the execution; none of one that succeeded.",
        run_index: Option<Index> = "Its run that ended the execution; otherwise the first failed run.",
        said: Option<Text> = "What view_overview says of its error.",
        retry_of: Option<Text> = "The execution that it retries.",
        known: Option<Text> = "Nodes, one in a line, whose outliers say nothing new.",
        language: Option<Text> = "en or ja.",
        ignore_data_size_limit: Option<Flag> = IGNORE_SIZE_LIMIT_AGAIN,
    }
}

impl ToolCall for ViewFindings {
    async fn run(self, context: Arc<Context>, _progress: Progress) -> Result<String, Error> {
        let locale = locale(self.language.as_deref(), &context);
        let ignore_size_limit = self.ignore_data_size_limit.unwrap_or(false);
        let wording = Wording { locale, audience: Some(&PAGE) };
        let asked = Asked { context: &context, id: &self.id, ignore_size_limit, wording };
        let cause = match &self.node_name {
            Some(node) => {
                let said = self.said.as_deref().unwrap_or_default();
                asked.of_failure((node, self.run_index), said, self.retry_of.as_deref()).await?
            }
            None => {
                let known = self.known.as_deref().unwrap_or_default();
                asked.of_success(&known.lines().map(str::to_owned).collect::<HashSet<_>>()).await?
            }
        };
        Ok(success("", &cause))
    }
}
