//! The workflow that ran, and the one to be proven.

use std::collections::HashSet;

use crate::execution::recording::{Recording, RecordingProjection};
use crate::n8n::{ExecutionRequest, Progress};
use crate::tools::workflows::{RanWorkflow, WorkflowLocation, is_workflow_file, workflow_that_ran};
use crate::tools::{Context, Error};
use crate::workflow::document::Members;
use crate::workflow::parsed::{NOTE, Parsed, ParsedNode};
use crate::workflow::replay::{self, Copy, Plan, Played};
use crate::workflow::revision::{does_the_same, goes_on_the_same, same_node};
use crate::workflow::{self, Document};

/// Stands for the workflow that ran.
const ORIGINAL: &str = "original";

/// Both workflows.
pub(super) struct Revisions {
    /// The one that ran.
    pub ran: Revision,
    /// The one to be proven.
    pub now: Revision,
    /// The nodes of `now` that are new, changed or connected differently, and the nodes of `ran` that are gone.
    pub changed: Vec<String>,
    /// The workflow's id in n8n.
    pub workflow_id: Option<String>,
    /// n8n's id of the version to be proven; `None` for a file.
    pub version_id: Option<String>,
    /// Whether it is the published version.
    pub published: bool,
    /// What it is.
    pub kind: Kind,
}

/// What is to be proven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Draft,
    /// A saved version that is the published one.
    Published,
    Version,
    File,
    /// The workflow that ran: only the replay itself is checked.
    Original,
}

/// A workflow as the source of a copy.
pub(super) struct Revision {
    pub workflow: Parsed,
    settings: Members,
}

impl Revision {
    fn of(document: &Document) -> Result<Self, Error> {
        let (workflow, settings) = replay::parts(document).map_err(|error| unusable(&error))?;
        Ok(Self { workflow, settings })
    }

    /// The node of this name.
    pub(super) fn node(&self, name: &str) -> Option<&ParsedNode> {
        self.workflow.nodes.iter().find(|node| node.name == name)
    }

    /// A node, and all nodes that it leads to.
    pub(super) fn after<'a>(&'a self, name: &'a str) -> HashSet<&'a str> {
        let (mut after, mut open) = (HashSet::from([name]), vec![name]);
        while let Some(from) = open.pop() {
            for one in self.workflow.connections.iter().filter(|one| one.source == from && one.output.kind == "main") {
                if after.insert(&one.target) {
                    open.push(&one.target);
                }
            }
        }
        after
    }

    /// The nodes among these that can reach outside.
    pub(super) fn outside(&self, among: &HashSet<&str>) -> Vec<String> {
        let reaches = |node: &&ParsedNode| {
            among.contains(node.name.as_str()) && !node.is_disabled && !node.is(NOTE) && !replay::runs_for_real(node)
        };
        self.workflow.nodes.iter().filter(reaches).map(|node| node.name.clone()).collect()
    }

    fn plan<'a>(&'a self, name: String, trigger: &'a str, seconds: u64) -> Plan<'a> {
        Plan { workflow: &self.workflow, settings: &self.settings, trigger, name, timeout: seconds }
    }

    /// A copy of it, checked.
    pub(super) fn copy(
        &self,
        id: &str,
        which: &str,
        trigger: &str,
        seconds: u64,
        played: &dyn Fn(&str) -> Played,
    ) -> Result<Copy, Error> {
        let name = format!("{} {id} {which} {}", replay::NAME, jiff::Timestamp::now());
        let copy = self.plan(name, trigger, seconds).copy(played).map_err(|refusal| {
            Error::FailedPrecondition(format!("This execution cannot be run again: {refusal}. Nothing was created."))
        })?;
        copy.sealed().map_err(|problem| {
            Error::FailedPrecondition(format!(
                "The copy would not be safe, so nothing was created: {problem}. Please report this."
            ))
        })?;
        Ok(copy)
    }
}

/// The nodes that differ between the workflow that an execution ran and its draft, which could be proven; empty if they are the same.
///
/// # Errors
/// One of the two cannot be read.
pub(in crate::tools) async fn changed_in_draft(
    context: &Context,
    request: &ExecutionRequest,
    progress: &Progress,
) -> Result<Vec<String>, Error> {
    let recording = context.executions().read(request, &RecordingProjection::of_runs(), progress).await?.view?;
    Ok(Revisions::read(context, None, &recording, progress).await?.changed)
}

impl Revisions {
    /// Reads both.
    pub(super) async fn read(
        context: &Context,
        wanted: Option<&str>,
        recording: &Recording,
        progress: &Progress,
    ) -> Result<Self, Error> {
        let executed = recording.workflow.clone();
        let ran = workflow_that_ran(context, &recording.header, executed, None, progress).await;
        let RanWorkflow { document: ran, .. } = ran.ok_or_else(|| {
            Error::FailedPrecondition(
                "This execution does not say which workflow it ran, so nothing can be compared.".to_owned(),
            )
        })?;
        let workflow_id = recording.header.workflow_id.clone();
        let is_original = wanted == Some(ORIGINAL);
        let now = match wanted.filter(|wanted| *wanted != "draft") {
            Some(ORIGINAL) => ran.clone(),
            Some(file) if is_workflow_file(file) => WorkflowLocation::of(file).load(context, progress).await?,
            version => Self::saved(context, workflow_id.as_deref(), version, progress).await?,
        };
        let is_file = wanted.is_some_and(is_workflow_file);
        let version_id = now.version().filter(|_| !is_file && !is_original);
        let published = version_id.is_some() && now.active_version() == version_id;
        let kind = match wanted {
            _ if is_file => Kind::File,
            _ if is_original => Kind::Original,
            _ if published => Kind::Published,
            None | Some("draft") => Kind::Draft,
            Some(_) => Kind::Version,
        };
        let (ran, now) = (Revision::of(&ran)?, Revision::of(&now)?);
        let changed = changed(&now.workflow, &ran.workflow);
        Ok(Self { ran, now, changed, workflow_id, version_id, published, kind })
    }

    /// The draft, or a version, in n8n.
    async fn saved(
        context: &Context,
        workflow: Option<&str>,
        version: Option<&str>,
        progress: &Progress,
    ) -> Result<Document, Error> {
        let id = workflow.ok_or_else(|| {
            Error::FailedPrecondition(
                "This execution does not say which workflow it is of: pass a workflow file as `workflow`.".to_owned(),
            )
        })?;
        let Some(version) = version else {
            return WorkflowLocation::N8n(id.to_owned()).load(context, progress).await;
        };
        let text = context.n8n()?.workflow_version_text(id, version, progress).await?;
        Document::parse(&text).map_err(|error| unusable(&error))
    }

    /// Whether only the replay itself is checked.
    pub(super) fn is_original(&self) -> bool {
        self.kind == Kind::Original
    }

    /// The name in the execution of a node of the changed workflow.
    pub(super) fn name_then<'a>(&'a self, now: &'a str) -> &'a str {
        let node = self.now.node(now).and_then(|node| same_node(&self.ran.workflow.nodes, node));
        node.map_or(now, |node| &node.name)
    }

    /// The current name of a node of the execution; `None` if it is gone.
    pub(super) fn name_now<'a>(&'a self, then: &'a str) -> Option<&'a str> {
        let node = self.ran.node(then)?;
        same_node(&self.now.workflow.nodes, node).map(|node| node.name.as_str())
    }

    /// Whether a node of the changed workflow itself behaves differently, not only because of other input.
    pub(super) fn acts_otherwise(&self, now: &str) -> bool {
        let then = self.now.node(now).and_then(|node| Some((node, same_node(&self.ran.workflow.nodes, node)?)));
        then.is_some_and(|(node, old)| !does_the_same(node, old) || !goes_on_the_same(node, old))
    }

    /// The nodes of the changed workflow that are in its copy.
    pub(super) fn names_in_copy(&self) -> HashSet<&str> {
        replay::kept(&self.now.workflow).map(|node| node.name.as_str()).collect()
    }

    /// The nodes of the workflow that ran that are in its copy.
    pub(super) fn names_in_control(&self) -> HashSet<&str> {
        replay::kept(&self.ran.workflow).map(|node| node.name.as_str()).collect()
    }

    /// The nodes that answer from the recording in either copy, by their names in the execution.
    pub(super) fn played(&self, trigger: &str, seconds: u64) -> HashSet<String> {
        let ran = self.ran.plan(String::new(), trigger, seconds);
        let trigger_now = self.name_now(trigger).unwrap_or(trigger);
        let now = self.now.plan(String::new(), trigger_now, seconds);
        let then = now.played().into_iter().map(|name| self.name_then(name).to_owned());
        ran.played().into_iter().map(str::to_owned).chain(then.collect::<Vec<_>>()).collect()
    }

    /// A copy of the changed workflow.
    pub(super) fn copy_of_changed(
        &self,
        id: &str,
        trigger: &str,
        seconds: u64,
        played: &dyn Fn(&str) -> Played,
    ) -> Result<Copy, Error> {
        let trigger = self.name_now(trigger).unwrap_or(trigger);
        self.now.copy(id, "changed", trigger, seconds, &|name| played(self.name_then(name)))
    }
}

fn unusable(error: &workflow::Error) -> Error {
    Error::FailedPrecondition(format!("The workflow cannot be used: {error}."))
}

/// The nodes that have changed.
fn changed(now: &Parsed, then: &Parsed) -> Vec<String> {
    let is_node = |node: &&ParsedNode| !node.is(NOTE);
    let is_changed = |node: &&ParsedNode| match same_node(&then.nodes, node) {
        Some(old) => {
            old.name != node.name
                || !does_the_same(node, old)
                || !goes_on_the_same(node, old)
                || feeds(now, node, then) != feeds(then, old, then)
        }
        None => true,
    };
    let mut names: Vec<_> = now.nodes.iter().filter(is_node).filter(is_changed).map(|node| node.name.clone()).collect();
    let gone = then.nodes.iter().filter(is_node).filter(|node| same_node(&now.nodes, node).is_none());
    names.extend(gone.map(|node| node.name.clone()));
    names
}

/// What feeds a node, with nodes named as they were then.
fn feeds(workflow: &Parsed, node: &ParsedNode, then: &Parsed) -> HashSet<(String, String, usize, usize)> {
    let name_then = |name: &str| {
        let node = workflow.nodes.iter().find(|node| node.name == name).and_then(|node| same_node(&then.nodes, node));
        node.map_or(name, |node| &node.name).to_owned()
    };
    let into = workflow.connections.iter().filter(|one| one.target == node.name);
    into.map(|one| (name_then(&one.source), one.output.kind.clone(), one.output.index, one.input.index)).collect()
}
