//! `n8n-lens node`: one run of one node.

use clap::Args;
use serde_json::json;

use super::source::ExecutionArguments;
use super::terminal::for_people;
use super::{Error, render};
use crate::budget;
use crate::config::Options;
use crate::tools::executions::Read;
use crate::tools::executions::get_execution_by_node::{self, NodeQuery};

#[derive(Args)]
pub(super) struct Node {
    #[command(flatten)]
    execution: ExecutionArguments,
    /// The node's name
    node: String,
    /// Which run, from 0 (default: the first failed run, or else the last)
    #[arg(long, value_name = "N")]
    run_index: Option<u64>,
    /// Only this output, from 0
    #[arg(long, value_name = "N")]
    output_index: Option<u64>,
    /// Skip this many items
    #[arg(long, value_name = "N")]
    offset: Option<u64>,
    /// At most this many items of each input and output, 1 to 500 (default: 50)
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// Only the items of the inputs or of the outputs
    #[arg(long, value_name = "PART", value_parser = ["both", "input", "output"])]
    part: Option<String>,
    /// Like items as rows of a table, in JSON
    #[arg(long)]
    rows: bool,
    /// Maximum size of the answer, 1000 to 25000 tokens
    #[arg(long, value_name = "N")]
    max_tokens: Option<u64>,
}

impl Node {
    pub(super) async fn run(self, options: &Options) -> Result<(), Error> {
        let more = json!({
            "nodeName": self.node,
            "runIndex": self.run_index,
            "outputIndex": self.output_index,
            "offset": self.offset,
            "limit": self.limit,
            "part": self.part,
            "format": (self.rows && !for_people(self.execution.json)).then_some("rows"),
            "maxTokens": self.max_tokens,
        });
        let arguments = self.execution.check(&get_execution_by_node::TOOL, more)?;
        let query = NodeQuery::new(&arguments, options.redact, options.locale);
        let source = self.execution.source(options)?;
        budget::preload();
        let from = &source;
        let read = move |projection| async move { from.read(&projection).await };
        let view = get_execution_by_node::read_view(&query.projection, read);
        let Read { view, origin } = view.await?;
        let answer = origin.mark(get_execution_by_node::answer(&view, source.id(), &query)?);
        self.execution.print(&answer, origin, render::node)
    }
}
