//! Random secrets, and what is kept of them.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use super::Error;
use crate::coordination::store::Fault;

/// A secret of 256 random bits behind a prefix.
pub(super) fn random(prefix: &str) -> Result<String, Error> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|_| Fault::Ours)?;
    Ok(format!("{prefix}{}", URL_SAFE_NO_PAD.encode(bytes)))
}

/// What is kept of a token. It is as random as a key, so that one round is enough.
pub(super) fn hash(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

/// A new id: `tsk_…`. Those of one process sort by time.
pub(super) fn id(prefix: &str) -> String {
    format!("{prefix}{}", uuid::Uuid::now_v7().simple())
}
