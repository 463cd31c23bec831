//! Which nodes of a copy run for real: those that reach nothing outside the execution.

use serde_json::{Value, json};

use super::{members, raw};
use crate::workflow::document::Members;
use crate::workflow::parsed::ParsedNode;

/// The package of n8n's own nodes.
const PACKAGE: &str = "n8n-nodes-base.";

/// Date & Time.
pub const DATE_TIME: &str = "n8n-nodes-base.dateTime";

/// Types that only compute.
const PURE: [&str; 19] = [
    "set",
    "if",
    "switch",
    "filter",
    "merge",
    "splitInBatches",
    "splitOut",
    "aggregate",
    "sort",
    "limit",
    "summarize",
    "renameKeys",
    "itemLists",
    "compareDatasets",
    "dateTime",
    "noOp",
    "stopAndError",
    "markdown",
    "xml",
];

/// Types that only compute if their parameters say so.
const CONDITIONAL: [&str; 4] = ["code", "removeDuplicates", "crypto", "html"];

/// Words with which the code of a Code node could reach outside: n8n's task runner has `this.helpers.httpRequest` and the global
/// `helpers`, and the owner of an n8n can allow the rest. Comments and strings count: such a node answers from the recording.
const REACHES_OUT: [&str; 20] = [
    "this",
    "helpers",
    "require",
    "import",
    "fetch",
    "process",
    "eval",
    "Function",
    "globalThis",
    "global",
    "module",
    "constructor",
    "__proto__",
    "Reflect",
    "Proxy",
    "open",
    "exec",
    "WebSocket",
    "XMLHttpRequest",
    "__import__",
];

/// Functions from which alasql, which runs the queries of Merge, could read something outside if n8n did not prevent it.
const QUERY_FUNCTIONS: [&str; 15] = [
    "file", "http", "txt", "tab", "tsv", "csv", "json", "xml", "html", "xls", "xlsx", "ods", "gexf", "tabletop",
    "meteor",
];

/// Nodes that send an item on as one that does not match if it leads to an error, without the error.
const HIDING: [&str; 2] = ["n8n-nodes-base.if", "n8n-nodes-base.filter"];

/// What an expression or code depends on besides the items: the time, chance, and what n8n keeps elsewhere.
const DEPENDS_ON: [&str; 19] = [
    "$now",
    "$today",
    "Date.now",
    "new Date",
    "DateTime.now",
    "DateTime.local",
    "DateTime.utc",
    "diffNow",
    "diffToNow",
    "Math.random",
    "$execution",
    "$workflow",
    "$vars",
    "$env",
    "$secrets",
    "StaticData",
    ".params",
    ".context",
    "getCurrentDate",
];

/// Whether a node of this type can run for real, whatever its parameters are.
pub(super) fn is_listed(node_type: &str) -> bool {
    node_type.strip_prefix(PACKAGE).is_some_and(|own| PURE.contains(&own) || CONDITIONAL.contains(&own))
}

/// Whether a node runs for real in a copy; otherwise it answers from the recording.
pub fn runs_for_real(node: &ParsedNode) -> bool {
    let has_credentials =
        node.member("credentials").is_some_and(|credentials| credentials.as_object().is_none_or(|all| !all.is_empty()));
    is_listed(&node.node_type) && !has_credentials && node.webhook_id.is_none() && is_pure(node)
}

fn is_pure(node: &ParsedNode) -> bool {
    let parameter = |name: &str| node.parameter(name).unwrap_or_default();
    match node.node_type.strip_prefix(PACKAGE).unwrap_or_default() {
        "code" => {
            let codes = ["jsCode", "pythonCode"].map(parameter);
            parameter("language") != "python"
                && parameter("language") != "pythonNative"
                && !codes.iter().any(|code| reaches_out(code))
        }
        // Other operations remember the items of earlier executions.
        "removeDuplicates" => matches!(parameter("operation"), "" | "removeDuplicateInputItems"),
        "merge" => parameter("mode") != "combineBySql" || !query_reaches_out(parameter("query")),
        "crypto" => parameter("action") != "generate",
        "html" => parameter("operation") != "generateHtmlTemplate" || !reaches_out(parameter("html")),
        _ => true,
    }
}

fn reaches_out(code: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
    // An escape can spell any of the words.
    code.contains("\\u") || code.split(|c| !is_word(c)).any(|word| REACHES_OUT.contains(&word))
}

/// Whether a query may do more than select from the inputs.
fn query_reaches_out(query: &str) -> bool {
    let lines = query.trim_start_matches('=').lines().filter(|line| !line.trim_start().starts_with("--"));
    let query = lines.collect::<Vec<_>>().join("\n").to_lowercase();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let selects = |statement: &str| matches!(statement.split(|c| !is_word(c)).next(), Some("select" | "with"));
    // JavaScript, and calls of methods.
    let has_code = query.contains("``") || query.contains("->");
    let is_called = |name: &&str| {
        let is_call =
            |at: usize| query[at + name.len()..].trim_start().starts_with('(') && !query[..at].ends_with(is_word);
        query.match_indices(*name).any(|(at, _)| is_call(at))
    };
    !query.split(';').map(str::trim).all(|statement| statement.is_empty() || selects(statement))
        || has_code
        || query.split(|c| !is_word(c)).any(|word| word == "into")
        || QUERY_FUNCTIONS.iter().any(is_called)
}

/// Whether a node goes on after an error.
pub fn goes_on_after_errors(node: &ParsedNode) -> bool {
    match node.on_error.as_deref() {
        Some(on_error) => matches!(on_error, "continueRegularOutput" | "continueErrorOutput"),
        None => node.member("continueOnFail") == Some(Value::Bool(true)),
    }
}

/// Whether a node goes on after an error, and nothing that it returns shows it.
pub fn hides_errors(node: &ParsedNode) -> bool {
    HIDING.contains(&node.node_type.as_str()) && goes_on_after_errors(node)
}

/// Whether what a node outputs can differ from one run to the next with the same items.
pub fn depends_on_more_than_items(node: &ParsedNode) -> bool {
    let is_date = node.is(DATE_TIME) && node.parameter("operation").unwrap_or_default() == "getCurrentDate";
    let is_shuffled = node.is("n8n-nodes-base.sort") && node.parameter("type").unwrap_or_default() == "random";
    is_date || is_shuffled || node.texts.iter().any(|text| DEPENDS_ON.iter().any(|word| text.text.contains(word)))
}

/// A node as it runs for real: only members that a copy may have. A node that is disabled passes its items on. Errors of an
/// `exposed` one are not hidden.
pub(super) fn real(node: &ParsedNode, is_exposed: bool) -> Members {
    const KEPT: [&str; 6] = ["id", "name", "type", "typeVersion", "position", "parameters"];
    const BEHAVIOUR: [&str; 6] =
        ["onError", "continueOnFail", "retryOnFail", "maxTries", "alwaysOutputData", "executeOnce"];
    let kept = |names: &[&str]| {
        let found = names.iter().filter_map(|name| Some(((*name).to_owned(), node.raw(name)?.to_owned())));
        found.collect::<Members>()
    };
    if node.is_disabled {
        let mut passing = kept(&["id", "name", "position"]);
        let no_operation = json!({"type": "n8n-nodes-base.noOp", "typeVersion": 1, "parameters": {}, "disabled": true});
        passing.extend(members(&no_operation));
        return passing;
    }
    let mut real = kept(&[KEPT, BEHAVIOUR].concat());
    if is_exposed && hides_errors(node) {
        real.retain(|name, _| !matches!(name.as_str(), "onError" | "continueOnFail"));
    }
    if real.contains_key("retryOnFail") {
        real.insert("waitBetweenTries".to_owned(), raw(&Value::from(0)));
    }
    real
}
