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

/// What an expression or code depends on in addition to the items: the time, randomness, and state that n8n keeps elsewhere.
const DEPENDS_ON: [&str; 15] = [
    "$now",
    "$today",
    "Date.now",
    "new Date(",
    "DateTime.now",
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

/// Whether a node's output for the same items can differ from one run to the next.
pub fn depends_on_more_than_items(node: &ParsedNode) -> bool {
    let is_date = node.is(DATE_TIME) && node.parameter("operation").unwrap_or_default() == "getCurrentDate";
    is_date || node.texts.iter().any(|text| DEPENDS_ON.iter().any(|word| text.text.contains(word)))
}

/// A node for running in a copy, with only the members that a copy may have. A disabled node passes its items on.
pub(super) fn real(node: &ParsedNode) -> Members {
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
    if real.contains_key("retryOnFail") {
        real.insert("waitBetweenTries".to_owned(), raw(&Value::from(0)));
    }
    real
}
