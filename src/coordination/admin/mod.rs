//! Administration: the tools behind `n8n-lens coordinate admin …`, which MCP clients can also call as `admin_*`
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

use super::tool::{Tool, required_text};
use crate::toolkit::{Kind, Parameter};

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

const ID: Parameter = Parameter::required("id", Kind::Text, "Its id.");

const NEW_ID: Parameter = Parameter::optional("id", Kind::Text, "Its id (default: a new one).");

const AGENT: Parameter = Parameter::required("agent", Kind::Text, "The agent's id.");

const PROJECT: Parameter = Parameter::required("project", Kind::Text, "The project's id.");
