//! The words of the page for what messages of tools name.

use std::sync::LazyLock;

use crate::toolkit::{Audience, Term};
use crate::tools::TOOLSETS;

/// What the page calls its controls and views.
const WORDS: [(&str, &str); 18] = [
    ("ignoreDataSizeLimit: true", "the button here"),
    ("ignoreDataSizeLimit", "the button here"),
    ("pass the id of another execution (argument: with)", "enter the ID of another execution"),
    ("use path", "enter a path in the search"),
    ("nodeName", "the node"),
    ("runIndex", "run"),
    ("outputIndex", "output"),
    ("get_execution", "the table of nodes"),
    ("describe_execution", "the view as it ran"),
    ("get_execution_by_node", "the tabs of the node"),
    ("get_execution_fields", "the tab of its fields"),
    ("search_execution", "the search"),
    ("trace_execution_item", "the tab of its trace"),
    ("compare_executions", "the comparison"),
    ("list_executions", "the list"),
    ("find_executions", "the search on the home page"),
    ("group_failures", "the failures on the home page"),
    ("workflow_trend", "the trends on the home page"),
];

/// It has no control for these: it always asks for as much as it can show.
const LIMITS: [&str; 6] =
    ["offset: nextOffset", "nextOffset", "nextCursor", "maxTokens", "smaller limit", "raise limit"];

/// Who looks at the page. It has no control for the other tools.
pub static PAGE: LazyLock<Audience> = LazyLock::new(|| {
    let tools = TOOLSETS.iter().flat_map(|toolset| toolset.tools).map(|tool| tool.name);
    let others = tools.filter(|tool| WORDS.iter().all(|(known, _)| known != tool));
    let words = WORDS.iter().map(|(agent, page)| Term::new(agent, *page));
    Audience::new(words.chain(LIMITS.into_iter().chain(others).map(Term::without)))
});

#[cfg(test)]
mod tests {
    use super::PAGE;

    #[test]
    fn the_page_has_controls_in_place_of_arguments_and_tools() {
        for (message, told) in [
            ("Values were clipped: see get_execution_by_node.", "Values were clipped: see the tabs of the node."),
            ("There are more items: continue with offset: nextOffset.", "There are more items."),
            ("9 more fields: use path, or a larger maxTokens.", "9 more fields: enter a path in the search."),
            ("It is a draft: check it with check_workflow.", "It is a draft."),
            (
                "Execution '2' names no workflow: pass the id of another execution (argument: with).",
                "Execution '2' names no workflow: enter the ID of another execution.",
            ),
            (
                "n8n's limit is met: ignoreDataSizeLimit: true requests it anyway.",
                "n8n's limit is met: the button here requests it anyway.",
            ),
            (
                r"Node 'It\'s. maxTokens: x' has 2 runs in execution '7': runIndex 5 must be from 0 to 1.",
                r"Node 'It\'s. maxTokens: x' has 2 runs in execution '7': run 5 must be from 0 to 1.",
            ),
        ] {
            assert_eq!(PAGE.tell(message), told);
        }
    }
}
