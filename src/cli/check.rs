//! `n8n-lens check`: how we stand with n8n, in plain words.

use super::{Error, print};
use crate::n8n::{Client, SCOPES};
use crate::tools;

/// Asks n8n, and says what it found; fails where a tool would.
pub(super) async fn run(n8n: &Client) -> Result<(), Error> {
    let standing = n8n.check().await.map_err(tools::Error::from)?;
    let version = standing.version.map_or_else(
        || "n8n answers; it does not tell its version".to_owned(),
        |version| format!("n8n {version} answers"),
    );
    print(&format!("ok: {version}, and takes the API key."))?;
    print(match standing.knows_size_limit {
        Some(true) => {
            "ok: it knows ignoreDataSizeLimit, so that executions above its display limit (100 MB) can be read."
        }
        Some(false) => "ok: it has no display limit (n8n before 2.28), so that executions of any size are sent.",
        None => "unknown: whether it knows ignoreDataSizeLimit, since the key may not list executions.",
    })?;
    match standing.missing_scopes {
        None => print("unknown: this n8n does not tell the scopes of a key; a tool says which one it lacks."),
        Some(missing) if missing.is_empty() => {
            print(&format!("ok: the key has all scopes that the tools need ({}).", SCOPES.join(", ")))
        }
        Some(missing) => Err(Error::Input(format!(
            "The API key lacks {}: the tools that need it will be refused. Make a key with these scopes in n8n under Settings > n8n API, or start with --read-only or --tools.",
            missing.join(", ")
        ))),
    }
}
