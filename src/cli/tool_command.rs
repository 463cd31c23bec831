//! A tool as a command.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use serde_json::Value;

use super::spelling::Spelling;
use super::terminal::Styled;
use crate::config::{CachingOptions, Language, ReadingOptions, Sources};
use crate::toolkit::Kind;
use crate::tools::Tool;

/// What a command reads, which decides the settings that it has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reads {
    /// An execution, from n8n, its store, the cache or a file.
    Execution,
    /// The same, without showing its items.
    Places,
    /// Many executions, from n8n or its store.
    Executions,
    /// Only n8n's API.
    Api,
}

/// A form in which a document can be written on the command line, and what reads it.
pub(super) type ShortDocument = (&'static str, fn(&str) -> Option<Value>);

/// A tool, and the additions for a terminal.
pub(super) struct ToolCommand {
    /// The name of the command.
    pub(super) name: &'static str,
    /// Its short name.
    pub(super) alias: Option<&'static str>,
    /// The tool that it calls. Its parameters are the command's arguments; ids of executions can also be files.
    pub(super) tool: &'static Tool,
    /// The tool that it calls for people instead, whose terminal shows more than an agent's budget holds.
    pub(super) tool_for_people: Option<&'static Tool>,
    /// What it does, for a person.
    pub(super) about: &'static str,
    /// Where it reads from.
    pub(super) reads: Reads,
    /// How it spells its arguments.
    pub(super) spelling: Spelling,
    /// The parameters that only concern JSON: not used in an answer for people.
    pub(super) of_json: &'static [&'static str],
    /// The flag with which people also get JSON.
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
        let command = match self.reads {
            Reads::Execution => ReadingOptions::augment_args(command),
            Reads::Places => CachingOptions::augment_args(Language::augment_args(Sources::augment_args(command))),
            Reads::Executions => Language::augment_args(Sources::augment_args(command)),
            Reads::Api => Language::augment_args(Sources::augment_api_args(command)),
        };
        // The settings would otherwise replace the description.
        command.about(self.about)
    }

    /// The command's settings.
    pub(super) fn reading(&self, arguments: &ArgMatches) -> Result<ReadingOptions, clap::Error> {
        let sources = match self.reads {
            Reads::Execution => return ReadingOptions::from_arg_matches(arguments),
            Reads::Places | Reads::Executions => Sources::from_arg_matches(arguments)?,
            Reads::Api => Sources::from_api_matches(arguments)?,
        };
        let reading = ReadingOptions::without_items(sources, Language::from_arg_matches(arguments)?);
        Ok(match self.reads {
            Reads::Places => reading.cached(CachingOptions::from_arg_matches(arguments)?),
            _ => reading,
        })
    }

    fn reads_one(&self) -> bool {
        matches!(self.reads, Reads::Execution | Reads::Places)
    }

    /// The parameters that name executions, which can also be files.
    pub(super) fn executions(&self) -> impl Iterator<Item = &'static str> {
        let is_named = |name: &&str| {
            self.spelling.positional.contains(name) || self.spelling.renamed.contains(&(*name, "execution"))
        };
        let is_id = |kind: &Kind| self.reads_one() && matches!(kind, Kind::Id | Kind::IdOrFile);
        let ids = self.tool.parameters.iter().filter(move |parameter| is_id(&parameter.kind));
        ids.map(|parameter| parameter.name).filter(is_named)
    }
}
