//! The lineage of all items of an execution, in a few bytes for each place where it changes.
//!
//! It is one text of numbers (LEB128), written in the order of the body and read from the beginning of a node:
//!
//! ```text
//! node:   run*                       from the node's offset
//! run:    list* 0 sources
//! list:   2 (main) or 1, entry*, 0
//! entry:  items, step | more? | ranges, [more], range*     the n-th item came from the ranges moved on by n * step
//! range:  link, start, len
//! link:   input * 2, or 1 name output run
//! ```

use indexmap::IndexMap;

use super::link::{BYTES, Link, Names, Output, Range};
use super::pairing::Pairing;
use crate::execution::source::InputSource;

/// A run-length entry: items of a list whose lineage is alike.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) items: u64,
    /// By how much the ranges of an item begin after those of the one before it.
    pub(super) step: u64,
    pub(super) pairing: Pairing,
}

impl Entry {
    /// The sources of the `at`-th of these items.
    pub(super) fn of(&self, at: u64) -> Pairing {
        let moved = |range: &Range| Range { start: range.start.saturating_add(self.step.saturating_mul(at)), ..*range };
        Pairing { ranges: self.pairing.ranges.iter().map(moved).collect(), more: self.pairing.more }
    }

    /// The step with which an item continues these, if it does.
    fn step_to(&self, next: &Pairing) -> Option<u64> {
        let (ranges, others) = (&self.pairing.ranges, &next.ranges);
        if ranges.len() != others.len() || self.pairing.more + next.more > 0 {
            return None;
        }
        let mut steps = if self.items == 1 { 0..=1 } else { self.step..=self.step };
        steps.find(|step| {
            let moved = |range: &Range| Range { start: range.start + step * self.items, ..*range };
            ranges.iter().map(moved).eq(others.iter().copied())
        })
    }
}

/// The runs of a node in the text.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NodeLog {
    offset: usize,
    /// How often it ran.
    pub(super) runs: u64,
    /// The first runs, which are in the text.
    pub(super) held: u64,
}

/// The lineage of all items.
#[derive(Debug, Default)]
pub(super) struct Lineage {
    pub(super) names: Names,
    pub(super) nodes: IndexMap<usize, NodeLog>,
    text: Vec<u8>,
    /// The node and run at which there was no room left.
    pub(super) stopped: Option<(usize, u64)>,
    /// Where the run that is being written begins.
    run: usize,
    entry: Entry,
}

impl Lineage {
    /// Begins the runs of a node.
    pub(super) fn begin_node(&mut self, name: &str) -> usize {
        let node = self.names.number(name);
        self.run = self.text.len();
        self.nodes.insert(node, NodeLog { offset: self.run, ..NodeLog::default() });
        node
    }

    /// Forgets the lists of the run that is being written.
    pub(super) fn clear_run(&mut self) {
        self.text.truncate(self.run);
    }

    pub(super) fn begin_list(&mut self, is_main: bool) {
        self.put(1 + u64::from(is_main));
    }

    /// The next item of the list.
    pub(super) fn add(&mut self, pairing: Pairing) {
        if self.entry.items > 0 {
            if let Some(step) = self.entry.step_to(&pairing) {
                (self.entry.step, self.entry.items) = (step, self.entry.items + 1);
                return;
            }
            self.put_entry();
        }
        self.entry = Entry { items: 1, step: 0, pairing };
    }

    /// The next items; the first of them came from this item of the first input.
    pub(super) fn add_plain(&mut self, first: u64, step: u64, items: u64) {
        if items > 0 {
            self.add(Pairing::plain(first));
            (self.entry.step, self.entry.items) = (step, self.entry.items + items - 1);
        }
    }

    pub(super) fn end_list(&mut self) {
        if self.entry.items > 0 {
            self.put_entry();
        }
        self.put(0);
    }

    /// Ends a run; its inputs came from `sources`, unless it has an input of its own.
    pub(super) fn end_run(&mut self, node: usize, sources: &[Option<InputSource>], has_own_input: bool) {
        self.put(0);
        self.put((sources.len() as u64) << 1 | u64::from(has_own_input));
        for source in sources {
            self.put(u64::from(source.is_some()));
            if let Some(source) = source {
                let output = self.names.output(source);
                self.put_output(output);
            }
        }
        let is_held = self.stopped.is_none() && self.has_room();
        let Some(log) = self.nodes.get_mut(&node) else { return };
        if is_held {
            log.held += 1;
        } else {
            self.stopped.get_or_insert((node, log.runs));
            self.text.truncate(self.run);
        }
        log.runs += 1;
        self.run = self.text.len();
    }

    fn has_room(&self) -> bool {
        self.text.len() + self.names.bytes <= BYTES
    }

    fn put_entry(&mut self) {
        let entry = std::mem::take(&mut self.entry);
        let Pairing { ranges, more } = entry.pairing;
        self.put(entry.items);
        self.put(entry.step | u64::from(more > 0) << 1 | (ranges.len() as u64) << 2);
        if more > 0 {
            self.put(more);
        }
        for range in ranges {
            match range.link {
                Link::Input(input) => self.put(input << 1),
                Link::Output(output) => {
                    self.put(1);
                    self.put_output(output);
                }
            }
            self.put(range.start);
            self.put(range.len);
        }
    }

    fn put_output(&mut self, output: Output) {
        self.put(output.node as u64);
        self.put(output.output);
        self.put(output.run);
    }

    fn put(&mut self, mut number: u64) {
        if !self.has_room() {
            return;
        }
        while number > 0x7f {
            self.text.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.text.push(number as u8);
    }

    /// The runs of a node that are held, in order.
    pub(super) fn runs(&self, node: usize) -> impl Iterator<Item = RunLog<'_>> {
        let log = self.nodes.get(&node).copied().unwrap_or_default();
        let mut text = Numbers(self.text.get(log.offset..).unwrap_or_default());
        (0..log.held).map(move |_| RunLog::read(&mut text))
    }

    /// A run of a node.
    pub(super) fn run(&self, node: usize, run: u64) -> Option<RunLog<'_>> {
        self.runs(node).nth(usize::try_from(run).ok()?)
    }
}

/// A run in the text.
#[derive(Debug)]
pub(super) struct RunLog<'a> {
    lists: Numbers<'a>,
    /// The sources of its inputs.
    pub(super) sources: Vec<Option<Output>>,
    /// Whether n8n stores its input itself: the sources are then the nodes that use it.
    pub(super) has_own_input: bool,
}

impl<'a> RunLog<'a> {
    fn read(text: &mut Numbers<'a>) -> Self {
        let lists = text.clone();
        while text.number() > 0 {
            while text.skip_entry() {}
        }
        let header = text.number();
        let sources = (0..header >> 1).map(|_| (text.number() > 0).then(|| text.output())).collect();
        Self { lists, sources, has_own_input: header & 1 > 0 }
    }

    /// The output that an item names, if there is one.
    pub(super) fn output(&self, link: Link) -> Option<Output> {
        match link {
            Link::Output(output) => Some(output),
            Link::Input(_) if self.has_own_input => None,
            Link::Input(input) => self.sources.get(usize::try_from(input).ok()?).copied().flatten(),
        }
    }

    /// Calls `each` with each entry, its list and its first item.
    pub(super) fn each_entry(&self, mut each: impl FnMut(List, u64, &Entry)) {
        let (mut text, mut entry) = (self.lists.clone(), Entry::default());
        let (mut position, mut mains) = (0, 0);
        loop {
            let kind = text.number();
            if kind == 0 {
                return;
            }
            let list = List { position, main: (kind == 2).then_some(mains) };
            let mut first = 0;
            while text.entry(&mut entry) {
                each(list, first, &entry);
                first += entry.items;
            }
            position += 1;
            mains += u64::from(kind == 2);
        }
    }

    /// How many items each list has.
    pub(super) fn items(&self) -> Vec<(List, u64)> {
        let (mut text, mut found, mut mains) = (self.lists.clone(), Vec::new(), 0);
        loop {
            let kind = text.number();
            if kind == 0 {
                return found;
            }
            let (mut items, mut all) = (text.number(), 0);
            while items > 0 {
                all += items;
                text.skip_ranges();
                items = text.number();
            }
            found.push((List { position: found.len() as u64, main: (kind == 2).then_some(mains) }, all));
            mains += u64::from(kind == 2);
        }
    }
}

/// An output of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct List {
    /// Its index across all types of connections.
    pub(super) position: u64,
    /// Its index among those of the type `main`, if it is one.
    pub(super) main: Option<u64>,
}

/// Reads numbers.
#[derive(Clone, Debug)]
struct Numbers<'a>(&'a [u8]);

impl Numbers<'_> {
    fn number(&mut self) -> u64 {
        let (mut number, mut shift) = (0, 0);
        while let Some((byte, after)) = self.0.split_first() {
            self.0 = after;
            number |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 || shift > 63 {
                break;
            }
        }
        number
    }

    fn output(&mut self) -> Output {
        let node = self.number() as usize;
        let output = self.number();
        Output { node, output, run: self.number() }
    }

    fn link(&mut self) -> Link {
        match self.number() {
            1 => Link::Output(self.output()),
            input => Link::Input(input >> 1),
        }
    }

    /// Reads the next entry of a list; returns whether there is one.
    fn entry(&mut self, entry: &mut Entry) -> bool {
        entry.items = self.number();
        entry.pairing.ranges.clear();
        if entry.items == 0 {
            return false;
        }
        let header = self.number();
        entry.step = header & 1;
        entry.pairing.more = if header & 2 > 0 { self.number() } else { 0 };
        for _ in 0..header >> 2 {
            let link = self.link();
            let start = self.number();
            entry.pairing.ranges.push(Range { link, start, len: self.number() });
        }
        true
    }

    fn skip_entry(&mut self) -> bool {
        let is_entry = self.number() > 0;
        if is_entry {
            self.skip_ranges();
        }
        is_entry
    }

    fn skip_ranges(&mut self) {
        let header = self.number();
        if header & 2 > 0 {
            self.number();
        }
        for _ in 0..header >> 2 {
            self.link();
            self.number();
            self.number();
        }
    }
}
