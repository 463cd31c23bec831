//! `authenticate`: begins a session of an agent in a project. At most one is open per pair.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{AGENT_ID, PROJECT_ID};
use crate::coordination::caller::Concern;
use crate::coordination::rules::execution::Ending;
use crate::coordination::rules::{find_project, session, task};
use crate::coordination::secret;
use crate::coordination::store::{
    Agent, AgentStatus, Credential, EndReason, Entity, Event, Project, ProjectStatus, Scope, Session, Time, Work,
};
use crate::coordination::tool::{Handler, Tool, ToolCall};
use crate::coordination::{Caller, Coordinator, Error, SessionPolicy};
use crate::toolkit::{Effect, Secret, Text, arguments};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "authenticate",
    title: "Authenticate",
    description: "Begin your session in a project, with the ids and the passkey you were started with. Then call \
                  get_my_task with the session_token from the answer. Only one instance of an agent can run per project.",
    parameters: Authenticate::PARAMETERS,
    effect: Effect::Add,
    handler: Handler::call::<Authenticate>(&[Scope::Agent]),
};

arguments! {
    struct Authenticate: snake_case {
        agent_id: Text = AGENT_ID,
        passkey: Secret = "Your passkey.",
        project_id: Text = PROJECT_ID,
        instance_id: Option<Text> = "An id of your choice. If the answer is lost, call again with the same id before get_my_task.",
    }
}

/// The refusal for unknown agents, wrong passkeys and inactive agents alike: it must not reveal which agents exist.
const INVALID_CREDENTIALS: &str = "Invalid agent_id or passkey";

const ALREADY_RUNNING: &str = "Agent instance already running for this project";

impl ToolCall for Authenticate {
    async fn run(self, coordinator: Arc<Coordinator>, caller: Caller) -> Result<Value, Error> {
        let Self { agent_id: agent, passkey, project_id: project, instance_id: instance } = self;
        let valid = {
            let (caller, agent, project) = (caller.clone(), agent.clone(), project.clone());
            let valid = move |work: &mut Work<'_>| {
                caller.check(&[Concern::Agent(&agent), Concern::Project(&project)], work)?;
                valid_passkeys(work, &agent)
            };
            coordinator.store.read(valid).await?
        };
        // Hashing is slow by design, so it happens outside the transaction.
        let verified = coordinator.passkeys.verify(&caller, &agent, passkey, valid).await?;
        let credential = verified.ok_or_else(|| Error::refused(INVALID_CREDENTIALS))?;
        let (token, policy) = (secret::random("sess_")?, coordinator.policy);
        let login = VerifiedLogin { agent, project, instance, credential };
        coordinator.store.write(move |work| login.begin_session(work, &token, &policy)).await
    }
}

/// The valid passkeys of an agent; none if it is unknown or not active.
fn valid_passkeys(work: &mut Work<'_>, agent: &str) -> Result<Vec<Credential>, Error> {
    match work.agent(agent)? {
        Some(agent) if agent.status == AgentStatus::Active => Ok(work.credentials(&agent.id)?),
        _ => Ok(Vec::new()),
    }
}

/// A login whose passkey is correct.
struct VerifiedLogin {
    agent: String,
    project: String,
    instance: Option<String>,
    credential: Credential,
}

impl VerifiedLogin {
    fn begin_session(&self, work: &mut Work<'_>, token: &str, policy: &SessionPolicy) -> Result<Value, Error> {
        work.lock_project(&self.project)?;
        let (agent, project) = self.agent_and_project(work)?;
        self.end_stale_session(work)?;
        let now = work.now();
        let max_expires_at = now.plus(policy.session_max);
        let session = Session {
            id: secret::id("ses_"),
            agent_id: agent.id,
            project_id: project.id,
            instance_id: self.instance.clone(),
            task_id: None,
            created_at: now,
            last_seen_at: now,
            expires_at: now.plus(policy.session_ttl).min(max_expires_at),
            max_expires_at,
            began_at: None,
            ended_at: None,
            end_reason: None,
            reply: None,
        };
        if !work.add_session(&session, &secret::hash(token))? {
            return Err(Error::refused(ALREADY_RUNNING));
        }
        work.record(&Event {
            project: Some(&session.project_id),
            actor: Some(&session.agent_id),
            session: Some(&session.id),
            ..Event::new(Entity::Session, &session.id, "authenticated")
        })?;
        Ok(json!({
            "success": true,
            "session_token": token,
            "expires_in": seconds(now, session.expires_at),
            "agent_name": agent.name,
            "project_name": project.name,
            "system_prompt": agent.system_prompt,
            "instruction": policy.locale.choose(
                "get_my_task を呼び出してタスク詳細を取得してください",
                "Call get_my_task for the details of your task.",
            ),
        }))
    }

    /// Checks everything in the transaction, since it may have changed while the passkey was being verified.
    fn agent_and_project(&self, work: &mut Work<'_>) -> Result<(Agent, Project), Error> {
        let agent = work.agent(&self.agent)?.filter(|agent| agent.status == AgentStatus::Active);
        let agent = agent.ok_or_else(|| Error::refused(INVALID_CREDENTIALS))?;
        if !work.use_credential(&self.credential.id)? {
            return Err(Error::refused(INVALID_CREDENTIALS));
        }
        let project = find_project(work, &self.project)?;
        if project.status != ProjectStatus::Active {
            return Err(Error::refused(format!("Project is not active: {}", project.id)));
        }
        if !work.is_assigned(&project.id, &agent.id)? {
            return Err(Error::refused(task::NOT_ASSIGNED));
        }
        Ok((agent, project))
    }

    /// Ends an open session that has expired, or that the same instance opened without receiving the answer. Any
    /// other open session is a reason to refuse.
    fn end_stale_session(&self, work: &mut Work<'_>) -> Result<(), Error> {
        let Some(open) = work.open_session(&self.agent, &self.project)? else {
            return Ok(());
        };
        if !session::is_alive(&open, work.now()) {
            return Ok(session::expire(work, &open)?);
        }
        let is_own = self.instance.is_some() && open.instance_id == self.instance;
        if !is_own || open.began_at.is_some() {
            return Err(Error::refused(ALREADY_RUNNING));
        }
        let ending = Ending::ByServer("The instance authenticated again.");
        Ok(session::end(work, &open, EndReason::Superseded, ending, None)?)
    }
}

fn seconds(from: Time, to: Time) -> i64 {
    (to.0 - from.0) / 1000
}
