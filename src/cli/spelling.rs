//! The arguments of a command, derived from the parameters of its tool.
//!
//! A parameter `maxTokens` becomes the option `--max-tokens`, its description the help text; a secret becomes the flag `--stdin`.
//! Only words and numbers are parsed here: the tool decides which of them are allowed.

use clap::builder::PossibleValuesParser;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, value_parser};
use serde_json::{Map, Value};

use crate::toolkit::{ArgumentError, Kind, Parameter, kebab_case};

/// A list of parameters, each with a word for it.
pub(super) type Words = &'static [(&'static str, &'static str)];

/// A flag that stands for one value of a parameter: `--check` is `workflow: original`.
pub(super) struct Shorthand {
    pub(super) flag: &'static str,
    pub(super) parameter: &'static str,
    pub(super) value: &'static str,
    pub(super) help: &'static str,
}

/// How a command line spells parameters that are not options of the same name.
#[derive(Clone, Copy)]
pub(super) struct Spelling {
    /// Passed without the name of an option, in the order of the tool.
    pub(super) positional: &'static [&'static str],
    /// Whether the last positional argument takes several words, which form one text.
    pub(super) takes_words: bool,
    /// Under another name: `("nodeName", "node")`.
    pub(super) renamed: Words,
    /// Choices that are flags: `("format", "rows")` is `--rows` for `format: rows`.
    pub(super) flags: Words,
    /// Values that have a flag of their own.
    pub(super) shorthands: &'static [Shorthand],
    /// Help texts instead of descriptions for agents; the first match counts.
    pub(super) help: &'static [Words],
}

impl Spelling {
    /// Every parameter is an option of the same name.
    pub(super) const OPTIONS: Self =
        Self { positional: &[], takes_words: false, renamed: &[], flags: &[], shorthands: &[], help: &[] };

    /// The flags of the shorthands.
    pub(super) fn shorthand_arguments(&self) -> impl Iterator<Item = Arg> {
        self.shorthands.iter().map(|one| {
            let flag = Arg::new(one.flag).long(one.flag).action(ArgAction::SetTrue);
            flag.help(one.help).conflicts_with(one.parameter)
        })
    }

    /// Its name on the command line, without dashes.
    fn name(&self, parameter: &Parameter) -> String {
        word(self.renamed, parameter).map_or_else(|| kebab_case(parameter.name), str::to_owned)
    }

    /// The name of a renamed parameter itself, which also works: another command may not rename it.
    fn own_name(&self, parameter: &Parameter) -> Option<String> {
        word(self.renamed, parameter).map(|_| kebab_case(parameter.name))
    }

    /// The refusal of an argument, which a tool names by its parameter; `None` if it is about several arguments.
    pub(super) fn refusal(&self, parameters: &[Parameter], error: &ArgumentError) -> Option<String> {
        let ArgumentError::Refused { name, problem } = error else { return None };
        let parameter = parameters.iter().find(|parameter| parameter.name == name.split('.').next().unwrap_or(name))?;
        let inside = name.strip_prefix(parameter.name)?;
        let name = self.name(parameter);
        Some(match self.positional.contains(&parameter.name) {
            true => format!("{}{inside} {problem}", value_name(&name)),
            false => format!("Option --{}{inside} {problem}", self.flag(parameter, &name).unwrap_or(name)),
        })
    }

    /// The argument for a parameter.
    pub(super) fn argument(&self, parameter: &Parameter) -> Arg {
        let name = self.name(parameter);
        let arg = Arg::new(parameter.name).help(self.help(parameter)).required(parameter.required);
        if let Some(flag) = self.flag(parameter, &name) {
            return arg.long(flag).action(ArgAction::SetTrue);
        }
        let arg = arg.value_name(value_name(&name));
        let is_positional = self.positional.contains(&parameter.name);
        let arg = if is_positional { arg } else { arg.long(name).aliases(self.own_name(parameter)) };
        match &parameter.kind {
            Kind::Choice(choices) => arg.value_parser(PossibleValuesParser::new(*choices)),
            Kind::Integer { default, .. } => {
                let default = default.map(|default| default.to_string());
                let arg = arg.value_parser(value_parser!(u64)).default_values(default);
                if is_positional { arg } else { arg.value_name("N") }
            }
            Kind::Number => arg.value_parser(value_parser!(f64)).allow_negative_numbers(true),
            Kind::Texts => arg.action(ArgAction::Append),
            _ if self.takes_words && self.positional.last() == Some(&parameter.name) => {
                arg.num_args(1..).action(ArgAction::Append)
            }
            _ => arg,
        }
    }

    /// The name of a flag, if the parameter is one.
    fn flag(&self, parameter: &Parameter, name: &str) -> Option<String> {
        match (&parameter.kind, word(self.flags, parameter)) {
            (_, Some(flag)) => Some(flag.to_owned()),
            (Kind::Flag | Kind::Switch, None) => Some(name.to_owned()),
            // Other processes can see the arguments of this one.
            (Kind::Secret, None) => Some("stdin".to_owned()),
            _ => None,
        }
    }

    fn help(&self, parameter: &Parameter) -> String {
        let help = self.help.iter().find_map(|words| word(words, parameter));
        let help = help.unwrap_or(parameter.description).trim_end_matches('.');
        match &parameter.kind {
            Kind::Integer { min, max, .. } if *max < u64::from(u32::MAX) => format!("{help}, {min} to {max}"),
            _ => help.to_owned(),
        }
    }

    /// The arguments of a call: only those that were passed, so that the tool applies its own defaults.
    pub(super) fn values(&self, parameters: &[Parameter], arguments: &ArgMatches) -> Map<String, Value> {
        let is_given =
            |parameter: &&Parameter| arguments.value_source(parameter.name) == Some(ValueSource::CommandLine);
        let given = parameters.iter().filter(is_given);
        let given = given.map(|parameter| (parameter.name.to_owned(), self.value(parameter, arguments)));
        let short = self.shorthands.iter().filter(|one| arguments.get_flag(one.flag));
        given.chain(short.map(|one| (one.parameter.to_owned(), one.value.into()))).collect()
    }

    fn value(&self, parameter: &Parameter, arguments: &ArgMatches) -> Value {
        let name = parameter.name;
        match (&parameter.kind, word(self.flags, parameter)) {
            (_, Some(choice)) => choice.into(),
            (Kind::Flag | Kind::Switch | Kind::Secret, None) => true.into(),
            (Kind::Integer { .. }, None) => arguments.get_one::<u64>(name).copied().into(),
            (Kind::Number, None) => arguments.get_one::<f64>(name).copied().into(),
            (kind, None) => {
                let texts = arguments.get_many::<String>(name).into_iter().flatten().cloned();
                match kind {
                    Kind::Texts => texts.collect(),
                    Kind::Object | Kind::Objects | Kind::List => {
                        let text = texts.collect::<String>();
                        // Anything else is refused by the tool, or is the path of a document.
                        let json = serde_json::from_str(&text).ok();
                        json.filter(|json: &Value| json.is_object() || json.is_array()).unwrap_or(text.into())
                    }
                    _ => texts.collect::<Vec<_>>().join(" ").into(),
                }
            }
        }
    }
}

/// The name of a value in the help: `MAX_TOKENS`.
fn value_name(name: &str) -> String {
    name.to_uppercase().replace('-', "_")
}

/// The word for a parameter in a list.
fn word(words: Words, parameter: &Parameter) -> Option<&'static str> {
    words.iter().find(|(name, _)| *name == parameter.name).map(|(_, word)| *word)
}
