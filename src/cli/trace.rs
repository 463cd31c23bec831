//! `n8n-lens trace`: where an item came from, and where it went.

use clap::Args;
use clap::builder::PossibleValuesParser;
use serde_json::json;

use super::source::ExecutionArguments;
use super::{Error, render};
use crate::budget;
use crate::config::Options;
use crate::execution::trace::ItemsView;
use crate::tools::executions::Read;
use crate::tools::executions::trace_execution_item::{self, DIRECTIONS, TraceRequest};

#[derive(Args)]
pub(super) struct Trace {
    #[command(flatten)]
    execution: ExecutionArguments,
    /// The node that output the item
    node: String,
    /// The item, from 0
    item: u64,
    /// Its run, from 0
    #[arg(long, value_name = "N")]
    run_index: Option<u64>,
    /// Its output, from 0
    #[arg(long, value_name = "N")]
    output_index: Option<u64>,
    /// Where to
    #[arg(long, value_parser = PossibleValuesParser::new(DIRECTIONS), default_value = "back")]
    direction: String,
    /// Maximum size of the answer, 1000 to 25000 tokens
    #[arg(long, value_name = "N")]
    max_tokens: Option<u64>,
}

impl Trace {
    pub(super) async fn run(self, options: &Options) -> Result<(), Error> {
        let more = json!({
            "nodeName": self.node,
            "item": self.item,
            "runIndex": self.run_index,
            "outputIndex": self.output_index,
            "direction": self.direction,
            "maxTokens": self.max_tokens,
        });
        let arguments = self.execution.check(&trace_execution_item::TOOL, more)?;
        let request = TraceRequest::new(&arguments, options.redact, options.locale);
        let source = self.execution.source(options)?;
        budget::preload();
        let Read { view: trace, origin } = source.read(&request.steps()).await?;
        let items = match request.items(&trace) {
            Some(_) if source.is_read_once() => None,
            Some(projection) => Some(source.read(&projection).await?.view),
            None => Some(ItemsView::new()),
        };
        let answer = origin.mark(trace_execution_item::answer(&trace, items.as_ref(), source.id(), &request)?);
        self.execution.print(&answer, origin, render::trace)
    }
}
