//! `n8n-lens coordinate admin …`: each command is made from the administration tool of the same name (`project set-status` from
//! `admin_project_set_status`) and calls it.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use clap::error::ErrorKind;
use clap::{Arg, ArgMatches, Command, FromArgMatches, Subcommand};
use serde_json::{Map, Value};

use super::{Error, failed, print_value};
use crate::cli::spelling::Spelling;
use crate::coordination::admin::TOOLS;
use crate::coordination::{self, Caller, Coordinator, Tool};
use crate::toolkit::Kind;

/// The command groups, each with its description.
const GROUPS: [(&str, &str); 6] = [
    ("project", "Projects"),
    ("agent", "Agents"),
    ("passkey", "Agents' passkeys"),
    ("task", "Tasks"),
    ("session", "Sessions"),
    ("token", "Bearer tokens of HTTP clients"),
];

/// The option that reads the parameter `system_prompt` from a file.
const SYSTEM_PROMPT_FILE: &str = "system-prompt-file";

/// An administration command with the arguments passed to it; it prints one JSON object.
pub(super) struct Admin {
    tool: &'static Tool,
    arguments: ArgMatches,
}

impl Subcommand for Admin {
    fn augment_subcommands(command: Command) -> Command {
        let of = |group| TOOLS.iter().filter(move |tool| words(tool).0 == group).map(|tool| self::command(tool));
        let groups = GROUPS.iter().map(|(name, about)| {
            let group = Command::new(*name).about(*about).subcommands(of(Some(*name)));
            group.subcommand_required(true).arg_required_else_help(true)
        });
        command.subcommands(groups).subcommands(of(None))
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        TOOLS.iter().map(|tool| words(tool)).any(|(group, command)| group.unwrap_or(&command) == name)
    }
}

impl FromArgMatches for Admin {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let called = matches.subcommand().map(|(first, arguments)| match arguments.subcommand() {
            Some((second, arguments)) => ((Some(first), second.to_owned()), arguments),
            None => ((None, first.to_owned()), arguments),
        });
        let found = called.and_then(|(called, arguments)| {
            let tool = TOOLS.iter().find(|tool| words(tool) == called)?;
            Some(Self { tool, arguments: arguments.clone() })
        });
        found.ok_or_else(|| clap::Error::new(ErrorKind::InvalidSubcommand))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Admin {
    /// Whether the command makes sense on a database that does not exist yet, and so creates it.
    pub(super) fn can_create_database(&self) -> bool {
        matches!(self.tool.name, "admin_project_add" | "admin_agent_add" | "admin_token_issue" | "admin_import")
    }

    pub(super) async fn run(self, coordinator: &Arc<Coordinator>, json: bool) -> Result<(), Error> {
        let values = self.values()?;
        let called = coordinator.call(self.tool, values, &Caller::Local).await;
        let mut answer = called.map_err(|error| self.failure(error))?;
        if let Some(answer) = answer.as_object_mut() {
            // On the command line, the exit code reports success.
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

    /// Why the call failed, in the words of the command line.
    fn failure(&self, error: coordination::Error) -> Error {
        let refusal = match &error {
            coordination::Error::Argument(error) => spelling(self.tool).refusal(self.tool.parameters, error),
            _ => None,
        };
        refusal.map_or_else(|| failed(error), Error::Usage)
    }

    /// The arguments of the call, including the contents of files and standard input.
    fn values(&self) -> Result<Map<String, Value>, Error> {
        let mut values = spelling(self.tool).values(self.tool.parameters, &self.arguments);
        for parameter in self.tool.parameters {
            match (&parameter.kind, values.get_mut(parameter.name)) {
                (Kind::Secret, Some(value)) => *value = read("-")?.trim_end_matches(['\r', '\n']).into(),
                (Kind::Object, Some(value)) => *value = read_json(value.as_str().unwrap_or_default())?,
                _ => {}
            }
        }
        if let Ok(Some(file)) = self.arguments.try_get_one::<String>(SYSTEM_PROMPT_FILE) {
            values.insert("system_prompt".to_owned(), read(file)?.into());
        }
        Ok(values)
    }
}

/// The words of a command: its group, if it is in one, and its own name.
fn words(tool: &Tool) -> (Option<&str>, String) {
    let name = tool.name.trim_start_matches("admin_");
    match name.split_once('_') {
        Some((group, command)) => (Some(group), command.replace('_', "-")),
        None => (None, name.to_owned()),
    }
}

fn command(tool: &Tool) -> Command {
    let spelling = spelling(tool);
    let command = Command::new(words(tool).1).about(tool.title);
    let command = command.args(tool.parameters.iter().map(|parameter| spelling.argument(parameter)));
    match tool.parameters.iter().any(|parameter| parameter.name == "system_prompt") {
        true => command.arg(
            Arg::new(SYSTEM_PROMPT_FILE)
                .long(SYSTEM_PROMPT_FILE)
                .value_name("FILE")
                .conflicts_with("system_prompt")
                .help("A file with the system prompt"),
        ),
        false => command,
    }
}

/// How a command spells its arguments: one that changes something begins with its id, one that adds something may choose it.
fn spelling(tool: &Tool) -> Spelling {
    let is_named = tool.parameters.iter().any(|parameter| parameter.name == "id" && parameter.required);
    Spelling {
        positional: if is_named { &["id", "status"] } else { &["data", "file"] },
        renamed: &[("capabilities", "capability"), ("data", "file")],
        help: &[&[
            ("capabilities", "Something it is good at; can be repeated"),
            ("data", "A JSON file with projects, agents, assignments and tasks, or - for standard input"),
            ("file", "The path of the new file"),
            ("passkey", "Read the passkey from standard input (default: a random one)"),
            ("system_prompt", "The system prompt that it receives when it authenticates"),
        ]],
        ..Spelling::OPTIONS
    }
}

/// The text of a file, or of standard input.
fn read(file: &str) -> Result<String, Error> {
    let mut text = String::new();
    let read = match file {
        "-" => std::io::stdin().read_to_string(&mut text).map(drop),
        file => std::fs::read_to_string(Path::new(file)).map(|read| text = read),
    };
    read.map_err(|error| Error::Input(format!("{file} cannot be read: {error}.")))?;
    Ok(text)
}

fn read_json(file: &str) -> Result<Value, Error> {
    serde_json::from_str(&read(file)?).map_err(|error| Error::Input(format!("{file} is not JSON: {error}.")))
}
