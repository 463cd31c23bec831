//! `admin token …`: issues, lists and revokes bearer tokens for HTTP clients. A token is shown once; only its hash is
//! stored.

use serde_json::{Value, json};

use super::{ID, required_text};
use crate::coordination::error::not_found;
use crate::coordination::secret;
use crate::coordination::store::{AccessToken, Entity, Event, Scope, Work};
use crate::coordination::tool::{Handler, Tool};
use crate::coordination::{Error, SessionPolicy};
use crate::toolkit::{Arguments, Effect, Kind, Parameter};

/// `token issue`.
pub static ISSUE: Tool = Tool {
    name: "admin_token_issue",
    title: "Issue a bearer token",
    description: "Create a bearer token for an HTTP client: a Runner, one agent, or an administrator. Only this answer \
                  shows it.",
    parameters: &[
        Parameter::required("scope", Kind::Choice(Scope::VALUES), "What the token allows."),
        Parameter::optional("agent", Kind::Text, "The agent's id; required for scope agent."),
    ],
    effect: Effect::Add,
    handler: Handler::write(&[], issue),
};

/// `token list`.
pub static LIST: Tool = Tool {
    name: "admin_token_list",
    title: "List bearer tokens",
    description: "List the bearer tokens that are not revoked, without their text.",
    parameters: &[],
    effect: Effect::Read,
    handler: Handler::read(&[], list),
};

/// `token revoke`.
pub static REVOKE: Tool = Tool {
    name: "admin_token_revoke",
    title: "Revoke a bearer token",
    description: "Revoke a bearer token.",
    parameters: &[ID],
    effect: Effect::Overwrite,
    handler: Handler::write(&[], revoke),
};

fn issue(work: &mut Work<'_>, arguments: &Arguments, _policy: &SessionPolicy) -> Result<Value, Error> {
    let scope = Scope::parse(&required_text(arguments, "scope")).unwrap_or(Scope::Agent);
    let agent_id = arguments.text("agent");
    match (&agent_id, scope) {
        (Some(agent), Scope::Agent) if work.agent(agent)?.is_none() => return Err(not_found("Agent", agent)),
        (Some(_), Scope::Agent) | (None, Scope::Runner | Scope::Admin) => {}
        (None, Scope::Agent) => return Err(Error::refused("A token of scope agent requires the id of its agent.")),
        (Some(_), _) => return Err(Error::refused("Only a token of scope agent can have an agent.")),
    }
    let token = secret::random("n8nl_")?;
    let kept = AccessToken { id: secret::id("tok_"), scope, agent_id, created_at: work.now() };
    work.add_access_token(&kept, &secret::hash(&token))?;
    work.record(&Event { after: Some(json!(kept)), ..Event::new(Entity::AccessToken, &kept.id, "issued") })?;
    Ok(json!({"success": true, "id": kept.id, "scope": kept.scope, "agent_id": kept.agent_id, "token": token}))
}

fn list(work: &mut Work<'_>, _arguments: &Arguments, _policy: &SessionPolicy) -> Result<Value, Error> {
    Ok(json!({"success": true, "tokens": work.access_tokens()?}))
}

fn revoke(work: &mut Work<'_>, arguments: &Arguments, _policy: &SessionPolicy) -> Result<Value, Error> {
    let id = required_text(arguments, "id");
    if !work.revoke_access_token(&id)? {
        return Err(not_found("Token", &id));
    }
    work.record(&Event::new(Entity::AccessToken, &id, "revoked"))?;
    Ok(json!({"success": true, "id": id}))
}
