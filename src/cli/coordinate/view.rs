//! The status as tables.

use anstyle::Style;

use crate::cli::render::table;
use crate::cli::terminal::{Styled, plain};
use crate::coordination::status::{ProjectView, Status};

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
    let mut table = table(["agent", "running since", "task", "last seen"]);
    for agent in &status.agents {
        table.add_row([
            plain(&format!("{} ({})", agent.agent_name, agent.agent_id)),
            agent.running_since.map_or_else(|| "-".to_owned(), |time| time.to_string()),
            plain(agent.task_id.as_deref().unwrap_or_default()),
            agent.last_seen_at.map(|time| time.to_string()).unwrap_or_default(),
        ]);
    }
    let tasks = if tasks.is_empty() { "no tasks".to_owned() } else { tasks.join(", ") };
    format!(
        "{bold}{} ({}){bold:#} {}\n{}\n{tasks}\n{table}",
        plain(&project.name),
        plain(&project.id),
        project.status.as_str(),
        plain(&project.working_directory)
    )
}

fn executions(status: &Status) -> String {
    let mut table = table(["execution", "agent", "task", "status", "started", "seconds"]);
    for execution in &status.executions {
        table.add_row([
            plain(&execution.id),
            plain(&execution.agent_id),
            plain(&execution.task_id),
            execution.status.as_str().to_owned(),
            execution.started_at.to_string(),
            execution.duration_seconds.map(|seconds| format!("{seconds:.1}")).unwrap_or_default(),
        ]);
    }
    table.to_string()
}
