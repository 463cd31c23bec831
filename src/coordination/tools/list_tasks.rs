//! `list_tasks`: tasks by project, status and assignee.

use serde_json::{Value, json};

use super::{OFFSET, STATUSES};
use crate::coordination::caller::Concern;
use crate::coordination::rules::{find_project, task};
use crate::coordination::store::{Scope, TaskFilter, Work};
use crate::coordination::tool::{Handler, Rule, Tool};
use crate::coordination::{Error, SessionPolicy};
use crate::toolkit::{Effect, Offset, Text, arguments};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "list_tasks",
    title: "List tasks",
    description: "List tasks, most urgent first, optionally only those of a project, with a status, or of an assignee.",
    parameters: ListTasks::PARAMETERS,
    effect: Effect::Read,
    handler: Handler::read::<ListTasks>(&[Scope::Agent]),
};

arguments! {
    struct ListTasks: snake_case {
        project_id: Option<Text> = "Only tasks of this project.",
        status: Option<Text> = STATUSES,
        assignee_id: Option<Text> = "Only tasks assigned to this agent.",
        offset: Offset = OFFSET,
    }
}

impl Rule for ListTasks {
    fn concerns(&self) -> Vec<Concern<'_>> {
        vec![match (&self.project_id, &self.assignee_id) {
            (Some(project), _) => Concern::Project(project),
            (None, Some(agent)) => Concern::Agent(agent),
            (None, None) => Concern::Everything,
        }]
    }

    fn offset(&self) -> u64 {
        self.offset
    }

    fn run(&self, work: &mut Work<'_>, _policy: &SessionPolicy) -> Result<Value, Error> {
        let (project, assignee) = (self.project_id.as_deref(), self.assignee_id.as_deref());
        if let Some(project) = project {
            find_project(work, project)?;
        }
        let status = self.status.as_deref().map(task::parse_status).transpose()?;
        let filter = TaskFilter { project, status, assignee };
        Ok(json!({"success": true, "tasks": work.tasks(&filter)?}))
    }
}
