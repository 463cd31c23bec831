//! What a node does, as its parameters say it: short lines for a reader who does not see n8n's editor.
//!
//! ```text
//! team = Logistics North                              an assignment of Edit Fields
//! ={{ $json.warehouse.id === 100 }} is true           a condition of If, Filter or Switch
//! GET https://shop.example/orders                     HTTP Request
//! return $input.all().slice(1);                       the code of Code
//! fieldsToCompare: email                              any other parameter
//! ```
//!
//! What says nothing is left out: ids that the editor gives to elements of lists, notices, empty values, and the defaults
//! that n8n fills in when it executes a workflow. Facts: `packages/nodes-base` and `packages/workflow/src/interfaces.ts`
//! (`FilterValue`, `INodeParameterResourceLocator`) of n8n 2.41.

mod conditions;
mod flat;
mod values;

use crate::json::Excerpt;

/// The parameters of a node of this type as lines. `parameters` is a bounded copy of them.
///
/// ```
/// use n8n_lens::json::Cursor;
/// use n8n_lens::node_parameters::lines;
///
/// let json = br#"{"method": "GET", "url": "={{ $json.url }}", "sendQuery": false, "options": {"timeout": 5000}}"#;
/// let parameters = Cursor::unpruned(&json[..]).excerpt(4096)?;
/// assert_eq!(lines("n8n-nodes-base.httpRequest", &parameters), ["GET ={{ $json.url }}", "options.timeout: 5000"]);
/// # Ok::<_, n8n_lens::json::ReadError>(())
/// ```
pub fn lines(node_type: &str, parameters: &Excerpt) -> Vec<String> {
    let mut lines = Vec::new();
    let read = match short_type(node_type) {
        "set" => values::assignments(parameters, &mut lines),
        "if" | "filter" => conditions::of_node(parameters, &mut lines),
        "switch" => conditions::of_switch(parameters, &mut lines),
        "code" | "function" | "functionItem" => code(parameters, &mut lines),
        "httpRequest" => request(parameters, &mut lines),
        "webhook" | "formTrigger" | "manualTrigger" | "executeWorkflowTrigger" | "noOp" => return lines,
        _ => &[],
    };
    flat::others(parameters, read, &mut lines);
    lines
}

/// A node's type without its package: `httpRequest` of `n8n-nodes-base.httpRequest`.
pub fn short_type(node_type: &str) -> &str {
    node_type.rsplit_once('.').map_or(node_type, |(_, name)| name)
}

/// The code as it is, and how often it runs if that is not once. Returns the names of what was read.
fn code(parameters: &Excerpt, lines: &mut Vec<String>) -> &'static [&'static str] {
    const CODE: [&str; 3] = ["jsCode", "pythonCode", "functionCode"];
    if parameters.member("mode").and_then(Excerpt::text).as_deref() == Some("runOnceForEachItem") {
        lines.push("once for each item:".to_owned());
    }
    lines.extend(CODE.iter().filter_map(|name| parameters.member(name)?.text()));
    &["jsCode", "pythonCode", "functionCode", "mode", "language"]
}

/// The method and the URL. Returns the names of what was read.
fn request(parameters: &Excerpt, lines: &mut Vec<String>) -> &'static [&'static str] {
    let text = |name: &str| parameters.member(name).and_then(Excerpt::text);
    let method = text("method").or_else(|| text("requestMethod")).unwrap_or_else(|| "GET".to_owned());
    lines.extend(text("url").map(|url| format!("{method} {url}")));
    &["method", "requestMethod", "url"]
}
