//! What the tools show, as resources: seven templates, and the concrete ones that there are.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::error::not_found;
use super::store::{Listing, Scope, Work};
use super::tools::{get_execution_log, get_project, get_task, get_task_context};
use super::{Caller, Coordinator, Error, page};
use crate::toolkit::Arguments;

/// A kind of resource.
pub struct Resource {
    /// RFC 6570, with one variable.
    pub template: &'static str,
    /// The name that clients show.
    pub name: &'static str,
    /// What it is, for an agent.
    pub description: &'static str,
    /// The beginning of its URIs.
    scheme: &'static str,
    /// The argument of tools that its variable is.
    argument: &'static str,
    /// Who may read it over HTTP, beside administrators.
    scopes: &'static [Scope],
    read: fn(&mut Work<'_>, &str) -> Result<Value, Error>,
}

/// All kinds.
pub static RESOURCES: [Resource; 7] = [
    Resource {
        template: "agent://{id}",
        name: "agent",
        description: "An agent: role, specialties, state.",
        scheme: "agent://",
        argument: "agent_id",
        scopes: &[Scope::Agent],
        read: agent,
    },
    Resource {
        template: "project://{id}",
        name: "project",
        description: "A project with the ids of its agents.",
        scheme: "project://",
        argument: "project_id",
        scopes: &[Scope::Agent],
        read: get_project::project,
    },
    Resource {
        template: "task://{id}",
        name: "task",
        description: "A task with what was noted about it last.",
        scheme: "task://",
        argument: "task_id",
        scopes: &[Scope::Agent],
        read: get_task::task,
    },
    Resource {
        template: "context://{taskId}",
        name: "context",
        description: "What was noted about a task, with every note.",
        scheme: "context://",
        argument: "task_id",
        scopes: &[Scope::Agent],
        read: context,
    },
    Resource {
        template: "handoff://{taskId}",
        name: "handoff",
        description: "The latest handoff of a task, accepted or not.",
        scheme: "handoff://",
        argument: "task_id",
        scopes: &[Scope::Agent],
        read: handoff,
    },
    Resource {
        template: "execution://{id}",
        name: "execution",
        description: "An execution log with the path of its file.",
        scheme: "execution://",
        argument: "execution_id",
        scopes: &[Scope::Runner],
        read: get_execution_log::execution_log,
    },
    Resource {
        template: "executions://{taskId}",
        name: "executions",
        description: "The execution logs of a task, newest first.",
        scheme: "executions://",
        argument: "task_id",
        scopes: &[Scope::Runner],
        read: executions,
    },
];

/// The execution logs of one task that are shown at most.
const EXECUTIONS: i64 = 100;

/// Resources of one page.
const PAGE: usize = 100;

/// A concrete resource.
pub struct Listed {
    /// Where it is read.
    pub uri: String,
    /// What people call it.
    pub name: String,
}

/// What is listed, in this order, and the scheme that it is read with.
const LISTED: [(Listing, &str); 3] =
    [(Listing::Agents, "agent://"), (Listing::Projects, "project://"), (Listing::Tasks, "task://")];

impl Resource {
    /// Whether this caller may read it.
    pub fn is_for(&self, caller: &Caller) -> bool {
        caller.has(self.scopes)
    }

    /// The kind of a URI, and the id in it.
    fn of(uri: &str) -> Option<(&'static Self, String)> {
        let found = RESOURCES.iter().find_map(|resource| Some((resource, uri.strip_prefix(resource.scheme)?)));
        let (resource, id) = found.filter(|(_, id)| !id.is_empty())?;
        let id = percent_encoding::percent_decode_str(id).decode_utf8().ok()?.into_owned();
        (!id.contains('\0')).then_some((resource, id))
    }
}

impl Coordinator {
    /// What a URI stands for, as JSON; `None` if there is nothing, or nothing for this caller.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn read_resource(self: &Arc<Self>, uri: &str, caller: &Caller) -> Result<Option<Value>, Error> {
        let Some((resource, id)) = Resource::of(uri).filter(|(resource, _)| resource.is_for(caller)) else {
            return Ok(None);
        };
        let caller = caller.clone();
        let about = Map::from_iter([(resource.argument.to_owned(), Value::from(id.clone()))]);
        let about = Arguments::unchecked(about);
        let read = move |work: &mut Work<'_>| {
            caller.check("get_agent_profile", &about, work)?;
            (resource.read)(work, &id)
        };
        match self.store.read(read).await {
            Ok(value) => Ok(Some(page::shorten(value, 0))),
            Err(Error::Refused(_)) => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// A page of concrete resources, and the cursor of the next one; `None` for a cursor that is none.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn list_resources(
        &self,
        cursor: Option<&str>,
        caller: &Caller,
    ) -> Result<Option<(Vec<Listed>, Option<String>)>, Error> {
        let begin = cursor.map_or(Some((0, String::new())), begin);
        let (Some((from, after)), true) = (begin, caller.has(&[Scope::Agent])) else {
            return Ok(cursor.is_none().then(|| (Vec::new(), None)));
        };
        let agent = caller.agent().map(str::to_owned);
        self.store.read(move |work| page(work, from, &after, agent.as_deref()).map(Some)).await
    }
}

/// `1:prj_a` is behind project `prj_a`.
fn begin(cursor: &str) -> Option<(usize, String)> {
    let (from, after) = cursor.split_once(':')?;
    let from = from.parse().ok().filter(|from| *from < LISTED.len())?;
    (!after.contains('\0')).then(|| (from, after.to_owned()))
}

fn page(
    work: &mut Work<'_>,
    from: usize,
    after: &str,
    agent: Option<&str>,
) -> Result<(Vec<Listed>, Option<String>), Error> {
    let mut listed = Vec::new();
    for (at, (what, scheme)) in LISTED.into_iter().enumerate().skip(from) {
        let after = if at == from { after } else { "" };
        let room = PAGE - listed.len();
        let found = work.list(what, after, i64::try_from(room).unwrap_or_default(), agent)?;
        let last = found.last().map(|(id, _)| format!("{at}:{id}"));
        listed.extend(found.into_iter().map(|(id, name)| Listed { uri: format!("{scheme}{}", encode(&id)), name }));
        if listed.len() >= PAGE {
            return Ok((listed, last));
        }
    }
    Ok((listed, None))
}

fn encode(id: &str) -> String {
    percent_encoding::utf8_percent_encode(id, ENCODED).to_string()
}

/// Everything but RFC 3986's unreserved characters.
const ENCODED: &percent_encoding::AsciiSet =
    &percent_encoding::NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

fn agent(work: &mut Work<'_>, id: &str) -> Result<Value, Error> {
    work.agent(id)?.map(|agent| json!(agent)).ok_or_else(|| not_found("Agent", id))
}

fn context(work: &mut Work<'_>, task: &str) -> Result<Value, Error> {
    let mut context = get_task_context::context(work, task, true)?;
    if let Some(members) = context.as_object_mut() {
        members.shift_remove("success");
    }
    Ok(context)
}

fn handoff(work: &mut Work<'_>, task: &str) -> Result<Value, Error> {
    work.latest_handoff(task)?.map(|handoff| json!(handoff)).ok_or_else(|| not_found("Handoff of task", task))
}

fn executions(work: &mut Work<'_>, task: &str) -> Result<Value, Error> {
    let task = work.task(task)?.ok_or_else(|| not_found("Task", task))?;
    Ok(json!({"task_id": task.id, "executions": work.executions(Some(&task.id), None, EXECUTIONS)?}))
}
