//! Hashes and verifies passkeys with argon2id. At most one hash per core is computed at a time, and an agent
//! whose passkey was wrong several times is slowed down.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};
use tokio::sync::Semaphore;

use super::Error;
use crate::coordination::store::{Credential, StoreError};

/// The longest delay before a passkey is verified, however many wrong ones came before.
const MAX_BACKOFF: Duration = Duration::from_secs(1);

/// The delay doubles from here with each wrong passkey beyond the free attempts.
const BASE_BACKOFF: Duration = Duration::from_millis(10);

/// Wrong passkeys that cause no delay: people mistype.
const FREE_ATTEMPTS: u32 = 3;

/// Wrong passkeys are forgotten after this long without another one.
const FORGET_AFTER: Duration = Duration::from_secs(600);

/// The maximum number of agents whose wrong passkeys are counted.
const MAX_COUNTED_AGENTS: usize = 10_000;

/// The maximum number of valid passkeys per agent. A wrong passkey is always compared with this many hashes, so
/// that the time it takes does not reveal whether the agent exists.
pub(super) const MAX_VALID: usize = 2;

/// The cost of computing a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Memory in KiB.
    pub memory: u32,
    /// Passes over the memory.
    pub passes: u32,
}

impl Default for Cost {
    /// OWASP's recommendation: 19 MiB and two passes, about 50 ms.
    fn default() -> Self {
        Self { memory: 19 * 1024, passes: 2 }
    }
}

/// Hashes and verifies passkeys.
pub(super) struct Passkeys {
    argon2: Argon2<'static>,
    /// Stands in for missing hashes, so that a comparison always takes place.
    dummy_hash: String,
    permits: Arc<Semaphore>,
    /// How many wrong passkeys each agent presented, and when the last one came.
    failures: Mutex<HashMap<String, (u32, Instant)>>,
}

impl Passkeys {
    pub(super) fn new(cost: Cost) -> Result<Self, Error> {
        let params = Params::new(cost.memory, cost.passes, 1, None).map_err(|_| StoreError::Bug)?;
        let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
        let dummy_hash = hash(&argon2, "dummy")?;
        let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        Ok(Self { argon2, dummy_hash, permits: Arc::new(Semaphore::new(cores)), failures: Mutex::default() })
    }

    /// The hash of a passkey, in PHC string format.
    pub(super) async fn hash(self: &Arc<Self>, passkey: String) -> Result<String, Error> {
        self.blocking(move |passkeys| hash(&passkeys.argon2, &passkey)).await?
    }

    /// The credential that matches the passkey; `None` if it is wrong. Waits first if the agent's last passkeys
    /// were wrong.
    pub(super) async fn verify(
        self: &Arc<Self>,
        agent: &str,
        passkey: String,
        valid: Vec<Credential>,
    ) -> Result<Option<Credential>, Error> {
        tokio::time::sleep(self.backoff(agent)).await;
        let found = self.blocking(move |passkeys| passkeys.find(&passkey, valid)).await?;
        self.count(agent, found.is_some());
        Ok(found)
    }

    /// Whether the passkey matches one of the credentials. It never waits, so it is only for administrators.
    pub(super) async fn is_one_of(self: &Arc<Self>, passkey: String, known: Vec<Credential>) -> Result<bool, Error> {
        self.blocking(move |passkeys| passkeys.find(&passkey, known).is_some()).await
    }

    fn find(&self, passkey: &str, credentials: Vec<Credential>) -> Option<Credential> {
        let matches = |phc: &str| {
            let hash = PasswordHash::new(phc).ok()?;
            self.argon2.verify_password(passkey.as_bytes(), &hash).ok()
        };
        let missing = MAX_VALID.saturating_sub(credentials.len());
        let found = credentials.into_iter().find(|credential| matches(&credential.passkey_phc).is_some());
        if found.is_none() {
            for _ in 0..missing {
                let _ = matches(&self.dummy_hash);
            }
        }
        found
    }

    /// Runs `work` on a blocking thread, once a core is free.
    async fn blocking<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Result<T, Error> {
        let passkeys = self.clone();
        // The semaphore is never closed.
        let permit = self.permits.clone().acquire_owned().await.map_err(|_| StoreError::Closed)?;
        // The work runs to its end even if the call is cancelled, so it holds the permit itself.
        let done = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            work(&passkeys)
        });
        Ok(done.await.map_err(|_| StoreError::Bug)?)
    }

    fn backoff(&self, agent: &str) -> Duration {
        match self.failures().get(agent) {
            Some((times, last)) if *times > FREE_ATTEMPTS && last.elapsed() < FORGET_AFTER => {
                MAX_BACKOFF.min(BASE_BACKOFF * 2u32.saturating_pow((*times - FREE_ATTEMPTS).min(16)))
            }
            _ => Duration::ZERO,
        }
    }

    fn count(&self, agent: &str, was_right: bool) {
        let mut failures = self.failures();
        if was_right {
            failures.remove(agent);
            return;
        }
        if failures.len() >= MAX_COUNTED_AGENTS {
            failures.retain(|_, (_, last)| last.elapsed() < FORGET_AFTER);
        }
        if failures.len() < MAX_COUNTED_AGENTS || failures.contains_key(agent) {
            let (times, last) = failures.entry(agent.to_owned()).or_insert((0, Instant::now()));
            (*times, *last) = (times.saturating_add(1), Instant::now());
        }
    }

    fn failures(&self) -> MutexGuard<'_, HashMap<String, (u32, Instant)>> {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn hash(argon2: &Argon2<'_>, passkey: &str) -> Result<String, Error> {
    let hash = argon2.hash_password(passkey.as_bytes()).map_err(|_| StoreError::Bug)?;
    Ok(hash.to_string())
}
