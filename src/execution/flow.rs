//! The flow of items through a node that a summary shows: how many each output holds, which of them stand for an
//! error, and which executions of sub-workflows they came from.

use std::collections::HashSet;

use super::failure;
use super::related::{Children, Metadata};
use super::runs::{ITEM_BYTES, Item, ItemPlace, ItemText};
use crate::json::{
    Capture, Cursor, Detail, Excerpt, Members, Prefix, Pruner, ReadError, SHARED_WITHIN, hold_name, member,
};
use crate::secrets::redact;

/// No node has more outputs; the items of any further ones are only added to the sum.
const MAX_OUTPUTS: usize = 256;

/// Memory for an error.
const ERROR_BYTES: usize = 16 * 1024;

/// Characters held of an error's message.
const MESSAGE_CHARS: usize = 300;

/// The ids of a run's items that are held, so that each counts once; beyond them an id counts when it differs from the
/// one before.
const DISTINCT_CHILDREN: usize = 4096;

/// Captures the items that may stand for an error or name the execution of a sub-workflow.
pub(super) fn marked_items(pruner: Pruner) -> Pruner {
    pruner.capturing(Capture::member("error", Some("subExecution")))
}

/// Executions of sub-workflows that the items of a run name. A sub-workflow that returns several items is named by each.
#[derive(Debug, Default)]
struct NamedChildren {
    children: Children,
    seen: HashSet<String>,
    last: Option<String>,
}

impl NamedChildren {
    fn add(&mut self, id: Option<String>) {
        let Some(id) = id.filter(|id| self.last.as_ref() != Some(id) && !self.seen.contains(id)) else { return };
        self.children.add(Children { ids: vec![id.clone()], total: 1 });
        if self.seen.len() < DISTINCT_CHILDREN {
            self.seen.insert(id.clone());
        }
        self.last = Some(id);
    }
}

/// Items that stand for an error, because the node continues after one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorItems {
    /// How many there are.
    pub count: u64,
    /// The first one.
    pub first: ErrorItem,
}

/// An item that stands for an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorItem {
    /// The node's run, from 0.
    pub run: u64,
    /// The `main` output, from 0; of a sub-node, the output that it returned to the node that called it.
    pub output: u64,
    /// The item of this output, from 0.
    pub item: u64,
    /// What happened.
    pub message: Prefix,
}

/// The items of all runs of a node.
#[derive(Debug, Default)]
pub(super) struct Flow {
    /// In outputs of any type.
    pub items: u64,
    /// In `main` outputs of runs that were not copied.
    pub processed: u64,
    pub empty_runs: u64,
    /// Boxed, since few nodes start any.
    children: Option<Box<Started>>,
    outputs: Vec<u64>,
    /// Items with an `error`.
    failed: Option<Box<ErrorItems>>,
    /// Items with an `error`, or with one in their `json`, which is an error only if the node continues after one.
    suspect: Option<Box<ErrorItems>>,
    /// The same, of what a sub-node returned to the node that called it.
    returned: Option<Box<ErrorItems>>,
    /// Whether a sub-node returned anything.
    pub returns: bool,
}

/// The executions of sub-workflows that a node started.
#[derive(Debug, Default)]
struct Started {
    /// Named by its runs.
    by_runs: Children,
    /// Named by its runs, or else by their items. Items that pass through another node still name them.
    called: Children,
}

/// The items of one run.
#[derive(Debug, Default)]
pub(super) struct RunFlow {
    /// In `main` outputs.
    main: MainFlow,
    /// The items of the outputs of each other type, such as `ai_tool`: what a sub-node returned to the node that called it.
    returned: Vec<Returned>,
}

/// The items of the outputs of one type other than `main`.
#[derive(Debug)]
struct Returned {
    connection: String,
    items: u64,
    /// The items that stand for an error.
    failed: Option<Box<ErrorItems>>,
}

/// The items of the `main` outputs of one run.
#[derive(Debug, Default)]
struct MainFlow {
    items: u64,
    /// The items of each output.
    outputs: Vec<u64>,
    /// The executions of sub-workflows that they name.
    named: NamedChildren,
    /// Whether one of the first items of the output that is being read names one.
    names_children: bool,
    failed: Option<Box<ErrorItems>>,
    suspect: Option<Box<ErrorItems>>,
}

impl Flow {
    /// Adds a run that started these executions; it may have been copied from another execution.
    pub(super) fn add(&mut self, run: RunFlow, children: Children, copied: bool) {
        let items = run.items();
        let main = run.main;
        self.items = self.items.saturating_add(items);
        self.processed = self.processed.saturating_add(if copied { 0 } else { main.items });
        self.empty_runs += u64::from(items == 0);
        let named = main.named.children;
        if children.total > 0 || named.total > 0 {
            let started = self.children.get_or_insert_default();
            started.called.add(if children.total > 0 { children.clone() } else { named });
            started.by_runs.add(children);
        }
        self.outputs.resize(self.outputs.len().max(main.outputs.len()), 0);
        for (sum, items) in self.outputs.iter_mut().zip(main.outputs) {
            *sum = sum.saturating_add(items);
        }
        add_errors(&mut self.failed, main.failed);
        add_errors(&mut self.suspect, main.suspect);
        self.returns |= !run.returned.is_empty();
        run.returned.into_iter().for_each(|returned| add_errors(&mut self.returned, returned.failed));
    }

    /// Whether no run has a `main` output, as is the case for sub-nodes of AI agents.
    pub(super) fn has_no_main_output(&self) -> bool {
        self.outputs.is_empty()
    }

    /// The items of each output, if there are several.
    pub(super) fn outputs(&self) -> Vec<u64> {
        if self.outputs.len() > 1 { self.outputs.clone() } else { Vec::new() }
    }

    /// The outputs that hold items and lead nowhere, if another one leads on.
    pub(super) fn unconnected(&self, connected: Option<&Vec<bool>>) -> Vec<u64> {
        let Some(connected) = connected.filter(|connected| connected.contains(&true)) else { return Vec::new() };
        let leads_on = |output: usize| connected.get(output).copied().unwrap_or(false);
        let outputs = self.outputs.iter().enumerate();
        outputs.filter(|(at, items)| **items > 0 && !leads_on(*at)).map(|(at, _)| at as u64).collect()
    }

    /// The executions of sub-workflows that the node started: it calls them itself, or it does not.
    pub(super) fn children(&mut self, calls_workflow: bool) -> Children {
        let started = self.children.take().unwrap_or_default();
        if calls_workflow { started.called } else { started.by_runs }
    }

    /// The items that stand for an error, of a sub-node, of a node that continues after one, or of another.
    pub(super) fn errors(&mut self, is_sub_node: bool, continues: bool) -> Option<Box<ErrorItems>> {
        match (is_sub_node, continues) {
            (true, _) => self.returned.take(),
            (false, true) => self.suspect.take(),
            (false, false) => self.failed.take(),
        }
    }
}

impl RunFlow {
    /// The items in outputs of any type.
    pub(super) fn items(&self) -> u64 {
        let returned = self.returned.iter().take(MAX_OUTPUTS);
        returned.fold(self.main.items, |sum, returned| sum.saturating_add(returned.items))
    }

    /// The items of each of the first `main` outputs.
    pub(super) fn outputs(&self) -> &[u64] {
        &self.main.outputs
    }

    /// The outputs of this type of connection follow; what is known of earlier ones no longer counts.
    pub(super) fn begin_connection(&mut self, connection: &str) {
        if connection == "main" {
            self.main = MainFlow::default();
            return;
        }
        let connection = hold_name(connection);
        self.returned.retain(|other| other.connection != connection);
        self.returned.truncate(MAX_OUTPUTS);
        self.returned.push(Returned { connection, items: 0, failed: None });
    }

    /// The next item.
    pub(super) fn item(&mut self, place: ItemPlace, item: Item<'_, '_>) -> Result<(), ReadError> {
        match place.main_output {
            Some(output) => self.main.item(place, output, item),
            None => self.returned(place, item),
        }
    }

    /// The next item that a sub-node returned to the node that called it.
    fn returned(&mut self, place: ItemPlace, item: Item<'_, '_>) -> Result<(), ReadError> {
        if let (ItemText::Json(json), Some(returned)) = (item.text()?, self.returned.last_mut()) {
            let marks = ItemMarks::read(&mut Cursor::unpruned(&json[..]), returned.failed.is_none())?;
            let error = marks.own.or(marks.in_json).map(|message| one_error(place, place.output, message));
            add_errors(&mut returned.failed, error);
        }
        Ok(())
    }

    /// An output has ended.
    pub(super) fn end_list(&mut self, end: ItemPlace) {
        match (end.main_output, self.returned.last_mut()) {
            (Some(output), _) => self.main.end_output(output, end.item),
            (None, Some(returned)) => returned.items = returned.items.saturating_add(end.item),
            (None, None) => {}
        }
    }
}

impl MainFlow {
    fn item(&mut self, place: ItemPlace, output: u64, item: Item<'_, '_>) -> Result<(), ReadError> {
        if let ItemText::Json(json) = item.text()? {
            let tells = self.failed.is_none() || self.suspect.is_none();
            let marks = ItemMarks::read(&mut Cursor::unpruned(&json[..]), tells)?;
            self.note(&marks, place, output);
            self.names_children |= marks.child.is_some() && place.item < SHARED_WITHIN;
            self.named.add(marks.child.filter(|_| self.names_children));
        }
        Ok(())
    }

    fn end_output(&mut self, output: u64, items: u64) {
        self.names_children = false;
        self.items = self.items.saturating_add(items);
        if output < MAX_OUTPUTS as u64 {
            self.outputs.push(items);
        }
    }

    fn note(&mut self, marks: &ItemMarks, place: ItemPlace, output: u64) {
        let one = |message: &Prefix| one_error(place, output, message.clone());
        add_errors(&mut self.failed, marks.own.as_ref().map(one));
        add_errors(&mut self.suspect, marks.own.as_ref().or(marks.in_json.as_ref()).map(one));
    }
}

fn one_error(place: ItemPlace, output: u64, message: Prefix) -> Box<ErrorItems> {
    let first = ErrorItem { run: place.run, output, item: place.item, message };
    Box::new(ErrorItems { count: 1, first })
}

fn add_errors(sum: &mut Option<Box<ErrorItems>>, more: Option<Box<ErrorItems>>) {
    match (sum, more) {
        (_, None) => {}
        (Some(sum), Some(more)) => sum.count += more.count,
        (sum, more) => *sum = more,
    }
}

/// What is special about an item.
#[derive(Debug, Default)]
struct ItemMarks {
    /// The message of `error`; an empty one if it was not asked for.
    own: Option<Prefix>,
    /// The same for `json.error`.
    in_json: Option<Prefix>,
    /// The id in `metadata.subExecution`.
    child: Option<String>,
}

impl ItemMarks {
    fn read(cursor: &mut Cursor<'_>, tells: bool) -> Result<Self, ReadError> {
        let mut marks = Self::default();
        cursor.object(|cursor, name| {
            match name {
                "error" => marks.own = read_message(cursor, tells)?,
                "json" => marks.in_json = member(cursor, "error", |cursor| read_message(cursor, tells))?,
                "metadata" => marks.child = Metadata::read_object(cursor)?.and_then(|metadata| metadata.child),
                _ => cursor.skip()?,
            }
            Ok(())
        })?;
        Ok(marks)
    }
}

/// What an error says: its `message`, or else all of it; `None` for a value that is not an error in JavaScript: `null`,
/// `false`, `0` and an empty string.
fn read_message(cursor: &mut Cursor<'_>, tells: bool) -> Result<Option<Prefix>, ReadError> {
    let json = if tells { cursor.json(ITEM_BYTES)? } else { None };
    let Some(json) = json else {
        return Ok(is_error(&cursor.excerpt(0)?).then(Prefix::default));
    };
    let mut message = Cursor::unpruned(&json[..]).excerpt(ERROR_BYTES)?;
    if !is_error(&message) {
        return Ok(None);
    }
    if let Some(own @ Excerpt::Text(_)) = failure::read_whole(&mut Cursor::unpruned(&json[..]), ERROR_BYTES)?
        .and_then(|error| error.member("message").cloned())
    {
        message = own;
    }
    redact::error(&mut message);
    let mut message = if let Excerpt::Text(text) = message { text } else { written(&message) };
    failure::unescape(&mut message);
    message.kept.truncate(message.kept.char_indices().nth(MESSAGE_CHARS).map_or(message.kept.len(), |(at, _)| at));
    Ok(Some(message))
}

fn is_error(value: &Excerpt) -> bool {
    match value {
        Excerpt::Scalar(text) if text == "null" || text == "false" => false,
        Excerpt::Scalar(text) => text.parse() != Ok(0.0),
        Excerpt::Text(text) => text.chars > 0,
        _ => true,
    }
}

fn written(value: &Excerpt) -> Prefix {
    let (mut json, mut clipped) = (String::new(), 0);
    value.write(Detail::WHOLE, &mut json, &mut clipped);
    json.into()
}
