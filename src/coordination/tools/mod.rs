//! The tools, one file each, in the order of the contract. Tools for Runners that are not in it are optional.

pub mod accept_handoff;
pub mod assign_task;
pub mod authenticate;
pub mod create_handoff;
pub mod get_agent_profile;
pub mod get_execution_log;
pub mod get_my_task;
pub mod get_pending_handoffs;
pub mod get_pending_tasks;
pub mod get_project;
pub mod get_task;
pub mod get_task_context;
pub mod health_check;
pub mod list_active_projects_with_agents;
pub mod list_agents;
pub mod list_execution_logs;
pub mod list_projects;
pub mod list_tasks;
pub mod logout;
pub mod report_completed;
pub mod report_execution_complete;
pub mod report_execution_start;
pub mod report_process_exit;
pub mod save_context;
pub mod should_start;
pub mod update_task_status;

use super::tool::Tool;

/// The tools that are always available.
pub static TOOLS: [&Tool; 25] = [
    &health_check::TOOL,
    &list_active_projects_with_agents::TOOL,
    &should_start::TOOL,
    &authenticate::TOOL,
    &logout::TOOL,
    &get_my_task::TOOL,
    &report_completed::TOOL,
    &list_execution_logs::TOOL,
    &get_execution_log::TOOL,
    &get_agent_profile::TOOL,
    &list_agents::TOOL,
    &list_projects::TOOL,
    &get_project::TOOL,
    &list_tasks::TOOL,
    &get_task::TOOL,
    &update_task_status::TOOL,
    &assign_task::TOOL,
    &save_context::TOOL,
    &get_task_context::TOOL,
    &create_handoff::TOOL,
    &accept_handoff::TOOL,
    &get_pending_handoffs::TOOL,
    &get_pending_tasks::TOOL,
    &report_execution_start::TOOL,
    &report_execution_complete::TOOL,
];

/// Optional tools for Runners.
pub static RUNNER_TOOLS: [&Tool; 1] = [&report_process_exit::TOOL];

/// Retired tools, and their replacements.
pub const RETIRED: [(&str, &str); 6] = [
    ("get_my_profile", "Use get_agent_profile with your agent_id."),
    ("get_my_tasks", "Use list_tasks with assignee_id, or get_pending_tasks."),
    ("start_session", "Use authenticate."),
    ("end_session", "Use logout."),
    ("get_my_sessions", "It has no replacement."),
    ("list_managed_agents", "Use list_active_projects_with_agents."),
];

/// The descriptions of arguments that several tools share.
const AGENT_ID: &str = "The agent's id.";
const PROJECT_ID: &str = "The project's id.";
pub(super) const TASK_ID: &str = "The task's id.";
const SESSION_TOKEN: &str = "The session_token returned by authenticate.";
const OFFSET: &str = "How many entries to skip: the next_offset of a truncated list.";
const STATUSES: &str = "backlog, todo, in_progress, blocked, done or cancelled.";
