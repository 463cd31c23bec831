//! `admin token …`: issues, lists and revokes bearer tokens for HTTP clients. A token is shown once; only its hash is
//! stored.

use serde_json::{Value, json};

use super::ID;
use crate::coordination::error::not_found;
use crate::coordination::rules::find_agent;
use crate::coordination::secret;
use crate::coordination::store::{AccessToken, Entity, Event, Scope, Work};
use crate::coordination::tool::{Handler, Rule, Tool};
use crate::coordination::{Error, SessionPolicy};
use crate::toolkit::{Choice, Effect, Text, arguments};

/// `token issue`.
pub static ISSUE: Tool = Tool {
    name: "admin_token_issue",
    title: "Issue a bearer token",
    description: "Create a bearer token for an HTTP client: a Runner, one agent, or an administrator. Only this answer \
                  shows it.",
    parameters: IssueToken::PARAMETERS,
    effect: Effect::Add,
    handler: Handler::write::<IssueToken>(&[]),
};

arguments! {
    struct IssueToken: snake_case {
        scope: Choice<Scope> = "What the token allows.",
        agent: Option<Text> = "The agent's id; required for scope agent.",
    }
}

/// `token list`.
pub static LIST: Tool = Tool {
    name: "admin_token_list",
    title: "List bearer tokens",
    description: "List the bearer tokens that are not revoked, without their text.",
    parameters: ListTokens::PARAMETERS,
    effect: Effect::Read,
    handler: Handler::read::<ListTokens>(&[]),
};

arguments! {
    struct ListTokens: snake_case {}
}

/// `token revoke`.
pub static REVOKE: Tool = Tool {
    name: "admin_token_revoke",
    title: "Revoke a bearer token",
    description: "Revoke a bearer token.",
    parameters: RevokeToken::PARAMETERS,
    effect: Effect::Overwrite,
    handler: Handler::write::<RevokeToken>(&[]),
};

arguments! {
    struct RevokeToken: snake_case {
        id: Text = ID,
    }
}

impl Rule for IssueToken {
    fn run(&self, work: &mut Work<'_>, _policy: &SessionPolicy) -> Result<Value, Error> {
        match (&self.agent, self.scope) {
            (Some(agent), Scope::Agent) => drop(find_agent(work, agent)?),
            (None, Scope::Runner | Scope::Admin) => {}
            (None, Scope::Agent) => return Err(Error::refused("A token of scope agent requires the id of its agent.")),
            (Some(_), _) => return Err(Error::refused("Only a token of scope agent can have an agent.")),
        }
        let token = secret::random("n8nl_")?;
        let kept = AccessToken {
            id: secret::id("tok_"),
            scope: self.scope,
            agent_id: self.agent.clone(),
            created_at: work.now(),
        };
        work.add_access_token(&kept, &secret::hash(&token))?;
        work.record(&Event { after: Some(json!(kept)), ..Event::new(Entity::AccessToken, &kept.id, "issued") })?;
        Ok(json!({"success": true, "id": kept.id, "scope": kept.scope, "agent_id": kept.agent_id, "token": token}))
    }
}

impl Rule for ListTokens {
    fn run(&self, work: &mut Work<'_>, _policy: &SessionPolicy) -> Result<Value, Error> {
        Ok(json!({"success": true, "tokens": work.access_tokens()?}))
    }
}

impl Rule for RevokeToken {
    fn run(&self, work: &mut Work<'_>, _policy: &SessionPolicy) -> Result<Value, Error> {
        let id = &self.id;
        if !work.revoke_access_token(id)? {
            return Err(not_found("Token", id));
        }
        work.record(&Event::new(Entity::AccessToken, id, "revoked"))?;
        Ok(json!({"success": true, "id": id}))
    }
}
