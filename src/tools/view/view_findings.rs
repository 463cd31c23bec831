//! `view_findings`: why an execution failed, or its outliers if it succeeded, in sentences: what the first picture does not show.

use std::collections::HashSet;
use std::sync::Arc;

use serde::Serialize;

use super::findings::{Asked, Cause, Sentence, nothing_unusual};
use crate::n8n::Progress;
use crate::toolkit::answer::success;
use crate::toolkit::{Effect, Flag, Id, Locale, Text, arguments};
use crate::tools::executions::{ID, IGNORE_SIZE_LIMIT_AGAIN};
use crate::tools::{Context, Error, Handler, Tool, ToolCall};

/// The call.
pub static TOOL: Tool = Tool {
    name: "view_findings",
    title: "Why it failed",
    description: "Why an execution failed, or what is odd in it, in sentences.",
    parameters: ViewFindings::PARAMETERS,
    effect: Effect::Read,
    handler: Handler::of::<ViewFindings>().shared(),
};

arguments! {
    struct ViewFindings {
        id: Id = ID,
        node_name: Option<Text> = "The node that ended the execution; none of one that succeeded.",
        said: Option<Text> = "What view_overview says of its error.",
        known: Option<Text> = "Nodes, one in a line, whose odd values say nothing new.",
        language: Option<Text> = "en or ja.",
        ignore_data_size_limit: Option<Flag> = IGNORE_SIZE_LIMIT_AGAIN,
    }
}

#[derive(Serialize)]
struct Found {
    #[serde(flatten)]
    cause: Cause,
    /// The sentence if there is nothing else to report.
    nothing: Sentence,
}

/// The language that a page requests.
pub(super) fn locale(language: Option<&str>, context: &Context) -> Locale {
    match language {
        Some("en") => Locale::En,
        Some("ja") => Locale::Ja,
        _ => context.locale,
    }
}

impl ToolCall for ViewFindings {
    async fn run(self, context: Arc<Context>, _progress: Progress) -> Result<String, Error> {
        let locale = locale(self.language.as_deref(), &context);
        let ignore_size_limit = self.ignore_data_size_limit.unwrap_or(false);
        let asked = Asked { context: &context, id: &self.id, ignore_size_limit, locale };
        let cause = match &self.node_name {
            Some(node) => {
                let said = self.said.as_deref().unwrap_or_default();
                let is_saved = context.executions().own_id(&self.id).is_none();
                let mut cause = asked.of_failure(node, &[said]).await;
                cause.edited = if is_saved { None } else { asked.edited().await };
                cause
            }
            None => {
                let known = self.known.as_deref().unwrap_or_default();
                asked.of_success(&known.lines().map(str::to_owned).collect::<HashSet<_>>()).await
            }
        };
        Ok(success("", &Found { cause, nothing: nothing_unusual(locale) }))
    }
}
