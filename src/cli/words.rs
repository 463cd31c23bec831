//! The words of a terminal for what messages of tools name: options and commands.

use std::sync::LazyLock;

use serde_json::Value;

use super::commands::COMMANDS;
use crate::toolkit::{Audience, Term};

const OPTIONS: [(&str, &str); 14] = [
    ("Pass executionId:", "Pass --execution"),
    ("executionId: ", "--execution "),
    ("ignoreDataSizeLimit: true", "--ignore-data-size-limit"),
    ("ignoreDataSizeLimit", "--ignore-data-size-limit"),
    ("pass the id of another execution (argument: with)", "add the id of another execution to the command"),
    ("offset: nextOffset", "--offset"),
    ("nextOffset", "--offset"),
    ("nextCursor", "--cursor"),
    ("maxTokens", "--max-tokens"),
    ("smaller limit", "smaller --limit"),
    ("raise limit", "raise --limit"),
    ("nodeName", "the node's name"),
    ("runIndex", "--run-index"),
    ("outputIndex", "--output-index"),
];

/// Who types commands.
pub(super) static TERMINAL: LazyLock<Audience> = LazyLock::new(|| {
    let commands = COMMANDS.iter().map(|row| Term::new(row.tool.name, format!("n8n-lens {}", row.name)));
    Audience::new(OPTIONS.iter().map(|(agent, option)| Term::new(agent, *option)).chain(commands))
});

/// Words the hints of an answer for a terminal.
pub(super) fn reword(answer: &mut Value) {
    let tell = |hint: &mut Value| {
        if let Some(told) = hint.as_str().map(|hint| TERMINAL.tell(hint).into_owned()) {
            *hint = told.into();
        }
    };
    for hint in ["/unseen", "/data/truncated/reason"] {
        answer.pointer_mut(hint).into_iter().for_each(tell);
    }
    let notes = answer.pointer_mut("/data/notes").and_then(Value::as_array_mut);
    notes.into_iter().flatten().for_each(tell);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_options_and_commands() {
        assert_eq!(
            TERMINAL.tell("3 more hits: use a larger maxTokens, or see get_execution_by_node."),
            "3 more hits: use a larger --max-tokens, or see n8n-lens node."
        );
        for row in COMMANDS {
            assert_eq!(TERMINAL.tell(row.tool.name), format!("n8n-lens {}", row.name));
        }
    }
}
