//! Agents that share projects: one owner for each task, one running instance of an agent in a project, and
//! nothing lost when one of them dies.
//!
//! A call goes from a [`Tool`] of [`tools`] or [`admin`] as one unit of work to the [`store`]. The rules are
//! plain functions over [`store::Work`], one transaction, which also says what time it is. The server itself
//! knows nothing between two calls.

pub mod admin;
mod caller;
mod error;
mod page;
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
use store::{Clock, Fault, Place, Scope, Store, Time, Work};
use tool::Run;
pub use tool::Tool;

use crate::toolkit::Locale;

/// How often expired sessions are tidied away. Nothing waits for it: whether one has expired is judged
/// whenever it is looked at.
const SWEEP: Duration = Duration::from_secs(60);

/// Whoever asks for health wants to know now.
const SOON: Duration = Duration::from_secs(3);

/// How long opening a database may take, with its tables to be made and others that do so at the same time.
const OPENING: Duration = Duration::from_secs(30);

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
    /// Whether a file that is not there is made.
    pub make: bool,
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
    pub async fn open(settings: &Settings) -> Result<Arc<Self>, Error> {
        let Settings { place, make, connections, terms, cost, clock } = settings.clone();
        // It waits for locks and for the network.
        let opening = tokio::task::spawn_blocking(move || Store::open(&place, make, connections, &clock));
        let opened = tokio::time::timeout(OPENING, opening).await.map_err(|_| Fault::Locked)?;
        let store = opened.unwrap_or(Err(Fault::Ours))?;
        Ok(Arc::new(Self { store, terms, passkeys: Arc::new(Passkeys::new(cost)?) }))
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
        let answer = self.answer(tool, given, caller).await;
        match &answer {
            Ok(_) => tracing::debug!(tool = tool.name, "answered"),
            // A refusal may quote what was asked; who asks is not in it.
            Err(Error::Refused(_)) => tracing::info!(tool = tool.name, "refused"),
            Err(Error::Fault(fault)) => tracing::warn!(tool = tool.name, "failed: {fault}"),
        }
        answer
    }

    async fn answer(self: &Arc<Self>, tool: &Tool, given: Map<String, Value>, caller: &Caller) -> Result<Value, Error> {
        let arguments = tool.check(given)?;
        let (caller, name) = (caller.clone(), tool.name);
        let (terms, offset) = (self.terms, arguments.integer("offset").unwrap_or(0));
        let answer = match tool.run {
            Run::Read(rule) | Run::Write(rule) => {
                let unit = move |work: &mut Work<'_>| {
                    caller.check(name, &arguments, work)?;
                    rule(work, &arguments, &terms)
                };
                if matches!(tool.run, Run::Read(_)) {
                    self.store.read(unit).await?
                } else {
                    self.store.write(unit).await?
                }
            }
            Run::Call(call) => {
                // Without an agent there is nothing to check, and no need of a database that may be away.
                if caller.agent().is_some() {
                    let given = arguments.clone();
                    self.store.read(move |work| caller.check(name, &given, work)).await?;
                }
                call(self.clone(), arguments).await?
            }
        };
        // A Runner and an administrator are programs, and want all of it.
        let is_for_models = tool.scopes.contains(&Scope::Agent);
        Ok(if is_for_models { page::shorten(answer, usize::try_from(offset).unwrap_or(usize::MAX)) } else { answer })
    }

    /// What time it is in the database; `None` if that does not answer soon.
    pub async fn ping(&self) -> Option<Time> {
        let asked = self.store.read(|work| work.ping().map(|()| work.now()));
        tokio::time::timeout(SOON, asked).await.ok()?.ok()
    }

    /// Tidies expired sessions away, for as long as it is polled.
    pub async fn sweep(&self) {
        loop {
            tokio::time::sleep(SWEEP).await;
            // The next round tries again.
            if let Err(error) = self.tidy().await {
                tracing::warn!("expired sessions were not tidied away: {error}");
            }
        }
    }

    async fn tidy(&self) -> Result<(), Fault> {
        let found = self.store.read(rules::session::expired).await?;
        for session in found {
            tracing::info!(agent = session.agent_id, project = session.project_id, "a session expired");
            self.store.write(move |work| rules::session::tidy(work, &session)).await?;
        }
        Ok(())
    }
}

/// The JSON of a refused or failed call.
pub fn failure(error: &Error) -> Value {
    serde_json::json!({"success": false, "error": error.to_string()})
}
