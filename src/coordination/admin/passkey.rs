//! Passkeys. They are shown once, when they are made; only their hashes are kept.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{AGENT, given};
use crate::coordination::error::not_found;
use crate::coordination::passkey::LIVE;
use crate::coordination::secret;
use crate::coordination::store::{Change, Credential, Entity, Work};
use crate::coordination::tool::{Call, Run, Tool};
use crate::coordination::{Coordinator, Error, Terms};
use crate::toolkit::{Arguments, Effect, Kind, Parameter};

const PASSKEY: Parameter =
    Parameter::optional("passkey", Kind::Secret, "The passkey; one of 256 random bits is made if it is left out.");

/// `passkey issue`.
pub static ISSUE: Tool = Tool {
    name: "admin_passkey_issue",
    title: "Issue a passkey",
    description: "Give an agent its first passkey. The answer shows it, once.",
    parameters: &[AGENT, PASSKEY],
    scopes: &[],
    effect: Effect::Add,
    deprecated: false,
    run: Run::Call(first),
};

/// `passkey rotate`.
pub static ROTATE: Tool = Tool {
    name: "admin_passkey_rotate",
    title: "Rotate a passkey",
    description: "Give an agent a new passkey. The one before stays valid beside it, until the next rotation or a \
                  revocation; the answer shows the new one, once.",
    parameters: &[AGENT, PASSKEY],
    scopes: &[],
    effect: Effect::Add,
    deprecated: false,
    run: Run::Call(rotate),
};

/// `passkey revoke`.
pub static REVOKE: Tool = Tool {
    name: "admin_passkey_revoke",
    title: "Revoke passkeys",
    description: "Take back all passkeys of an agent. A session that runs goes on until it is revoked itself.",
    parameters: &[AGENT],
    scopes: &[],
    effect: Effect::Overwrite,
    deprecated: false,
    run: Run::Write(revoke),
};

fn first(coordinator: Arc<Coordinator>, arguments: Arguments) -> Call {
    Box::pin(issue(coordinator, arguments, false))
}

fn rotate(coordinator: Arc<Coordinator>, arguments: Arguments) -> Call {
    Box::pin(issue(coordinator, arguments, true))
}

async fn issue(coordinator: Arc<Coordinator>, arguments: Arguments, beside_another: bool) -> Result<Value, Error> {
    let agent = given(&arguments, "agent");
    let passkey = match arguments.text("passkey") {
        Some(passkey) if passkey.is_empty() => return Err(Error::refused("The passkey is empty.")),
        Some(passkey) => passkey,
        None => secret::random("")?,
    };
    let credential =
        Credential { id: secret::id("crd_"), passkey_phc: coordinator.passkeys.hash(passkey.clone()).await? };
    let answer = json!({"success": true, "agent_id": agent, "passkey": passkey});
    let keep = move |work: &mut Work<'_>| {
        work.lock_agent(&agent)?;
        if work.agent(&agent)?.is_none() {
            return Err(not_found("Agent", &agent));
        }
        if !beside_another && !work.credentials(&agent)?.is_empty() {
            return Err(Error::refused(format!("Agent {agent} has a passkey. Rotate it, or revoke it first.")));
        }
        keep(work, &agent, &credential)
    };
    coordinator.store.write(keep).await?;
    Ok(answer)
}

/// Keeps a passkey; of those before it the newest stays valid.
pub(super) fn keep(work: &mut Work<'_>, agent: &str, credential: &Credential) -> Result<(), Error> {
    for older in work.credentials(agent)?.iter().skip(LIVE - 1) {
        work.revoke_credential(&older.id)?;
    }
    work.add_credential(agent, credential)?;
    work.record(&Change::new(Entity::Agent, agent, "passkey_issued"))?;
    Ok(())
}

fn revoke(work: &mut Work<'_>, arguments: &Arguments, _terms: &Terms) -> Result<Value, Error> {
    let agent = given(arguments, "agent");
    work.lock_agent(&agent)?;
    if work.agent(&agent)?.is_none() {
        return Err(not_found("Agent", &agent));
    }
    let live = work.credentials(&agent)?;
    for credential in &live {
        work.revoke_credential(&credential.id)?;
    }
    if !live.is_empty() {
        work.record(&Change::new(Entity::Agent, &agent, "passkeys_revoked"))?;
    }
    Ok(json!({"success": true, "agent_id": agent, "revoked": live.len()}))
}
