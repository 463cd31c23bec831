//! Checks whether a server over HTTP answers, in the same way as a client: by connecting to it.

use std::env;
use std::time::Duration;

use serde_json::json;
use tokio::time::{sleep, timeout};
use tracing::subscriber::NoSubscriber;

use super::entry::NAME;
use super::{Error, terminal};
use crate::gateway::{Config, Gateway, Settings};
use crate::units::counted;

/// How long a server may take to answer, and how often it is polled.
const LIMIT: Duration = Duration::from_secs(15);
const INTERVAL: Duration = Duration::from_millis(20);

/// Connects to a server, with the user's token if there is one, and prints how many tools it has.
///
/// # Errors
/// It does not answer, or not as an MCP server, or refuses the token.
pub(super) async fn check(url: &str, has_token: bool) -> Result<(), Error> {
    let mut server = json!({ "url": url });
    if has_token {
        server["headers"] = json!({ "Authorization": "Bearer ${N8N_LENS_AUTH_TOKEN}" });
    }
    let config = json!({ "mcpServers": { NAME: server } }).to_string();
    let config = Config::parse(&config, |name| env::var(name).ok()).map_err(|why| Error::Input(why.to_string()))?;
    // The gateway's log would repeat the error.
    let _silence = tracing::subscriber::set_default(NoSubscriber::default());
    let gateway = Gateway::start(&config, Settings::default());
    let answer = timeout(LIMIT, answer(&gateway)).await;
    gateway.stop().await;
    match answer {
        Ok(Ok(tools)) => {
            terminal::print(&format!("ok: {} answers, with {}.", terminal::plain(url), counted(tools, "tool", "tools")))
        }
        Ok(Err(reason)) => Err(Error::Input(format!("{url} does not answer as an MCP server ({reason}). {ADVICE}"))),
        Err(_) => Err(Error::Input(format!("{url} does not answer within {} s. {ADVICE}", LIMIT.as_secs()))),
    }
}

/// What to do about a server that does not answer.
const ADVICE: &str =
    "Start it (n8n-lens serve --transport http), or correct the address, or N8N_LENS_AUTH_TOKEN, its token.";

/// The number of its tools once the server is available, or why it is not.
async fn answer(gateway: &Gateway) -> Result<usize, String> {
    loop {
        let health = gateway.health(true);
        let server = &health["servers"][NAME];
        if server["status"] == "available" {
            return Ok(gateway.tools().len());
        }
        if let Some(exit) = server["lastExit"].as_object() {
            let reason = exit.get("reason").and_then(|reason| reason.as_str());
            return Err(reason.unwrap_or("the connection could not be established").to_owned());
        }
        sleep(INTERVAL).await;
    }
}
