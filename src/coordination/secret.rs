//! Random secrets, their hashes, and ids.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use super::Error;
use crate::coordination::store::StoreError;

/// A prefix followed by 256 random bits, base64url-encoded.
pub(super) fn random(prefix: &str) -> Result<String, Error> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|_| StoreError::Bug)?;
    Ok(format!("{prefix}{}", URL_SAFE_NO_PAD.encode(bytes)))
}

/// The stored form of a token. Tokens have 256 random bits, so one round of SHA-256 is enough.
pub(super) fn hash(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

/// A new id such as `tsk_…`. The ids of one process sort by time.
pub(super) fn id(prefix: &str) -> String {
    format!("{prefix}{}", uuid::Uuid::now_v7().simple())
}
