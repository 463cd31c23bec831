//! Admits attempts to authenticate: one at a time per agent, with growing pauses after wrong passkeys, and with few
//! waiting. A flood of wrong passkeys for one agent then costs the others no more than one hash at a time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{Mutex as Turn, OwnedMutexGuard};

use super::{Error, secret};

/// The longest pause between a wrong passkey and the next attempt, however many wrong ones came before.
const MAX_BACKOFF: Duration = Duration::from_secs(1);

/// The pause doubles from here with each wrong passkey beyond the free attempts.
const BASE_BACKOFF: Duration = Duration::from_millis(10);

/// Wrong passkeys that cause no pause: people mistype.
const FREE_ATTEMPTS: u32 = 3;

/// Wrong passkeys are forgotten after this long without another one.
const FORGET_AFTER: Duration = Duration::from_secs(600);

/// The maximum number of agents whose wrong passkeys are counted.
const MAX_COUNTED_AGENTS: usize = 10_000;

/// The maximum number of attempts that are being verified or waiting, for all agents.
const MAX_PENDING: usize = 1024;

/// The same for one agent that has used up its free attempts: one is verified and one waits, so that a correct passkey
/// that is turned away succeeds when it is tried again.
const MAX_PENDING_AFTER_WRONG: usize = 2;

/// The attempts of all agents.
#[derive(Default)]
pub(super) struct Attempts {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// By the hash of the agent's id, since an id can be long.
    agents: HashMap<AgentKey, Agent>,
    pending: usize,
}

type AgentKey = [u8; 32];

/// The attempts of one agent.
struct Agent {
    /// Held by the attempt that is being verified.
    turn: Arc<Turn<()>>,
    pending: usize,
    wrong: u32,
    last_wrong: Instant,
}

/// A pending attempt. It stops being pending when it is dropped.
pub(super) struct Attempt {
    attempts: Arc<Attempts>,
    agent: AgentKey,
    turn: Option<OwnedMutexGuard<()>>,
}

impl Attempts {
    /// Waits until it is this attempt's turn, and until the pause after the agent's last wrong passkey is over.
    ///
    /// # Errors
    /// [`Error::TooManyAttempts`] if too many attempts are pending.
    pub(super) async fn admit(self: &Arc<Self>, agent: &str) -> Result<Attempt, Error> {
        let (mut attempt, turn) = self.begin(agent)?;
        attempt.turn = Some(turn.lock_owned().await);
        // Earlier attempts may have been wrong: they count, too.
        let pause = attempt.pause()?;
        tokio::time::sleep(pause).await;
        Ok(attempt)
    }

    fn begin(self: &Arc<Self>, agent: &str) -> Result<(Attempt, Arc<Turn<()>>), Error> {
        let mut state = self.state();
        if state.pending >= MAX_PENDING {
            return Err(Error::TooManyAttempts(MAX_BACKOFF));
        }
        let agent = secret::hash(agent);
        let counted = state.agent(agent);
        if counted.is_slowed_down() && counted.pending >= MAX_PENDING_AFTER_WRONG {
            return Err(Error::TooManyAttempts(MAX_BACKOFF));
        }
        counted.pending += 1;
        let turn = counted.turn.clone();
        state.pending += 1;
        Ok((Attempt { attempts: self.clone(), agent, turn: None }, turn))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The entry of an agent, known or not: an attempt must not reveal which agents exist.
    fn agent(&mut self, key: AgentKey) -> &mut Agent {
        if self.agents.len() >= MAX_COUNTED_AGENTS && !self.agents.contains_key(&key) {
            self.forget_one();
        }
        self.agents.entry(key).or_insert_with(|| Agent {
            turn: Arc::default(),
            pending: 0,
            wrong: 0,
            last_wrong: Instant::now(),
        })
    }

    /// Forgets the agent whose last wrong passkey is the oldest. There is one without pending attempts, because
    /// fewer attempts can be pending than agents are counted.
    fn forget_one(&mut self) {
        let idle = self.agents.iter().filter(|(_, agent)| agent.pending == 0);
        if let Some(key) = idle.min_by_key(|(_, agent)| agent.last_wrong).map(|(key, _)| *key) {
            self.agents.remove(&key);
        }
    }
}

impl Agent {
    fn is_slowed_down(&self) -> bool {
        self.wrong > FREE_ATTEMPTS && self.last_wrong.elapsed() < FORGET_AFTER
    }

    /// How long until the next attempt may be verified.
    fn pause(&self) -> Duration {
        if !self.is_slowed_down() {
            return Duration::ZERO;
        }
        let doublings = (self.wrong - FREE_ATTEMPTS).min(16);
        let backoff = MAX_BACKOFF.min(BASE_BACKOFF * 2u32.saturating_pow(doublings));
        backoff.saturating_sub(self.last_wrong.elapsed())
    }
}

impl Attempt {
    /// How long this attempt has to wait before it is verified.
    fn pause(&self) -> Result<Duration, Error> {
        let mut state = self.attempts.state();
        let agent = state.agent(self.agent);
        if agent.is_slowed_down() && agent.pending > MAX_PENDING_AFTER_WRONG {
            return Err(Error::TooManyAttempts(MAX_BACKOFF));
        }
        Ok(agent.pause())
    }

    /// Counts a wrong passkey, or forgets the wrong ones after a correct one.
    pub(super) fn count(self, was_right: bool) {
        let mut state = self.attempts.state();
        let agent = state.agent(self.agent);
        if was_right {
            agent.wrong = 0;
        } else {
            agent.wrong = if agent.last_wrong.elapsed() < FORGET_AFTER { agent.wrong.saturating_add(1) } else { 1 };
            agent.last_wrong = Instant::now();
        }
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        let mut state = self.attempts.state();
        state.pending -= 1;
        let agent = state.agent(self.agent);
        agent.pending -= 1;
        if agent.pending == 0 && agent.wrong == 0 {
            state.agents.remove(&self.agent);
        }
    }
}
