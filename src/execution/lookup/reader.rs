//! The second pass: what the items have at the paths.

use std::collections::HashMap;

use super::answers::Answers;
use super::events::{self, Tee};
use super::known::{KnownItem, KnownPaths};
use super::near::nearest;
use super::path_tree::KindAtPath;
use super::plan::{Lists, ListsOf, NodePlan, Plan};
use super::tally::{RunTally, Seen, Total};
use super::{Found, Outcome, Which};
use crate::execution::runs::{Item, ItemPlace, Parts, RunHead, RunObserver, Side};
use crate::execution::trace::Place;
use crate::json::ReadError;

/// Memory for the paths that the items of all nodes have.
const KNOWN_BYTES: usize = 2 * 1024 * 1024;

/// A node by its number, and one of its `main` outputs; `None` for its own input.
type KnownOf = (u64, Option<u64>);

/// Reads the items that are examined.
pub(super) struct Reader<'p> {
    plan: &'p Plan,
    totals: Vec<Total>,
    known: HashMap<KnownOf, KnownPaths>,
    known_bytes: usize,
    /// How many nodes have begun.
    begun: u64,
    /// The node that is being read, if its items are examined.
    node: Option<&'p NodePlan>,
    /// What its asks found in the run that is being read.
    run: Vec<RunTally>,
    place: (u64, Side),
    /// Those of its lists that include the one being read.
    lists: Vec<&'p Lists>,
    known_of: KnownOf,
    /// What the last item of the list has.
    answers: Vec<KindAtPath>,
}

impl RunObserver for Reader<'_> {
    const PARTS: Parts = Parts::REDACTED.and(Parts::START).and(Parts::INPUTS).and(Parts::OUTPUTS);

    fn begin_node(&mut self, name: &str) {
        self.begun += 1;
        self.node = self.plan.node(name).filter(|node| node.number == self.begun);
        self.run.clear();
        self.run.resize(self.node.map_or(0, |node| node.asks), RunTally::default());
        self.lists.clear();
    }

    fn begin_lists(&mut self, run: u64, side: Side) {
        self.place = (run, side);
        self.clear(side);
    }

    fn begin_list(&mut self, connection: &str, index: u64) {
        self.lists.clear();
        let Some(node) = self.node else { return };
        let (run, side) = self.place;
        let is_main = connection == "main";
        let is_here = |of: ListsOf| match (of, side) {
            (ListsOf::OwnInput, Side::Inputs) => true,
            (ListsOf::Output(output), Side::Outputs) => is_main && output == index,
            (ListsOf::Outputs, Side::Outputs) => is_main,
            _ => false,
        };
        self.lists.extend(node.lists.iter().filter(|lists| is_here(lists.of) && lists.has_run(run)));
        self.known_of = (node.number, matches!(side, Side::Outputs).then_some(index));
        self.answers.clear();
        self.answers.resize(node.paths.leaves(), KindAtPath::MISSING);
    }

    fn item(&mut self, place: ItemPlace, item: Item<'_, '_>) -> Result<(), ReadError> {
        if self.lists.is_empty() {
            return item.skip();
        }
        // Items were omitted because they have the same answers as the one before them.
        let items = item.count();
        match item {
            Item::Omitted(_) => {}
            Item::Captured(json) => self.look(|events| events::of_text(&json, events))?,
            Item::Unread(cursor) => self.look(|events| events::of_body(cursor, events))?,
        }
        self.count(place, items);
        Ok(())
    }

    fn end_list(&mut self, end: ItemPlace) {
        let Some(last) = end.item.checked_sub(1) else { return };
        let asks = self.lists.iter().flat_map(|lists| &lists.asks);
        for ask in asks.filter(|ask| ask.which == Which::Last) {
            self.run[ask.number].add(self.answers[ask.leaf], 1, (end.output, last));
        }
    }

    fn end_run(&mut self, run: RunHead) -> Result<(), ReadError> {
        if !run.has_input_lists {
            self.clear(Side::Inputs);
        }
        let Some(node) = self.node else { return Ok(()) };
        let of_run = Seen { start: run.start, node: node.number, run: run.index, output: 0, item: 0 };
        for ask in node.lists.iter().flat_map(|lists| &lists.asks) {
            let tally = std::mem::take(&mut self.run[ask.number]);
            if !tally.is_empty() {
                self.totals[ask.question].add(&tally, self.plan.order, of_run);
            }
        }
        Ok(())
    }
}

impl<'p> Reader<'p> {
    pub(super) fn new(plan: &'p Plan) -> Self {
        Self {
            plan,
            totals: vec![Total::default(); plan.questions.len()],
            known: HashMap::new(),
            known_bytes: 0,
            begun: 0,
            node: None,
            run: Vec::new(),
            place: (0, Side::Outputs),
            lists: Vec::new(),
            known_of: (0, None),
            answers: Vec::new(),
        }
    }

    /// Forgets what was found in the inputs or the outputs of the run.
    fn clear(&mut self, side: Side) {
        let is_own = matches!(side, Side::Inputs);
        let lists = self.node.iter().flat_map(|node| &node.lists);
        for lists in lists.filter(|lists| (lists.of == ListsOf::OwnInput) == is_own) {
            lists.asks.iter().for_each(|ask| self.run[ask.number] = RunTally::default());
        }
    }

    /// Finds what an item has; `read` passes on its parts.
    fn look(
        &mut self,
        read: impl FnOnce(&mut Tee<Answers<'_>, Option<KnownItem<'_>>>) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        let Some(node) = self.node else { return Ok(()) };
        let answers = Answers::new(&node.paths, &mut self.answers);
        let known = self.known.entry(self.known_of).or_default();
        let before = known.bytes;
        let is_wanted = known.takes_more() && self.known_bytes < KNOWN_BYTES;
        read(&mut Tee::new(answers, is_wanted.then(|| known.item())))?;
        self.known_bytes += known.bytes - before;
        Ok(())
    }

    /// Counts items with the same answers.
    fn count(&mut self, place: ItemPlace, items: u64) {
        let has = |index: u64| (place.item..place.item.saturating_add(items)).contains(&index);
        for ask in self.lists.iter().flat_map(|lists| &lists.asks) {
            let (items, first) = match ask.which {
                Which::Any => (items, place.item),
                Which::First if has(0) => (1, 0),
                Which::Index(index) if has(index) => (1, index),
                Which::First | Which::Index(_) | Which::Last => continue,
            };
            self.run[ask.number].add(self.answers[ask.leaf], items, (place.output, first));
        }
    }

    /// The answers, in the order of the questions.
    pub(super) fn finish(mut self) -> Vec<Found> {
        let names: HashMap<u64, &str> = self.plan.nodes().map(|(name, node)| (node.number, name)).collect();
        let place = |seen: Option<Seen>| {
            let Seen { node, run, output, item, .. } = seen?;
            Some(Place { node: (*names.get(&node)?).to_owned(), run, output, item })
        };
        let mut near = self.near();
        let totals = std::mem::take(&mut self.totals).into_iter().enumerate();
        let found = totals.map(|(question, total)| Found {
            outcome: self.plan.outcomes[question],
            items: total.items,
            have: total.have(),
            kinds: total.kinds,
            first_missing: place(total.first_missing),
            first_of_kind: total.first_of_kind.map(place),
            near: near.remove(&question),
        });
        found.collect()
    }

    /// For each path that no item has, by the number of its question: the path that was probably meant.
    fn near(&self) -> HashMap<usize, Vec<super::Step>> {
        let mut known: HashMap<usize, Vec<&KnownPaths>> = HashMap::new();
        for (_, node) in self.plan.nodes() {
            for lists in &node.lists {
                let of = self.known_in(node.number, lists.of);
                let asks = lists.asks.iter().map(|ask| ask.question);
                for question in asks.filter(|question| self.is_missing(*question)) {
                    known.entry(question).or_default().extend(&of);
                }
            }
        }
        let of = |(question, known): (usize, Vec<&KnownPaths>)| {
            Some((question, nearest(&self.plan.questions[question].path, known.into_iter())?))
        };
        known.into_iter().filter_map(of).collect()
    }

    fn is_missing(&self, question: usize) -> bool {
        let total = &self.totals[question];
        self.plan.outcomes[question] == Outcome::LookedUp && total.items > 0 && total.have() == 0
    }

    /// The paths in lists of a node.
    fn known_in(&self, node: u64, of: ListsOf) -> Vec<&KnownPaths> {
        let is_of = |output: Option<u64>| match of {
            ListsOf::OwnInput => output.is_none(),
            ListsOf::Output(wanted) => output == Some(wanted),
            ListsOf::Outputs => output.is_some(),
        };
        let mut known: Vec<_> =
            self.known.iter().filter(|((number, output), _)| *number == node && is_of(*output)).collect();
        known.sort_by_key(|(of, _)| **of);
        known.into_iter().map(|(_, known)| known).collect()
    }
}
