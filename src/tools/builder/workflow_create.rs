//! `workflow_create`: an empty workflow, in a file, in n8n, or in memory.

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::answer::with_workflow;
use super::place::{Place, refused};
use crate::blocking::blocking;
use crate::n8n::Progress;
use crate::toolkit::{Answers, Arguments, Effect, Kind, Parameter};
use crate::tools::workflows::{Target, Writing};
use crate::tools::{Call, Context, Error, Tool};
use crate::workflow::Document;

/// The tool.
pub static TOOL: Tool = Tool {
    name: "workflow_create",
    title: "Create an empty workflow",
    description: "Create an empty workflow to build on: the file NAME.json, or with target a file of another path, a \
                  workflow in n8n, or one in memory.",
    parameters: &[
        Parameter::required("name", Kind::Text, "1 to 128 characters."),
        Parameter::optional("description", Kind::Text, "What it is for; kept in files and in memory."),
        Parameter::optional("active", Kind::FLAG, "Kept in files; n8n does not take it."),
        Parameter::optional("settings", Kind::Object, "n8n's workflow settings."),
        Parameter::optional("target", Kind::Text, "memory, n8n, or a path (default NAME.json)."),
    ],
    ignored: &[],
    answers: Answers::Plain(&[("workflowId", "string"), ("workflowData", "object")]),
    effect: Effect::Add,
    max_result_chars: None,
    call,
};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    workflow_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

/// A workflow that was created.
struct Created {
    id: String,
    document: Document,
    left_out: Vec<String>,
}

fn call(context: Arc<Context>, mut arguments: Arguments, progress: Progress) -> Call {
    Box::pin(async move {
        let name = arguments.text("name").unwrap_or_default();
        let target = arguments.text("target").unwrap_or_else(|| format!("{}.json", file_name(&name)));
        let document = document(&name, &mut arguments)?;
        let created = match target.as_str() {
            "memory" => Created { id: context.memory.hold(document.clone()), document, left_out: Vec::new() },
            "n8n" => in_n8n(&context, document, &progress).await?,
            path => {
                let (files, path, written) = (context.files.clone(), path.to_owned(), document.clone());
                let file = blocking(move || files.write(&path, &written, true)).await?;
                Created { id: file.display().to_string(), document, left_out: Vec::new() }
            }
        };
        let note = (!created.left_out.is_empty())
            .then(|| format!("n8n does not take {} of a new workflow.", created.left_out.join(", ")));
        let (workflow_id, document) = (created.id, created.document);
        Ok(with_workflow(&Answer { workflow_id, note }, &document))
    })
}

fn document(name: &str, arguments: &mut Arguments) -> Result<Document, Error> {
    let mut members = Map::new();
    members.insert("name".to_owned(), name.into());
    for (member, value) in arguments.take(&["description", "active"]) {
        members.insert(member, value);
    }
    members.insert("nodes".to_owned(), json!([]));
    members.insert("connections".to_owned(), json!({}));
    let settings = arguments.take_object("settings");
    members.insert(
        "settings".to_owned(),
        if settings.is_empty() { json!({"executionOrder": "v1"}) } else { Value::Object(settings) },
    );
    let document = Document::of(&members).and_then(|document| document.check().map(|()| document));
    document.map_err(|error| refused(&error))
}

async fn in_n8n(context: &Context, document: Document, progress: &Progress) -> Result<Created, Error> {
    let (target, given) = (Target::New, Map::new());
    let written = Writing { context, target, document, given, progress, raw: false }.send().await?;
    let id = written.id().to_owned();
    // As n8n has it: it may have left something out, and added settings of its own.
    let document = Place::N8n(id.clone()).load(context, progress).await?;
    Ok(Created { id, document, left_out: written.left_out })
}

/// File systems take 255 bytes, and the ending and a temporary name need some.
const NAME_BYTES: usize = 200;

/// A name as a file's: without what separates folders.
fn file_name(name: &str) -> String {
    let plain: String =
        name.chars().map(|char| if char.is_control() || r#"/\:*?"<>|"#.contains(char) { '_' } else { char }).collect();
    let plain = plain.trim_start_matches('.');
    let short = &plain[..plain.floor_char_boundary(NAME_BYTES.min(plain.len()))];
    if short.is_empty() { "workflow".to_owned() } else { short.to_owned() }
}
