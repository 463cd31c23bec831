//! Help: commands in groups, and examples at the end.

use std::io::{IsTerminal, stdout};

use clap::builder::StyledStr;
use clap::{Command, CommandFactory};

use super::commands::COMMANDS;
use super::tool_command::ToolCommand;
use super::{Cli, examples, terminal};

/// The other commands, in the groups of the help: the first two groups begin with commands made from tools.
const GROUPS: [(&str, &[&str]); 4] = [
    ("Look at executions", &["export", "view"]),
    ("Change and prove", &[]),
    ("Serve", &["serve", "gateway", "coordinate"]),
    ("Set up", &["setup", "check", "cache", "tools", "catalogue", "completions", "help"]),
];

/// The commands in groups.
fn grouped() -> Vec<(&'static str, Vec<&'static str>)> {
    let mut groups: Vec<_> = GROUPS.iter().map(|(title, names)| (*title, names.to_vec())).collect();
    let is_work = |command: &&ToolCommand| command.workflow.is_some() || !command.tool.reads_only();
    let (works, looks): (Vec<_>, Vec<_>) = COMMANDS.iter().partition(is_work);
    for (group, commands) in [looks, works].into_iter().enumerate() {
        groups[group].1.splice(..0, commands.iter().map(|command| command.name));
    }
    groups
}

/// The options that the help of n8n-lens itself shows.
const OWN_OPTIONS: [&str; 7] = ["n8n_url", "api_key", "api_key_file", "locale", "log_level", "help", "version"];

/// The width of the column with command names.
const NAMES: usize = 16;

/// The command line with its help.
pub(super) fn command() -> Command {
    let mut command = Cli::command();
    if !stdout().is_terminal() {
        // Programs read help line by line.
        command = command.term_width(0);
    }
    // Gives each subcommand the global options.
    command.build();
    let width = terminal::width().map_or(usize::MAX, usize::from);
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{}\n{{all-args}}{{after-help}}",
        groups(&command, width)
    );
    with_examples(command, "")
        .mut_args(|option| {
            // Without a command, n8n-lens accepts all options of `serve`, whose help shows them.
            let is_shown = OWN_OPTIONS.contains(&option.get_id().as_str());
            option.hide(!is_shown)
        })
        .mut_subcommands(|subcommand| tailored(subcommand, &[]).hide(true))
        .override_usage("n8n-lens [OPTIONS] [COMMAND]")
        .help_template(StyledStr::from(template))
}

/// A command and its subcommands with examples.
fn tailored(command: Command, parents: &[&str]) -> Command {
    let name = command.get_name().to_owned();
    if name == "help" {
        return command;
    }
    let path = [parents, &[name.as_str()]].concat();
    with_examples(command, &path.join(" ")).mut_subcommands(|subcommand| tailored(subcommand, &path))
}

fn with_examples(command: Command, path: &str) -> Command {
    let examples = examples::of(path);
    if examples.is_empty() {
        return command;
    }
    let header = *command.get_styles().get_header();
    let lines: String = examples.iter().map(|example| format!("\n  {example}")).collect();
    command.after_help(StyledStr::from(format!("{header}Examples:{header:#}{lines}")))
}

/// The groups of commands, formatted for the help.
fn groups(command: &Command, width: usize) -> String {
    let (header, literal) = (*command.get_styles().get_header(), *command.get_styles().get_literal());
    let mut text = String::new();
    for (title, names) in grouped() {
        text += &format!("\n{header}{title}:{header:#}\n");
        for subcommand in names.iter().filter_map(|name| command.find_subcommand(name)) {
            let names: Vec<_> = [subcommand.get_name()].into_iter().chain(subcommand.get_visible_aliases()).collect();
            let names = names.join(", ");
            let about = subcommand.get_about().map(ToString::to_string).unwrap_or_default();
            let lines = wrapped(&about, width.saturating_sub(NAMES + 2));
            let about = lines.join(&format!("\n{:1$}", "", NAMES + 2));
            text += &format!("  {literal}{names}{literal:#}{:1$}{about}\n", "", NAMES.saturating_sub(names.len()));
        }
    }
    text
}

/// A text in lines of at most this width, broken between words.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.len() + 1 + word.len() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_a_group() {
        let grouped: Vec<_> = grouped().into_iter().flat_map(|(_, names)| names).collect();
        for subcommand in Cli::command().get_subcommands() {
            assert!(grouped.contains(&subcommand.get_name()), "{}", subcommand.get_name());
        }
    }

    #[test]
    fn every_command_has_examples_that_it_accepts() {
        fn check(command: &Command, path: &str) {
            assert!(!examples::of(path).is_empty(), "'{path}' has no examples");
            for subcommand in command.get_subcommands() {
                check(subcommand, format!("{path} {}", subcommand.get_name()).trim());
            }
        }
        check(&Cli::command(), "");
        let of_tools = COMMANDS.iter().map(|command| command.examples);
        for examples in of_tools.chain(examples::EXAMPLES.iter().map(|(_, examples)| *examples)) {
            for example in examples {
                // Only the first command of a pipeline is ours; quotes keep words together.
                let words = example.split('\'').enumerate().flat_map(|(at, part)| match at % 2 {
                    0 => part.split_whitespace().map(str::to_owned).collect(),
                    _ => vec![part.to_owned()],
                });
                let words: Vec<_> = words.take_while(|word| !["|", "<", ">"].contains(&word.as_str())).collect();
                let parsed = Cli::command().try_get_matches_from(words);
                assert!(parsed.is_ok(), "{example}: {}", parsed.unwrap_err());
            }
        }
    }
}
