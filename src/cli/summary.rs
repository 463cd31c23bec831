//! `n8n-lens summary`: what happened in an execution.

use clap::Args;
use serde_json::json;

use super::source::ExecutionArguments;
use super::terminal::{for_people, print_json, print_styled};
use super::{Error, render};
use crate::budget;
use crate::config::Options;
use crate::execution::summary::SummaryProjection;
use crate::tools::executions::{Read, get_execution, summary_answer};

#[derive(Args)]
pub(super) struct Summary {
    #[command(flatten)]
    execution: ExecutionArguments,
    /// Skip this many nodes
    #[arg(long, value_name = "N")]
    offset: Option<u64>,
}

impl Summary {
    pub(super) async fn run(self, options: &Options) -> Result<(), Error> {
        let arguments = self.execution.check(&get_execution::TOOL, json!({ "offset": self.offset }))?;
        let source = self.execution.source(options)?;
        let is_for_people = for_people(self.execution.json);
        if !is_for_people {
            budget::preload();
        }
        let Read { view: summary, origin } = source.read(&SummaryProjection).await?;
        if is_for_people {
            return print_styled(&render::sourced(render::summary(&summary), origin)).map(drop);
        }
        let offset = arguments.integer("offset").unwrap_or(0);
        print_json(&origin.mark(summary_answer::compose(&summary, source.id(), offset, options.locale))).map(drop)
    }
}
