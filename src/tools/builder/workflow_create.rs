//! `workflow_create`: creates an empty workflow in a file, in n8n or in memory.

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::answer::with_workflow;
use crate::n8n::Progress;
use crate::toolkit::{Effect, Object, Switch, Text, arguments};
use crate::tools::workflows::{NAME, SETTINGS, Target, WorkflowLocation, Writing, members, refused};
use crate::tools::{Context, Error, Handler, Tool, ToolCall};
use crate::workflow::{Document, WriteMode};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "workflow_create",
    title: "Create an empty workflow",
    description: "Create an empty workflow to build step by step: as NAME.json or, per target, as another file, in n8n, \
                  or in memory. create_workflow creates a complete one in n8n at once.",
    parameters: WorkflowCreate::PARAMETERS,
    effect: Effect::Add,
    handler: Handler::of::<WorkflowCreate>().answering(&[("workflowId", "string"), ("workflowData", "object")]),
};

arguments! {
    struct WorkflowCreate {
        name: Text = NAME,
        description: Option<Text> = "What it is for; kept in files and in memory.",
        active: Option<Switch> = "Kept in files and in memory; in n8n use set_workflow_active.",
        settings: Option<Object> = SETTINGS,
        target: Option<Text> = "memory, n8n, or a path (default NAME.json).",
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    workflow_id: String,
}

/// A new workflow in an answer.
struct Created {
    id: String,
    document: Document,
    left_out: Vec<String>,
}

impl ToolCall for WorkflowCreate {
    async fn run(self, context: Arc<Context>, progress: Progress) -> Result<String, Error> {
        let default_target = || format!("{}.json", file_name(&self.name));
        let target = self.target.clone().unwrap_or_else(default_target);
        let document = self.document()?;
        let created = match target.as_str() {
            "memory" => Created { id: context.memory.insert(document.clone())?, document, left_out: Vec::new() },
            "n8n" => in_n8n(&context, document, &progress).await?,
            path => {
                let (files, to, written) = (context.files.clone(), path.to_owned(), document.clone());
                let write = move || Ok(files.write(&to, written, &WriteMode::Create)?);
                let file = context.write_file(path, write).await?;
                Created { id: file.display().to_string(), document, left_out: Vec::new() }
            }
        };
        let note = (!created.left_out.is_empty()).then(|| {
            format!("Left out, since n8n does not accept it for a new workflow: {}.", created.left_out.join(", "))
        });
        Ok(with_workflow(&Answer { workflow_id: created.id }, note.as_deref(), &created.document))
    }
}

impl WorkflowCreate {
    fn document(self) -> Result<Document, Error> {
        let settings = self.settings.filter(|settings| !settings.is_empty()).map(Value::Object);
        let members = members([
            ("name", Some(self.name.into())),
            ("description", self.description.map(Into::into)),
            ("active", self.active.map(Into::into)),
            ("nodes", Some(json!([]))),
            ("connections", Some(json!({}))),
            ("settings", Some(settings.unwrap_or_else(|| json!({"executionOrder": "v1"})))),
        ]);
        let document = Document::of(&members).and_then(|document| document.check().map(|()| document));
        document.map_err(|error| refused(&error))
    }
}

async fn in_n8n(context: &Context, document: Document, progress: &Progress) -> Result<Created, Error> {
    let (target, given) = (Target::New, Map::new());
    let written = Writing { context, target, document, given, progress, raw: false }.send().await?;
    let id = written.id().to_owned();
    // As n8n stored it: n8n can leave something out, and adds its own settings.
    let location = WorkflowLocation::N8n(id.clone());
    let document = location.shown(location.load(context, progress).await?);
    Ok(Created { id, document, left_out: written.left_out })
}

/// File systems allow 255 bytes; the extension and a temporary name need some of them.
const MAX_NAME_BYTES: usize = 200;

/// A workflow's name as a file name: without path separators and characters that Windows refuses.
fn file_name(name: &str) -> String {
    let plain: String =
        name.chars().map(|char| if char.is_control() || r#"/\:*?"<>|"#.contains(char) { '_' } else { char }).collect();
    let plain = plain.trim_start_matches('.');
    let short = &plain[..plain.floor_char_boundary(MAX_NAME_BYTES.min(plain.len()))];
    if short.is_empty() { "workflow".to_owned() } else { short.to_owned() }
}
