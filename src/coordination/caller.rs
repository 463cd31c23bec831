//! Who is calling, and what that caller is allowed to do.
//!
//! Over standard input and output, access to the database is access to everything. Over HTTP, a bearer token
//! carries a scope, and a token of scope `agent` acts for one agent only.

use super::store::{AccessToken, Scope, Work};
use super::{Coordinator, Error, Tool, secret};
use crate::toolkit::Arguments;

/// Who is calling.
#[derive(Clone, Debug)]
pub enum Caller {
    /// A local process. It can open the database anyway, so it may do everything.
    Local,
    /// An HTTP client with a valid bearer token.
    Remote(AccessToken),
    /// An HTTP client without a token. It may do nothing.
    Anonymous,
}

/// Tools that change a task. An agent may not use them on another agent's task.
const TASK_CHANGES: [&str; 3] = ["update_task_status", "assign_task", "save_context"];

/// The refusal for anything that belongs to another agent or project.
const NOT_YOURS: &str = "Your token is for a different agent or project";

impl Caller {
    /// The caller behind a bearer token; `None` if the token is unknown or revoked, or its agent is not active.
    ///
    /// # Errors
    /// [`Error::Store`] if the database cannot be read.
    pub async fn from_token(coordinator: &Coordinator, token: &str) -> Result<Option<Self>, Error> {
        let hash = secret::hash(token);
        coordinator.store.read(move |work| Ok(work.access_token(&hash)?.map(Self::Remote))).await
    }

    /// Whether this caller may see and call a tool.
    pub fn may_call(&self, tool: &Tool) -> bool {
        self.has_any_scope(tool.handler.scopes)
    }

    /// Whether this caller has one of these scopes. Local callers and administrators have every scope.
    pub(super) fn has_any_scope(&self, scopes: &[Scope]) -> bool {
        match self {
            Self::Local => true,
            Self::Remote(token) => token.scope == Scope::Admin || scopes.contains(&token.scope),
            Self::Anonymous => false,
        }
    }

    /// The agent this caller acts for; `None` unless its token is bound to one.
    pub(super) fn agent(&self) -> Option<&str> {
        match self {
            Self::Local | Self::Anonymous => None,
            Self::Remote(token) => token.agent_id.as_deref(),
        }
    }

    /// Refuses a call that concerns another agent, or a project the agent is not assigned to. It runs in the
    /// transaction of the call itself, so nothing can change between the check and the call.
    pub(super) fn check(&self, tool: &str, arguments: &Arguments, work: &mut Work<'_>) -> Result<(), Error> {
        match self.agent() {
            Some(agent) => AgentCall { agent, arguments }.check(tool, work),
            None => Ok(()),
        }
    }
}

/// A call by a client whose token is bound to an agent.
struct AgentCall<'a> {
    agent: &'a str,
    arguments: &'a Arguments,
}

impl AgentCall<'_> {
    fn check(&self, tool: &str, work: &mut Work<'_>) -> Result<(), Error> {
        // Any profile can be read, to choose whom to hand a task to. Elsewhere `agent_id` must be the caller.
        let mut own = tool == "get_agent_profile" || self.is_own_or_absent("agent_id");
        own &= self.is_own_or_absent("from_agent_id");
        own &= tool != "list_tasks" || self.arguments.text("project_id").is_some() || self.is_own("assignee_id");
        own &= tool != "get_pending_handoffs" || self.is_own("agent_id");
        own &= self.has_own_session(work)?;
        own &= !TASK_CHANGES.contains(&tool) || self.has_own_or_unassigned_task(work)?;
        for project in self.projects(work)? {
            own &= work.is_assigned(&project, self.agent)?;
        }
        if own { Ok(()) } else { Err(Error::refused(NOT_YOURS)) }
    }

    /// Whether the task is assigned to this agent or to no one. A missing task is left for the tool to refuse.
    fn has_own_or_unassigned_task(&self, work: &mut Work<'_>) -> Result<bool, Error> {
        let task = self.arguments.text("task_id").map(|id| work.task_for_update(&id)).transpose()?.flatten();
        Ok(task.and_then(|task| task.assignee_id).is_none_or(|assignee| assignee == self.agent))
    }

    fn is_own(&self, argument: &str) -> bool {
        self.arguments.text(argument).as_deref() == Some(self.agent)
    }

    fn is_own_or_absent(&self, argument: &str) -> bool {
        self.arguments.text(argument).is_none_or(|agent| agent == self.agent)
    }

    /// Whether the session token, if there is one, belongs to this agent. An unknown token is left for the tool
    /// to refuse.
    fn has_own_session(&self, work: &mut Work<'_>) -> Result<bool, Error> {
        let Some(token) = self.arguments.text("session_token") else {
            return Ok(true);
        };
        Ok(work.session_of(&secret::hash(&token))?.is_none_or(|session| session.agent_id == self.agent))
    }

    /// The projects that a call concerns. A missing task is left for the tool to refuse.
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
