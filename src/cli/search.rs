//! `n8n-lens search`: where in an execution a value occurs.

use clap::Args;
use clap::builder::PossibleValuesParser;
use serde_json::json;

use super::source::ExecutionArguments;
use super::{Error, render};
use crate::budget;
use crate::config::Options;
use crate::tools::executions::Read;
use crate::tools::executions::search_execution::{self, KINDS, SearchRequest};

#[derive(Args)]
pub(super) struct Search {
    #[command(flatten)]
    execution: ExecutionArguments,
    /// A part of a string, or a whole number or literal; several words are one text
    text: Vec<String>,
    /// TEXT is a regular expression
    #[arg(long)]
    regex: bool,
    /// The end of the value's path, such as customer.address or lines[].taxRate
    #[arg(long)]
    path: Option<String>,
    /// Only values of this kind
    #[arg(long, value_name = "KIND", value_parser = PossibleValuesParser::new(KINDS))]
    is: Option<String>,
    /// Only this value: a string, a number, true or false
    #[arg(long, value_name = "VALUE")]
    equals: Option<String>,
    /// Only other values
    #[arg(long, value_name = "VALUE")]
    not_equals: Option<String>,
    /// Only numbers above this one
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    above: Option<f64>,
    /// Only numbers below this one
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    below: Option<f64>,
    /// Only this node
    #[arg(long, value_name = "NAME")]
    node: Option<String>,
    /// At most this many hits, 1 to 100
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// Maximum size of the answer, 1000 to 25000 tokens
    #[arg(long, value_name = "N")]
    max_tokens: Option<u64>,
}

impl Search {
    pub(super) async fn run(self, options: &Options) -> Result<(), Error> {
        let text = self.text.join(" ");
        let more = json!({
            "text": (!text.is_empty()).then_some(text),
            "regex": self.regex,
            "path": self.path,
            "is": self.is,
            "equals": self.equals,
            "notEquals": self.not_equals,
            "above": self.above,
            "below": self.below,
            "nodeName": self.node,
            "limit": self.limit,
            "maxTokens": self.max_tokens,
        });
        let arguments = self.execution.check(&search_execution::TOOL, more)?;
        let request = SearchRequest::new(&arguments, options.redact, options.locale)?;
        let source = self.execution.source(options)?;
        budget::preload();
        let Read { view, origin } = source.read(&request.projection).await?;
        let answer = origin.mark(search_execution::answer(&view, source.id(), &request)?);
        self.execution.print(&answer, origin, render::search)
    }
}
