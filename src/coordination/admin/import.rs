//! `admin import`: adds or updates projects, agents, assignments and tasks, all or nothing. Importing the same data
//! again changes nothing.

use std::collections::HashSet;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{agent, assignment, passkey, project, task};
use crate::coordination::rules;
use crate::coordination::secret;
use crate::coordination::store::{
    Agent, AgentStatus, AgentType, Credential, Project, ProjectStatus, Task, TaskStatus, Work,
};
use crate::coordination::tool::{Handler, MAX_ADMIN_TEXT_BYTES, Tool, ToolCall, check_text};
use crate::coordination::{Caller, Coordinator, Error};
use crate::secrets::without_value;
use crate::toolkit::{ArgumentError, Effect, Object, Words, arguments};

/// `import`.
pub static TOOL: Tool = Tool {
    name: "admin_import",
    title: "Import data",
    description: "Add projects, agents, assignments and tasks, or update the descriptions of existing ones: all or \
                  nothing. Existing tasks keep their status and assignee.",
    parameters: Import::PARAMETERS,
    effect: Effect::Ensure,
    handler: Handler::call::<Import>(&[]),
};

arguments! {
    struct Import: snake_case {
        data: Object = "{\"projects\": […], \"agents\": […], \"assignments\": […], \"tasks\": […]}",
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ImportFile {
    #[serde(default)]
    projects: Vec<NewProject>,
    #[serde(default)]
    agents: Vec<NewAgent>,
    #[serde(default)]
    assignments: Vec<NewAssignment>,
    #[serde(default)]
    tasks: Vec<NewTask>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewProject {
    id: String,
    name: String,
    working_directory: String,
    description: Option<String>,
    status: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewAgent {
    id: String,
    name: String,
    ai_type: Option<String>,
    role: Option<String>,
    #[serde(default)]
    capabilities: Vec<String>,
    system_prompt: Option<String>,
    passkey: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    status: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewAssignment {
    project_id: String,
    agent_id: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewTask {
    id: String,
    project_id: String,
    title: String,
    description: Option<String>,
    status: Option<String>,
    priority: Option<String>,
    assignee_id: Option<String>,
}

impl ToolCall for Import {
    async fn run(self, coordinator: Arc<Coordinator>, _caller: Caller) -> Result<Value, Error> {
        let data = Value::Object(self.data);
        check_texts("data", &data)?;
        let data: ImportFile = serde_json::from_value(data).map_err(|error| {
            // The error would quote the value, which can be a passkey.
            Error::refused(format!("The import is invalid: {}.", without_value(&error)))
        })?;
        data.check_ids()?;
        let credentials = new_credentials(&coordinator, &data.agents).await?;
        coordinator.store.write_slowly(move |work| write(work, &data, &credentials)).await
    }
}

/// Applies the limits of the tools' text arguments to every text of the import.
fn check_texts(name: &str, value: &Value) -> Result<(), ArgumentError> {
    match value {
        Value::String(text) => check_text(name, text, MAX_ADMIN_TEXT_BYTES),
        Value::Array(values) => values.iter().try_for_each(|value| check_texts(name, value)),
        Value::Object(members) => members.iter().try_for_each(|(name, value)| check_texts(name, value)),
        _ => Ok(()),
    }
}

impl ImportFile {
    /// Refuses rows without an id, a name or a working directory, and ids that occur twice.
    fn check_ids(&self) -> Result<(), Error> {
        let projects = self.projects.iter().map(|new| [("projects", &new.id), ("name", &new.name)]);
        let agents = self.agents.iter().map(|new| [("agents", &new.id), ("name", &new.name)]);
        let tasks = self.tasks.iter().map(|new| [("tasks", &new.id), ("title", &new.title)]);
        let mut seen = HashSet::new();
        for [(kind, id), (name, text)] in projects.chain(agents).chain(tasks) {
            if id.is_empty() || text.is_empty() {
                return Err(Error::refused(format!("One of {kind} has no id, or no {name}")));
            }
            if !seen.insert((kind, id)) {
                return Err(Error::refused(format!("The id {id} occurs twice in {kind}")));
            }
        }
        match self.projects.iter().find(|new| new.working_directory.is_empty()) {
            Some(new) => Err(Error::refused(format!("Project {} has no working_directory", new.id))),
            None => Ok(()),
        }
    }
}

/// The credentials of new passkeys. Hashing is slow, so it happens outside the transaction.
async fn new_credentials(
    coordinator: &Arc<Coordinator>,
    agents: &[NewAgent],
) -> Result<Vec<(String, Credential)>, Error> {
    let mut new = Vec::new();
    for agent in agents {
        let Some(passkey) = agent.passkey.clone().filter(|passkey| !passkey.is_empty()) else {
            continue;
        };
        let id = agent.id.clone();
        // A revoked passkey stays revoked, however often the file is imported.
        let known = coordinator.store.read(move |work| work.all_credentials(&id)).await?;
        if !known.is_empty() && coordinator.passkeys.is_one_of(passkey.clone(), known).await? {
            continue;
        }
        let passkey_phc = coordinator.passkeys.hash(passkey).await?;
        new.push((agent.id.clone(), Credential { id: secret::id("crd_"), passkey_phc }));
    }
    Ok(new)
}

fn write(work: &mut Work<'_>, data: &ImportFile, credentials: &[(String, Credential)]) -> Result<Value, Error> {
    let mut changed = [0u64; 5];
    for new in &data.projects {
        changed[0] += u64::from(new.upsert(work)?);
    }
    for new in &data.agents {
        changed[1] += u64::from(new.upsert(work)?);
    }
    for (agent, credential) in credentials {
        passkey::add(work, agent, credential)?;
        changed[2] += 1;
    }
    for NewAssignment { project_id, agent_id } in &data.assignments {
        changed[3] += u64::from(assignment::add_to_project(work, project_id, agent_id)?);
    }
    for new in &data.tasks {
        changed[4] += u64::from(new.upsert(work)?);
    }
    let [projects, agents, passkeys, assignments, tasks] = changed;
    Ok(json!({"success": true, "changed": {
        "projects": projects,
        "agents": agents,
        "passkeys": passkeys,
        "assignments": assignments,
        "tasks": tasks,
    }}))
}

/// The value that an optional word stands for.
fn parse_optional<T: Words>(word: Option<&String>, what: &str) -> Result<Option<T>, Error> {
    let Some(word) = word else {
        return Ok(None);
    };
    let invalid = || Error::refused(format!("Invalid {what}: {word}; it must be one of {}", T::WORDS.join(", ")));
    T::named(word).map(Some).ok_or_else(invalid)
}

impl NewProject {
    fn upsert(&self, work: &mut Work<'_>) -> Result<bool, Error> {
        work.lock_project(&self.id)?;
        let (now, existing) = (work.now(), work.project(&self.id)?);
        let status = parse_optional(self.status.as_ref(), "project status")?;
        let status = status.or(existing.as_ref().map(|existing| existing.status)).unwrap_or(ProjectStatus::Active);
        let project = Project {
            id: self.id.clone(),
            name: self.name.clone(),
            description: self.description.clone(),
            status,
            working_directory: self.working_directory.clone(),
            created_at: existing.as_ref().map_or(now, |existing| existing.created_at),
            updated_at: existing.as_ref().map_or(now, |existing| existing.updated_at),
        };
        if existing.is_some_and(|existing| json!(existing) == json!(project)) {
            return Ok(false);
        }
        let project = Project { updated_at: now, ..project };
        if !work.add_project(&project)? {
            work.change_project(&project)?;
        }
        project::record(work, &project, "imported")?;
        Ok(true)
    }
}

impl NewAgent {
    fn upsert(&self, work: &mut Work<'_>) -> Result<bool, Error> {
        work.lock_agent(&self.id)?;
        let (now, existing) = (work.now(), work.agent(&self.id)?);
        let status = parse_optional(self.status.as_ref(), "agent status")?;
        let kind = parse_optional(self.kind.as_ref(), "agent type")?;
        let agent = Agent {
            id: self.id.clone(),
            name: self.name.clone(),
            role: self.role.clone(),
            capabilities: self.capabilities.clone(),
            kind: kind.or(existing.as_ref().map(|existing| existing.kind)).unwrap_or(AgentType::Ai),
            ai_type: self
                .ai_type
                .clone()
                .or(existing.as_ref().map(|existing| existing.ai_type.clone()))
                .unwrap_or_else(|| agent::DEFAULT_AI_TYPE.to_owned()),
            status: status.or(existing.as_ref().map(|existing| existing.status)).unwrap_or(AgentStatus::Active),
            created_at: existing.as_ref().map_or(now, |existing| existing.created_at),
            updated_at: now,
            system_prompt: self.system_prompt.clone(),
        };
        let is_same =
            |existing: &Agent| json!(existing) == json!(agent) && existing.system_prompt == agent.system_prompt;
        if existing.as_ref().is_some_and(is_same) {
            return Ok(false);
        }
        if !work.add_agent(&agent)? {
            work.change_agent(&agent)?;
        }
        agent::record(work, &agent, "imported")?;
        Ok(true)
    }
}

impl NewTask {
    fn upsert(&self, work: &mut Work<'_>) -> Result<bool, Error> {
        let status = parse_optional(self.status.as_ref(), "status")?;
        let priority = parse_optional(self.priority.as_ref(), "priority")?;
        let Some(existing) = work.task_for_update(&self.id)? else {
            let new = task::new(work, self.id.clone(), self.project_id.clone(), self.title.clone(), status, priority);
            let completed_at = (new.status == TaskStatus::Done).then(|| work.now());
            let new = Task { description: self.description.clone(), completed_at, ..new };
            task::create(work, new, self.assignee_id.clone())?;
            return Ok(true);
        };
        if existing.project_id != self.project_id {
            return Err(Error::refused(format!("Task {} belongs to project {}", existing.id, existing.project_id)));
        }
        let described = Task {
            title: self.title.clone(),
            description: self.description.clone(),
            priority: priority.unwrap_or(existing.priority),
            ..existing.clone()
        };
        if json!(described) == json!(existing) {
            return Ok(false);
        }
        let described = Task { updated_at: work.now(), ..described };
        let (before, after) = (json!(existing), json!(described));
        rules::task::change(work, &described, "imported", before, after, rules::task::Actor::default())?;
        Ok(true)
    }
}
