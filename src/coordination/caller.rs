//! Who calls: over standard input and output whoever may open the database, over HTTP the owner of a token.

use super::store::{AccessToken, Scope, Work};
use super::{Coordinator, Error, Tool, secret};
use crate::toolkit::Arguments;

/// Who calls.
#[derive(Clone, Debug)]
pub enum Caller {
    /// Somebody who may open the database, and could change anything in it.
    Local,
    /// The owner of a bearer token.
    Remote(AccessToken),
    /// Somebody without one: nothing is there for them.
    Nobody,
}

/// Tools with which an agent changes a task; that of another agent is not its to change.
const CHANGES: [&str; 3] = ["update_task_status", "assign_task", "save_context"];

/// What an agent is told about what is not its own.
const NOT_YOURS: &str = "Your token is for another agent, or for another project";

impl Caller {
    /// The owner of a bearer token, if it is live.
    ///
    /// # Errors
    /// [`Error::Fault`].
    pub async fn of_token(coordinator: &Coordinator, token: &str) -> Result<Option<Self>, Error> {
        let hash = secret::hash(token);
        coordinator.store.read(move |work| Ok(work.access_token(&hash)?.map(Self::Remote))).await
    }

    /// Whether a tool is there for this caller.
    pub fn may_call(&self, tool: &Tool) -> bool {
        self.has(tool.scopes)
    }

    /// Whether this caller is of one of these scopes, or may do everything.
    pub(super) fn has(&self, scopes: &[Scope]) -> bool {
        match self {
            Self::Local => true,
            Self::Remote(token) => token.scope == Scope::Admin || scopes.contains(&token.scope),
            Self::Nobody => false,
        }
    }

    /// The agent that this caller is, if it is bound to one.
    pub(super) fn agent(&self) -> Option<&str> {
        match self {
            Self::Local | Self::Nobody => None,
            Self::Remote(token) => token.agent_id.as_deref(),
        }
    }

    /// Lets a call through that an agent makes about itself, its projects and their tasks; in the transaction of
    /// the call itself, so that nothing changes in between.
    pub(super) fn check(&self, tool: &str, arguments: &Arguments, work: &mut Work<'_>) -> Result<(), Error> {
        match self.agent() {
            Some(agent) => Bound { agent, arguments }.check(tool, work),
            None => Ok(()),
        }
    }
}

/// A call of an agent.
struct Bound<'a> {
    agent: &'a str,
    arguments: &'a Arguments,
}

impl Bound<'_> {
    fn check(&self, tool: &str, work: &mut Work<'_>) -> Result<(), Error> {
        // Anybody may see who there is to hand over to; everywhere else an agent is oneself.
        let mut own = tool == "get_agent_profile" || self.is_me("agent_id");
        own &= self.is_me("from_agent_id");
        own &= tool != "list_tasks" || self.arguments.text("project_id").is_some() || self.names_me("assignee_id");
        own &= tool != "get_pending_handoffs" || self.names_me("agent_id");
        own &= self.is_my_session(work)?;
        own &= !CHANGES.contains(&tool) || self.is_nobody_elses(work)?;
        for project in self.projects(work)? {
            own &= work.is_assigned(&project, self.agent)?;
        }
        if own { Ok(()) } else { Err(Error::refused(NOT_YOURS)) }
    }

    /// Whether the task is this agent's, or nobody's; what is not there is for the tool to refuse.
    fn is_nobody_elses(&self, work: &mut Work<'_>) -> Result<bool, Error> {
        let task = self.arguments.text("task_id").map(|id| work.task_to_change(&id)).transpose()?.flatten();
        Ok(task.and_then(|task| task.assignee_id).is_none_or(|owner| owner == self.agent))
    }

    fn names_me(&self, argument: &str) -> bool {
        self.arguments.text(argument).as_deref() == Some(self.agent)
    }

    fn is_me(&self, argument: &str) -> bool {
        self.arguments.text(argument).is_none_or(|agent| agent == self.agent)
    }

    /// A token of nobody is for the tool to refuse.
    fn is_my_session(&self, work: &mut Work<'_>) -> Result<bool, Error> {
        let Some(token) = self.arguments.text("session_token") else {
            return Ok(true);
        };
        Ok(work.session_of(&secret::hash(&token))?.is_none_or(|session| session.agent_id == self.agent))
    }

    /// The projects that a call is about. A task that is not there is for the tool to refuse.
    fn projects(&self, work: &mut Work<'_>) -> Result<Vec<String>, Error> {
        let mut projects: Vec<_> = self.arguments.text("project_id").into_iter().collect();
        let mut tasks: Vec<_> = self.arguments.text("task_id").into_iter().collect();
        if let Some(id) = self.arguments.text("handoff_id") {
            tasks.extend(work.handoff(&id)?.map(|handoff| handoff.task_id));
        }
        for id in tasks {
            projects.extend(work.task(&id)?.map(|task| task.project_id));
        }
        Ok(projects)
    }
}
