//! `n8n-lens list`: executions, newest first.

use std::sync::Arc;

use clap::Args;
use clap::builder::PossibleValuesParser;
use serde_json::json;

use super::terminal::{for_people, print_json, print_styled};
use super::{Error, as_arguments, context, render, source};
use crate::config::Options;
use crate::n8n::Progress;
use crate::tools::executions::list_executions;
use crate::workflow::file::Files;

#[derive(Args)]
pub(super) struct List {
    /// Only executions of this workflow
    #[arg(long, value_name = "ID")]
    workflow_id: Option<String>,
    /// Only executions with this status
    #[arg(long, value_parser = PossibleValuesParser::new(list_executions::STATUSES))]
    status: Option<String>,
    /// At most this many executions, 1 to 100
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// nextCursor of the previous answer
    #[arg(long)]
    cursor: Option<String>,
    /// Only executions started at or after this time (ISO 8601; n8n 2.37 and newer)
    #[arg(long, value_name = "DATE")]
    started_after: Option<String>,
    /// Only executions started at or before this time (ISO 8601; n8n 2.37 and newer)
    #[arg(long, value_name = "DATE")]
    started_before: Option<String>,
    /// With --store: only failed executions whose error is of the node with this name
    #[arg(long, value_name = "NAME")]
    failing_node: Option<String>,
    /// With --store: only failed executions whose error contains this text
    #[arg(long, value_name = "TEXT")]
    error: Option<String>,
    /// Print n8n's own objects, without workflow names
    #[arg(long)]
    raw: bool,
    /// Maximum size of the answer, 1000 to 25000 tokens
    #[arg(long, value_name = "N")]
    max_tokens: Option<u64>,
    /// Print the tool's JSON on a terminal, too
    #[arg(long)]
    json: bool,
}

impl List {
    pub(super) async fn run(self, options: &Options) -> Result<(), Error> {
        let arguments = json!({
            "workflowId": self.workflow_id,
            "status": self.status,
            "limit": self.limit,
            "cursor": self.cursor,
            "startedAfter": self.started_after,
            "startedBefore": self.started_before,
            "failingNode": self.failing_node,
            "error": self.error,
            "raw": self.raw,
            "maxTokens": self.max_tokens,
        });
        if !options.has_store() && (self.failing_node.is_some() || self.error.is_some()) {
            let option = if self.failing_node.is_some() { "--failing-node" } else { "--error" };
            return Err(Error::Usage(format!(
                "{option} works only with --store: name n8n's store, or leave {option} out."
            )));
        }
        let context = context(options, source::of(options)?, Files::default());
        let tool = if options.has_store() { &list_executions::STORE_TOOL } else { &list_executions::TOOL };
        let call = tool.run(Arc::new(context), as_arguments(arguments), Progress::default());
        let answer = call.await?;
        match for_people(self.json) && !self.raw {
            true => print_styled(&render::list(&answer)),
            false => print_json(&answer),
        }
        .map(drop)
    }
}
