//! Administration: the tools of `n8n-lens coordinate admin …`, which MCP clients can also call as `admin_*`
//! if the server was started with `--admin-tools`.

pub mod agent;
pub mod assignment;
pub mod backup;
pub mod doctor;
pub mod import;
pub mod passkey;
pub mod project;
pub mod session;
pub mod task;
pub mod token;

use super::tool::Tool;

/// All administration tools.
pub static TOOLS: [&Tool; 22] = [
    &project::ADD,
    &project::LIST,
    &project::SET_STATUS,
    &agent::ADD,
    &agent::LIST,
    &agent::SET_STATUS,
    &assignment::ASSIGN,
    &assignment::UNASSIGN,
    &passkey::ISSUE,
    &passkey::ROTATE,
    &passkey::REVOKE,
    &task::ADD,
    &task::LIST,
    &task::SET_STATUS,
    &session::LIST,
    &session::REVOKE,
    &token::ISSUE,
    &token::LIST,
    &token::REVOKE,
    &import::TOOL,
    &backup::TOOL,
    &doctor::TOOL,
];

/// The descriptions of arguments that several tools share.
const ID: &str = "Its id.";
const NEW_ID: &str = "Its id (default: a new one).";
const AGENT: &str = "The agent's id.";
const PROJECT: &str = "The project's id.";
