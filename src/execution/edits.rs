//! Changes to the run data on the way from the store to a projection: what n8n redacts is cleared, and what the shown
//! run does not need is left out before it is expanded.

use super::lookup::{LookedNode, LookedValue, Plan};
use super::node::{NodeProjection, NodeView};
use super::redaction::Reason;
use super::workflow::Workflow;
use crate::json::flatted::{Edit, Peek, Step, Verdict};
use crate::json::{ReadError, hold_name, is_name};

/// The changes to one execution's run data.
#[derive(Clone, Copy)]
pub(super) struct Edits<'a> {
    /// Why its items are cleared; `None` if they are shown.
    pub(super) redaction: Option<Reason>,
    /// What is read of its runs.
    pub(super) needed: Needed<'a>,
}

/// What is read of the runs.
#[derive(Clone, Copy)]
pub(super) enum Needed<'a> {
    All,
    /// These, and what is needed of the requested node.
    Runs(&'a Runs<'a>),
    /// The items that may stand for an error or come from a sub-workflow, as this workflow allows; the rest is
    /// counted.
    Marked(&'a Workflow),
    /// The parts of items in which something is looked up.
    Looked(&'a Plan),
}

/// The runs that a view needs.
pub(super) struct Runs<'a> {
    /// The requested node: all of its runs are read, but not all of their items.
    requested: Option<&'a str>,
    /// The runs whose items are needed, by the name of their node.
    with_items: Vec<(String, u64)>,
}

impl<'a> Runs<'a> {
    /// The runs of the requested node, without their items.
    pub(super) fn runs_of(projection: &'a NodeProjection) -> Self {
        Self { requested: Some(&projection.node), with_items: Vec::new() }
    }

    /// The items of the run that is shown, and of the runs that its inputs come from; `None` if no run is shown.
    pub(super) fn items_of(projection: &'a NodeProjection, found: &NodeView) -> Option<Self> {
        let node = found.node.as_ref()?;
        let run = node.run.as_ref()?;
        let sources = run.sources.iter().flatten().filter(|_| run.input_override.is_none());
        let wanted = projection.sources.iter().flatten();
        let mut with_items = vec![(node.name.clone(), run.index)];
        with_items.extend(sources.chain(wanted).map(|source| (source.node.clone(), source.run)));
        Some(Self { requested: Some(&projection.node), with_items })
    }

    /// The items of these runs, and nothing of others.
    pub(super) fn only(with_items: Vec<(String, u64)>) -> Self {
        Self { requested: None, with_items }
    }

    /// Whether the node's own runs are read: its name fits the request.
    fn is_requested(&self, node: &str) -> bool {
        self.requested.is_some_and(|requested| node == requested || is_name(requested, node))
    }
}

/// Where a container of the run data is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Level<'a> {
    Data,
    ResultData,
    RunData,
    Runs(Wanted<'a>),
    Run(Items<'a>),
    /// `{connection: [[item, …], …]}`
    ItemLists(Items<'a>),
    Outputs(Items<'a>),
    Items(Items<'a>),
    Item(Items<'a>),
    Error,
    /// In an item in which something is looked up.
    Value(LookedValue<'a>),
}

/// Which runs of a node are wanted.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wanted<'a> {
    /// All, with these items.
    All(Items<'a>),
    /// Those in whose items something is looked up.
    Looked(LookedNode<'a>),
    Some {
        /// The node's name, if the items of some of its runs are read.
        node: Option<&'a str>,
        /// Whether its other runs are read, too, but without their items.
        requested: bool,
    },
}

/// Which items of a run are read.
#[derive(Clone, Copy, Debug)]
pub(super) enum Items<'a> {
    All,
    /// The parts of them in which something is looked up.
    Looked(LookedNode<'a>),
    None,
    /// The items that may stand for an error, or come from a sub-workflow.
    Marked {
        /// Whether an `error` in their `json` stands for one.
        in_json: bool,
        /// Whether the node calls a sub-workflow.
        calls_workflow: bool,
    },
}

impl<'a> Edit for Edits<'a> {
    type Place = Level<'a>;

    fn root(&self) -> Step<Level<'a>> {
        Step::Look { place: Level::Data, name: None }
    }

    fn member(&self, object: Level<'a>, name: &str) -> Step<Level<'a>> {
        let clears = self.redaction.is_some();
        match (object, name) {
            (Level::Value(value), name) => entered(value.member(name)),
            (Level::Data, "resultData") => Step::Enter(Level::ResultData),
            (Level::ResultData, "runData") => Step::Enter(Level::RunData),
            (Level::RunData, name) => self.node(name),
            (Level::ResultData | Level::Run(_), "error") if clears => {
                Step::Look { place: Level::Error, name: Some("redactedError") }
            }
            (Level::Run(Items::None), "data" | "inputOverride") if self.leaves_out_items() => Step::Put("0"),
            (Level::Run(items @ Items::Marked { .. }), "data")
            | (Level::Run(items @ Items::Looked(_)), "data" | "inputOverride") => Step::Enter(Level::ItemLists(items)),
            (Level::Run(items), "data" | "inputOverride") if clears => Step::Enter(Level::ItemLists(items)),
            (Level::ItemLists(items), _) => Step::Enter(Level::Outputs(items)),
            (Level::Item(_), "json") if clears => Step::Put("{}"),
            (Level::Data, "redactionInfo") if clears => Step::Drop,
            (Level::Item(_), "redaction" | "binary" | "error") if clears => Step::Drop,
            _ => Step::Keep,
        }
    }

    fn element(&self, array: Level<'a>, index: u64) -> Step<Level<'a>> {
        match array {
            Level::Runs(Wanted::All(items)) => Step::Enter(Level::Run(items)),
            Level::Runs(Wanted::Looked(node)) if node.has_run(index) => Step::Enter(Level::Run(Items::Looked(node))),
            Level::Runs(Wanted::Looked(_)) => Step::Put("0"),
            Level::Runs(Wanted::Some { node, requested }) => {
                let Needed::Runs(runs) = self.needed else { return Step::Keep };
                let items = runs.with_items.iter().any(|(name, run)| Some(name.as_str()) == node && *run == index);
                match (items, requested) {
                    (true, _) => Step::Enter(Level::Run(Items::All)),
                    (false, true) => Step::Enter(Level::Run(Items::None)),
                    (false, false) => Step::Put("0"),
                }
            }
            Level::Outputs(items) => Step::Enter(Level::Items(items)),
            Level::Items(Items::Looked(node)) => {
                node.item(index).map_or(Step::Keep, |item| Step::Enter(Level::Value(item)))
            }
            Level::Items(items) => Step::Look { place: Level::Item(items), name: None },
            Level::Value(value) => entered(value.element(index)),
            _ => Step::Keep,
        }
    }

    fn look(&self, place: Level<'a>, value: &mut Peek<'_, '_>) -> Result<Verdict<Level<'a>>, ReadError> {
        if let Level::Item(Items::Marked { in_json, calls_workflow }) = place {
            // A cleared item has no error.
            let may_be_error =
                self.redaction.is_none() && (has_error(value)? || (in_json && has_in(value, "json", "error")?));
            let is_marked = may_be_error || (calls_workflow && has_in(value, "metadata", "subExecution")?);
            return Ok(if is_marked { Verdict::Extend(place, String::new()) } else { Verdict::Count });
        }
        let Some(reason) = self.redaction else {
            return Ok(Verdict::Extend(place, String::new()));
        };
        match place {
            Level::Data => Ok(Verdict::Extend(
                place,
                format!(r#""redactionInfo":{{"isRedacted":true,"reason":"{}"}}"#, reason.name()),
            )),
            Level::Error => Ok(Verdict::Put(redacted_error(value)?.unwrap_or_else(|| "null".to_owned()))),
            _ if value.is_object()? => Ok(Verdict::Extend(place, redacted_item(value, reason)?)),
            // n8n has no such items.
            _ => Ok(Verdict::Put("null".to_owned())),
        }
    }
}

impl<'a> Edits<'a> {
    /// Whether the runs of this node are read, and which of them with their items.
    fn node(&self, name: &str) -> Step<Level<'a>> {
        match self.needed {
            Needed::All if self.redaction.is_none() => Step::Keep,
            Needed::All => Step::Enter(Level::Runs(Wanted::All(Items::All))),
            Needed::Marked(workflow) => {
                let name = hold_name(name);
                let in_json = workflow.continuing.contains(&name) || workflow.sub_nodes.contains(&name);
                let calls_workflow = workflow.calls_workflow(&name);
                Step::Enter(Level::Runs(Wanted::All(Items::Marked { in_json, calls_workflow })))
            }
            Needed::Looked(plan) => match LookedNode::of(plan, &hold_name(name)) {
                Some(node) => Step::Enter(Level::Runs(Wanted::Looked(node))),
                None => Step::Put("[]"),
            },
            Needed::Runs(runs) => {
                let name = hold_name(name);
                let node = runs.with_items.iter().map(|(node, _)| node.as_str()).find(|node| *node == name);
                let requested = runs.is_requested(&name);
                // Of any other node, only the name is shown.
                let is_wanted = node.is_some() || requested;
                if is_wanted { Step::Enter(Level::Runs(Wanted::Some { node, requested })) } else { Step::Put("[]") }
            }
        }
    }

    /// Whether the items of some runs are left out. Until it is known which run is shown, the table of what is kept has
    /// no items.
    fn leaves_out_items(&self) -> bool {
        matches!(self.needed, Needed::Runs(runs) if !runs.with_items.is_empty())
    }
}

/// A value that a path leads over is read, another one is left out.
fn entered(value: Option<LookedValue<'_>>) -> Step<Level<'_>> {
    value.map_or(Step::Drop, |value| Step::Enter(Level::Value(value)))
}

/// Whether an object has an `error`.
fn has_error(value: &mut Peek<'_, '_>) -> Result<bool, ReadError> {
    Ok(value.member("error")?.is_some())
}

/// Whether this member of an item is an object that has this member.
fn has_in(item: &mut Peek<'_, '_>, object: &str, name: &str) -> Result<bool, ReadError> {
    item.member(object)?.map_or(Ok(false), |mut object| Ok(object.member(name)?.is_some()))
}

/// What n8n leaves of an error: its class, and for an error of a service its HTTP status. `None` if there was no error.
fn redacted_error(error: &mut Peek<'_, '_>) -> Result<Option<String>, ReadError> {
    if !error.is_object()? {
        let is_absent = error.json()?.is_some_and(|json| ["null", "false", "0", "\"\""].contains(&json.as_str()));
        return Ok((!is_absent).then(|| "{}".to_owned()));
    }
    let name = json_of(error, "name")?;
    let mut members = Vec::new();
    members.extend(name.as_ref().map(|name| format!(r#""type":{name}"#)));
    if name.as_deref() == Some(r#""NodeApiError""#) {
        let code = json_of(error, "httpCode")?.unwrap_or_else(|| "null".to_owned());
        members.push(format!(r#""httpCode":{code}"#));
    }
    Ok(Some(format!("{{{}}}", members.join(","))))
}

/// What n8n adds to an item that it clears.
fn redacted_item(item: &mut Peek<'_, '_>, reason: Reason) -> Result<String, ReadError> {
    let json = if item.member("json")?.is_some() { "" } else { r#""json":{},"# };
    let error = match item.member("error")? {
        Some(mut error) => redacted_error(&mut error)?,
        None => None,
    };
    let error = error.map(|error| format!(r#","error":{error}"#)).unwrap_or_default();
    Ok(format!(r#"{json}"redaction":{{"redacted":true,"reason":"{}"{error}}}"#, reason.name()))
}

/// The JSON text of a short member.
fn json_of(object: &mut Peek<'_, '_>, name: &str) -> Result<Option<String>, ReadError> {
    object.member(name)?.map_or(Ok(None), |mut value| value.json())
}
