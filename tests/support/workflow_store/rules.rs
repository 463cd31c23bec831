//! What n8n's public API accepts as a workflow, and its error messages for anything else.

use std::collections::{HashMap, HashSet};

use base64::{Engine, engine::general_purpose::STANDARD_NO_PAD};
use serde_json::{Map, Value, from_slice, from_str};

use super::super::server::Request;
use super::Flavour::{self, V1, V2};

/// The keys that a body can have, in the order in which n8n checks them: `key:kind`; `!` is required, `@2` is 2.41
/// only, `@POST` and `@PUT` are 2.41 and that method only, `?` is nullable.
const WORKFLOW: &str = "id:read-only name!:string active:read-only createdAt:read-only updatedAt:read-only
    isArchived@2:read-only versionId@2:read-only triggerCount@2:read-only nodes!:nodes connections!:connections
    settings!:settings nodeGroups@2:array staticData:static pinData@2:object? projectId@POST:string
    parentFolderId@2:string? meta@2:read-only tags:read-only shared:shared activeVersion:read-only
    description@PUT:string";
const NODE: &str =
    "id:string name:string webhookId:string disabled:boolean notesInFlow:boolean notes:string type:string
    typeVersion:number executeOnce:boolean alwaysOutputData:boolean retryOnFail:boolean maxTries:number
    waitBetweenTries:number continueOnFail:boolean onError:string position:numbers parameters:object credentials:object
    customTelemetryTags@2:object createdAt:read-only updatedAt:read-only";
const SETTINGS: &str = "saveExecutionProgress:boolean saveManualExecutions:boolean saveDataErrorExecution:all|none
    saveDataSuccessExecution:all|none executionTimeout:number errorWorkflow:string timezone:string executionOrder:string
    binaryMode@2:separate|combined callerPolicy:any|none|workflowsFromAList|workflowsFromSameOwner callerIds:string
    timeSavedMode@2:fixed|dynamic timeSavedPerExecution:number redactionPolicy@2:none|non-manual|manual-only|all
    availableInMCP:boolean customTelemetryTags@2:array credentialResolverId@2:string";

/// The error of 2.41 for a PUT to an unknown id.
pub const NOT_YOURS: &str = "You do not have permission to update this workflow. Ask the owner to share it with you.";
/// Why an active workflow cannot be published again, in 2.41 and in 1.123.
pub const NO_TRIGGER: &str = "no trigger node. At least one trigger, webhook, or polling node is required.";
pub const NO_START: &str =
    "has no node to start the workflow - at least one trigger, poller or webhook node is required";

/// The query parameters; `left_out` is a key.
pub struct Query<'a> {
    pub limit: usize,
    pub offset: usize,
    pub active: Option<bool>,
    pub tags: Option<&'a str>,
    pub name: String,
    pub left_out: &'static str,
    pub publish: bool,
}

/// The rules that apply to one request.
#[derive(Clone, Copy)]
pub struct Rules<'a> {
    pub flavour: Flavour,
    pub method: &'a str,
}

impl Rules<'_> {
    /// The query parameters, or n8n's error.
    pub fn query<'q>(self, request: &'q Request, list: bool) -> Result<Query<'q>, String> {
        let known: &[&str] = match (self.method, list) {
            ("GET", true) => &["active", "tags", "name", "projectId", "excludePinnedData", "limit", "cursor"],
            ("GET", false) => &["excludePinnedData"],
            _ => &[],
        };
        for (key, value) in request.query.iter().filter(|_| self.flavour == V1) {
            if !known.contains(&&**key) {
                return Err(format!("Unknown query parameter '{key}'"));
            }
            if value.is_empty() {
                return Err(format!("Empty value found for query parameter '{key}'"));
            }
        }
        let truth = |name: &str| match (request.query(name), self.flavour) {
            (None, _) => Ok(None),
            (Some(text @ ("true" | "false")), _) => Ok(Some(text == "true")),
            (Some(text), V2) => {
                Err(format!("request/query/{name} Invalid enum value. Expected 'true' | 'false', received '{text}'"))
            }
            (Some(_), V1) => Err(format!("request/query/{name} must be boolean")),
        };
        let asked = |name| request.query(name).filter(|value| !value.is_empty());
        let mut limit = match (asked("limit").map_or(Ok(100), str::parse::<i64>), self.flavour) {
            (Err(_), V2) => Err("request/query/limit Param `limit` must be a valid integer"),
            (Ok(..0), V2) => Err("request/query/limit Param `limit` must be a non-negative integer"),
            (Err(_), V1) => Err("request/query/limit must be number"),
            (Ok(251..), V1) => Err("request/query/limit must be <= 250"),
            (Ok(limit), _) => Ok(limit.clamp(0, 250) as usize),
        }?;
        let mut offset = asked("offset").and_then(|offset| offset.parse().ok()).unwrap_or(0);
        let (active, exclude) = (truth("active")?, truth("excludePinnedData")? == Some(true));
        if let Some(cursor) = asked("cursor") {
            let bytes = STANDARD_NO_PAD.decode(cursor.trim_end_matches('=')).unwrap_or_default();
            let cursor: Map<_, _> = from_slice(&bytes).map_err(|_| "An invalid cursor was provided")?;
            let number = |key| cursor.get(key).and_then(Value::as_u64).map(|number| number as usize);
            (offset, limit) = (number("offset").unwrap_or(offset), number("limit").unwrap_or(limit));
        }
        let name = request.query("name").unwrap_or_default().trim().to_lowercase();
        let left_out = if exclude { "pinData" } else { "" };
        let publish = truth("publishIfActive")? != Some(false);
        Ok(Query { limit, offset, active, tags: asked("tags"), name, left_out, publish })
    }

    /// The body as n8n would store it, or n8n's error.
    pub fn body(self, body: Value) -> Result<Map<String, Value>, String> {
        match (self.fault(WORKFLOW, "request/body", &body), body) {
            (None, Value::Object(mut body)) => {
                body.retain(|key, _| !["projectId", "parentFolderId", "shared"].contains(&&**key));
                Ok(body)
            }
            (fault, _) => Err(fault.unwrap_or_default()),
        }
    }

    /// The first error that n8n finds in an object.
    fn fault(self, schema: &str, at: &str, value: &Value) -> Option<String> {
        let Value::Object(object) = value else { return self.mistyped("object", at, value) };
        let fields = schema.split_whitespace().filter_map(|field| field.split_once(':')).filter_map(|(key, kind)| {
            let (key, only) = key.split_once('@').unwrap_or((key, ""));
            let known = only.is_empty() || self.flavour == V2 && (only == "2" || only == self.method);
            known.then_some((key.trim_end_matches('!'), key.ends_with('!'), kind))
        });
        let fields: Vec<(&str, bool, &str)> = fields.collect();
        let unknown = object.keys().filter(|key| !fields.iter().any(|(known, ..)| known == key));
        let unknown: Vec<_> = unknown.map(|key| format!("'{key}'")).collect();
        let missing = |key: &str| format!("{at} must have required property '{key}'");
        let mut found = match fields.iter().find(|(key, required, _)| *required && !object.contains_key(*key)) {
            Some((key, ..)) if self.flavour == V1 => Some(missing(key)),
            _ if self.flavour == V1 && !unknown.is_empty() => Some(format!("{at} must NOT have additional properties")),
            _ => None,
        };
        for (key, required, kind) in fields {
            found = found.or_else(|| match object.get(key) {
                Some(value) => self.kind_fault(kind, &format!("{at}/{key}"), value),
                None if kind == "connections" => Some(format!("{at}/{key} must be object")),
                None => required.then(|| missing(key)),
            });
        }
        let unknown = (!unknown.is_empty()).then(|| unknown.join(", "));
        found.or(unknown.map(|keys| format!("{at} Unrecognized key(s) in object: {keys}")))
    }

    fn kind_fault(self, kind: &str, at: &str, value: &Value) -> Option<String> {
        match (kind, value) {
            ("read-only", _) => Some(format!("{at} is read-only")),
            ("connections", _) => (!value.is_object()).then(|| format!("{at} must be object")),
            ("settings", _) => self.fault(SETTINGS, at, value),
            ("nodes", Value::Array(nodes)) => {
                let mut nodes = nodes.iter().enumerate();
                nodes.find_map(|(index, node)| self.fault(NODE, &format!("{at}/{index}"), node))
            }
            ("shared", Value::Array(shares)) => {
                let index = shares.iter().position(|share| !share["project"]["id"].is_null())?;
                Some(format!("{at}/{index}/project/id is read-only"))
            }
            ("static", Value::String(text)) => {
                from_str::<Value>(text).is_err().then(|| format!("{at} must be a JSON string"))
            }
            ("static", _) => (!value.is_object() && !value.is_null()).then(|| format!("{at} Invalid input")),
            ("numbers", Value::Array(numbers)) => {
                let mut numbers = numbers.iter().enumerate();
                numbers.find_map(|(index, number)| self.mistyped("number", &format!("{at}/{index}"), number))
            }
            ("nodes" | "shared" | "numbers", _) => self.mistyped("array", at, value),
            (_, Value::String(text)) if kind.contains('|') => {
                let said = match self.flavour {
                    V1 => format!("must be equal to one of the allowed values: {}", kind.replace('|', ", ")),
                    V2 => format!("Invalid enum value. Expected '{}', received '{text}'", kind.replace('|', "' | '")),
                };
                (!kind.split('|').any(|allowed| allowed == text)).then(|| format!("{at} {said}"))
            }
            _ if kind.contains('|') => self.mistyped("string", at, value),
            (_, Value::Null) if kind.ends_with('?') => None,
            _ => self.mistyped(kind.trim_end_matches('?'), at, value),
        }
    }

    fn mistyped(self, expected: &str, at: &str, value: &Value) -> Option<String> {
        let received = match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        };
        (expected != received).then(|| match self.flavour {
            V1 => format!("{at} must be {expected}"),
            V2 => format!("{at} Expected {expected}, received {received}"),
        })
    }
}

/// The error of 2.41 for nodes and connections that do not match.
pub fn structure_fault(workflow: &Map<String, Value>) -> Option<String> {
    let nodes: Vec<&Value> = workflow["nodes"].as_array().into_iter().flatten().collect();
    let mut faults = Vec::new();
    for (index, node) in nodes.iter().enumerate() {
        let absent = ["name", "type", "position"].into_iter().filter(|key| node.get(key).is_none());
        faults.extend(absent.map(|key| format!("nodes[{index}].{key} (invalid_type): Required")));
    }
    if faults.is_empty() {
        faults = misfits(&nodes, &workflow["connections"]);
    }
    (!faults.is_empty()).then(|| format!("Workflow structure is invalid. {}", faults.join("; ")))
}

fn misfits(nodes: &[&Value], connections: &Value) -> Vec<String> {
    let (mut faults, mut ids, mut names) = (Vec::new(), HashMap::new(), HashSet::new());
    for (index, node) in nodes.iter().enumerate() {
        let (at, name) = (format!("nodes[{index}]"), &node["name"]);
        if let Some(id) = node.get("id")
            && let Some(first) = ids.insert(id.as_str(), name)
        {
            faults.push(format!("{at}.id (duplicate_node_id): Nodes {first} and {name} share the node ID {id}"));
        }
        if !names.insert(name.as_str()) {
            faults.push(format!("{at}.name (duplicate_node_name): Duplicate node name {name}"));
        }
    }
    for (source, kinds) in connections.as_object().into_iter().flatten() {
        let at = format!("connections.{source}");
        if !names.contains(&Some(source.as_str())) {
            let said = format!("Connection source \"{source}\" does not reference an existing node");
            faults.push(format!("{at} (unknown_connection_source): {said}"));
        }
        for (kind, outputs) in kinds.as_object().into_iter().flatten() {
            for (output, targets) in outputs.as_array().into_iter().flatten().enumerate() {
                for (index, target) in targets.as_array().into_iter().flatten().enumerate() {
                    let (at, node) = (format!("{at}.{kind}[{output}][{index}].node"), &target["node"]);
                    if !names.contains(&node.as_str()) {
                        let said = format!("Connection target {node} does not reference an existing node");
                        faults.push(format!("{at} (unknown_connection_target): {said}"));
                    }
                }
            }
        }
    }
    faults
}

/// Whether a node can start an active workflow.
pub fn has_trigger(workflow: &Map<String, Value>) -> bool {
    workflow["nodes"].as_array().into_iter().flatten().any(|node| {
        let kind = node["type"].as_str().unwrap_or_default();
        let starts = kind.ends_with(".webhook") || kind.ends_with("Trigger") && !kind.ends_with(".manualTrigger");
        starts && node["disabled"] != true
    })
}

/// The error for a name that is too short or too long.
pub fn name_fault(workflow: &Map<String, Value>, least: usize) -> Option<String> {
    let length = text(workflow, "name").chars().count();
    (!(least..=128).contains(&length)).then(|| "Workflow name must be 1 to 128 characters long.".to_owned())
}

/// What n8n changes in a body before storing it: nodes get ids, `staticData` is parsed.
pub fn complete(body: &mut Map<String, Value>, version: &str) {
    let nodes = body.get_mut("nodes").and_then(Value::as_array_mut).into_iter().flatten();
    for (index, node) in nodes.filter_map(Value::as_object_mut).enumerate() {
        node.entry("id").or_insert_with(|| format!("{version}-{index}").into());
    }
    if let Some(Value::String(text)) = body.get("staticData") {
        let parsed = from_str(text).unwrap_or_default();
        body.insert("staticData".to_owned(), parsed);
    }
}

/// A workflow for a response, without these keys.
pub fn without(mut workflow: Map<String, Value>, keys: &str) -> Value {
    workflow.retain(|key, _| !keys.split(' ').any(|left_out| left_out == key));
    Value::Object(workflow)
}

/// Removes members from an object.
pub fn strike(value: &mut Value, unwanted: impl Fn(&str, &Value) -> bool) {
    if let Value::Object(object) = value {
        object.retain(|key, value| !unwanted(key, value));
    }
}

/// Adds the members of one object to another, replacing members with the same name.
pub fn lay_over(value: &mut Value, over: &Value) {
    if let (Value::Object(object), Value::Object(over)) = (value, over) {
        object.extend(over.clone());
    }
}

/// A string member, or an empty string.
pub fn text<'a>(workflow: &'a Map<String, Value>, key: &str) -> &'a str {
    workflow.get(key).and_then(Value::as_str).unwrap_or_default()
}
