//! `n8n-lens coordinate admin …`: each command calls the administration tool of the same name.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};

use super::{Error, failed, print_value};
use crate::coordination::admin::{agent, assignment, backup, doctor, import, passkey, project, session, task, token};
use crate::coordination::{Caller, Coordinator, Tool};

/// The administration commands; each prints one JSON object.
#[derive(Subcommand)]
pub(super) enum Admin {
    /// Projects
    #[command(subcommand)]
    Project(Project),
    /// Agents
    #[command(subcommand)]
    Agent(Agent),
    /// Assign an agent to a project
    Assign(Pair),
    /// Remove an agent from a project and unassign its open tasks
    Unassign(Pair),
    /// Agents' passkeys
    #[command(subcommand)]
    Passkey(Passkey),
    /// Tasks
    #[command(subcommand)]
    Task(Task),
    /// Sessions
    #[command(subcommand)]
    Session(Session),
    /// Bearer tokens of HTTP clients
    #[command(subcommand)]
    Token(Token),
    /// Add or update projects, agents, assignments and tasks from a JSON file, all or nothing
    Import {
        /// The file, or - for standard input
        file: PathBuf,
    },
    /// Copy the database to a new file, consistently, while it is in use (SQLite)
    Backup {
        /// The path of the new file
        file: String,
    },
    /// Check the database; exit code 1 if there are problems
    Doctor,
}

#[derive(Subcommand)]
pub(super) enum Project {
    /// Add a project
    Add {
        /// Its id (default: a new one)
        #[arg(long)]
        id: Option<String>,
        /// Its name
        #[arg(long)]
        name: String,
        /// The folder its agents are started in
        #[arg(long, value_name = "DIR")]
        working_directory: String,
        /// What it is about
        #[arg(long, value_name = "TEXT")]
        description: Option<String>,
    },
    /// List all projects
    List,
    /// Archive a project, or reactivate it: active or archived
    SetStatus(SetStatus),
}

#[derive(Subcommand)]
pub(super) enum Agent {
    /// Add an agent
    Add(NewAgent),
    /// List all agents
    List,
    /// Set an agent's status: active, inactive, suspended or archived
    SetStatus(SetStatus),
}

#[derive(Args)]
pub(super) struct NewAgent {
    /// Its id (default: a new one)
    #[arg(long)]
    id: Option<String>,
    /// Its name
    #[arg(long)]
    name: String,
    /// The type of AI that a Runner starts for it (default: claude)
    #[arg(long, value_name = "TYPE")]
    ai_type: Option<String>,
    /// Its role
    #[arg(long)]
    role: Option<String>,
    /// Something it is good at; can be repeated
    #[arg(long = "capability", value_name = "TEXT")]
    capabilities: Vec<String>,
    /// The system prompt it gets when it authenticates
    #[arg(long, value_name = "TEXT", conflicts_with = "system_prompt_file")]
    system_prompt: Option<String>,
    /// A file with the system prompt
    #[arg(long, value_name = "FILE")]
    system_prompt_file: Option<PathBuf>,
    /// ai (default) or human
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,
}

#[derive(Args)]
pub(super) struct SetStatus {
    /// Its id
    id: String,
    /// Its new status
    status: String,
}

#[derive(Args)]
pub(super) struct Pair {
    /// The project's id
    #[arg(long)]
    project: String,
    /// The agent's id
    #[arg(long)]
    agent: String,
}

#[derive(Subcommand)]
pub(super) enum Passkey {
    /// Give an agent its first passkey; it is printed only once
    Issue(NewPasskey),
    /// Give an agent a new passkey; the previous one stays valid until the next rotation
    Rotate(NewPasskey),
    /// Revoke all passkeys of an agent
    Revoke {
        /// The agent's id
        #[arg(long)]
        agent: String,
    },
}

#[derive(Args)]
pub(super) struct NewPasskey {
    /// The agent's id
    #[arg(long)]
    agent: String,
    /// Read the passkey from standard input (default: a random one)
    #[arg(long)]
    stdin: bool,
}

#[derive(Subcommand)]
pub(super) enum Task {
    /// Add a task
    Add(NewTask),
    /// List the tasks of a project
    List {
        /// The project's id
        #[arg(long)]
        project: String,
    },
    /// Move a task to another status
    SetStatus(SetStatus),
}

#[derive(Args)]
pub(super) struct NewTask {
    /// Its id (default: a new one)
    #[arg(long)]
    id: Option<String>,
    /// The project's id
    #[arg(long)]
    project: String,
    /// Its title
    #[arg(long)]
    title: String,
    /// What to do
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// backlog (default), todo or in_progress
    #[arg(long)]
    status: Option<String>,
    /// urgent, high, medium (default) or low
    #[arg(long)]
    priority: Option<String>,
    /// The agent to assign it to
    #[arg(long, value_name = "AGENT")]
    assignee: Option<String>,
}

#[derive(Subcommand)]
pub(super) enum Session {
    /// List the open sessions that have not expired
    List,
    /// End the session of an agent in a project
    Revoke(Pair),
}

#[derive(Subcommand)]
pub(super) enum Token {
    /// Create a bearer token for an HTTP client; it is printed only once
    Issue {
        /// runner, agent or admin
        #[arg(long)]
        scope: String,
        /// The agent's id; required for scope agent
        #[arg(long)]
        agent: Option<String>,
    },
    /// List the tokens that are not revoked
    List,
    /// Revoke a token
    Revoke {
        /// Its id
        id: String,
    },
}

impl Admin {
    /// Whether the command makes sense on a database that does not exist yet, and so creates it.
    pub(super) fn can_create_database(&self) -> bool {
        matches!(
            self,
            Self::Project(Project::Add { .. })
                | Self::Agent(Agent::Add(_))
                | Self::Token(Token::Issue { .. })
                | Self::Import { .. }
        )
    }

    pub(super) async fn run(self, coordinator: &Arc<Coordinator>, json: bool) -> Result<(), Error> {
        let (tool, values) = self.tool_call()?;
        let mut answer = coordinator.call(tool, as_arguments(values), &Caller::Local).await.map_err(failed)?;
        if let Some(answer) = answer.as_object_mut() {
            // On the command line, the exit code says so.
            answer.shift_remove("success");
        }
        print_value(&answer, json)?;
        match answer.get("ok") {
            Some(Value::Bool(false)) => {
                Err(Error::Input("The database has problems; the output lists them.".to_owned()))
            }
            _ => Ok(()),
        }
    }

    fn tool_call(self) -> Result<ToolCall, Error> {
        Ok(match self {
            Self::Project(command) => command.tool_call(),
            Self::Agent(command) => command.tool_call()?,
            Self::Assign(Pair { project, agent }) => (&assignment::ASSIGN, json!({"project": project, "agent": agent})),
            Self::Unassign(Pair { project, agent }) => {
                (&assignment::UNASSIGN, json!({"project": project, "agent": agent}))
            }
            Self::Passkey(command) => command.tool_call()?,
            Self::Task(command) => command.tool_call(),
            Self::Session(Session::List) => (&session::LIST, json!({})),
            Self::Session(Session::Revoke(Pair { project, agent })) => {
                (&session::REVOKE, json!({"project": project, "agent": agent}))
            }
            Self::Token(Token::Issue { scope, agent }) => (&token::ISSUE, json!({"scope": scope, "agent": agent})),
            Self::Token(Token::List) => (&token::LIST, json!({})),
            Self::Token(Token::Revoke { id }) => (&token::REVOKE, json!({ "id": id })),
            Self::Import { file } => (&import::TOOL, json!({"data": read_json(&file)?})),
            Self::Backup { file } => (&backup::TOOL, json!({ "file": file })),
            Self::Doctor => (&doctor::TOOL, json!({})),
        })
    }
}

/// The tool that a command calls, and its arguments; `null` stands for one that is absent.
type ToolCall = (&'static Tool, Value);

impl Project {
    fn tool_call(self) -> ToolCall {
        match self {
            Self::Add { id, name, working_directory, description } => {
                let arguments = json!({
                    "id": id,
                    "name": name,
                    "working_directory": working_directory,
                    "description": description,
                });
                (&project::ADD, arguments)
            }
            Self::List => (&project::LIST, json!({})),
            Self::SetStatus(SetStatus { id, status }) => (&project::SET_STATUS, json!({"id": id, "status": status})),
        }
    }
}

impl Agent {
    fn tool_call(self) -> Result<ToolCall, Error> {
        Ok(match self {
            Self::Add(new) => {
                let from_file = new.system_prompt_file.as_deref().map(read).transpose()?;
                let arguments = json!({
                    "id": new.id,
                    "name": new.name,
                    "ai_type": new.ai_type,
                    "role": new.role,
                    "capabilities": new.capabilities,
                    "system_prompt": new.system_prompt.or(from_file),
                    "type": new.kind,
                });
                (&agent::ADD, arguments)
            }
            Self::List => (&agent::LIST, json!({})),
            Self::SetStatus(SetStatus { id, status }) => (&agent::SET_STATUS, json!({"id": id, "status": status})),
        })
    }
}

impl Passkey {
    fn tool_call(self) -> Result<ToolCall, Error> {
        Ok(match self {
            Self::Issue(new) => (&passkey::ISSUE, new.arguments()?),
            Self::Rotate(new) => (&passkey::ROTATE, new.arguments()?),
            Self::Revoke { agent } => (&passkey::REVOKE, json!({ "agent": agent })),
        })
    }
}

impl NewPasskey {
    fn arguments(self) -> Result<Value, Error> {
        let passkey = self.stdin.then(|| read(Path::new("-"))).transpose()?;
        let passkey = passkey.map(|line| line.trim_end_matches(['\r', '\n']).to_owned());
        Ok(json!({"agent": self.agent, "passkey": passkey}))
    }
}

impl Task {
    fn tool_call(self) -> ToolCall {
        match self {
            Self::Add(new) => {
                let arguments = json!({
                    "id": new.id,
                    "project": new.project,
                    "title": new.title,
                    "description": new.description,
                    "status": new.status,
                    "priority": new.priority,
                    "assignee": new.assignee,
                });
                (&task::ADD, arguments)
            }
            Self::List { project } => (&task::LIST, json!({ "project": project })),
            Self::SetStatus(SetStatus { id, status }) => (&task::SET_STATUS, json!({"id": id, "status": status})),
        }
    }
}

/// The text of a file, or of standard input.
fn read(file: &Path) -> Result<String, Error> {
    let mut text = String::new();
    let read = match file.as_os_str() == "-" {
        true => std::io::stdin().read_to_string(&mut text).map(drop),
        false => std::fs::read_to_string(file).map(|read| text = read),
    };
    read.map_err(|error| Error::Input(format!("{} cannot be read: {error}.", file.display())))?;
    Ok(text)
}

fn read_json(file: &Path) -> Result<Value, Error> {
    serde_json::from_str(&read(file)?)
        .map_err(|error| Error::Input(format!("{} is not JSON: {error}.", file.display())))
}

/// The arguments that were given, as an MCP client would send them.
fn as_arguments(arguments: Value) -> Map<String, Value> {
    let Value::Object(mut arguments) = arguments else {
        return Map::new();
    };
    arguments.retain(|_, value| !value.is_null());
    arguments
}
