//! `n8n-lens compare`: what is different from another execution.

use clap::Args;
use serde_json::json;

use super::source::{ExecutionArguments, Source};
use super::terminal::{for_people, print_json, print_styled};
use super::{Error, render};
use crate::budget;
use crate::config::Options;
use crate::execution::compare::Digest;
use crate::tools::executions::compare_executions::{self, CompareRequest, Pair};
use crate::tools::executions::{Origin, Read};

#[derive(Args)]
pub(super) struct Compare {
    #[command(flatten)]
    execution: ExecutionArguments,
    /// The execution to compare it with: an id, a file, or - (default: the last successful one before it)
    other: Option<String>,
    /// Maximum size of the answer, 1000 to 25000 tokens
    #[arg(long, value_name = "N")]
    max_tokens: Option<u64>,
}

impl Compare {
    pub(super) async fn run(self, options: &Options) -> Result<(), Error> {
        let more = json!({"maxTokens": self.max_tokens});
        let arguments = self.execution.check(&compare_executions::TOOL, more)?;
        let request = CompareRequest::new(&arguments, options.redact, options.locale);
        let source = self.execution.source(options)?;
        let other = self.other.as_deref().map(|other| self.execution.source_of(other, options)).transpose()?;
        check(&source, other.as_ref())?;
        budget::preload();
        let Read { view: this, origin } = source.read(&request.projection).await?;
        let other = match other {
            Some(other) => other,
            None => self.last_success(&source, &this, origin, options).await?,
        };
        let with = other.read(&request.projection).await?.view;
        let pair = Pair { this: (&this, source.id()), other: (&with, other.id()) };
        let answer = origin.mark(compare_executions::answer(pair, &request));
        match for_people(self.execution.json) {
            true => print_styled(&render::sourced(render::compare(&answer), origin)),
            false => print_json(&answer),
        }
        .map(drop)
    }

    async fn last_success(
        &self,
        source: &Source,
        this: &Digest,
        origin: Origin,
        options: &Options,
    ) -> Result<Source, Error> {
        let Source::N8n { executions, request } = source else { return Err(needs_other()) };
        let id = executions.last_success_before(&request.id, &this.header, origin).await?;
        self.execution.source_of(&id, options)
    }
}

/// Refuses what cannot be compared, before anything is read.
fn check(source: &Source, other: Option<&Source>) -> Result<(), Error> {
    match (source, other) {
        (Source::File(_) | Source::StandardInput { .. }, None) => Err(needs_other()),
        (Source::StandardInput { .. }, Some(Source::StandardInput { .. })) => Err(Error::Usage(
            "Only one execution can be read from standard input: save the other one to a file and pass the file."
                .to_owned(),
        )),
        (Source::N8n { request, .. }, Some(other)) => Ok(compare_executions::check_ids(&request.id, other.id())?),
        _ => Ok(()),
    }
}

fn needs_other() -> Error {
    Error::Usage(
        "A file does not tell which execution was the last successful one: pass the other execution, an id or a file, \
         as the second argument."
            .to_owned(),
    )
}
