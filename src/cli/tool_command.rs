//! Commands made from tools: each calls its tool as any other client does, and shows the answer.

use std::sync::Arc;

use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, Subcommand};
use serde_json::{Map, Value};

use super::commands::COMMANDS;
use super::spelling::Spelling;
use super::terminal::{Styled, for_people, print_json, print_styled};
use super::{Error, context, progress, render, source};
use crate::config::{Language, Reading, Sources, StoreOptions};
use crate::toolkit::{Kind, kebab_case};
use crate::tools::Tool;
use crate::tools::executions::{SavedExecution, Source};

/// A tool, and what a terminal adds to it.
pub(super) struct ToolCommand {
    /// The name of the command.
    pub(super) name: &'static str,
    /// Its short name.
    pub(super) alias: Option<&'static str>,
    /// What it asks. The parameters are its arguments; positional ids name executions, and can also be files.
    pub(super) tool: &'static Tool,
    /// What it asks for a person instead, whose terminal shows more than an agent's budget holds.
    pub(super) tool_for_people: Option<&'static Tool>,
    /// What it does, for a person.
    pub(super) about: &'static str,
    /// How it spells its arguments.
    pub(super) spelling: Spelling,
    /// The parameters that are about JSON: an answer for people is without them.
    pub(super) of_json: &'static [&'static str],
    /// The flag with which people get JSON, too.
    pub(super) raw: Option<&'static str>,
    /// The parameters that need n8n's store.
    pub(super) of_store: &'static [&'static str],
    /// Shows an answer to people.
    pub(super) render: fn(&Value) -> Styled,
    /// The examples at the end of its help.
    pub(super) examples: &'static [&'static str],
}

/// A command with what was passed to it.
pub(super) struct Asked {
    command: &'static ToolCommand,
    arguments: ArgMatches,
    reading: Reading,
}

impl Subcommand for Asked {
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

impl FromArgMatches for Asked {
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

impl ToolCommand {
    fn command(&self) -> Command {
        let json = Arg::new("json").long("json").action(ArgAction::SetTrue);
        let command = Command::new(self.name)
            .visible_aliases(self.alias)
            .args(self.tool.parameters.iter().map(|parameter| self.spelling.argument(parameter)))
            .arg(json.help("Print the tool's JSON on a terminal, too"));
        let command = match self.reads() {
            true => Reading::augment_args(command),
            false => Language::augment_args(Sources::augment_args(command)),
        };
        // The settings would describe themselves.
        command.about(self.about)
    }

    /// The settings that the command has.
    fn reading(&self, arguments: &ArgMatches) -> Result<Reading, clap::Error> {
        match self.reads() {
            true => Reading::from_arg_matches(arguments),
            false => Ok(Reading::lists(Sources::from_arg_matches(arguments)?, Language::from_arg_matches(arguments)?)),
        }
    }

    /// Whether it reads an execution, and not only a list of them.
    fn reads(&self) -> bool {
        self.executions().next().is_some()
    }

    /// The parameters that name executions.
    fn executions(&self) -> impl Iterator<Item = &'static str> {
        let is_positional = |name: &&str| self.spelling.positional.contains(name);
        let ids = self.tool.parameters.iter().filter(|parameter| matches!(parameter.kind, Kind::Id));
        ids.map(|parameter| parameter.name).filter(is_positional)
    }
}

impl Asked {
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
        let saved = saved(command, &mut values, store)?;
        let names = command.executions().filter(|name| values.contains_key(*name)).count();
        let source = match names > 0 && names == saved.len() {
            true => Source { api: None, store: None, saved: Default::default() },
            false => source::of(&reading)?,
        };
        let (progress, bar) = if names > saved.len() { progress::bar() } else { Default::default() };
        let source = Source { saved: saved.into_iter().collect(), ..source };
        let context = Arc::new(context(&reading, source));
        let tool = command.tool_for_people.filter(|_| is_for_people).unwrap_or(command.tool);
        let answer = bar.around(tool.run(context, values, progress)).await?;
        if !is_for_people {
            return print_json(&answer).map(drop);
        }
        let answer = serde_json::from_str(&answer).unwrap_or_default();
        let shown = (command.render)(&answer);
        print_styled(&if names > 0 { render::sourced(shown, &answer) } else { shown }).map(drop)
    }
}

/// Takes the executions that are not in n8n out of the arguments, and puts ids in their places that n8n never assigns.
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
