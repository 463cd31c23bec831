//! `admin passkey …`: issues, rotates and revokes passkeys. A passkey is shown once; only its hash is stored.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{AGENT, required_text};
use crate::coordination::error::not_found;
use crate::coordination::passkey::MAX_VALID;
use crate::coordination::secret;
use crate::coordination::store::{Credential, Entity, Event, Work};
use crate::coordination::tool::{Call, Handler, Tool};
use crate::coordination::{Caller, Coordinator, Error, SessionPolicy};
use crate::toolkit::{Arguments, Effect, Kind, Parameter};

const PASSKEY: Parameter = Parameter::optional("passkey", Kind::Secret, "The passkey (default: 256 random bits).");

/// `passkey issue`.
pub static ISSUE: Tool = Tool {
    name: "admin_passkey_issue",
    title: "Issue a passkey",
    description: "Give an agent its first passkey. Only this answer shows it.",
    parameters: &[AGENT, PASSKEY],
    effect: Effect::Add,
    handler: Handler::call(&[], issue_first),
};

/// `passkey rotate`.
pub static ROTATE: Tool = Tool {
    name: "admin_passkey_rotate",
    title: "Rotate a passkey",
    description: "Give an agent a new passkey. The previous one stays valid until the next rotation or a revocation. \
                  Only this answer shows the new one.",
    parameters: &[AGENT, PASSKEY],
    effect: Effect::Add,
    handler: Handler::call(&[], rotate),
};

/// `passkey revoke`.
pub static REVOKE: Tool = Tool {
    name: "admin_passkey_revoke",
    title: "Revoke passkeys",
    description: "Revoke all passkeys of an agent. A running session continues until it ends or is revoked.",
    parameters: &[AGENT],
    effect: Effect::Overwrite,
    handler: Handler::write(&[], revoke),
};

fn issue_first(coordinator: Arc<Coordinator>, arguments: Arguments, _caller: Caller) -> Call {
    Box::pin(issue(coordinator, arguments, false))
}

fn rotate(coordinator: Arc<Coordinator>, arguments: Arguments, _caller: Caller) -> Call {
    Box::pin(issue(coordinator, arguments, true))
}

async fn issue(coordinator: Arc<Coordinator>, arguments: Arguments, is_rotation: bool) -> Result<Value, Error> {
    let agent = required_text(&arguments, "agent");
    let passkey = match arguments.text("passkey") {
        Some(passkey) if passkey.is_empty() => return Err(Error::refused("The passkey is empty.")),
        Some(passkey) => passkey,
        None => secret::random("")?,
    };
    let credential =
        Credential { id: secret::id("crd_"), passkey_phc: coordinator.passkeys.hash(passkey.clone()).await? };
    let answer = json!({"success": true, "agent_id": agent, "passkey": passkey});
    let store = move |work: &mut Work<'_>| {
        work.lock_agent(&agent)?;
        if work.agent(&agent)?.is_none() {
            return Err(not_found("Agent", &agent));
        }
        if !is_rotation && !work.credentials(&agent)?.is_empty() {
            return Err(Error::refused(format!("Agent {agent} already has a passkey. Rotate it, or revoke it first.")));
        }
        add(work, &agent, &credential)
    };
    coordinator.store.write(store).await?;
    Ok(answer)
}

/// Adds a passkey. Of the earlier ones only the newest stays valid.
pub(super) fn add(work: &mut Work<'_>, agent: &str, credential: &Credential) -> Result<(), Error> {
    for older in work.credentials(agent)?.iter().skip(MAX_VALID - 1) {
        work.revoke_credential(&older.id)?;
    }
    work.add_credential(agent, credential)?;
    work.record(&Event::new(Entity::Agent, agent, "passkey_issued"))?;
    Ok(())
}

fn revoke(work: &mut Work<'_>, arguments: &Arguments, _policy: &SessionPolicy) -> Result<Value, Error> {
    let agent = required_text(arguments, "agent");
    work.lock_agent(&agent)?;
    if work.agent(&agent)?.is_none() {
        return Err(not_found("Agent", &agent));
    }
    let valid = work.credentials(&agent)?;
    for credential in &valid {
        work.revoke_credential(&credential.id)?;
    }
    if !valid.is_empty() {
        work.record(&Event::new(Entity::Agent, &agent, "passkeys_revoked"))?;
    }
    Ok(json!({"success": true, "agent_id": agent, "revoked": valid.len()}))
}
