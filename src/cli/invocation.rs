//! Commands made from tools: each calls its tool as any other client does, and prints the answer.

use std::path::Path;
use std::sync::Arc;

use clap::error::ErrorKind;
use clap::{ArgMatches, Command, FromArgMatches, Subcommand};
use serde_json::{Map, Value};

use super::commands::COMMANDS;
use super::terminal::{for_people, print_json, print_styled};
use super::tool_command::{Reads, ShortDocument, ToolCommand};
use super::words::{TERMINAL, reword};
use super::{Error, context, progress, render, source};
use crate::config::{ReadingOptions, StoreOptions};
use crate::platform::shutdown_signal;
use crate::toolkit::kebab_case;
use crate::tools::executions::{SavedExecution, Source};
use crate::tools::view::shell::quoted;
use crate::tools::workflows::is_workflow_file;
use crate::tools::{self, Context};
use crate::workflow::file::Files;

/// The message of a command that is interrupted before it has an answer.
const INTERRUPTED: &str = "Interrupted. A write that was sent may have reached n8n: look before you repeat it. Copies of a proof are removed.";

/// A command with the arguments passed to it.
pub(super) struct Invocation {
    command: &'static ToolCommand,
    arguments: ArgMatches,
    reading: ReadingOptions,
}

impl Subcommand for Invocation {
    fn augment_subcommands(command: Command) -> Command {
        command.subcommands(COMMANDS.iter().map(ToolCommand::command))
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        COMMANDS.iter().any(|command| command.name == name)
    }
}

impl FromArgMatches for Invocation {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let named = matches.subcommand().and_then(|(name, arguments)| {
            let command = COMMANDS.iter().find(|command| command.name == name)?;
            Some((command, arguments))
        });
        let (command, arguments) = named.ok_or_else(|| clap::Error::new(ErrorKind::InvalidSubcommand))?;
        Ok(Self { command, arguments: arguments.clone(), reading: command.reading(arguments)? })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Invocation {
    /// Calls the tool, and prints its answer: for people as a table, otherwise unchanged.
    ///
    /// # Errors
    /// The arguments cannot be used, the call fails, or standard output cannot be written.
    pub(super) async fn run(self) -> Result<(), Error> {
        let Self { command, arguments, reading } = self;
        let is_json = arguments.get_flag("json") || command.raw.is_some_and(|raw| arguments.get_flag(raw));
        let is_for_people = for_people(is_json);
        let mut values = command.spelling.values(command.tool.parameters, &arguments);
        let store = &reading.sources.store;
        let mut without_store = command.of_store.iter().filter(|_| !store.is_named());
        if let Some(name) = without_store.find(|name| values.contains_key(**name)) {
            let option = kebab_case(name);
            return Err(Error::Usage(format!(
                "--{option} works only with --store: name n8n's store, or leave --{option} out."
            )));
        }
        if is_for_people {
            values.retain(|name, _| !command.of_json.contains(&name.as_str()));
        }
        for name in command.documents {
            let named = values.get(*name).and_then(Value::as_str).map(str::to_owned);
            if let Some(named) = named {
                values.insert((*name).to_owned(), document(&named, command.short_document)?);
            }
        }
        let files = workflow_files(command, &mut values)?;
        let named = values.get("id").and_then(Value::as_str).map(str::to_owned);
        let saved = saved(command, &mut values, store)?;
        let names = command.executions().filter(|name| values.contains_key(*name)).count();
        let is_offline = names > 0 || files.is_some();
        let source = match is_offline && names == saved.len() {
            true => Source { api: None, store: None, saved: Default::default() },
            false => source::of(&reading)?,
        };
        let waits = names > saved.len() || command.reads == Reads::Api;
        let (progress, bar) = if waits { progress::bar() } else { Default::default() };
        let file = named.filter(|_| !saved.is_empty());
        let source = Source { saved: saved.into_iter().collect(), ..source };
        let context = context(&reading, source);
        let context = Arc::new(match files {
            Some(files) => Context { files, ..context },
            None => context,
        });
        let tool = command.tool_for_people.filter(|_| is_for_people).unwrap_or(command.tool);
        let call = bar.around(tool.run(context, values, progress));
        let text = match tool.reads_only() {
            true => call.await,
            // Anything begun in n8n is undone before the process ends.
            false => tokio::select! {
                called = call => called,
                () = shutdown_signal() => return Err(Error::Input(INTERRUPTED.to_owned())),
            },
        };
        let text = text.map_err(|error| failure(command, error))?;
        let mut answer: Value = serde_json::from_str(&text).unwrap_or_default();
        if is_for_people {
            if let (Some(file), Some(next)) = (file, answer["next"].as_str()) {
                answer["next"] = next.replacen("FILE", &shell_word(&file), 1).into();
            }
            reword(&mut answer);
            let shown = (command.render)(&answer);
            print_styled(&if names > 0 { render::sourced(shown, &answer) } else { shown })?;
        } else {
            print_json(&text)?;
        }
        (command.fails)(&answer).map_or(Ok(()), |why| Err(Error::Input(why.to_owned())))
    }
}

/// Why a call failed, in the words of the command line.
fn failure(command: &ToolCommand, error: tools::Error) -> Error {
    let refusal = match &error {
        tools::Error::Argument(error) => command.spelling.refusal(command.tool.parameters, error),
        _ => None,
    };
    refusal.map_or(Error::Tool(error), |refusal| Error::Usage(TERMINAL.tell(&refusal).into_owned()))
}

/// A name for a shell, in quotes if it needs any.
fn shell_word(name: &str) -> String {
    let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || "_./-".contains(c));
    if is_plain { name.to_owned() } else { quoted(name) }
}

/// A JSON document from a file, or from standard input, or in its short form.
fn document(named: &str, short: Option<ShortDocument>) -> Result<Value, Error> {
    if let Some((form, read)) = short.filter(|_| named.contains('=') && !Path::new(named).exists()) {
        return read(named).ok_or_else(|| Error::Usage(format!("'{named}' is neither a file nor {form}.")));
    }
    let read = match named {
        "-" => std::io::read_to_string(std::io::stdin()),
        file => std::fs::read_to_string(file),
    };
    let text = read.map_err(|error| Error::Input(format!("'{named}' cannot be read: {error}.")))?;
    // Some editors on Windows begin a file with a byte order mark.
    let text = text.trim_start_matches('\u{feff}');
    serde_json::from_str(text).map_err(|error| Error::Usage(format!("'{named}' is not JSON: {error}.")))
}

/// The folder of the workflow that a command names, if that is a file, which may be anywhere.
fn workflow_files(command: &ToolCommand, values: &mut Map<String, Value>) -> Result<Option<Files>, Error> {
    let named = command.workflow.and_then(|name| Some((name, values.get(name)?.as_str()?.to_owned())));
    let Some((name, named)) = named.filter(|(_, named)| is_workflow_file(named)) else { return Ok(None) };
    let path =
        std::path::absolute(&named).map_err(|error| Error::Input(format!("'{named}' cannot be read: {error}.")))?;
    let files = Files::below(path.parent().unwrap_or(&path)).map_err(Error::Input)?;
    values.insert(name.to_owned(), path.to_string_lossy().into());
    Ok(Some(files))
}

/// Takes the executions that are not in n8n out of the arguments, and replaces them with ids that n8n never assigns.
fn saved(
    command: &ToolCommand,
    values: &mut Map<String, Value>,
    store: &StoreOptions,
) -> Result<Vec<(String, SavedExecution)>, Error> {
    let mut saved = Vec::new();
    for name in command.executions() {
        let named = values.get(name).and_then(Value::as_str);
        if let Some(execution) = named.and_then(|named| source::saved(named, store)) {
            let id = "0".repeat(saved.len() + 1);
            values.insert(name.to_owned(), id.as_str().into());
            saved.push((id, execution));
        }
    }
    match saved.iter().filter(|(_, execution)| execution.is_read_once()).count() {
        0 | 1 => Ok(saved),
        _ => Err(Error::Usage(
            "Only one execution can be read from standard input: save the other one to a file and pass the file."
                .to_owned(),
        )),
    }
}
