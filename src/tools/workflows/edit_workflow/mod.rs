//! `edit_workflow`: changes parts of a workflow, all of them or none, as a draft unless the caller publishes.

mod changes;
mod check;
mod new_problems;
mod operations;

use std::sync::Arc;

use serde::Serialize;

use self::changes::Line;
use self::check::{Check, Found};
use self::new_problems::new_and_old;
use self::operations::operations;
use super::check_workflow::Row;
use super::{EditRequest, Edited, Outcome, WorkflowLocation};
use crate::blocking::blocking;
use crate::budget::Ladder;
use crate::n8n::Progress;
use crate::toolkit::answer::{is_zero, success};
use crate::toolkit::{Effect, Locale, Objects, Switch, Text, arguments};
use crate::tools::{Context, Error, Handler, Tool, ToolCall};
use crate::workflow::Written;
use crate::workflow::edit::{Changed, Operation, changes_between, edited, other_changes_between};
use crate::workflow::parsed::Parsed;

/// The tool.
pub static TOOL: Tool = Tool {
    name: "edit_workflow",
    title: "Edit a workflow",
    description: "Change parts of a workflow, all or nothing, as a draft. Operations {type, nodeName}: setNodeParameter {path, \
                  value}, removeNodeParameter {path}, updateNodeParameters {parameters} (merge), patchNodeParameter {path, \
                  patches: [{find, replace}]}, setNodeSettings {settings}, removeNode {reconnect?}; without nodeName: addNode \
                  {node: {name, type, parameters}, after?, sourceOutput?}, renameNode {oldName, newName}, addConnection, \
                  removeConnection {source, target, sourceOutput?, targetInput?}, setWorkflowSettings {settings}, \
                  setWorkflowMetadata {name?, description?}, restoreVersion {versionId}. path: JSON Pointer below parameters \
                  (/rules/0; - appends).",
    parameters: EditWorkflow::PARAMETERS,
    effect: Effect::Change,
    handler: Handler::of::<EditWorkflow>(),
};

arguments! {
    struct EditWorkflow {
        workflow_id: Text = "Id or file.",
        operations: Objects = "1 to 50.",
        dry_run: Switch = "Write nothing.",
        publish: Switch = "Also publish.",
        expect_version_id: Option<Text> = "Refuse another version.",
    }
}

/// The most operations of a call.
const MAX_OPERATIONS: usize = 50;

/// The most changes of an answer.
const MAX_LINES: usize = 12;

/// The most new problems of an answer.
const MAX_PROBLEMS: usize = 5;

/// The token budget of an answer.
const TOKENS: usize = 500;

/// How much of the changes an answer shows.
#[derive(Clone, Copy)]
struct Size {
    lines: usize,
    chars: usize,
    notes: usize,
    problems: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EditedWorkflow<'a> {
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    version_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    previous_version_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    active: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    published: Option<bool>,
    changes: Vec<String>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    notes: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    new_problems: &'a [Row],
    #[serde(skip_serializing_if = "is_zero")]
    more_new_problems: usize,
    #[serde(skip_serializing_if = "is_zero")]
    old_problems: usize,
}

/// The result of the operations.
struct Made {
    changes: Vec<Changed>,
    notes: Vec<String>,
    found: Found,
}

impl ToolCall for EditWorkflow {
    async fn run(self, context: Arc<Context>, progress: Progress) -> Result<String, Error> {
        let location = WorkflowLocation::of(&self.workflow_id);
        if self.operations.is_empty() || self.operations.len() > MAX_OPERATIONS {
            return Err(Error::argument("operations", format!("must have 1 to {MAX_OPERATIONS} elements.")));
        }
        let operations = operations(self.operations, &context.catalogue)?;
        let request = EditRequest {
            publish: Some(self.publish),
            expected: self.expect_version_id,
            writes: !self.dry_run,
            with_pinned: operations.iter().any(|operation| matches!(operation, Operation::RenameNode { .. })),
        };
        let unset = unset_in_n8n(&location, &operations);
        // Before anything is written, so that an edit that was made is never reported as failed.
        let catalogue = context.catalogue.catalogue()?;
        let edited = match operations.as_slice() {
            [Operation::RestoreVersion { version_id }] => {
                let restored = location.restore(&context, &request, &progress, version_id).await?;
                blocking(move || {
                    let changes = restored_changes(&restored);
                    let found = Check::begin(&restored.before, catalogue).finish(&restored.after);
                    restored.with(Made { changes, notes: Vec::new(), found })
                })
                .await
            }
            _ => {
                let edit = move |before: &Written| {
                    let check = Check::begin(&before.document, catalogue.clone());
                    let types = |name: &str| catalogue.as_ref()?.find(name);
                    let ((changes, notes), after) = edited(before, |editor| {
                        let changes = editor.apply_all(&operations, &types)?;
                        Ok((changes, editor.notes()))
                    })?;
                    let found = check.finish(&after.document);
                    Ok((Made { changes, notes, found }, after))
                };
                location.edit(&context, &request, &progress, edit).await?
            }
        };
        // Checking a large workflow, and counting tokens, takes time.
        blocking(move || Ok(answer(&self.workflow_id, context.locale, &request, edited, unset))).await
    }
}

/// The changes made by returning to another version.
fn restored_changes(restored: &Edited<()>) -> Vec<Changed> {
    let mut changes = match [&restored.before, &restored.after].map(|workflow| Parsed::of(workflow)) {
        [Ok(before), Ok(after)] => changes_between(&before, &after),
        // A file may have had any content before.
        _ => Vec::new(),
    };
    changes.extend(other_changes_between(&restored.before, &restored.after));
    changes
}

/// A setting that is removed keeps its value in n8n, whose API only adds and changes settings.
fn unset_in_n8n(location: &WorkflowLocation, operations: &[Operation]) -> Option<String> {
    let settings = |operation: &Operation| match operation {
        Operation::SetWorkflowSettings { settings } => {
            settings.iter().filter(|(_, value)| value.is_null()).map(|(name, _)| name.clone()).collect()
        }
        _ => Vec::new(),
    };
    let unset: Vec<_> = operations.iter().flat_map(settings).collect();
    let is_kept = matches!(location, WorkflowLocation::N8n(_)) && !unset.is_empty();
    is_kept.then(|| format!("n8n's API cannot remove a setting: {} stays as it was.", unset.join(", ")))
}

fn answer(id: &str, locale: Locale, request: &EditRequest, edited: Edited<Made>, unset: Option<String>) -> String {
    let message = match (request.writes, edited.before == edited.after) {
        (false, _) => {
            locale.choose("変更は可能です。何も書き込んでいません", "The edit is possible; nothing was written")
        }
        (true, true) => locale.choose("変更はありません", "Nothing differs"),
        (true, false) => locale.choose("ワークフローを編集しました", "Workflow edited"),
    };
    let remark = edited.outcome.map(|outcome| outcome.remark(locale)).unwrap_or_default();
    let message = format!("{message}{remark}");
    let (new_problems, old_problems) = new_and_old(&edited.value.found, &edited.value.changes);
    let mut notes: Vec<_> = edited.value.notes.iter().cloned().chain(unset).collect();
    notes.extend(edited.value.changes.iter().filter_map(chosen_version));
    notes.extend(edited.left_out_note());
    if request.writes && !edited.is_kept && matches!(WorkflowLocation::of(id), WorkflowLocation::File(_)) {
        notes.push("The text before was too large to be kept: restoreVersion cannot return to it.".to_owned());
    }
    let [before, now] = edited.versions.each_ref().map(Option::as_deref);
    // What was only tried is still the version that it was.
    let (previous_version_id, version_id) = if request.writes { (before, now) } else { (None, before) };
    let (active, published) = states(&edited);
    let all = &edited.value.changes;
    let shown: Vec<_> = all.iter().take(MAX_LINES).map(Line::new).collect();
    let write = |Size { lines, chars, notes: shown_notes, problems }: Size| {
        let mut changes: Vec<_> = shown.iter().take(lines).map(|line| line.within(chars)).collect();
        if all.len() > lines {
            changes.push(format!("… and {} more", all.len() - lines));
        }
        let notes = &notes[..shown_notes.min(notes.len())];
        let (new_problems, more) = new_problems.split_at(problems.min(new_problems.len()));
        let data = EditedWorkflow {
            id,
            version_id,
            previous_version_id,
            active,
            published,
            changes,
            notes,
            new_problems,
            more_new_problems: more.len(),
            old_problems,
        };
        success(&message, &data)
    };
    let problems = new_problems.len().min(MAX_PROBLEMS);
    let ladder = Ladder::new(Size { lines: MAX_LINES, chars: 160, notes: 8, problems })
        .shorter(|size| &mut size.chars, |chars| chars * 7 / 8, 60)
        .fewer(|size| &mut size.lines, |lines| lines - 1, 1)
        .fewer(|size| &mut size.problems, |problems| problems - 1, 0)
        .fewer(|size| &mut size.notes, |notes| notes - 1, 0);
    ladder.largest_that_fits(TOKENS, write).answer
}

fn chosen_version(change: &Changed) -> Option<String> {
    match change {
        Changed::Added { name, chosen: Some(chosen), .. } => Some(format!("{name} is of type {chosen}.")),
        _ => None,
    }
}

/// In n8n: whether the workflow is active, and whether this change is live.
fn states(edited: &Edited<Made>) -> (Option<bool>, Option<bool>) {
    match edited.outcome {
        Some(Outcome::Inactive) => (Some(false), None),
        Some(Outcome::Live | Outcome::LiveWithDraft) => (Some(true), Some(true)),
        Some(Outcome::SavedAsDraft | Outcome::AddedToDraft) => (Some(true), Some(false)),
        None => (None, None),
    }
}
