use clap::Arg;

use super::*;
use crate::toolkit::ArgumentError;

#[test]
fn rows_name_parameters_of_their_tools() {
    for command in COMMANDS {
        let ToolCommand { spelling, of_json, raw, of_store, .. } = command;
        let words = |words: Words| words.iter().map(|(name, _)| *name).collect::<Vec<_>>();
        let own_help = spelling.help.iter().filter(|help| **help != COMMON).flat_map(|help| words(help));
        let named = [spelling.positional, of_json, of_store].concat().into_iter();
        for name in named.chain(words(spelling.flags)).chain(own_help).chain(*raw) {
            let is_there = command.tool.parameters.iter().any(|parameter| parameter.name == name);
            assert!(is_there, "{}: {name}", command.name);
        }
    }
}

#[test]
fn refusals_name_arguments_that_a_command_has() {
    for row in COMMANDS {
        let command = row.command();
        for parameter in row.tool.parameters {
            let error = ArgumentError::new(parameter.name, "is wrong.");
            let said = row.spelling.refusal(row.tool.parameters, &error).unwrap_or_default();
            let has = |arg: &Arg| match arg.get_long() {
                Some(option) => said == format!("Option --{option} is wrong."),
                None => arg.get_value_names().is_some_and(|names| said == format!("{} is wrong.", names[0])),
            };
            assert!(command.get_arguments().any(has), "{}: {said}", row.name);
        }
    }
}
