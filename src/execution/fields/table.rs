//! The paths of the items of one node, each with what is known of its values: a tree that is walked with each item.

use std::borrow::Cow;

use super::NodePlace;
use super::item_set::{ItemSet, NumberedPlace};
use crate::execution::values::{ValueVisitor, without_indices};
use crate::json::{CUT_NAME_CHARS, Visitor, Written, begins_with, cut_name};

/// The maximum number of paths of a node: 400, and that of `json` itself.
pub(in crate::execution) const PATHS: usize = 401;

/// What is known of the values with one path.
pub(in crate::execution) trait PathValues {
    /// What the paths of a node share.
    type Shared;

    /// No value with this path so far; this place, if any, has none.
    fn new(path: &str, first_absent: Option<NodePlace>, shared: &Self::Shared) -> Self;

    /// A number or a literal.
    fn scalar(&mut self, json: Written<'_>, place: &NumberedPlace);

    /// A string.
    fn string(&mut self, text: Written<'_>, place: &NumberedPlace);

    /// A container with this many members or elements.
    fn container(&mut self, object: bool, parts: u64, json: &[u8], place: &NumberedPlace);

    /// A place that might have one has none.
    fn absent(&mut self, place: NodePlace);

    /// How many values there are.
    fn present(&self) -> u64;

    /// The last item that has one, counted from 1; 0 if there is none.
    fn last_item(&self) -> u64;

    /// No more values follow.
    fn end(&mut self);
}

/// The paths of the items of one node.
#[derive(Debug)]
pub(in crate::execution) struct Table<V: PathValues> {
    nodes: Vec<PathNode<V>>,
    /// `""`, `binary` and `error`: the parts of an item.
    parts: Vec<(&'static str, usize)>,
    /// Only paths below this one.
    below: Option<String>,
    /// Whether there are more paths.
    pub(in crate::execution) is_full: bool,
    shared: V::Shared,
    /// The item that is being walked.
    place: NumberedPlace,
    first_place: Option<NodePlace>,
    /// All items so far.
    pub(in crate::execution) items: ItemSet,
    open: Vec<Open>,
    /// The path of the next value; `None` if there are too many.
    next: Option<usize>,
}

/// A path.
#[derive(Debug)]
struct PathNode<V> {
    path: String,
    /// The raw name of a member, with quotes and a colon.
    name: Vec<u8>,
    members: Vec<usize>,
    /// The member of the same parent that was found after it.
    after: Option<usize>,
    element: Option<usize>,
    /// How many objects have this path, and where the first is.
    objects: u64,
    first_object: Option<NodePlace>,
    /// The number of the last object that has it, counted by its parent.
    last_object: u64,
    values: V,
}

impl<V> PathNode<V> {
    /// Whether it belongs to a member with this raw name.
    fn is_named(&self, name: Written<'_>) -> bool {
        // Without the quotes and the colon; an element has no name.
        let inside = self.name.get(1..self.name.len().saturating_sub(2));
        inside.is_some_and(|inside| name.is(inside))
    }
}

/// A container that is being walked.
#[derive(Debug)]
struct Open {
    /// Its path; `None` if there are too many.
    node: Option<usize>,
    object: bool,
    /// Its number among the objects with this path, from 1.
    number: u64,
    /// The path of the member that usually comes next.
    expected: Option<usize>,
    /// How many of the known members were found.
    found: usize,
}

impl<V: PathValues> Table<V> {
    pub(in crate::execution) fn new(below: Option<String>, shared: V::Shared) -> Self {
        Self {
            nodes: Vec::new(),
            parts: Vec::new(),
            below,
            is_full: false,
            shared,
            place: NumberedPlace::default(),
            first_place: None,
            items: ItemSet::default(),
            open: Vec::new(),
            next: None,
        }
    }

    /// The next item follows.
    pub(in crate::execution) fn begin_item(&mut self, place: NodePlace) {
        self.end_item();
        self.place = NumberedPlace::new(self.items.len + 1, place);
        self.first_place.get_or_insert(place);
        self.items.add(&self.place);
    }

    /// No more items follow.
    pub(in crate::execution) fn end(&mut self) {
        self.end_item();
        self.nodes.iter_mut().for_each(|node| node.values.end());
    }

    /// Notes the parts that the item lacks.
    fn end_item(&mut self) {
        for (_, part) in &self.parts {
            let values = &mut self.nodes[*part].values;
            if values.last_item() != self.items.len {
                values.absent(self.place.place);
            }
        }
    }

    /// The paths that have values, and how many objects might have each, in the order in which they were found.
    pub(in crate::execution) fn fields(&self) -> impl Iterator<Item = (&str, &V, u64)> {
        let below = |path: &str| self.below.as_ref().is_none_or(|below| is_below(path, below));
        let mut found = Vec::new();
        for (name, part) in &self.parts {
            let from = found.len();
            self.collect(*part, self.items.len, &mut found);
            // `json` itself has no path.
            found.drain(from..from + usize::from(name.is_empty()));
        }
        // An array has a path for its elements, even if all are empty.
        found.into_iter().filter(move |(path, values, _)| values.present() > 0 && below(path))
    }

    fn collect<'t>(&'t self, at: usize, objects: u64, found: &mut Vec<(&'t str, &'t V, u64)>) {
        let node = &self.nodes[at];
        found.push((&node.path, &node.values, objects));
        for member in &node.members {
            self.collect(*member, node.objects, found);
        }
        if let Some(element) = node.element {
            self.collect(element, self.nodes[element].values.present(), found);
        }
    }

    /// The path of the member with this name; a new one if there is room.
    fn member_named(&mut self, at: usize, name: Written<'_>) -> Option<usize> {
        let members = &self.nodes[at].members;
        if let Some(member) = members.iter().find(|member| self.nodes[**member].is_named(name)) {
            return Some(*member);
        }
        let text = name.text();
        let text = if text.len() <= CUT_NAME_CHARS { text.into_owned() } else { cut_name(text.into_owned()) };
        let parent = &self.nodes[at];
        let dot = if parent.path.is_empty() { "" } else { "." };
        let path = format!("{}{dot}{text}", parent.path);
        // Another spelling of a known name.
        if let Some(member) = members.iter().find(|member| self.nodes[**member].path == path) {
            return Some(*member);
        }
        let before = members.last().copied();
        let first_absent = parent.first_object.filter(|_| parent.objects > 1);
        let node = self.add(path, [b"\"", name.bytes, b"\":"].concat(), first_absent)?;
        if let Some(before) = before {
            self.nodes[before].after = Some(node);
        }
        self.nodes[at].members.push(node);
        Some(node)
    }

    /// The value of the member with this path follows; `None` if there are too many paths.
    #[inline]
    fn begin_member(&mut self, member: Option<usize>) {
        self.next = member;
        if let (Some(member), Some(open)) = (member, self.open.last_mut()) {
            let member = &mut self.nodes[member];
            let is_first = std::mem::replace(&mut member.last_object, open.number) != open.number;
            open.found += usize::from(is_first);
            open.expected = member.after;
        }
    }

    fn element(&mut self, at: usize) -> Option<usize> {
        if self.nodes[at].element.is_none() {
            let path = format!("{}[]", self.nodes[at].path);
            self.nodes[at].element = self.add(path, Vec::new(), None);
        }
        self.nodes[at].element
    }

    fn add(&mut self, path: String, name: Vec<u8>, first_absent: Option<NodePlace>) -> Option<usize> {
        let is_wanted = |below: &String| is_below(&path, below) || is_below(below, &path);
        if self.below.as_ref().is_some_and(|below| !is_wanted(below)) {
            return None;
        }
        if self.nodes.len() == PATHS {
            self.is_full = true;
            return None;
        }
        let values = V::new(&path, first_absent, &self.shared);
        self.nodes.push(PathNode {
            path,
            name,
            members: Vec::new(),
            after: None,
            element: None,
            objects: 0,
            first_object: None,
            last_object: 0,
            values,
        });
        Some(self.nodes.len() - 1)
    }

    /// The values with the path of the next one.
    #[inline]
    fn values(&mut self) -> Option<(&mut V, &NumberedPlace)> {
        Some((&mut self.nodes[self.next?].values, &self.place))
    }

    /// Notes the known members that an object lacks.
    fn note_absent(&mut self, at: usize) {
        let objects = self.nodes[at].objects;
        for member in 0..self.nodes[at].members.len() {
            let member = self.nodes[at].members[member];
            let member = &mut self.nodes[member];
            if member.last_object != objects {
                member.values.absent(self.place.place);
            }
        }
    }
}

/// Whether a path is this one or below it.
pub(super) fn is_below(path: &str, below: &str) -> bool {
    let is_rest = |rest: &str| rest.is_empty() || rest.starts_with(['.', '[']);
    // A name can have an index, too: `items[0][sku]`.
    below.is_empty()
        || path.strip_prefix(below).is_some_and(is_rest)
        || matches!(without_indices(path), Cow::Owned(path) if path.strip_prefix(below).is_some_and(is_rest))
}

impl<V: PathValues> ValueVisitor for Table<V> {
    fn begin(&mut self, part: &'static str) {
        let known = self.parts.iter().find(|(known, _)| *known == part).map(|(_, node)| *node);
        let node = known.or_else(|| {
            let first_absent = self.first_place.filter(|_| self.items.len > 1);
            let node = self.add(part.to_owned(), Vec::new(), first_absent)?;
            self.parts.push((part, node));
            Some(node)
        });
        self.open.clear();
        self.next = node;
    }
}

impl<V: PathValues> Visitor for Table<V> {
    fn open(&mut self, object: bool) {
        let mut open = Open { node: self.next, object, number: 0, expected: None, found: 0 };
        match self.next {
            Some(at) if object => {
                let place = self.place.place;
                let node = &mut self.nodes[at];
                node.objects += 1;
                node.first_object.get_or_insert(place);
                (open.number, open.expected) = (node.objects, node.members.first().copied());
            }
            Some(at) => self.next = self.element(at),
            None => {}
        }
        self.open.push(open);
    }

    fn member(&mut self, text: &[u8]) -> Option<usize> {
        let expected = self.open.last()?.expected?;
        let name = &self.nodes[expected].name;
        let len = begins_with(text, name).then_some(name.len())?;
        self.begin_member(Some(expected));
        Some(len)
    }

    fn name(&mut self, name: Written<'_>) {
        if let Some(&Open { node: Some(at), .. }) = self.open.last() {
            let member = self.member_named(at, name);
            self.begin_member(member);
        }
    }

    fn string(&mut self, text: Written<'_>) {
        if let Some((values, place)) = self.values() {
            values.string(text, place);
        }
    }

    fn scalar(&mut self, json: Written<'_>) {
        if let Some((values, place)) = self.values() {
            values.scalar(json, place);
        }
    }

    fn close(&mut self, parts: u64, json: &[u8]) {
        let Some(closed) = self.open.pop() else { return };
        if let Some(at) = closed.node.filter(|at| closed.object && closed.found < self.nodes[*at].members.len()) {
            self.note_absent(at);
        }
        // In an array, it is also the path of the next element.
        self.next = closed.node;
        if let Some((values, place)) = self.values() {
            values.container(closed.object, parts, json, place);
        }
    }
}
