//! Passkeys, stored as argon2id hashes in PHC string format.

use super::row::row;
use super::sql::values;
use super::{StoreError, Work};

row! {
    /// A stored passkey. `Debug` leaves out the hash.
    #[derive(Clone)]
    #[allow(missing_docs, reason = "the columns of the contract")]
    pub struct Credential in "agent_credentials" {
        pub id: String,
        pub passkey_phc: String,
    }
}

impl std::fmt::Debug for Credential {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Credential").field("id", &self.id).finish_non_exhaustive()
    }
}

impl Work<'_> {
    /// The valid passkeys of an agent, newest first.
    pub(crate) fn credentials(&mut self, agent: &str) -> Result<Vec<Credential>, StoreError> {
        self.sql.select("WHERE agent_id = ?1 AND revoked_at IS NULL ORDER BY created_at DESC, id DESC", values![agent])
    }

    /// All passkeys of an agent, including revoked ones, newest first.
    pub(crate) fn all_credentials(&mut self, agent: &str) -> Result<Vec<Credential>, StoreError> {
        self.sql.select("WHERE agent_id = ?1 ORDER BY created_at DESC, id DESC", values![agent])
    }

    /// Adds a passkey.
    pub(crate) fn add_credential(&mut self, agent: &str, credential: &Credential) -> Result<(), StoreError> {
        self.sql.insert(credential, [("agent_id", agent.into()), ("created_at", (&self.now).into())])
    }

    /// Records a use of a passkey. Returns `false` if it has been revoked.
    pub(crate) fn use_credential(&mut self, id: &str) -> Result<bool, StoreError> {
        const STATEMENT: &str = "UPDATE agent_credentials SET last_used_at = ?2 WHERE id = ?1 AND revoked_at IS NULL";
        Ok(self.sql.execute(STATEMENT, values![id, &self.now])? == 1)
    }

    /// Revokes a passkey.
    pub(crate) fn revoke_credential(&mut self, id: &str) -> Result<(), StoreError> {
        const STATEMENT: &str = "UPDATE agent_credentials SET revoked_at = ?2 WHERE id = ?1 AND revoked_at IS NULL";
        self.sql.execute(STATEMENT, values![id, &self.now]).map(drop)
    }
}
