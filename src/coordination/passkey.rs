//! Passkeys: argon2id, as many at once as there are cores, and slower for an agent whose passkey was wrong.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};
use tokio::sync::Semaphore;

use super::Error;
use crate::coordination::store::{Credential, Fault};

/// A right passkey never waits longer than this for the wrong ones before it.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// The wait after the first wrong ones, doubled with each.
const FIRST_WAIT: Duration = Duration::from_millis(10);

/// Wrong ones that cost nothing: people mistype.
const FREE: u32 = 3;

/// When wrong ones are forgotten.
const MEMORY: Duration = Duration::from_secs(600);

/// Agents whose wrong ones are remembered.
const REMEMBERED: usize = 10_000;

/// Passkeys that may be live at once. A wrong one is compared with so many, whoever it is said to be of: how
/// long that takes tells nobody which agents there are.
pub(super) const LIVE: usize = 2;

/// What a hash costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Memory, KiB.
    pub memory: u32,
    /// Passes over it.
    pub passes: u32,
}

impl Default for Cost {
    /// OWASP's: 19 MiB, two passes; about 50 ms.
    fn default() -> Self {
        Self { memory: 19 * 1024, passes: 2 }
    }
}

/// Checks passkeys.
pub(super) struct Passkeys {
    argon2: Argon2<'static>,
    /// What a passkey is compared with where there is none.
    nobody: String,
    at_once: Arc<Semaphore>,
    wrong: Mutex<HashMap<String, (u32, Instant)>>,
}

impl Passkeys {
    pub(super) fn new(cost: Cost) -> Result<Self, Error> {
        let params = Params::new(cost.memory, cost.passes, 1, None).map_err(|_| Fault::Ours)?;
        let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
        let nobody = phc(&argon2, "nobody's")?;
        let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        Ok(Self { argon2, nobody, at_once: Arc::new(Semaphore::new(cores)), wrong: Mutex::default() })
    }

    /// What is kept of a passkey.
    pub(super) async fn hash(self: &Arc<Self>, passkey: String) -> Result<String, Error> {
        self.work(move |passkeys| phc(&passkeys.argon2, &passkey)).await?
    }

    /// Which of the live passkeys it is.
    pub(super) async fn verify(
        self: &Arc<Self>,
        agent: &str,
        passkey: String,
        live: Vec<Credential>,
    ) -> Result<Option<Credential>, Error> {
        tokio::time::sleep(self.wait(agent)).await;
        let found = self.work(move |passkeys| passkeys.find(&passkey, live)).await?;
        self.note(agent, found.is_some());
        Ok(found)
    }

    /// Whether it is one of the live passkeys; for whoever may change them anyhow.
    pub(super) async fn is_one_of(self: &Arc<Self>, passkey: String, live: Vec<Credential>) -> Result<bool, Error> {
        self.work(move |passkeys| passkeys.find(&passkey, live).is_some()).await
    }

    fn find(&self, passkey: &str, live: Vec<Credential>) -> Option<Credential> {
        let is = |kept: &str| {
            let kept = PasswordHash::new(kept).ok()?;
            self.argon2.verify_password(passkey.as_bytes(), &kept).ok()
        };
        let missing = LIVE.saturating_sub(live.len());
        let found = live.into_iter().find(|credential| is(&credential.passkey_phc).is_some());
        if found.is_none() {
            for _ in 0..missing {
                let _ = is(&self.nobody);
            }
        }
        found
    }

    /// Does something slow on another thread.
    async fn work<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Result<T, Error> {
        let passkeys = self.clone();
        // The semaphore is never closed.
        let permit = self.at_once.clone().acquire_owned().await.map_err(|_| Fault::Closed)?;
        // A call that is cut off leaves its work to its end: the permit goes with it.
        let done = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            work(&passkeys)
        });
        Ok(done.await.map_err(|_| Fault::Ours)?)
    }

    fn wait(&self, agent: &str) -> Duration {
        match self.wrong().get(agent) {
            Some((times, last)) if *times > FREE && last.elapsed() < MEMORY => {
                LONGEST_WAIT.min(FIRST_WAIT * 2u32.saturating_pow((*times - FREE).min(16)))
            }
            _ => Duration::ZERO,
        }
    }

    fn note(&self, agent: &str, right: bool) {
        let mut wrong = self.wrong();
        if right {
            wrong.remove(agent);
            return;
        }
        if wrong.len() >= REMEMBERED {
            wrong.retain(|_, (_, last)| last.elapsed() < MEMORY);
        }
        if wrong.len() < REMEMBERED || wrong.contains_key(agent) {
            let (times, last) = wrong.entry(agent.to_owned()).or_insert((0, Instant::now()));
            (*times, *last) = (times.saturating_add(1), Instant::now());
        }
    }

    fn wrong(&self) -> MutexGuard<'_, HashMap<String, (u32, Instant)>> {
        self.wrong.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn phc(argon2: &Argon2<'_>, passkey: &str) -> Result<String, Error> {
    let hash = argon2.hash_password(passkey.as_bytes()).map_err(|_| Fault::Ours)?;
    Ok(hash.to_string())
}
