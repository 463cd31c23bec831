//! Options before a subcommand count as written after it, or are refused. None is ignored.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command, CommandFactory, Error, FromArgMatches};

use super::{Cli, help};

/// Parses the arguments, of which the first is the program.
///
/// # Errors
/// The arguments are wrong, or request help.
pub(super) fn parse(arguments: Vec<OsString>) -> Result<Cli, Error> {
    let mut command = Cli::command();
    let arguments = after_subcommand(&command, arguments);
    let parsed = command.try_get_matches_from_mut(&arguments).or_else(|error| match error.kind() {
        // Only who asks for help waits for all of it to be put together.
        ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            help::command().try_get_matches_from(&arguments)
        }
        _ => Err(with_usage(error, &command, &arguments)),
    });
    let matches = parsed?;
    refuse_unused(&mut command, &matches)?;
    let mut cli = Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
    cli.options.locale_is_given = is_given(&matches, "locale");
    Ok(cli)
}

/// The error with the usage of the command: clap's own also shows as required what the environment sets.
fn with_usage(mut error: Error, command: &Command, arguments: &[OsString]) -> Error {
    if error.get(ContextKind::Usage).is_some() {
        let usage = innermost(command, arguments).clone().render_usage();
        error.insert(ContextKind::Usage, ContextValue::StyledStr(usage));
    }
    error
}

/// The subcommand that the arguments name, on any level.
fn innermost<'a>(command: &'a Command, arguments: &[OsString]) -> &'a Command {
    arguments.iter().fold(command, |command, argument| command.find_subcommand(argument).unwrap_or(command))
}

/// The arguments, with the options before a subcommand that has them moved after its name.
fn after_subcommand(command: &Command, mut arguments: Vec<OsString>) -> Vec<OsString> {
    if let Some((at, subcommand, before)) = subcommand(command, &arguments)
        && given(command, &before).all(|option| has(subcommand, option))
    {
        arguments[1..=at].rotate_right(1);
    }
    arguments
}

/// The first subcommand with options before it: its place among the arguments, and these options.
fn subcommand<'a>(command: &'a Command, arguments: &[OsString]) -> Option<(usize, &'a Command, ArgMatches)> {
    (2..arguments.len()).find_map(|at| {
        let subcommand = command.find_subcommand(&arguments[at])?;
        // A value of an option can have the name of a subcommand; without it, the option is incomplete.
        let before = command.clone().try_get_matches_from(&arguments[..at]).ok()?;
        before.subcommand_name().is_none().then_some((at, subcommand, before))
    })
}

/// The options that the command line contains for this command itself.
fn given<'a>(command: &'a Command, matches: &'a ArgMatches) -> impl Iterator<Item = &'a Arg> {
    let is_given = |option: &&Arg| {
        let id = option.get_id().as_str();
        matches.try_contains_id(id).is_ok() && matches.value_source(id) == Some(ValueSource::CommandLine)
    };
    command.get_arguments().filter(is_given)
}

/// Whether an option that all commands accept is on the command line, or its variable is not empty.
fn is_given(matches: &ArgMatches, option: &str) -> bool {
    match matches.value_source(option) {
        Some(ValueSource::EnvVariable) => {
            matches.get_raw(option).is_some_and(|mut values| values.any(|value| !value.is_empty()))
        }
        source => source == Some(ValueSource::CommandLine),
    }
}

fn has(command: &Command, option: &Arg) -> bool {
    let is_own = |name| command.get_arguments().any(|other| other.get_long() == Some(name));
    option.is_global_set() || option.get_long().is_some_and(is_own)
}

/// Refuses options before a subcommand that does not have them, on every level.
fn refuse_unused(command: &mut Command, matches: &ArgMatches) -> Result<(), Error> {
    let Some((name, below)) = matches.subcommand() else { return Ok(()) };
    let unused = given(command, matches).find(|option| !option.is_global_set()).cloned();
    let Some(subcommand) = command.find_subcommand_mut(name) else { return Ok(()) };
    if let Some(option) = unused {
        let path = subcommand.get_bin_name().unwrap_or(name).to_owned();
        let option = option.get_long().unwrap_or_default();
        let message = format!("'{path}' does not use --{option}: leave it out. '{path} --help' lists its options");
        return Err(subcommand.error(ErrorKind::ArgumentConflict, message));
    }
    refuse_unused(subcommand, below)
}
