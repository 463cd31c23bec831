//! Hashes and verifies passkeys with argon2id, one hash at a time.

use std::sync::Arc;

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};
use tokio::sync::Semaphore;

use super::attempts::Attempts;
use super::{Caller, Error};
use crate::coordination::store::{Credential, StoreError};

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
    /// One permit: however many agents authenticate, the other processors and threads are left for other calls.
    permits: Arc<Semaphore>,
    /// One permit: attempts of callers that may name any agent wait for each other here, so that only one of them at a time is
    /// ahead of an agent with its own token.
    unbound: Semaphore,
    attempts: Arc<Attempts>,
}

impl Passkeys {
    pub(super) fn new(cost: Cost) -> Result<Self, Error> {
        let params = Params::new(cost.memory, cost.passes, 1, None).map_err(|_| StoreError::Bug)?;
        let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
        let dummy_hash = hash(&argon2, "dummy")?;
        Ok(Self {
            argon2,
            dummy_hash,
            permits: Arc::new(Semaphore::new(1)),
            unbound: Semaphore::new(1),
            attempts: Arc::default(),
        })
    }

    /// The hash of a passkey, in PHC string format.
    pub(super) async fn hash(self: &Arc<Self>, passkey: String) -> Result<String, Error> {
        self.blocking(move |passkeys| hash(&passkeys.argon2, &passkey)).await?
    }

    /// The credential that matches the passkey; `None` if it is wrong. First waits for the agent's other attempts,
    /// and longer if its last passkeys were wrong.
    ///
    /// # Errors
    /// [`Error::TooManyAttempts`] if too many attempts are pending.
    pub(super) async fn verify(
        self: &Arc<Self>,
        caller: &Caller,
        agent: &str,
        passkey: String,
        valid: Vec<Credential>,
    ) -> Result<Option<Credential>, Error> {
        let attempt = self.attempts.admit(agent).await?;
        let _turn = match caller.agent() {
            Some(_) => None,
            // The semaphore is never closed.
            None => self.unbound.acquire().await.ok(),
        };
        self.blocking(move |passkeys| {
            let found = passkeys.find(&passkey, valid);
            // Counted here, even if the call has been cancelled.
            attempt.count(found.is_some());
            found
        })
        .await
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

    /// Runs `work` on a blocking thread, after earlier work.
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
}

fn hash(argon2: &Argon2<'_>, passkey: &str) -> Result<String, Error> {
    let hash = argon2.hash_password(passkey.as_bytes()).map_err(|_| StoreError::Bug)?;
    Ok(hash.to_string())
}
