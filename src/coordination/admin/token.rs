//! Bearer tokens for HTTP clients. They are shown once, when they are made; only their hashes are kept.

use serde_json::{Value, json};

use super::{ID, given};
use crate::coordination::error::not_found;
use crate::coordination::secret;
use crate::coordination::store::{AccessToken, Change, Entity, Scope, Work};
use crate::coordination::tool::{Run, Tool};
use crate::coordination::{Error, Terms};
use crate::toolkit::{Arguments, Effect, Kind, Parameter};

/// `token issue`.
pub static ISSUE: Tool = Tool {
    name: "admin_token_issue",
    title: "Issue a bearer token",
    description: "Make a bearer token for an HTTP client: a Runner, one agent, or an administrator. The answer shows it, \
                  once.",
    parameters: &[
        Parameter::required("scope", Kind::Choice(Scope::WORDS), "What it is for."),
        Parameter::optional("agent", Kind::Text, "The agent's id, for the scope agent."),
    ],
    scopes: &[],
    effect: Effect::Add,
    deprecated: false,
    run: Run::Write(issue),
};

/// `token list`.
pub static LIST: Tool = Tool {
    name: "admin_token_list",
    title: "List bearer tokens",
    description: "List the bearer tokens that are valid, without themselves.",
    parameters: &[],
    scopes: &[],
    effect: Effect::Read,
    deprecated: false,
    run: Run::Read(list),
};

/// `token revoke`.
pub static REVOKE: Tool = Tool {
    name: "admin_token_revoke",
    title: "Revoke a bearer token",
    description: "Take back a bearer token.",
    parameters: &[ID],
    scopes: &[],
    effect: Effect::Overwrite,
    deprecated: false,
    run: Run::Write(revoke),
};

fn issue(work: &mut Work<'_>, arguments: &Arguments, _terms: &Terms) -> Result<Value, Error> {
    let scope = Scope::parse(&given(arguments, "scope")).unwrap_or(Scope::Agent);
    let agent_id = arguments.text("agent");
    match (&agent_id, scope) {
        (Some(agent), Scope::Agent) if work.agent(agent)?.is_none() => return Err(not_found("Agent", agent)),
        (Some(_), Scope::Agent) | (None, Scope::Runner | Scope::Admin) => {}
        (None, Scope::Agent) => return Err(Error::refused("A token of scope agent needs the agent that it is for.")),
        (Some(_), _) => return Err(Error::refused("Only a token of scope agent is for one agent.")),
    }
    let token = secret::random("n8nl_")?;
    let kept = AccessToken { id: secret::id("tok_"), scope, agent_id, created_at: work.now() };
    work.add_access_token(&kept, &secret::hash(&token))?;
    work.record(&Change { after: Some(json!(kept)), ..Change::new(Entity::AccessToken, &kept.id, "issued") })?;
    Ok(json!({"success": true, "id": kept.id, "scope": kept.scope, "agent_id": kept.agent_id, "token": token}))
}

fn list(work: &mut Work<'_>, _arguments: &Arguments, _terms: &Terms) -> Result<Value, Error> {
    Ok(json!({"success": true, "tokens": work.access_tokens()?}))
}

fn revoke(work: &mut Work<'_>, arguments: &Arguments, _terms: &Terms) -> Result<Value, Error> {
    let id = given(arguments, "id");
    if !work.revoke_access_token(&id)? {
        return Err(not_found("Token", &id));
    }
    work.record(&Change::new(Entity::AccessToken, &id, "revoked"))?;
    Ok(json!({"success": true, "id": id}))
}
