//! Agents that share projects: one owner for each task, one running instance of an agent in a project, and
//! nothing lost when one of them dies.
//!
//! A call goes from a [`Tool`] of [`tools`] or [`admin`] as one unit of work to the [`store`]. The rules are
//! plain functions over [`store::Work`], one transaction, which also says what time it is. The server itself
//! knows nothing between two calls.

pub mod admin;
mod caller;
mod error;
mod passkey;
mod prompts;
mod resources;
mod rules;
mod secret;
pub mod status;
pub mod store;
mod tool;
pub mod tools;

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};

pub use caller::Caller;
pub use error::Error;
pub use passkey::Cost;
use passkey::Passkeys;
pub use prompts::{PROMPTS, Prompt};
pub use resources::{Listed, RESOURCES, Resource};
use store::{Clock, Place, Store};
use tool::Run;
pub use tool::Tool;

use crate::tools::Locale;

/// How often expired sessions are tidied away. Nothing waits for it: whether one has expired is judged
/// whenever it is looked at.
const SWEEP: Duration = Duration::from_secs(60);

/// What the server was started with.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// How long a session lives without being used.
    pub session_ttl: Duration,
    /// How long it lives at most.
    pub session_max: Duration,
    /// The language of instructions.
    pub locale: Locale,
}

impl Default for Terms {
    /// An hour, a day, Japanese.
    fn default() -> Self {
        Self {
            session_ttl: Duration::from_secs(3600),
            session_max: Duration::from_secs(86_400),
            locale: Locale::default(),
        }
    }
}

/// How a coordinator is opened.
#[derive(Clone)]
pub struct Settings {
    /// Where the database is.
    pub place: Place,
    /// Units of work that are done at once, at most.
    pub connections: usize,
    /// What it was started with.
    pub terms: Terms,
    /// What a passkey's hash costs.
    pub cost: Cost,
    /// What time it is.
    pub clock: Clock,
}

/// The coordination server: what every tool may use.
pub struct Coordinator {
    store: Store,
    terms: Terms,
    passkeys: Arc<Passkeys>,
}

impl Coordinator {
    /// Opens the database.
    ///
    /// # Errors
    /// [`Error`], a sentence.
    pub fn open(settings: &Settings) -> Result<Arc<Self>, Error> {
        let store = Store::open(&settings.place, settings.connections, &settings.clock)?;
        Ok(Arc::new(Self { store, terms: settings.terms, passkeys: Arc::new(Passkeys::new(settings.cost)?) }))
    }

    /// Calls a tool. What the answer of a refused call is, [`Error`] says.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn call(
        self: &Arc<Self>,
        tool: &Tool,
        given: Map<String, Value>,
        caller: &Caller,
    ) -> Result<Value, Error> {
        let arguments = tool.check(given)?;
        let arguments = caller.bind(self, tool, arguments).await?;
        let terms = self.terms;
        match tool.run {
            Run::Read(rule) => self.store.read(move |work| rule(work, &arguments, &terms)).await,
            Run::Write(rule) => self.store.write(move |work| rule(work, &arguments, &terms)).await,
            Run::Call(call) => call(self.clone(), arguments).await,
        }
    }

    /// Tidies expired sessions away, for as long as it is polled.
    pub async fn sweep(&self) {
        loop {
            tokio::time::sleep(SWEEP).await;
            // A database that is away is told of by the calls; the next round tries again.
            let _ = self.store.write(rules::session::sweep).await;
        }
    }

    /// The database.
    pub fn store(&self) -> &Store {
        &self.store
    }
}

/// The JSON of a refused or failed call.
pub fn failure(error: &Error) -> Value {
    serde_json::json!({"success": false, "error": error.to_string()})
}
