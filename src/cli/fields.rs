//! `n8n-lens fields`: what all items look like.

use clap::Args;
use serde_json::json;

use super::source::ExecutionArguments;
use super::{Error, render};
use crate::budget;
use crate::config::Options;
use crate::tools::executions::Read;
use crate::tools::executions::get_execution_fields::{self, FieldsRequest};

#[derive(Args)]
pub(super) struct Fields {
    #[command(flatten)]
    execution: ExecutionArguments,
    /// The node's name (default: the odd values of all nodes)
    node: Option<String>,
    /// Only this run, from 0
    #[arg(long, value_name = "N")]
    run_index: Option<u64>,
    /// Only this output, from 0
    #[arg(long, value_name = "N")]
    output_index: Option<u64>,
    /// Only this path and those below it
    #[arg(long)]
    path: Option<String>,
    /// Maximum size of the answer, 1000 to 25000 tokens
    #[arg(long, value_name = "N")]
    max_tokens: Option<u64>,
}

impl Fields {
    pub(super) async fn run(self, options: &Options) -> Result<(), Error> {
        let more = json!({
            "nodeName": self.node,
            "runIndex": self.run_index,
            "outputIndex": self.output_index,
            "path": self.path,
            "maxTokens": self.max_tokens,
        });
        let arguments = self.execution.check(&get_execution_fields::TOOL, more)?;
        let request = FieldsRequest::new(&arguments, options.redact, options.locale);
        let source = self.execution.source(options)?;
        budget::preload();
        let Read { view, origin } = source.read(&request.projection).await?;
        let answer = origin.mark(get_execution_fields::answer(&view, source.id(), &request)?);
        self.execution.print(&answer, origin, render::fields)
    }
}
