//! Coordinates agents that share projects: each task has one assignee, an agent runs at most once per project,
//! and no acknowledged work is lost when a process dies.
//!
//! # A call
//!
//! The server keeps no state between calls. A [`Tool`] of [`tools`] or [`admin`] checks its arguments and runs
//! its rule as one *unit of work*: a synchronous function over [`store::Work`], which is one database
//! transaction and the time at which it happens. The answer is sent after the transaction has committed. A call
//! that fails changes nothing; a call that is refused at most renews its session.
//!
//! # Guarantees
//!
//! - A pair of agent and project has at most one open session; a unique index decides, not a check before it.
//! - An acknowledged write is durable: it survives `kill -9` of any process and a power cut.
//! - A client that lost the answer to `get_my_task`, `save_context`, a handoff, a report or `logout` can repeat the
//!   call: it returns the same answer and has one effect, unless another note or handoff came in between.
//!   `authenticate` with an `instance_id` can be repeated until the first `get_my_task`, and returns a new token.
//! - A token whose session has expired or ended can change nothing, however late its calls arrive.
//! - Passkeys and tokens are stored as hashes only, and appear in no log.
//!
//! # Limits
//!
//! | | |
//! |---|---|
//! | a session, unused | 1 hour ([`SessionPolicy::session_ttl`]) |
//! | a session, in total | 24 hours ([`SessionPolicy::session_max`]) |
//! | a text argument | 8 KiB, 32 KiB for administrators |
//! | an answer to an agent | 25,000 tokens; longer lists are truncated and name the next offset |
//! | waiting for the database | 15 s for a call, 10 min for an import |
//! | calls waiting for the database | 4,096 per process |
//! | calls of one agent over HTTP that run at once | 2; the others wait |
//! | attempts to authenticate, verified or waiting | 1,024 per process; 2 of an agent after 4 wrong passkeys |
//!
//! ```
//! use n8n_lens::coordination::store::{Clock, DatabaseLocation};
//! use n8n_lens::coordination::{Caller, Coordinator, Cost, SessionPolicy, Settings, tools};
//! # let folder = tempfile::tempdir()?;
//! # let file = folder.path().join("agents.db");
//! # tokio::runtime::Runtime::new()?.block_on(async {
//!
//! let settings = Settings {
//!     location: DatabaseLocation::Sqlite(file),
//!     create: true,
//!     connections: 1,
//!     policy: SessionPolicy::default(),
//!     cost: Cost::default(),
//!     clock: Clock::Database,
//! };
//! let coordinator = Coordinator::open(&settings).await?;
//! let answer = coordinator.call(&tools::list_agents::TOOL, serde_json::Map::new(), &Caller::Local).await?;
//! assert_eq!(answer["agents"], serde_json::json!([]));
//! # Ok::<_, n8n_lens::coordination::Error>(())
//! # })?;
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```

pub mod admin;
mod attempts;
mod call_limit;
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
mod truncation;

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};

use call_limit::CallLimit;
pub use caller::Caller;
pub use error::Error;
pub use passkey::Cost;
use passkey::Passkeys;
pub use prompts::{PROMPTS, TaskPrompt};
pub use resources::{RESOURCE_TEMPLATES, Resource, ResourceTemplate};
use store::{Clock, DatabaseLocation, Scope, Store, StoreError, Time, Work};
use tool::Run;
pub use tool::{Handler, Tool};

use crate::toolkit::Locale;

/// How often expired sessions are closed. No rule depends on it: each use of a session checks its expiry.
const SWEEP_INTERVAL: Duration = Duration::from_secs(60);

/// How long a health check waits for the database.
const PING_TIMEOUT: Duration = Duration::from_secs(3);

/// How long opening the database may take, including migrations and waiting for other processes that run them.
const OPEN_TIMEOUT: Duration = Duration::from_secs(30);

/// How long sessions last, and in which language agents are instructed.
#[derive(Clone, Copy, Debug)]
pub struct SessionPolicy {
    /// A session expires when it has not been used for this long.
    pub session_ttl: Duration,
    /// A session expires after this long, however much it is used.
    pub session_max: Duration,
    /// The language of the `instruction` member of answers.
    pub locale: Locale,
}

impl Default for SessionPolicy {
    /// One hour, 24 hours, Japanese.
    fn default() -> Self {
        Self {
            session_ttl: Duration::from_secs(3600),
            session_max: Duration::from_secs(86_400),
            locale: Locale::default(),
        }
    }
}

/// How to open a [`Coordinator`].
#[derive(Clone)]
pub struct Settings {
    /// Where the database is.
    pub location: DatabaseLocation,
    /// Whether to create a missing SQLite file.
    pub create: bool,
    /// The maximum number of units of work that run at once.
    pub connections: usize,
    /// How long sessions last.
    pub policy: SessionPolicy,
    /// The cost of hashing a passkey.
    pub cost: Cost,
    /// The source of the current time.
    pub clock: Clock,
}

/// The coordination server: an open database and its policy.
pub struct Coordinator {
    store: Store,
    policy: SessionPolicy,
    passkeys: Arc<Passkeys>,
    call_limit: CallLimit,
}

impl Coordinator {
    /// Opens the database and brings its tables up to date.
    ///
    /// # Errors
    /// [`Error::Store`] if the file is missing and must not be created, belongs to another program, was written
    /// by a newer version, or is on a network file system; if the server refuses the connection; or if it takes
    /// longer than 30 seconds.
    pub async fn open(settings: &Settings) -> Result<Arc<Self>, Error> {
        let Settings { location, create, connections, policy, cost, clock } = settings.clone();
        // Opening waits for file locks and the network.
        let opening = tokio::task::spawn_blocking(move || Store::open(&location, create, connections, &clock));
        let opened = tokio::time::timeout(OPEN_TIMEOUT, opening).await.map_err(|_| StoreError::OpenTimeout)?;
        let store = opened.unwrap_or(Err(StoreError::Bug))?;
        Ok(Arc::new(Self { store, policy, passkeys: Arc::new(Passkeys::new(cost)?), call_limit: CallLimit::default() }))
    }

    /// Calls a tool and returns its answer, a JSON object.
    ///
    /// The caller's scope is not checked here; see [`Caller::may_call`].
    ///
    /// # Errors
    /// [`Error::Argument`] if an argument is invalid, [`Error::Refused`] if a rule forbids the call, or a token bound to
    /// an agent is used for another one. [`Error::Store`] if the database fails or does not answer in time.
    pub async fn call(
        self: &Arc<Self>,
        tool: &Tool,
        arguments: Map<String, Value>,
        caller: &Caller,
    ) -> Result<Value, Error> {
        let answer = self.answer(tool, arguments, caller).await;
        match &answer {
            Ok(_) => tracing::debug!(tool = tool.name, "answered"),
            // The text of a refusal can quote an argument, so it is not logged.
            Err(Error::Argument(_) | Error::Refused(_) | Error::RefusedInSession(_) | Error::TooManyAttempts(_)) => {
                tracing::info!(tool = tool.name, "refused");
            }
            Err(error @ (Error::Unhealthy(_) | Error::Store(_))) => tracing::warn!(tool = tool.name, "failed: {error}"),
        }
        answer
    }

    async fn answer(
        self: &Arc<Self>,
        tool: &Tool,
        arguments: Map<String, Value>,
        caller: &Caller,
    ) -> Result<Value, Error> {
        let arguments = tool.check(arguments)?;
        let rule = match tool.handler.run {
            Run::Read(rule) | Run::Write(rule) => rule(arguments)?,
            // These apply their own limits: `authenticate` turns away calls that would wait below.
            Run::Call(call) => return call(arguments, self.clone(), caller.clone())?.await,
        };
        let (checked, policy, offset) = (caller.clone(), self.policy, rule.offset());
        let unit = move |work: &mut Work<'_>| {
            checked.check(&rule.concerns(), work)?;
            match rule.run(work, &policy) {
                // The renewal of the session is committed.
                Err(refusal @ Error::RefusedInSession(_)) => Ok(Err(refusal)),
                answer => answer.map(Ok),
            }
        };
        let unit = self.call_limit.admit(caller, unit).await;
        let answer = match tool.handler.run {
            Run::Read(_) => self.store.read(unit).await??,
            _ => self.store.write(unit).await??,
        };
        // Runners and administrators are programs; they get whole lists.
        let is_for_models = tool.handler.scopes.contains(&Scope::Agent);
        Ok(if is_for_models {
            truncation::truncate_list(answer, usize::try_from(offset).unwrap_or(usize::MAX))
        } else {
            answer
        })
    }

    /// The database's time.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read or does not answer within 3 seconds.
    pub async fn ping(&self) -> Result<Time, StoreError> {
        let ping = self.store.read(|work| work.ping().map(|()| work.now()));
        tokio::time::timeout(PING_TIMEOUT, ping).await.map_err(|_| StoreError::Timeout(PING_TIMEOUT))?
    }

    /// Closes expired sessions once a minute, for as long as the future is polled.
    pub async fn sweep(&self) {
        loop {
            tokio::time::sleep(SWEEP_INTERVAL).await;
            // The next round tries again.
            if let Err(error) = self.close_expired_sessions().await {
                tracing::warn!("could not close expired sessions: {error}");
            }
        }
    }

    async fn close_expired_sessions(&self) -> Result<(), StoreError> {
        let found = self.store.read(rules::session::find_expired).await?;
        for session in found {
            tracing::info!(agent = session.agent_id, project = session.project_id, "a session expired");
            self.store.write(move |work| rules::session::expire_if_still_due(work, &session)).await?;
        }
        Ok(())
    }
}
