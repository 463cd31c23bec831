//! `n8n-lens check`: what n8n's version and the API key allow, for people.

use super::Error;
use super::terminal::print;
use crate::n8n::{Client, SCOPES};
use crate::tools;

/// Prints what works; fails if a tool would.
pub(super) async fn run(n8n: &Client) -> Result<(), Error> {
    let access = n8n.check().await.map_err(tools::Error::from)?;
    let version = access
        .version
        .map_or_else(|| "n8n (unknown version) responds".to_owned(), |version| format!("n8n {version} responds"));
    print(&format!("ok: {version} and accepts the API key."))?;
    print(match access.knows_size_limit {
        Some(true) => {
            "ok: it supports ignoreDataSizeLimit, so executions above its display limit (100 MB) can be read."
        }
        Some(false) => "ok: it has no display limit (n8n before 2.28), so it sends executions of any size.",
        None => "unknown: whether it supports ignoreDataSizeLimit, because the key cannot list executions.",
    })?;
    match access.missing_scopes {
        None => print("unknown: this n8n does not report the scopes of a key; a tool that lacks one names it."),
        Some(missing) if missing.is_empty() => {
            print(&format!("ok: the key has all scopes that the tools need ({}).", SCOPES.join(", ")))
        }
        Some(missing) => Err(Error::Input(format!(
            "The API key lacks {}: n8n will refuse the tools that need it. Create a key with these scopes in n8n under Settings > n8n API, or start with --read-only or --tools.",
            missing.join(", ")
        ))),
    }
}
