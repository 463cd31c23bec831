//! The tools: one file each, grouped into toolsets, and one table of them all. No tool knows which transport calls
//! it.

pub mod builder;
mod error;
pub mod executions;
mod identical;
pub mod proof;
mod toolbox;
pub mod view;
pub mod workflows;

use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};

pub use builder::CatalogueCache;
pub use error::Error;
pub use identical::IdenticalCalls;
pub use toolbox::{ToolSelection, Toolbox, Unavailable};
pub use workflows::MemoryStore;

use crate::blocking::blocking;
use crate::n8n;
use crate::named_locks::NamedLocks;
use crate::secrets::Secret;
use crate::toolkit::{self, Answers, ArgumentError, Arguments, FromArguments, Locale, Prompt};
use crate::workflow::file::Files;

/// A tool that works on n8n.
pub type Tool = toolkit::Tool<Handler>;

/// How a tool that works on n8n runs.
pub struct Handler {
    /// Arguments that are accepted and dropped; the schema does not list them.
    ignored: &'static [&'static str],
    /// The shape of its answers.
    answers: Answers,
    /// Whether a client should allow for its largest answers.
    has_large_answers: bool,
    /// Whether identical calls that are under way at the same time share one answer.
    is_shared: bool,
    call: fn(Arc<Context>, Arguments, n8n::Progress) -> Call,
}

/// What a tool does with its arguments.
pub(crate) trait ToolCall: FromArguments + Send + 'static {
    /// The answer.
    fn run(
        self,
        context: Arc<Context>,
        progress: n8n::Progress,
    ) -> impl Future<Output = Result<String, Error>> + Send + 'static;
}

impl Handler {
    /// Runs the tool with these arguments; its answers are in the envelope.
    pub(crate) const fn of<A: ToolCall>() -> Self {
        let call: fn(_, _, _) -> Call = |context, arguments, progress| match A::read(arguments) {
            Ok(arguments) => Box::pin(arguments.run(context, progress)),
            Err(refusal) => refused(refusal),
        };
        let ignored = A::IGNORED;
        Self { ignored, answers: Answers::Envelope, has_large_answers: false, is_shared: false, call }
    }

    /// The same, for answers that are plain objects with these fields.
    const fn answering(self, fields: &'static [(&'static str, &'static str)]) -> Self {
        Self { answers: Answers::Plain(fields), ..self }
    }

    /// The same, run once for identical calls that are under way at the same time.
    const fn shared(self) -> Self {
        Self { is_shared: true, ..self }
    }

    /// The same, for answers up to the largest budget.
    const fn with_large_answers(self) -> Self {
        Self { has_large_answers: true, ..self }
    }
}

/// Tools that belong together.
pub struct Toolset {
    /// The name for `--toolsets`.
    pub name: &'static str,
    /// How to use the tools, for the server's instructions: sentences, each with the tool that it is about.
    pub instructions: &'static [(&'static str, &'static str)],
    /// The tools, in the order in which an agent uses them.
    pub tools: &'static [&'static Tool],
    /// Prompts that use the tools.
    pub prompts: &'static [&'static Prompt],
}

/// A call in progress; dropping it cancels it.
pub type Call = Pin<Box<dyn Future<Output = Result<String, Error>> + Send>>;

/// What every tool can use.
#[derive(Clone)]
pub struct Context {
    /// The client of n8n's API, unless executions come from n8n's store only.
    pub api: Option<n8n::Client>,
    /// n8n's store, if executions come from there.
    pub store: Option<executions::StoredExecutions>,
    /// Executions that were saved to a file.
    pub saved: executions::SavedExecutions,
    /// The language of messages.
    pub locale: Locale,
    /// Whether the values of known secret keys in items are masked.
    pub redact: bool,
    /// Where workflow files may be.
    pub files: Files,
    /// The folders in which a file is being written.
    pub folders: Folders,
    /// Workflows in memory.
    pub memory: MemoryStore,
    /// The catalogue of node types.
    pub catalogue: CatalogueCache,
    /// The calls that read executions.
    pub identical: IdenticalCalls,
    /// Whether `check_workflow` is offered, so that other answers may name it.
    pub offers_check: bool,
}

/// The folders in which a file is being written.
#[derive(Clone, Default)]
pub struct Folders(Arc<NamedLocks>);

impl Context {
    /// Writes a file with `work`, on a blocking thread. Only one thread waits per folder, however many calls write to it.
    async fn write_file<T: Send + 'static>(
        &self,
        path: &str,
        work: impl FnOnce() -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        /// How long earlier calls may take.
        const TIMEOUT: Duration = Duration::from_secs(10);
        let folder = Path::new(path).parent().unwrap_or(Path::new("")).to_string_lossy().into_owned();
        let Ok(_lock) = tokio::time::timeout(TIMEOUT, self.folders.0.lock(&folder)).await else {
            let seconds = TIMEOUT.as_secs();
            return Err(Error::FailedPrecondition(format!(
                "Other calls have been writing files in this folder for {seconds} s. Try again when they are done."
            )));
        };
        blocking(work).await
    }

    /// The client of n8n's API.
    ///
    /// # Errors
    /// There is no client: n8n-lens was started with a store, or with a saved execution.
    pub fn n8n(&self) -> Result<&n8n::Client, Error> {
        self.api.as_ref().ok_or_else(|| {
            Error::FailedPrecondition(match self.saved.is_empty() {
                false => "This needs n8n's API, but n8n-lens was started with a saved execution: start it without.",
                true => "This needs n8n's API, but n8n-lens was started with n8n's store only. Set N8N_URL and N8N_API_KEY.",
            }.to_owned())
        })
    }

    /// Where executions come from.
    pub fn executions(&self) -> executions::Source {
        executions::Source { api: self.api.clone(), store: self.store.clone(), saved: self.saved.clone() }
    }

    /// The same context with another n8n API key.
    pub fn with_key(&self, key: Secret) -> Self {
        Self { api: self.api.as_ref().map(|api| api.with_key(key)), ..self.clone() }
    }
}

/// A call whose arguments are refused.
fn refused(refusal: ArgumentError) -> Call {
    Box::pin(std::future::ready(Err(refusal.into())))
}

/// All toolsets.
pub static TOOLSETS: [&Toolset; 4] = [&executions::TOOLSET, &workflows::TOOLSET, &builder::TOOLSET, &proof::TOOLSET];

impl Tool {
    /// Checks the arguments of a call, and runs it.
    pub fn run(&self, context: Arc<Context>, given: Map<String, Value>, progress: n8n::Progress) -> Call {
        match Arguments::check(self.parameters, self.handler.ignored, given) {
            Ok(arguments) if self.handler.is_shared => {
                let question = (self.name, arguments, context.api.as_ref().and_then(|api| api.api_key().cloned()));
                let (calls, call) = (context.identical.clone(), self.handler.call);
                calls.share(question, progress, |arguments, progress| call(context, arguments, progress))
            }
            Ok(arguments) => (self.handler.call)(context, arguments, progress),
            Err(refusal) => refused(refusal),
        }
    }

    /// The shape of its answers.
    pub fn answers(&self) -> Answers {
        self.handler.answers
    }

    /// The most characters of an answer, if a client should know (`anthropic/maxResultSizeChars`).
    pub fn max_result_chars(&self) -> Option<u64> {
        /// 25,000 tokens of ordinary JSON are about 80 KB.
        const CHARS: u64 = 120_000;
        self.handler.has_large_answers.then_some(CHARS)
    }

    /// The JSON Schema of its answers.
    pub fn output_schema(&self) -> Value {
        let envelope: &[_] = &[("success", "boolean"), ("message", "string"), ("data", "object")];
        let fields = match self.answers() {
            Answers::Envelope => envelope,
            Answers::Plain(fields) => fields,
        };
        let properties: Map<String, Value> =
            fields.iter().map(|(name, kind)| ((*name).to_owned(), json!({ "type": kind }))).collect();
        json!({"type": "object", "properties": properties})
    }
}
