//! The triggers that can start a workflow from outside.

use serde_json::{Map, Value};

use super::Error;
use super::document::text;
use super::document::{Document, Members};

/// A trigger that can be called over HTTP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// At `/webhook/PATH`.
    Webhook {
        /// Such as `POST`.
        method: String,
        /// Without the leading slash.
        path: String,
    },
    /// At `/form/PATH`.
    Form {
        /// Without the leading slash.
        path: String,
        /// The labels of its fields, in order.
        fields: Vec<String>,
    },
    /// At `/webhook/ID/chat`.
    Chat {
        /// The webhook's id.
        id: String,
    },
}

/// The triggers of a workflow.
#[derive(Debug, Default)]
pub struct Triggers {
    /// The first that can be called.
    pub callable: Option<Trigger>,
    /// The types of all triggers.
    pub types: Vec<String>,
}

impl Triggers {
    /// Finds the triggers among the nodes that are not disabled.
    ///
    /// # Errors
    /// [`Error::NotWorkflow`] if the nodes are not a list of objects.
    pub fn of(document: &Document) -> Result<Self, Error> {
        let mut triggers = Self::default();
        for node in document.nodes()? {
            let node_type = text(&node, "type").unwrap_or_default();
            let disabled = node.get("disabled").is_some_and(|disabled| disabled.get() == "true");
            if disabled || !is_trigger(&node_type) {
                continue;
            }
            let trigger = callable(&node, &node_type);
            triggers.callable = triggers.callable.or(trigger);
            triggers.types.push(node_type);
        }
        Ok(triggers)
    }
}

pub(super) fn is_trigger(node_type: &str) -> bool {
    let name = node_type.rsplit('.').next().unwrap_or(node_type);
    name == "webhook" || name.to_lowercase().ends_with("trigger") || matches!(name, "cron" | "interval" | "start")
}

fn callable(node: &Members, node_type: &str) -> Option<Trigger> {
    let parameters = node.get("parameters").and_then(|raw| serde_json::from_str::<Map<String, Value>>(raw.get()).ok());
    let parameters = parameters.unwrap_or_default();
    let string = |name: &str| parameters.get(name).and_then(Value::as_str).map(str::to_owned);
    let id = text(node, "webhookId");
    match node_type {
        "n8n-nodes-base.webhook" => {
            let path = string("path").or_else(|| id.clone())?.trim_matches('/').to_owned();
            // n8n prepends the webhook's id to a path with parameters.
            let has_parameters = path.split('/').any(|segment| segment.starts_with(':'));
            let path = if has_parameters { format!("{}/{path}", id?) } else { path };
            let several = parameters.get("httpMethod").and_then(|methods| methods[0].as_str()).map(str::to_owned);
            let method = string("httpMethod").or(several).unwrap_or_else(|| "GET".to_owned());
            Some(Trigger::Webhook { method, path })
        }
        "n8n-nodes-base.formTrigger" => {
            let options = parameters.get("options").and_then(|options| options["path"].as_str()).map(str::to_owned);
            let path = options.or_else(|| string("path")).or(id)?.trim_matches('/').to_owned();
            Some(Trigger::Form { path, fields: labels(&parameters) })
        }
        // Only a public chat has a URL of its own.
        "@n8n/n8n-nodes-langchain.chatTrigger" if parameters.get("public") == Some(&Value::Bool(true)) => {
            Some(Trigger::Chat { id: id? })
        }
        _ => None,
    }
}

fn labels(parameters: &Map<String, Value>) -> Vec<String> {
    let fields = parameters.get("formFields").and_then(|fields| fields["values"].as_array());
    let label =
        |field: &Value| field["fieldName"].as_str().or(field["fieldLabel"].as_str()).unwrap_or_default().to_owned();
    fields.into_iter().flatten().map(label).collect()
}
