//! MCP resources: the same content as the tools' answers, under seven URI templates. Agents, projects and tasks
//! can also be listed, page by page.

use std::sync::Arc;

use serde_json::{Value, json};

use super::caller::Concern;
use super::error::not_found;
use super::rules::find_agent;
use super::store::{Collection, Scope, Work};
use super::tools::{get_execution_log, get_project, get_task, get_task_context};
use super::{Caller, Coordinator, Error, truncation};

/// A template for resource URIs.
pub struct ResourceTemplate {
    /// The URI template (RFC 6570), with one variable.
    pub template: &'static str,
    /// The name shown by clients.
    pub name: &'static str,
    /// What the resource contains, for an agent.
    pub description: &'static str,
    /// The prefix of its URIs.
    scheme: &'static str,
    /// The subjects of reading the resource with this id.
    concerns: fn(&str) -> Vec<Concern<'_>>,
    /// Who may read it over HTTP, in addition to administrators.
    scopes: &'static [Scope],
    read: fn(&mut Work<'_>, &str) -> Result<Value, Error>,
}

/// All templates, in the order of the contract.
pub static RESOURCE_TEMPLATES: [ResourceTemplate; 7] = [
    ResourceTemplate {
        template: "agent://{id}",
        name: "agent",
        description: "An agent: role, capabilities, status.",
        scheme: "agent://",
        concerns: |_| vec![],
        scopes: &[Scope::Agent],
        read: agent,
    },
    ResourceTemplate {
        template: "project://{id}",
        name: "project",
        description: "A project, with the ids of its agents.",
        scheme: "project://",
        concerns: |id| vec![Concern::Project(id)],
        scopes: &[Scope::Agent],
        read: get_project::project,
    },
    ResourceTemplate {
        template: "task://{id}",
        name: "task",
        description: "A task, with its current context.",
        scheme: "task://",
        concerns: |id| vec![Concern::Task(id)],
        scopes: &[Scope::Agent],
        read: get_task::task,
    },
    ResourceTemplate {
        template: "context://{taskId}",
        name: "context",
        description: "A task's current context, and every saved note.",
        scheme: "context://",
        concerns: |id| vec![Concern::Task(id)],
        scopes: &[Scope::Agent],
        read: context,
    },
    ResourceTemplate {
        template: "handoff://{taskId}",
        name: "handoff",
        description: "The latest handoff of a task, accepted or not.",
        scheme: "handoff://",
        concerns: |id| vec![Concern::Task(id)],
        scopes: &[Scope::Agent],
        read: handoff,
    },
    ResourceTemplate {
        template: "execution://{id}",
        name: "execution",
        description: "An execution log, with the path of its log file.",
        scheme: "execution://",
        concerns: |_| vec![],
        scopes: &[Scope::Runner],
        read: get_execution_log::execution_log,
    },
    ResourceTemplate {
        template: "executions://{taskId}",
        name: "executions",
        description: "The execution logs of a task, newest first.",
        scheme: "executions://",
        concerns: |id| vec![Concern::Task(id)],
        scopes: &[Scope::Runner],
        read: executions,
    },
];

/// The maximum number of execution logs in `executions://{taskId}`.
const MAX_EXECUTIONS: i64 = 100;

/// The number of resources on a page.
const PAGE_SIZE: usize = 100;

/// A resource that exists.
pub struct Resource {
    /// The URI to read it at.
    pub uri: String,
    /// The name shown to people.
    pub name: String,
}

/// The collections in listing order, with their URI schemes.
const COLLECTIONS: [(Collection, &str); 3] =
    [(Collection::Agents, "agent://"), (Collection::Projects, "project://"), (Collection::Tasks, "task://")];

impl ResourceTemplate {
    /// Whether this caller may read these resources.
    pub fn is_for(&self, caller: &Caller) -> bool {
        caller.has_any_scope(self.scopes)
    }

    /// The template that a URI matches, and the id in the URI.
    fn matching(uri: &str) -> Option<(&'static Self, String)> {
        let found = RESOURCE_TEMPLATES.iter().find_map(|resource| Some((resource, uri.strip_prefix(resource.scheme)?)));
        let (resource, id) = found.filter(|(_, id)| !id.is_empty())?;
        let id = percent_encoding::percent_decode_str(id).decode_utf8().ok()?.into_owned();
        (!id.contains('\0')).then_some((resource, id))
    }
}

impl Coordinator {
    /// The content of a resource, as JSON; `None` if it does not exist or this caller may not read it.
    ///
    /// # Errors
    /// [`Error::Store`] if the database cannot be read.
    pub async fn read_resource(self: &Arc<Self>, uri: &str, caller: &Caller) -> Result<Option<Value>, Error> {
        let Some((resource, id)) = ResourceTemplate::matching(uri).filter(|(resource, _)| resource.is_for(caller))
        else {
            return Ok(None);
        };
        let reader = caller.clone();
        let read = move |work: &mut Work<'_>| {
            reader.check(&(resource.concerns)(&id), work)?;
            (resource.read)(work, &id)
        };
        match self.store.read(self.call_limit.admit(caller, read).await).await {
            Ok(value) => Ok(Some(truncation::truncate_list(value, 0))),
            Err(Error::Refused(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// A page of resources and the cursor of the next page; `None` if the cursor was not issued by this server.
    /// Without the scope `agent` the list is empty.
    ///
    /// # Errors
    /// [`Error::Store`] if the database cannot be read.
    pub async fn list_resources(
        &self,
        cursor: Option<&str>,
        caller: &Caller,
    ) -> Result<Option<(Vec<Resource>, Option<String>)>, Error> {
        let start = cursor.map_or(Some((0, String::new())), parse_cursor);
        let (Some((first, after)), true) = (start, caller.has_any_scope(&[Scope::Agent])) else {
            return Ok(cursor.is_none().then(|| (Vec::new(), None)));
        };
        let agent = caller.agent().map(str::to_owned);
        let page = move |work: &mut Work<'_>| page(work, first, &after, agent.as_deref()).map(Some);
        self.store.read(self.call_limit.admit(caller, page).await).await
    }
}

/// The collection and the id to continue after: `1:prj_a` continues after project `prj_a`.
fn parse_cursor(cursor: &str) -> Option<(usize, String)> {
    let (first, after) = cursor.split_once(':')?;
    let first = first.parse().ok().filter(|first| *first < COLLECTIONS.len())?;
    (!after.contains('\0')).then(|| (first, after.to_owned()))
}

fn page(
    work: &mut Work<'_>,
    first: usize,
    after: &str,
    agent: Option<&str>,
) -> Result<(Vec<Resource>, Option<String>), Error> {
    let mut resources = Vec::new();
    for (index, (collection, scheme)) in COLLECTIONS.into_iter().enumerate().skip(first) {
        let after = if index == first { after } else { "" };
        let room = PAGE_SIZE - resources.len();
        let found = work.names_after(collection, after, i64::try_from(room).unwrap_or_default(), agent)?;
        let cursor = found.last().map(|(id, _)| format!("{index}:{id}"));
        resources
            .extend(found.into_iter().map(|(id, name)| Resource { uri: format!("{scheme}{}", encode(&id)), name }));
        if resources.len() >= PAGE_SIZE {
            return Ok((resources, cursor));
        }
    }
    Ok((resources, None))
}

fn encode(id: &str) -> String {
    percent_encoding::utf8_percent_encode(id, ENCODED).to_string()
}

/// Everything except RFC 3986's unreserved characters.
const ENCODED: &percent_encoding::AsciiSet =
    &percent_encoding::NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

fn agent(work: &mut Work<'_>, id: &str) -> Result<Value, Error> {
    find_agent(work, id).map(|agent| json!(agent))
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
    Ok(json!({"task_id": task.id, "executions": work.executions(Some(&task.id), None, MAX_EXECUTIONS)?}))
}
