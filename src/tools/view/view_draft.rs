//! `view_draft`: whether the draft of a workflow differs from the version that an execution ran, so that it could be proven.

use std::sync::Arc;

use serde::Serialize;

use crate::json::cut_name;
use crate::n8n::Progress;
use crate::toolkit::answer::success;
use crate::toolkit::{Effect, Flag, Id, arguments};
use crate::tools::executions::{ID, IGNORE_SIZE_LIMIT_AGAIN, execution};
use crate::tools::proof::changed_in_draft;
use crate::tools::{Context, Error, Handler, Tool, ToolCall};

/// The call.
pub static TOOL: Tool = Tool {
    name: "view_draft",
    title: "What the draft changes",
    description: "The nodes that differ between what an execution ran and the draft of its workflow.",
    parameters: ViewDraft::PARAMETERS,
    effect: Effect::Read,
    handler: Handler::of::<ViewDraft>().shared(),
};

arguments! {
    struct ViewDraft {
        id: Id = ID,
        ignore_data_size_limit: Option<Flag> = IGNORE_SIZE_LIMIT_AGAIN,
    }
}

#[derive(Serialize)]
struct Draft {
    changed: Vec<String>,
}

impl ToolCall for ViewDraft {
    async fn run(self, context: Arc<Context>, progress: Progress) -> Result<String, Error> {
        let request = execution(self.id, self.ignore_data_size_limit);
        let changed = changed_in_draft(&context, &request, &progress).await?;
        Ok(success("", &Draft { changed: changed.into_iter().map(cut_name).collect() }))
    }
}
