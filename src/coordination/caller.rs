//! Who is calling, and what that caller is allowed to do.
//!
//! Over standard input and output, access to the database is access to everything. Over HTTP, a bearer token
//! carries a scope, and a token of scope `agent` acts for one agent only.

use super::store::{AccessToken, Scope, StoreError, Work};
use super::{Coordinator, Error, Tool, secret};

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

/// The subjects of a call, by id. A caller that acts for one agent is limited to that agent, its sessions, and the
/// projects that it is assigned to.
pub(super) enum Concern<'a> {
    /// All agents and projects.
    Everything,
    /// An agent.
    Agent(&'a str),
    /// A project.
    Project(&'a str),
    /// A task: the call concerns its project.
    Task(&'a str),
    /// The same, but the call changes the task, which must not be another agent's.
    TaskChange(&'a str),
    /// A handoff: the call concerns its task's project.
    Handoff(&'a str),
    /// The session of a token.
    Session(&'a str),
}

/// The refusal for anything that belongs to another agent or project.
const NOT_YOURS: &str = "Your token is for a different agent or project";

/// The refusal for a question about all agents and projects.
const NOT_ALL: &str = "Your token is for one agent: ask only about it or its project, with agent_id or project_id";

impl Caller {
    /// The caller with a bearer token; `None` if the token is unknown or revoked, or its agent is not active.
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
    pub(super) fn check(&self, concerns: &[Concern<'_>], work: &mut Work<'_>) -> Result<(), Error> {
        let Some(agent) = self.agent() else {
            return Ok(());
        };
        if concerns.iter().any(|concern| matches!(concern, Concern::Everything)) {
            return Err(Error::refused(NOT_ALL));
        }
        let mut own = true;
        for concern in concerns {
            own &= concern.is_of(agent, work)?;
        }
        if own { Ok(()) } else { Err(Error::refused(NOT_YOURS)) }
    }
}

impl Concern<'_> {
    /// Whether an agent may make a call with this concern. If the subject does not exist, the tool refuses the call.
    fn is_of(&self, agent: &str, work: &mut Work<'_>) -> Result<bool, StoreError> {
        let project = match self {
            Self::Everything => return Ok(false),
            Self::Agent(id) => return Ok(*id == agent),
            Self::Session(token) => {
                let session = work.session_of(&secret::hash(token))?;
                return Ok(session.is_none_or(|session| session.agent_id == agent));
            }
            Self::Project(id) => Some((*id).to_owned()),
            Self::Task(id) => work.task(id)?.map(|task| task.project_id),
            Self::TaskChange(id) => match work.task_for_update(id)? {
                Some(task) if task.assignee_id.as_ref().is_some_and(|assignee| assignee != agent) => return Ok(false),
                task => task.map(|task| task.project_id),
            },
            Self::Handoff(id) => match work.handoff(id)? {
                Some(handoff) => work.task(&handoff.task_id)?.map(|task| task.project_id),
                None => None,
            },
        };
        project.map_or(Ok(true), |project| work.is_assigned(&project, agent))
    }
}
