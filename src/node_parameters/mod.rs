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
//! Uninformative values are left out: ids that the editor assigns to elements of lists, notices, empty values, and the
//! defaults that n8n fills in when it executes a workflow. Facts: `packages/nodes-base` and `packages/workflow/src/interfaces.ts`
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

/// The unchanged code, and how often it runs if that is not once. Returns the names of what was read.
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::json::Cursor;

    fn told(node_type: &str, parameters: &Value) -> Vec<String> {
        let parameters = Cursor::unpruned(parameters.to_string().as_bytes()).excerpt(16_384).unwrap();
        lines(node_type, &parameters)
    }

    #[test]
    fn assignments_of_all_versions() {
        let newest = json!({"mode": "manual", "assignments": {"assignments": [{"id": "1", "name": "a.b", "value": "={{ 1 }}", "type": "number"}]},
            "includeOtherFields": true, "options": {}});
        assert_eq!(told("n8n-nodes-base.set", &newest), ["a.b = ={{ 1 }}", "includeOtherFields: true"]);
        let before = json!({"fields": {"values": [{"name": "x", "stringValue": "y"}, {"name": "n", "type": "numberValue", "numberValue": 5}]}});
        assert_eq!(told("n8n-nodes-base.set", &before), ["x = y", "n = 5"]);
        let old = json!({"keepOnlySet": true, "values": {"string": [{"name": "x", "value": "y"}], "number": [{"name": "n", "value": 3}]}});
        assert_eq!(told("n8n-nodes-base.set", &old), ["x = y", "n = 3", "keepOnlySet: true"]);
        let raw = json!({"mode": "raw", "jsonOutput": "{\"a\": 1}"});
        assert_eq!(told("n8n-nodes-base.set", &raw), ["{\"a\": 1}"]);
    }

    #[test]
    fn conditions_of_all_versions() {
        let one = |left: &str, operation: &str, right: Value| json!({"id": "1", "leftValue": left, "rightValue": right, "operator": {"type": "string", "operation": operation}});
        let newest = json!({"conditions": {"options": {"caseSensitive": true}, "combinator": "or",
            "conditions": [one("={{ $json.a }}", "equals", json!("")), one("b", "lte", json!(5)), one("c", "exists", json!("x"))]}});
        assert_eq!(told("n8n-nodes-base.if", &newest), ["={{ $json.a }} = \"\" or b <= 5 or c exists"]);
        let loose = json!({"conditions": {"options": {"caseSensitive": false, "typeValidation": "loose"}, "conditions": [one("a", "gt", json!(5))]}});
        assert_eq!(told("n8n-nodes-base.filter", &loose), ["a > 5 (typeValidation: loose, caseSensitive: false)"]);
        let loose = json!({"looseTypeValidation": true, "rules": {"values": [{"conditions": {"conditions": [one("a", "gt", json!(5))]}}]}});
        assert_eq!(told("n8n-nodes-base.switch", &loose), ["a > 5 (typeValidation: loose) -> 0"]);
        let old = json!({"combineOperation": "any", "conditions": {"string": [{"value1": "a", "operation": "contains", "value2": "b"}],
            "number": [{"value1": 1, "value2": 2}]}});
        assert_eq!(told("n8n-nodes-base.if", &old), ["a contains b or 1 < 2"]);
        let rule = |key: &str, right: &str| {
            json!({"outputKey": key, "renameOutput": true, "conditions": {"combinator": "and",
            "conditions": [one("={{ $json.g }}", "equals", json!(right))]}})
        };
        let switch =
            json!({"rules": {"values": [rule("red", "r"), rule("", "g")]}, "options": {"fallbackOutput": "extra"}});
        let expected = ["={{ $json.g }} = r -> red", "={{ $json.g }} = g -> 1", "options.fallbackOutput: extra"];
        assert_eq!(told("n8n-nodes-base.switch", &switch), expected);
        let old = json!({"dataType": "string", "value1": "={{ $json.g }}", "rules": {"rules": [{"value2": "r"}, {"value2": "g", "output": 3}]}});
        assert_eq!(told("n8n-nodes-base.switch", &old), ["={{ $json.g }} = r -> 0", "={{ $json.g }} = g -> 3"]);
        assert_eq!(
            told("n8n-nodes-base.switch", &json!({"mode": "expression", "output": "={{ 1 }}"})),
            ["output = ={{ 1 }}"]
        );
    }

    #[test]
    fn what_says_nothing_is_left_out() {
        let parameters = json!({"method": "POST", "url": "u", "authentication": "none", "sendQuery": false, "sendBody": true,
            "curlImport": "", "infoMessage": "", "bodyParameters": {"parameters": [{"name": "id", "value": "={{ $json.id }}"}]},
            "id": "{{ 7 }}", "rows": [{"id": "b01c", "column": "a", "order": "up"}], "simple": false,
            "options": {"timeout": 5, "followRedirects": false, "redirect": {"redirect": {}}}});
        let expected = [
            "POST u",
            "sendBody: true",
            "bodyParameters.parameters: id = ={{ $json.id }}",
            "id: {{ 7 }}",
            "rows.column: a",
            "rows.order: up",
            "options.timeout: 5",
            "options.followRedirects: false",
        ];
        assert_eq!(told("n8n-nodes-base.httpRequest", &parameters), expected);
        let located = json!({"workflowId": {"__rl": true, "mode": "list", "value": "x1", "cachedResultName": "Child"}, "mode": "each",
            "splitInBatchesNotice": "", "list": ["a", 1], "none": null});
        let expected = ["workflowId: x1 (Child)", "mode: each", "list: [\"a\",1]"];
        assert_eq!(told("n8n-nodes-base.executeWorkflow", &located), expected);
        assert_eq!(told("n8n-nodes-base.webhook", &json!({"path": "p", "httpMethod": "POST"})), [""; 0]);
        let code = json!({"mode": "runOnceForEachItem", "language": "javaScript", "jsCode": "return 1;"});
        assert_eq!(told("n8n-nodes-base.code", &code), ["once for each item:", "return 1;"]);
    }
}
