//! Parameters that n8n's editor hides, such as the body of a request that sends none: they were saved when it showed them, and
//! n8n leaves them out when it runs a workflow (`getNodeParameters` in `packages/workflow/src/node-helpers.ts`).

use serde_json::Value;

use super::parsed::ParsedNode;

/// Whether the parameter at this JSON Pointer is one of those, as far as a few frequent nodes show.
///
/// ```
/// use n8n_lens::workflow::Document;
/// use n8n_lens::workflow::left_over::is_left_over;
/// use n8n_lens::workflow::parsed::Parsed;
///
/// let document = Document::parse(br#"{"nodes": [{"type": "n8n-nodes-base.httpRequest", "typeVersion": 4.2,
///     "parameters": {"sendQuery": true, "jsonBody": "={{ $json.a }}"}}]}"#)?;
/// let node = &Parsed::of(&document)?.nodes[0];
/// assert!(is_left_over(node, "/jsonBody") && !is_left_over(node, "/queryParameters/parameters/0/value"));
/// # Ok::<(), n8n_lens::workflow::Error>(())
/// ```
pub fn is_left_over(node: &ParsedNode, pointer: &str) -> bool {
    let name = pointer.split('/').nth(1).unwrap_or_default();
    let (package, bare) = node.node_type.rsplit_once('.').unwrap_or_default();
    let chosen = |name: &str, default: &str, value: &str| node.parameter(name).unwrap_or(default) == value;
    match (package, bare.strip_suffix("Tool").unwrap_or(bare), name) {
        ("n8n-nodes-base", "httpRequest", _) => node.version >= 3.0 && is_left_over_of_request(node, name),
        ("n8n-nodes-base", "set", "jsonOutput") => node.version >= 3.0 && !chosen("mode", "manual", "raw"),
        ("n8n-nodes-base", "set", "assignments" | "fields") => chosen("mode", "manual", "raw"),
        ("n8n-nodes-base", "code", "jsCode") => !chosen("language", "javaScript", "javaScript"),
        // Agents and chains read `chatInput` themselves then.
        ("@n8n/n8n-nodes-langchain", _, "text") => {
            chosen("promptType", "", "auto") && !node.parameter("text").is_some_and(|text| text.contains("chatInput"))
        }
        _ => false,
    }
}

fn is_left_over_of_request(node: &ParsedNode, name: &str) -> bool {
    let sends = |name: &str| node.parameters.get(name) == Some(&Value::Bool(true));
    let specifies = |name: &str, value: &str| node.parameter(name).unwrap_or("keypair") == value;
    let content = node.parameter("contentType").unwrap_or("json");
    let is_shown = match name {
        "queryParameters" => sends("sendQuery") && specifies("specifyQuery", "keypair"),
        "jsonQuery" => sends("sendQuery") && specifies("specifyQuery", "json"),
        "headerParameters" => sends("sendHeaders") && specifies("specifyHeaders", "keypair"),
        "jsonHeaders" => sends("sendHeaders") && specifies("specifyHeaders", "json"),
        "jsonBody" => sends("sendBody") && content == "json" && specifies("specifyBody", "json"),
        "bodyParameters" => {
            let has_fields = matches!(content, "json" | "form-urlencoded") && specifies("specifyBody", "keypair");
            sends("sendBody") && (has_fields || content == "multipart-form-data")
        }
        "body" => sends("sendBody") && (content == "raw" || specifies("specifyBody", "string")),
        "rawContentType" => sends("sendBody") && content == "raw",
        "inputDataFieldName" => sends("sendBody") && content == "binaryData",
        _ => true,
    };
    !is_shown
}
