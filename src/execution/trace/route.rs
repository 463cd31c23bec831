//! The steps of a trace, found in the lineage of all items.

use std::collections::{HashSet, VecDeque};

use super::LineageView;
use super::link::{Output, Range};
use super::log::{List, RunLog};
use super::pairing::Pairing;
use crate::json::is_name;

/// The maximum number of steps of a trace.
const STEPS: usize = 40;

/// The maximum number of sources shown and followed of one item.
const FROM: usize = 5;

/// Where an item is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The node's name.
    pub node: String,
    /// The run, from 0.
    pub run: u64,
    /// The output, counted across all types of connections.
    pub output: u64,
    /// The item in this output.
    pub item: u64,
}

/// Where a trace leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// To the items that it came from.
    Back,
    /// To the items that came from it.
    Forward,
    /// Both.
    Both,
}

/// An item on the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Where it is.
    pub place: Place,
    /// The first items that it came from.
    pub from: Vec<Place>,
    /// How many more it came from.
    pub more: u64,
    /// What is special about it.
    pub note: Option<Note>,
}

impl Step {
    /// The item that it came from, if there is only one.
    pub fn single_source(&self) -> Option<&Place> {
        self.from.first().filter(|_| self.from.len() == 1 && self.more == 0)
    }
}

/// What is special about a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// Its node has no input: the execution starts here.
    Start,
    /// The item names no source.
    NoSource,
    /// An AI sub-node's item, which names no source; the node that uses it.
    SubNode(String),
    /// There is no such item.
    NoItem,
    /// There was no room for its lineage.
    NotHeld,
    /// n8n may have paired it by its position, since code made it.
    ByPosition,
}

/// Why there is no trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absent {
    /// No node has this name, or several have it as their shortened name.
    Node,
    /// The node has only this many runs.
    Run(u64),
    /// The run has only this many outputs.
    Output(u64),
    /// The output has only this many items.
    Item(u64),
    /// There was no room for its lineage.
    NotHeld,
}

/// The steps of a trace, breadth first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Route {
    /// The steps; the first one is the requested item.
    pub steps: Vec<Step>,
    /// How many more items are known to follow, without a step of their own.
    pub more: u64,
}

impl Route {
    /// Follows an item.
    ///
    /// # Errors
    /// There is no such item.
    pub fn new(view: &LineageView, start: &Place, direction: Direction) -> Result<Self, Absent> {
        let tracer = Tracer { view };
        let start = tracer.find(start)?;
        let back = tracer.back(start);
        if direction == Direction::Back {
            return Ok(back);
        }
        let mut forward = tracer.forward(start);
        if direction == Direction::Forward {
            forward.steps.insert(0, tracer.step(start).0);
            return Ok(forward.first(STEPS));
        }
        // Neither direction takes more than half of the steps from the other.
        let share = (STEPS - forward.steps.len().min(STEPS)).max(STEPS / 2);
        let mut both = back.first(share);
        forward = forward.first(STEPS - both.steps.len());
        both.steps.extend(forward.steps);
        both.more += forward.more;
        Ok(both)
    }

    /// The first steps.
    fn first(mut self, steps: usize) -> Self {
        self.more += self.steps.len().saturating_sub(steps) as u64;
        self.steps.truncate(steps);
        self
    }
}

/// A [`Place`] whose node is the number of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Spot {
    node: usize,
    run: u64,
    output: u64,
    item: u64,
}

/// What is known of an item.
enum Found<'v> {
    Item(RunLog<'v>, Pairing),
    NoItem,
    NotHeld,
}

struct Tracer<'v> {
    view: &'v LineageView,
}

impl<'v> Tracer<'v> {
    fn find(&self, start: &Place) -> Result<Spot, Absent> {
        let lineage = &self.view.lineage;
        let named = |is: &dyn Fn(&str) -> bool| {
            let mut nodes = lineage.nodes.iter().filter(|(node, _)| is(lineage.names.name(**node)));
            nodes.next().filter(|_| nodes.next().is_none())
        };
        let found = named(&|name| name == start.node).or_else(|| named(&|name| is_name(&start.node, name)));
        let (node, log) = found.ok_or(Absent::Node)?;
        if start.run >= log.runs {
            return Err(Absent::Run(log.runs));
        }
        let run = lineage.run(*node, start.run).filter(|_| start.run < log.held).ok_or(Absent::NotHeld)?;
        let lists = run.items();
        let list = usize::try_from(start.output).ok().and_then(|output| lists.get(output));
        let (_, items) = list.ok_or(Absent::Output(lists.len() as u64))?;
        if start.item >= *items {
            return Err(Absent::Item(*items));
        }
        Ok(Spot { node: *node, run: start.run, output: start.output, item: start.item })
    }

    fn place(&self, spot: Spot) -> Place {
        let node = self.view.lineage.names.name(spot.node).to_owned();
        Place { node, run: spot.run, output: spot.output, item: spot.item }
    }

    fn look(&self, spot: Spot) -> Found<'v> {
        let Some(log) = self.view.lineage.nodes.get(&spot.node).filter(|log| spot.run < log.runs) else {
            return Found::NoItem;
        };
        let Some(run) = self.view.lineage.run(spot.node, spot.run).filter(|_| spot.run < log.held) else {
            return Found::NotHeld;
        };
        let mut found = None;
        run.each_entry(|list, first, entry| {
            if list.position == spot.output && (first..first.saturating_add(entry.items)).contains(&spot.item) {
                found = Some(entry.of(spot.item - first));
            }
        });
        found.map_or(Found::NoItem, |pairing| Found::Item(run, pairing))
    }

    /// A step, and which of the items that it came from are shown.
    fn step(&self, spot: Spot) -> (Step, Vec<Spot>) {
        let mut step = Step { place: self.place(spot), from: Vec::new(), more: 0, note: None };
        let mut from = Vec::new();
        match self.look(spot) {
            Found::NoItem => step.note = Some(Note::NoItem),
            Found::NotHeld => step.note = Some(Note::NotHeld),
            Found::Item(run, pairing) => {
                let total;
                (from, total) = self.sources(&run, &pairing);
                step.more = total - from.len() as u64;
                step.note = self.note(spot, &run, &from);
            }
        }
        step.from = from.iter().map(|spot| self.place(*spot)).collect();
        (step, from)
    }

    fn note(&self, spot: Spot, run: &RunLog<'_>, from: &[Spot]) -> Option<Note> {
        let names = &self.view.lineage.names;
        match from {
            [] => Some(match run.sources.iter().flatten().next() {
                // An input whose source n8n did not store, such as that of a run recovered after a crash, is no start.
                None if run.sources.is_empty() => Note::Start,
                None => Note::NoSource,
                Some(user) if run.has_own_input => Note::SubNode(names.name(user.node).to_owned()),
                Some(_) => Note::NoSource,
            }),
            [one] if one.item == spot.item && self.view.by_position.contains(names.name(spot.node)) => {
                Some(Note::ByPosition)
            }
            _ => None,
        }
    }

    /// The first items that an item came from, and how many there are.
    fn sources(&self, run: &RunLog<'_>, pairing: &Pairing) -> (Vec<Spot>, u64) {
        let resolved = |range: &Range| Some((run.output(range.link)?, range.start, range.len));
        let mut ranges: Vec<_> = pairing.ranges.iter().filter_map(resolved).collect();
        let mut first = Vec::new();
        let items = ranges
            .iter()
            .flat_map(|(output, start, len)| (*start..start.saturating_add(*len)).map(move |item| (*output, item)));
        for named in items {
            if first.len() == FROM {
                break;
            }
            if !first.contains(&named) {
                first.push(named);
            }
        }
        let spot = |(output, item): (Output, u64)| Spot {
            node: output.node,
            run: output.run,
            output: self.position(output),
            item,
        };
        let from = first.into_iter().map(spot).collect();
        // Two inputs can come from one output, so that ranges overlap.
        ranges.sort_unstable();
        let (mut total, mut end) = (pairing.more, None);
        for (output, start, len) in ranges {
            let begin = end.filter(|(known, _)| *known == output).map_or(start, |(_, end)| start.max(end));
            let to = start.saturating_add(len).max(begin);
            total += to - begin;
            end = Some((output, to));
        }
        (from, total)
    }

    /// The index of an output across all types of connections.
    fn position(&self, output: Output) -> u64 {
        let run = self.view.lineage.run(output.node, output.run);
        let lists = run.map(|run| run.items()).unwrap_or_default();
        let list = lists.iter().find(|(list, _)| list.main == Some(output.output));
        list.map_or(output.output, |(list, _)| list.position)
    }

    fn back(&self, start: Spot) -> Route {
        let (mut queue, mut seen) = (VecDeque::from([start]), HashSet::from([start]));
        let mut route = Route::default();
        while route.steps.len() < STEPS
            && let Some(spot) = queue.pop_front()
        {
            let (step, from) = self.step(spot);
            route.steps.push(step);
            queue.extend(from.into_iter().filter(|spot| seen.insert(*spot)));
        }
        route.more = queue.len() as u64;
        route
    }

    /// What came from an item, without the item itself.
    fn forward(&self, start: Spot) -> Route {
        let (mut level, mut seen) = (vec![start], HashSet::from([start]));
        let mut route = Route::default();
        while !level.is_empty() {
            let mut next = Vec::new();
            self.each_child(&level, |spot| {
                if route.steps.len() + next.len() >= STEPS {
                    route.more += u64::from(!seen.contains(&spot));
                } else if seen.insert(spot) {
                    next.push(spot);
                }
            });
            route.steps.extend(next.iter().map(|spot| self.step(*spot).0));
            level = next;
        }
        route
    }

    /// Passes on the items that came from one of these.
    fn each_child(&self, parents: &[Spot], mut each: impl FnMut(Spot)) {
        let parents: Vec<_> = parents.iter().filter_map(|spot| Some((self.main(*spot)?, spot.item))).collect();
        let lineage = &self.view.lineage;
        for node in lineage.nodes.keys() {
            for (at, run) in lineage.runs(*node).enumerate() {
                run.each_entry(|List { position, .. }, first, entry| {
                    let mut spans = Vec::new();
                    for range in &entry.pairing.ranges {
                        let Some(output) = run.output(range.link) else { continue };
                        let here = parents.iter().filter(|(its, _)| *its == output);
                        spans.extend(here.map(|(_, parent)| children(*parent, range, entry.items, entry.step)));
                    }
                    // Each once, in their order.
                    spans.sort_unstable_by_key(|span| span.start);
                    let mut next = 0;
                    for span in spans {
                        for item in span.start.max(next)..span.end {
                            each(Spot { node: *node, run: at as u64, output: position, item: first + item });
                        }
                        next = span.end.max(next);
                    }
                });
            }
        }
    }

    /// The item's output among those of the type `main`, by which others name it.
    fn main(&self, spot: Spot) -> Option<Output> {
        let lists = self.view.lineage.run(spot.node, spot.run)?.items();
        let (list, _) = lists.get(usize::try_from(spot.output).ok()?)?;
        Some(Output { node: spot.node, run: spot.run, output: list.main? })
    }
}

/// Which of these items came from `parent`, if the range of the first one is given.
fn children(parent: u64, range: &Range, items: u64, step: u64) -> std::ops::Range<u64> {
    if step == 0 {
        let is_in = (range.start..range.start.saturating_add(range.len)).contains(&parent);
        return 0..if is_in { items } else { 0 };
    }
    // The n-th has the range moved on by n.
    let end = (parent + 1).saturating_sub(range.start).min(items);
    let begin = (parent + 1).saturating_sub(range.start.saturating_add(range.len));
    begin..end
}
