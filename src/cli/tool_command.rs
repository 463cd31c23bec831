//! A tool as a command.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use serde_json::Value;

use super::spelling::Spelling;
use super::terminal::Styled;
use crate::config::{Language, ReadingOptions, Sources};
use crate::toolkit::Kind;
use crate::tools::Tool;

/// A form in which a document can be written on the command line, and what reads it.
pub(super) type ShortDocument = (&'static str, fn(&str) -> Option<Value>);

/// A tool, and what a terminal adds to it.
pub(super) struct ToolCommand {
    /// The name of the command.
    pub(super) name: &'static str,
    /// Its short name.
    pub(super) alias: Option<&'static str>,
    /// What it asks. The parameters are its arguments; ids of executions can also be files.
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
    /// The parameter that names a workflow: an id in n8n, or a file.
    pub(super) workflow: Option<&'static str>,
    /// The parameters whose values are JSON documents, each passed as a file or as - for standard input.
    pub(super) documents: &'static [&'static str],
    /// How such a document can be written on the command line instead, and what reads it.
    pub(super) short_document: Option<ShortDocument>,
    /// Why the command fails although the tool answered.
    pub(super) fails: fn(&Value) -> Option<&'static str>,
    /// Shows an answer to people.
    pub(super) render: fn(&Value) -> Styled,
    /// The examples at the end of its help.
    pub(super) examples: &'static [&'static str],
}

impl ToolCommand {
    /// The command for the parser.
    pub(super) fn command(&self) -> Command {
        let json = Arg::new("json").long("json").action(ArgAction::SetTrue);
        let command = Command::new(self.name)
            .visible_aliases(self.alias)
            .args(self.tool.parameters.iter().map(|parameter| self.spelling.argument(parameter)))
            .args(self.spelling.shorthand_arguments())
            .arg(json.help("Print the tool's JSON on a terminal, too"));
        let command = match self.reads() {
            true => ReadingOptions::augment_args(command),
            false => Language::augment_args(Sources::augment_args(command)),
        };
        // The settings would describe themselves.
        command.about(self.about)
    }

    /// The settings that the command has.
    pub(super) fn reading(&self, arguments: &ArgMatches) -> Result<ReadingOptions, clap::Error> {
        match self.reads() {
            true => ReadingOptions::from_arg_matches(arguments),
            false => {
                Ok(ReadingOptions::lists(Sources::from_arg_matches(arguments)?, Language::from_arg_matches(arguments)?))
            }
        }
    }

    /// Whether it reads an execution, and not only a list of them.
    fn reads(&self) -> bool {
        self.executions().next().is_some()
    }

    /// The parameters that name executions.
    pub(super) fn executions(&self) -> impl Iterator<Item = &'static str> {
        let is_named = |name: &&str| {
            self.spelling.positional.contains(name) || self.spelling.renamed.contains(&(*name, "execution"))
        };
        let ids = self.tool.parameters.iter().filter(|parameter| matches!(parameter.kind, Kind::Id | Kind::IdOrFile));
        ids.map(|parameter| parameter.name).filter(is_named)
    }
}
