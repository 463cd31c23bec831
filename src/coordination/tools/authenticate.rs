//! `authenticate`: begins the session of an agent in a project; at most one runs.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{AGENT_ID, PROJECT_ID, given};
use crate::coordination::error::not_found;
use crate::coordination::rules::execution::Ending;
use crate::coordination::rules::{session, task};
use crate::coordination::secret;
use crate::coordination::store::{
    Agent, AgentStatus, Change, Credential, EndReason, Entity, Project, ProjectStatus, Scope, Session, Time, Work,
};
use crate::coordination::tool::{Call, Run, Tool};
use crate::coordination::{Coordinator, Error, Terms};
use crate::toolkit::{Arguments, Effect, Kind, Parameter};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "authenticate",
    title: "Authenticate",
    description: "Begin your session in a project with the ids and the passkey that you were started with. Then call \
                  get_my_task with the session_token of the answer. Only one instance of an agent runs in a project.",
    parameters: &[
        AGENT_ID,
        Parameter::required("passkey", Kind::Secret, "Your passkey."),
        PROJECT_ID,
        Parameter::optional(
            "instance_id",
            Kind::Text,
            "An id of your own choice: if the answer got lost, ask again with the same one before get_my_task.",
        ),
    ],
    scopes: &[Scope::Agent],
    effect: Effect::Add,
    deprecated: false,
    run: Run::Call(run),
};

/// What anybody is told who is not who they say: nothing that tells agents from nobody.
const INVALID: &str = "Invalid agent_id or passkey";

const RUNNING: &str = "Agent instance already running for this project";

fn run(coordinator: Arc<Coordinator>, arguments: Arguments) -> Call {
    Box::pin(async move {
        let (agent, project) = (given(&arguments, "agent_id"), given(&arguments, "project_id"));
        let instance = arguments.text("instance_id");
        let live = {
            let agent = agent.clone();
            coordinator.store.read(move |work| passkeys_of(work, &agent)).await?
        };
        // Slow on purpose, so not while others wait for the database.
        let verified = coordinator.passkeys.verify(&agent, given(&arguments, "passkey"), live).await?;
        let credential = verified.ok_or_else(|| Error::refused(INVALID))?;
        let (token, terms) = (secret::random("sess_")?, coordinator.terms);
        let asked = Asked { agent, project, instance, credential };
        coordinator.store.write(move |work| asked.begin(work, &token, &terms)).await
    })
}

/// Of an agent that is not active, or not there, none.
fn passkeys_of(work: &mut Work<'_>, agent: &str) -> Result<Vec<Credential>, Error> {
    match work.agent(agent)? {
        Some(agent) if agent.status == AgentStatus::Active => Ok(work.credentials(&agent.id)?),
        _ => Ok(Vec::new()),
    }
}

/// Somebody whose passkey is right.
struct Asked {
    agent: String,
    project: String,
    instance: Option<String>,
    credential: Credential,
}

impl Asked {
    fn begin(&self, work: &mut Work<'_>, token: &str, terms: &Terms) -> Result<Value, Error> {
        work.lock_project(&self.project)?;
        let (agent, project) = self.admitted(work)?;
        self.make_room(work)?;
        let now = work.now();
        let max_expires_at = now.after(terms.session_max);
        let session = Session {
            id: secret::id("ses_"),
            agent_id: agent.id,
            project_id: project.id,
            instance_id: self.instance.clone(),
            task_id: None,
            created_at: now,
            last_seen_at: now,
            expires_at: now.after(terms.session_ttl).min(max_expires_at),
            max_expires_at,
            began_at: None,
            ended_at: None,
            end_reason: None,
            reply: None,
        };
        if !work.add_session(&session, &secret::hash(token))? {
            return Err(Error::refused(RUNNING));
        }
        work.record(&Change {
            project: Some(&session.project_id),
            actor: Some(&session.agent_id),
            session: Some(&session.id),
            ..Change::new(Entity::Session, &session.id, "authenticated")
        })?;
        Ok(json!({
            "success": true,
            "session_token": token,
            "expires_in": seconds(now, session.expires_at),
            "agent_name": agent.name,
            "project_name": project.name,
            "system_prompt": agent.system_prompt,
            "instruction": terms.locale.choose(
                "get_my_task を呼び出してタスク詳細を取得してください",
                "Call get_my_task for the details of your task.",
            ),
        }))
    }

    /// Both must still be there: the passkey took a while.
    fn admitted(&self, work: &mut Work<'_>) -> Result<(Agent, Project), Error> {
        let agent = work.agent(&self.agent)?.filter(|agent| agent.status == AgentStatus::Active);
        let agent = agent.ok_or_else(|| Error::refused(INVALID))?;
        if !work.use_credential(&self.credential.id)? {
            return Err(Error::refused(INVALID));
        }
        let project = work.project(&self.project)?.ok_or_else(|| not_found("Project", &self.project))?;
        if project.status != ProjectStatus::Active {
            return Err(Error::refused(format!("Project is not active: {}", project.id)));
        }
        if !work.is_assigned(&project.id, &agent.id)? {
            return Err(Error::refused(task::NOT_ASSIGNED));
        }
        Ok((agent, project))
    }

    /// Ends a session that is over: nobody used it in time, or the same instance never got its answer.
    fn make_room(&self, work: &mut Work<'_>) -> Result<(), Error> {
        let Some(open) = work.open_session(&self.agent, &self.project)? else {
            return Ok(());
        };
        if !session::is_alive(&open, work.now()) {
            return Ok(session::expire(work, &open)?);
        }
        let is_ours = self.instance.is_some() && open.instance_id == self.instance;
        if !is_ours || open.began_at.is_some() {
            return Err(Error::refused(RUNNING));
        }
        let ending = Ending::ByServer("The instance asked for its session again.");
        Ok(session::end(work, &open, EndReason::Superseded, ending, None)?)
    }
}

fn seconds(from: Time, to: Time) -> i64 {
    (to.0 - from.0) / 1000
}
