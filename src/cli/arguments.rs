//! Options before a subcommand count as written after it, or are refused. None is ignored.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command, CommandFactory, Error, FromArgMatches};

use super::{Cli, help};

/// Parses the arguments. The first one is the program.
///
/// # Errors
/// The arguments are wrong, or request help.
pub(super) fn parse(mut arguments: Vec<OsString>) -> Result<Cli, Error> {
    let mut command = Cli::command();
    // Gives each subcommand the options of all.
    command.build();
    move_after_subcommands(&command, &mut arguments)?;
    let parsed = command.try_get_matches_from_mut(&arguments).or_else(|error| match error.kind() {
        // Help is put together only when it is requested.
        ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            help::command().try_get_matches_from(&arguments)
        }
        _ => Err(with_usage(error, &command, &arguments)),
    });
    Cli::from_arg_matches(&parsed?).map_err(|error| error.format(&mut command))
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

/// Moves the options before a subcommand after its name, on every level. The first argument names `command`.
///
/// # Errors
/// The subcommand does not have one of them.
fn move_after_subcommands(command: &Command, arguments: &mut [OsString]) -> Result<(), Error> {
    let Some((at, before)) = first_subcommand(command, arguments) else { return Ok(()) };
    let called = subcommands(command, &arguments[at..]);
    let Some(innermost) = called.last() else { return Ok(()) };
    if let Some(option) = given(command, &before).find(|option| !has(innermost, option)) {
        let unfit = called.iter().find(|subcommand| !has(subcommand, option)).unwrap_or(innermost);
        return Err(refusal(unfit, option));
    }
    arguments[1..at + called.len()].rotate_right(called.len());
    move_after_subcommands(innermost, &mut arguments[called.len()..])
}

/// The place of the first subcommand among the arguments, and the options before it.
fn first_subcommand(command: &Command, arguments: &[OsString]) -> Option<(usize, ArgMatches)> {
    (1..arguments.len()).find_map(|at| {
        command.find_subcommand(&arguments[at])?;
        // A value of an option can have the name of a subcommand; without it, the option is incomplete.
        let before = command.clone().try_get_matches_from(&arguments[..at]).ok()?;
        before.subcommand_name().is_none().then_some((at, before))
    })
}

/// The subcommands whose names follow each other, such as `catalogue update`.
fn subcommands<'a>(mut command: &'a Command, names: &[OsString]) -> Vec<&'a Command> {
    let called = names.iter().map_while(|name| {
        command = command.find_subcommand(name)?;
        Some(command)
    });
    called.collect()
}

/// The options that the command line contains for this command itself.
fn given<'a>(command: &'a Command, matches: &'a ArgMatches) -> impl Iterator<Item = &'a Arg> {
    let is_given = |option: &&Arg| matches.value_source(option.get_id().as_str()) == Some(ValueSource::CommandLine);
    command.get_arguments().filter(is_given)
}

fn has(command: &Command, option: &Arg) -> bool {
    option.get_long().is_some_and(|name| command.get_arguments().any(|other| other.get_long() == Some(name)))
}

fn refusal(command: &Command, option: &Arg) -> Error {
    let path = command.get_bin_name().unwrap_or(command.get_name());
    let option = option.get_long().unwrap_or_default();
    let message = format!("'{path}' does not use --{option}: leave it out. '{path} --help' lists its options");
    command.clone().error(ErrorKind::ArgumentConflict, message)
}
