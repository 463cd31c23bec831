//! The workflow that ran, and the one to be proven.

use std::cmp::Ordering;
use std::collections::HashSet;

use crate::execution::recording::{Recording, RecordingProjection};
use crate::n8n::{ExecutionRequest, Progress};
use crate::tools::workflows::{RanWorkflow, WorkflowLocation, is_workflow_file, workflow_that_ran};
use crate::tools::{Context, Error};
use crate::workflow::connections::Connection;
use crate::workflow::document::Members;
use crate::workflow::parsed::{NOTE, Parsed, ParsedNode};
use crate::workflow::replay::{self, Copy, KEPT_SETTINGS, Plan, Played, Refusal, runs_for_real};
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
    /// The nodes that have another name now: their names then and now.
    renamed: Vec<(String, String)>,
    /// The settings of the workflow that differ, among those that change what nodes output.
    pub changed_settings: Vec<&'static str>,
    /// Whether the one that ran is only known as the execution has it, with every default filled in.
    pub is_snapshot: bool,
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

    /// The nodes that run before the target of a connection, the one at this index, after the same output: n8n runs them by their
    /// positions from the top with `executionOrder` v1, otherwise in the order of the connections
    /// (`packages/core/src/execution-engine/workflow-execute.ts`).
    fn before(&self, at: usize, one: &Connection) -> Vec<&str> {
        let is_by_position = setting(&self.settings, "executionOrder") == Some(r#""v1""#);
        let place = |name: &str| {
            let position = self.node(name).filter(|_| is_by_position).and_then(|node| node.member("position"));
            let position = position.unwrap_or_default();
            let axis = |axis: usize| position[axis].as_f64().unwrap_or(0.0);
            (axis(1), axis(0))
        };
        let is_beside = |other: &Connection| {
            other.source == one.source
                && other.output.kind == "main"
                && one.output.kind == "main"
                && other.output.index == one.output.index
        };
        let beside = self.workflow.connections.iter().enumerate().filter(|(_, other)| is_beside(other));
        let turn = |(at, other): (usize, &'_ Connection)| (place(&other.target), at);
        let own = turn((at, one));
        let mut before: Vec<_> = beside
            .map(|(at, other)| (turn((at, other)), other.target.as_str()))
            .filter(|(turn, _)| *turn < own)
            .collect();
        before.sort_by(|(turn, _), (other, _)| turn.partial_cmp(other).unwrap_or(Ordering::Equal));
        before.into_iter().map(|(_, name)| name).collect()
    }

    /// The nodes among these that can reach outside.
    pub(super) fn outside(&self, among: &HashSet<&str>) -> Vec<String> {
        let reaches = |node: &&ParsedNode| {
            among.contains(node.name.as_str()) && !node.is_disabled && !node.is(NOTE) && !replay::runs_for_real(node)
        };
        self.workflow.nodes.iter().filter(reaches).map(|node| node.name.clone()).collect()
    }

    fn plan<'a>(&'a self, trigger: &'a str) -> Plan<'a> {
        let (workflow, settings) = (&self.workflow, &self.settings);
        Plan { workflow, settings, trigger, name: String::new(), timeout: 0, exposed: None }
    }

    /// A copy of it, checked.
    fn copy(
        &self,
        run: &CopiedRun<'_>,
        plan: Plan<'_>,
        which: &str,
        played: impl Fn(&str) -> Played,
    ) -> Result<Copy, Error> {
        let name = format!("{} {} {which} {}", replay::NAME, run.id, jiff::Timestamp::now());
        let copy = Plan { name, timeout: run.seconds, ..plan }.copy(played).map_err(refused)?;
        copy.sealed().map_err(|problem| {
            Error::FailedPrecondition(format!(
                "The copy would not be safe, so nothing was created: {problem}. Please report this."
            ))
        })?;
        Ok(copy)
    }
}

/// The run of an execution that is copied.
pub(super) struct CopiedRun<'a> {
    /// The execution's id.
    pub id: &'a str,
    /// The trigger that ran, as it was called.
    pub trigger: &'a str,
    /// The node that failed, as it was called.
    pub failed: Option<&'a str>,
    /// How long a copy may run.
    pub seconds: u64,
    /// What was recorded of a node, by the name that it had.
    pub played: &'a (dyn Fn(&str) -> Played + Sync),
}

fn refused(refusal: Refusal) -> Error {
    Error::FailedPrecondition(format!("This execution cannot be run again: {refusal}. Nothing was created."))
}

/// The nodes, and the settings, that differ between the workflow that an execution ran and its draft, which could be proven; none if
/// it is the same.
///
/// # Errors
/// One of the two cannot be read.
pub(in crate::tools) async fn changed_in_draft(
    context: &Context,
    request: &ExecutionRequest,
    progress: &Progress,
) -> Result<Vec<String>, Error> {
    let recording = context.executions().read(request, &RecordingProjection::of_runs(), progress).await?.view?;
    let Revisions { changed, changed_settings, .. } = Revisions::read(context, None, &recording, progress).await?;
    Ok(changed.into_iter().chain(changed_settings.into_iter().map(str::to_owned)).collect())
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
        let RanWorkflow { document: ran, executed } = ran.ok_or_else(|| {
            Error::FailedPrecondition(
                "This execution does not say which workflow it ran, so nothing can be compared.".to_owned(),
            )
        })?;
        let is_snapshot = recording.workflow.is_some() && executed.is_none();
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
        let (ran, mut now) = (Revision::of(&ran)?, Revision::of(&now)?);
        if is_file {
            // n8n keeps settings that it is not sent.
            now.settings = ran.settings.clone().into_iter().chain(now.settings).collect();
        }
        let (changed, renamed) = (changed(&now, &ran), renamed(&now.workflow, &ran.workflow));
        let differs = |name: &&str| setting(&now.settings, name) != setting(&ran.settings, name);
        let changed_settings = KEPT_SETTINGS.into_iter().filter(differs).collect();
        Ok(Self { ran, now, changed, renamed, changed_settings, is_snapshot, workflow_id, version_id, published, kind })
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
        let mut workflow = WorkflowLocation::N8n(id.to_owned()).load(context, progress).await?;
        if let Some(version) = version {
            let text = context.n8n()?.workflow_version_text(id, version, progress).await?;
            // Versions have no settings: those of the workflow apply to all.
            workflow.take_nodes_of(&Document::parse(&text).map_err(|error| unusable(&error))?);
            workflow.set("versionId", version).map_err(|error| unusable(&error))?;
        }
        Ok(workflow)
    }

    /// Whether only the replay itself is checked.
    pub(super) fn is_original(&self) -> bool {
        self.kind == Kind::Original
    }

    /// What the execution called a node of the changed workflow; `None` if it is new.
    pub(super) fn name_then(&self, now: &str) -> Option<&str> {
        let (ran, now) = (&self.ran.workflow.nodes, (self.now.node(now)?, &self.now.workflow.nodes));
        same_node(ran, now.0, now.1).map(|node| node.name.as_str())
    }

    /// What a node of the execution is called now; `None` if it is gone.
    pub(super) fn name_now(&self, then: &str) -> Option<&str> {
        let (now, ran) = (&self.now.workflow.nodes, (self.ran.node(then)?, &self.ran.workflow.nodes));
        same_node(now, ran.0, ran.1).map(|node| node.name.as_str())
    }

    /// Whether a node, or one of its sub-nodes, now behaves differently for the same input; `false` for a new node.
    pub(super) fn acts_otherwise(&self, now: &str) -> bool {
        let Some(then) = self.name_then(now) else { return false };
        let (subs, subs_then) = (sub_connections(&self.now.workflow, now), sub_connections(&self.ran.workflow, then));
        let wires: HashSet<_> =
            subs.iter().map(|one| wire(self.name_then(&one.source), self.name_then(&one.target), one)).collect();
        let wires_then = subs_then.iter().map(|one| wire(Some(&one.source), Some(&one.target), one)).collect();
        let renamed: Vec<_> = self.renamed.iter().map(|(then, now)| (then.as_str(), now.as_str())).collect();
        let is_other = |name: &str| {
            let both = (self.now.node(name), self.name_then(name).and_then(|name| self.ran.node(name)));
            matches!(both, (Some(node), Some(old)) if !does_the_same(node, old, &renamed) || !goes_on_the_same(node, old))
        };
        wires != wires_then || is_other(now) || subs.iter().any(|one| is_other(&one.source))
    }

    /// A node of the changed workflow, and all of its sub-nodes.
    pub(super) fn with_sub_nodes<'a>(&'a self, node: &'a ParsedNode) -> Vec<&'a ParsedNode> {
        let subs = sub_connections(&self.now.workflow, &node.name);
        let mut nodes: Vec<_> = subs.iter().filter_map(|one| self.now.node(&one.source)).collect();
        nodes.push(node);
        nodes
    }

    /// Whether a node of the execution read only the first item that it received.
    pub(super) fn executed_once(&self, then: &str) -> bool {
        self.ran.node(then).is_some_and(ParsedNode::executes_once)
    }

    /// New nodes that would reach outside: nothing is recorded for them.
    pub(super) fn new_and_played(&self) -> HashSet<&str> {
        let names = replay::kept(&self.now.workflow).filter(|node| !node.is_disabled && !runs_for_real(node));
        names.map(|node| node.name.as_str()).filter(|name| self.name_then(name).is_none()).collect()
    }

    /// The nodes of the changed workflow that are in its copy.
    pub(super) fn names_in_copy(&self) -> HashSet<&str> {
        replay::kept(&self.now.workflow).map(|node| node.name.as_str()).collect()
    }

    /// The nodes of the workflow that ran that are in its copy.
    pub(super) fn names_in_control(&self) -> HashSet<&str> {
        replay::kept(&self.ran.workflow).map(|node| node.name.as_str()).collect()
    }

    /// The nodes that are answered from the recording in either copy, as the execution called them.
    pub(super) fn played(&self, trigger: &str) -> HashSet<String> {
        let ran = self.ran.plan(trigger).played();
        let now = self.name_now(trigger).map(|trigger| self.now.plan(trigger).played()).unwrap_or_default();
        let then = now.into_iter().filter_map(|name| self.name_then(name));
        ran.into_iter().chain(then).map(str::to_owned).collect()
    }

    /// A copy of the workflow that ran.
    pub(super) fn control(&self, run: &CopiedRun<'_>) -> Result<Copy, Error> {
        self.ran.copy(run, self.ran.plan(run.trigger), "control", run.played)
    }

    /// A copy of the changed workflow.
    pub(super) fn changed_copy(&self, run: &CopiedRun<'_>) -> Result<Copy, Error> {
        let trigger = self.name_now(run.trigger).ok_or_else(|| refused(Refusal::NoTrigger(run.trigger.to_owned())))?;
        let exposed = run.failed.and_then(|failed| self.name_now(failed));
        let played = |name: &str| self.name_then(name).map(run.played).unwrap_or_default();
        self.now.copy(run, Plan { exposed, ..self.now.plan(trigger) }, "changed", played)
    }
}

fn unusable(error: &workflow::Error) -> Error {
    Error::FailedPrecondition(format!("The workflow cannot be used: {error}."))
}

/// The nodes that have changed.
fn changed(now: &Revision, then: &Revision) -> Vec<String> {
    let (nodes, nodes_then) = (&now.workflow.nodes, &then.workflow.nodes);
    let is_node = |node: &&ParsedNode| !node.is(NOTE);
    let is_changed = |node: &&ParsedNode| match same_node(nodes_then, node, nodes) {
        Some(old) => {
            old.name != node.name
                || !does_the_same(node, old, &[])
                || !goes_on_the_same(node, old)
                || feeds(now, node, &then.workflow) != feeds(then, old, &then.workflow)
        }
        None => true,
    };
    let mut names: Vec<_> = nodes.iter().filter(is_node).filter(is_changed).map(|node| node.name.clone()).collect();
    let gone = nodes_then.iter().filter(is_node).filter(|node| same_node(nodes, node, nodes_then).is_none());
    names.extend(gone.map(|node| node.name.clone()));
    names
}

/// The names then and now of the nodes that have another one.
fn renamed(now: &Parsed, then: &Parsed) -> Vec<(String, String)> {
    let names = now.nodes.iter().filter_map(|node| Some((same_node(&then.nodes, node, &now.nodes)?, node)));
    names.filter(|(old, node)| old.name != node.name).map(|(old, node)| (old.name.clone(), node.name.clone())).collect()
}

/// What the other revision called a node.
fn name_then(workflow: &Parsed, name: &str, then: &Parsed) -> Option<String> {
    let node = workflow.nodes.iter().find(|node| node.name == name)?;
    same_node(&then.nodes, node, &workflow.nodes).map(|node| node.name.clone())
}

/// What feeds a node: the output, the input, and the nodes that run before it after this output; under the names that the nodes had.
type Feed = (Option<String>, String, usize, usize, Vec<Option<String>>);

/// What feeds a node.
fn feeds(revision: &Revision, node: &ParsedNode, then: &Parsed) -> HashSet<Feed> {
    let workflow = &revision.workflow;
    let name_then = |name: &str| name_then(workflow, name, then);
    let into = workflow.connections.iter().enumerate().filter(|(_, one)| one.target == node.name);
    let feed = |(at, one): (usize, &Connection)| {
        let before = revision.before(at, one).into_iter().map(name_then).collect();
        (name_then(&one.source), one.output.kind.clone(), one.output.index, one.input.index, before)
    };
    into.map(feed).collect()
}

/// A setting; n8n writes the default, or leaves it out.
fn setting<'a>(settings: &'a Members, name: &str) -> Option<&'a str> {
    settings.get(name).map(|value| value.get()).filter(|value| !matches!(*value, r#""DEFAULT""# | r#""v0""# | "null"))
}

/// The connections of all sub-nodes of a node.
fn sub_connections<'a>(workflow: &'a Parsed, root: &'a str) -> Vec<&'a Connection> {
    let (mut found, mut seen, mut open) = (Vec::new(), HashSet::from([root]), vec![root]);
    while let Some(node) = open.pop() {
        let is_its = |one: &&Connection| one.target == node && one.output.kind.starts_with("ai_");
        for one in workflow.connections.iter().filter(is_its) {
            found.push(one);
            if seen.insert(&one.source) {
                open.push(&one.source);
            }
        }
    }
    found
}

/// A connection between nodes of these names.
type Wire<'a> = (Option<&'a str>, Option<&'a str>, &'a str, usize, usize);

fn wire<'a>(source: Option<&'a str>, target: Option<&'a str>, one: &'a Connection) -> Wire<'a> {
    (source, target, &one.output.kind, one.output.index, one.input.index)
}
