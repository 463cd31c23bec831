//! `admin passkey …`: issues, rotates and revokes passkeys. A passkey is shown once; only its hash is stored.

use std::sync::Arc;

use serde_json::{Value, json};

use super::AGENT;
use crate::coordination::passkey::MAX_VALID;
use crate::coordination::rules::find_agent;
use crate::coordination::secret;
use crate::coordination::store::{Credential, Entity, Event, Work};
use crate::coordination::tool::{Handler, Rule, Tool, ToolCall};
use crate::coordination::{Caller, Coordinator, Error, SessionPolicy};
use crate::toolkit::{Effect, Secret, Text, arguments};

const PASSKEY: &str = "The passkey (default: 256 random bits).";

/// `passkey issue`.
pub static ISSUE: Tool = Tool {
    name: "admin_passkey_issue",
    title: "Issue a passkey",
    description: "Give an agent its first passkey. Only this answer shows it.",
    parameters: IssuePasskey::PARAMETERS,
    effect: Effect::Add,
    handler: Handler::call::<IssuePasskey>(&[]),
};

arguments! {
    struct IssuePasskey: snake_case {
        agent: Text = AGENT,
        passkey: Option<Secret> = PASSKEY,
    }
}

/// `passkey rotate`.
pub static ROTATE: Tool = Tool {
    name: "admin_passkey_rotate",
    title: "Rotate a passkey",
    description: "Give an agent a new passkey. The previous one stays valid until the next rotation or a revocation. \
                  Only this answer shows the new one.",
    parameters: RotatePasskey::PARAMETERS,
    effect: Effect::Add,
    handler: Handler::call::<RotatePasskey>(&[]),
};

arguments! {
    struct RotatePasskey: snake_case {
        agent: Text = AGENT,
        passkey: Option<Secret> = PASSKEY,
    }
}

/// `passkey revoke`.
pub static REVOKE: Tool = Tool {
    name: "admin_passkey_revoke",
    title: "Revoke passkeys",
    description: "Revoke all passkeys of an agent. A running session continues until it ends or is revoked.",
    parameters: RevokePasskeys::PARAMETERS,
    effect: Effect::Overwrite,
    handler: Handler::write::<RevokePasskeys>(&[]),
};

arguments! {
    struct RevokePasskeys: snake_case {
        agent: Text = AGENT,
    }
}

impl ToolCall for IssuePasskey {
    async fn run(self, coordinator: Arc<Coordinator>, _caller: Caller) -> Result<Value, Error> {
        issue(&coordinator, self.agent, self.passkey, false).await
    }
}

impl ToolCall for RotatePasskey {
    async fn run(self, coordinator: Arc<Coordinator>, _caller: Caller) -> Result<Value, Error> {
        issue(&coordinator, self.agent, self.passkey, true).await
    }
}

async fn issue(
    coordinator: &Coordinator,
    agent: String,
    passkey: Option<String>,
    is_rotation: bool,
) -> Result<Value, Error> {
    let passkey = match passkey {
        Some(passkey) if passkey.is_empty() => return Err(Error::refused("The passkey is empty.")),
        Some(passkey) => passkey,
        None => secret::random("")?,
    };
    let credential =
        Credential { id: secret::id("crd_"), passkey_phc: coordinator.passkeys.hash(passkey.clone()).await? };
    let answer = json!({"success": true, "agent_id": agent, "passkey": passkey});
    let store = move |work: &mut Work<'_>| {
        work.lock_agent(&agent)?;
        find_agent(work, &agent)?;
        if !is_rotation && !work.credentials(&agent)?.is_empty() {
            return Err(Error::refused(format!("Agent {agent} already has a passkey. Rotate it, or revoke it first.")));
        }
        add(work, &agent, &credential)
    };
    coordinator.store.write(store).await?;
    Ok(answer)
}

/// Adds a passkey. Of the earlier ones, only the newest stays valid.
pub(super) fn add(work: &mut Work<'_>, agent: &str, credential: &Credential) -> Result<(), Error> {
    for older in work.credentials(agent)?.iter().skip(MAX_VALID - 1) {
        work.revoke_credential(&older.id)?;
    }
    work.add_credential(agent, credential)?;
    work.record(&Event::new(Entity::Agent, agent, "passkey_issued"))?;
    Ok(())
}

impl Rule for RevokePasskeys {
    fn run(&self, work: &mut Work<'_>, _policy: &SessionPolicy) -> Result<Value, Error> {
        let agent = &self.agent;
        work.lock_agent(agent)?;
        find_agent(work, agent)?;
        let valid = work.credentials(agent)?;
        for credential in &valid {
            work.revoke_credential(&credential.id)?;
        }
        if !valid.is_empty() {
            work.record(&Event::new(Entity::Agent, agent, "passkeys_revoked"))?;
        }
        Ok(json!({"success": true, "agent_id": agent, "revoked": valid.len()}))
    }
}
