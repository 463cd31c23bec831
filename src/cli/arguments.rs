//! Options before a subcommand are moved after it, or refused. None is ignored.

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
    move_after_subcommands(&command, &mut arguments)?;
    let parsed = command.try_get_matches_from_mut(&arguments).or_else(|error| match error.kind() {
        // Help is only built on request.
        ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            help::command().try_get_matches_from(&arguments)
        }
        _ => Err(with_usage(error, &command, &arguments)),
    });
    Cli::from_arg_matches(&parsed?).map_err(|error| error.format(&mut command))
}

/// The error with the usage of the command: clap's own would also list as required what the environment sets.
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

/// Moves the options before a subcommand after its name, on every level.
///
/// # Errors
/// The subcommand does not have one of them.
fn move_after_subcommands(root: &Command, arguments: &mut [OsString]) -> Result<(), Error> {
    let mut path = vec![root];
    while let Some((at, before)) = next_subcommand(&path, arguments) {
        let (command, start) = (path[path.len() - 1], path.len());
        path.extend(subcommands(command, &arguments[at..]));
        let innermost = path[path.len() - 1];
        if let Some(option) = before.iter().flat_map(|before| given(command, before)).find(|it| !has(innermost, it)) {
            let fit = path[start..].iter().take_while(|subcommand| has(subcommand, option)).count();
            return Err(refusal(&path[..=start + fit], option));
        }
        arguments[start..at + path.len() - start].rotate_right(path.len() - start);
    }
    Ok(())
}

/// The index of the next subcommand after this path, which comes first, and the options before it, if there are any.
fn next_subcommand(path: &[&Command], arguments: &[OsString]) -> Option<(usize, Option<ArgMatches>)> {
    let (root, command) = (*path.first()?, *path.last()?);
    (path.len()..arguments.len()).find_map(|at| {
        command.find_subcommand(&arguments[at])?;
        if at == path.len() {
            return Some((at, None));
        }
        // A value of an option can have the name of a subcommand; without it, the option is incomplete.
        let mut before = root.clone().try_get_matches_from(&arguments[..at]).ok()?;
        for _ in 1..path.len() {
            before = before.remove_subcommand()?.1;
        }
        before.subcommand_name().is_none().then_some((at, Some(before)))
    })
}

/// The chain of subcommands with these names, such as `catalogue update`.
fn subcommands<'a>(mut command: &'a Command, names: &[OsString]) -> Vec<&'a Command> {
    let called = names.iter().map_while(|name| {
        command = command.find_subcommand(name)?;
        Some(command)
    });
    called.collect()
}

/// The options on the command line that belong to this command itself.
fn given<'a>(command: &'a Command, matches: &'a ArgMatches) -> impl Iterator<Item = &'a Arg> {
    let is_given = |option: &&Arg| matches.value_source(option.get_id().as_str()) == Some(ValueSource::CommandLine);
    command.get_arguments().filter(is_given)
}

fn has(command: &Command, option: &Arg) -> bool {
    let is_own = |name| command.get_arguments().any(|other| other.get_long() == Some(name));
    option.is_global_set() || option.get_long().is_some_and(is_own)
}

/// The refusal of an option by the last command of a path.
fn refusal(path: &[&Command], option: &Arg) -> Error {
    let names = path.iter().map(|command| command.get_name()).collect::<Vec<_>>().join(" ");
    let option = option.get_long().unwrap_or_default();
    let message = format!("'{names}' does not use --{option}: leave it out. '{names} --help' lists its options");
    path[path.len() - 1].clone().bin_name(names).error(ErrorKind::ArgumentConflict, message)
}
