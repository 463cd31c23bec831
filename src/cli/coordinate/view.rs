//! The status as tables.

use anstyle::Style;
use comfy_table::Cell;

use crate::cli::render::{id_cell, status_cell};
use crate::cli::table::table;
use crate::cli::terminal::{Styled, plain};
use crate::coordination::status::{ProjectView, Status};
use crate::toolkit::Words;

/// The whole status.
pub(super) fn status(status: &Status) -> Styled {
    let mut parts: Vec<_> = status.projects.iter().map(project).collect();
    if parts.is_empty() {
        parts.push("No projects yet. Add one with: n8n-lens coordinate --db … admin project add".to_owned());
    }
    if !status.executions.is_empty() {
        parts.push(executions(status));
    }
    Styled(parts.join("\n\n"))
}

fn project(status: &ProjectView) -> String {
    let bold = Style::new().bold();
    let project = &status.project;
    let tasks: Vec<_> = status.tasks.iter().map(|(status, count)| format!("{count} {status}")).collect();
    let agents = status.agents.iter().map(|agent| {
        vec![
            Cell::new(plain(&format!("{} ({})", agent.agent_name, agent.agent_id))),
            Cell::new(agent.running_since.map_or_else(|| "-".to_owned(), |time| time.to_string())),
            id_cell(agent.task_id.as_deref().unwrap_or_default()),
            Cell::new(agent.last_seen_at.map(|time| time.to_string()).unwrap_or_default()),
        ]
    });
    let table = table(["agent", "running since", "task", "last seen"], agents, &[0, 2]);
    let tasks = if tasks.is_empty() { "no tasks".to_owned() } else { tasks.join(", ") };
    format!(
        "{bold}{} ({}){bold:#} {}\n{}\n{tasks}\n{table}",
        plain(&project.name),
        plain(&project.id),
        project.status.word(),
        plain(&project.working_directory)
    )
}

fn executions(status: &Status) -> String {
    let executions = status.executions.iter().map(|execution| {
        vec![
            id_cell(&execution.id),
            Cell::new(plain(&execution.agent_id)),
            id_cell(&execution.task_id),
            status_cell(execution.status.word()),
            Cell::new(execution.started_at),
            Cell::new(execution.duration_seconds.map(|seconds| format!("{seconds:.1}")).unwrap_or_default()),
        ]
    });
    table(["execution", "agent", "task", "status", "started", "seconds"], executions, &[0, 1, 2])
}
