//! What the second pass looks for: which paths in the items of which outputs.

use std::collections::HashMap;

use indexmap::IndexMap;

use super::path_tree::PathTree;
use super::run_set::RunSet;
use super::runs::{RanNode, RunsView};
use super::{ASKS, Found, NAME_CHARS, Of, Outcome, QUESTIONS, Question, STEPS, Step, Which};
use crate::execution::order::Order;
use crate::json::hold_name;

/// What is looked up in an execution: questions, and the outputs that hold their answers.
#[derive(Debug)]
pub struct Plan {
    pub(super) questions: Vec<Question>,
    /// The outcome of each question.
    pub(super) outcomes: Vec<Outcome>,
    /// The nodes whose items are examined, by name.
    nodes: IndexMap<String, NodePlan>,
    pub(super) order: Order,
    /// How many asks there are.
    asks: usize,
}

/// A node whose items are examined.
#[derive(Debug)]
pub(super) struct NodePlan {
    /// Its number among the members of `runData`, from 1.
    pub(super) number: u64,
    pub(super) paths: PathTree,
    pub(super) lists: Vec<Lists>,
    /// How many asks its lists have.
    pub(super) asks: usize,
}

/// Lists of items of a node.
#[derive(Debug)]
pub(super) struct Lists {
    pub(super) of: ListsOf,
    /// Only of these runs; `None` for all.
    runs: Option<RunSet>,
    pub(super) asks: Vec<Ask>,
}

/// Which lists of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListsOf {
    /// The lists of the input that n8n stores itself.
    OwnInput,
    /// This `main` output.
    Output(u64),
    /// Each `main` output.
    Outputs,
}

/// A question about a path in lists of items.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ask {
    pub(super) question: usize,
    /// The number of the path.
    pub(super) leaf: usize,
    pub(super) which: Which,
    /// The number of the ask in its node.
    pub(super) number: usize,
}

/// The lists of a question: of which node, and which of its lists.
type Places = Vec<(String, usize)>;

/// Which lists of a node a question wants.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Wanted<'q> {
    /// What it received.
    Input,
    /// What it output: these `main` outputs, or all of them if the list is empty.
    Outputs(&'q [u64]),
}

impl Plan {
    /// Plans the answers to questions about an execution, in this order. Questions beyond the limits have the outcome
    /// [`Outcome::OverLimit`].
    pub fn new(view: &RunsView, questions: Vec<Question>) -> Self {
        let mut plan = Self {
            questions: Vec::new(),
            outcomes: Vec::with_capacity(questions.len()),
            nodes: IndexMap::new(),
            order: view.order,
            asks: 0,
        };
        let mut known = HashMap::new();
        for (number, question) in questions.iter().enumerate() {
            let outcome = plan.add(view, number, question, &mut known);
            plan.outcomes.push(outcome);
        }
        plan.questions = questions;
        plan
    }

    fn add<'q>(
        &mut self,
        view: &RunsView,
        number: usize,
        question: &'q Question,
        known: &mut HashMap<(&'q str, Wanted<'q>), Places>,
    ) -> Outcome {
        if view.redacted {
            return Outcome::Redacted;
        }
        let is_long = |step: &Step| matches!(step, Step::Name(name) if name.chars().count() > NAME_CHARS);
        if number >= QUESTIONS || question.path.len() > STEPS || question.path.iter().any(is_long) {
            return Outcome::OverLimit;
        }
        let ran = |name: &str| view.nodes.get(&hold_name(name)).filter(|node| node.starts.runs > 0);
        let Some(node) = ran(&question.node) else { return Outcome::NotRun };
        let (of, which, wanted) = match &question.of {
            Of::Input(which) => (&question.node, *which, Wanted::Input),
            Of::Output { node, outputs, which } => (node, *which, Wanted::Outputs(outputs)),
        };
        if wanted == Wanted::Input {
            match node {
                RanNode { is_too_often: true, .. } => return Outcome::TooOften,
                RanNode { received, own_input, .. } if received.is_empty() && own_input.is_empty() => {
                    return Outcome::NoInput;
                }
                _ => {}
            }
        } else if ran(of).is_none() {
            return Outcome::SourceNotRun;
        }
        let are_placeholders = |name: &str| view.nodes.get(name).is_some_and(|node| node.has_placeholders);
        let has_placeholders = match wanted {
            Wanted::Input => node.received.keys().any(|output| are_placeholders(&output.node)),
            Wanted::Outputs(_) => are_placeholders(&hold_name(of)),
        };
        if has_placeholders {
            return Outcome::Recovered;
        }
        let places = known.entry((of, wanted)).or_insert_with(|| self.places(view, &hold_name(of), wanted));
        self.ask(number, question, which, places)
    }

    /// The lists of a node's input, or of its outputs.
    fn places(&mut self, view: &RunsView, node: &str, wanted: Wanted<'_>) -> Places {
        let mut places = Vec::new();
        let mut add = |name: &str, of, runs| {
            let Some(RanNode { number, .. }) = view.nodes.get(name) else { return };
            let plan = self.nodes.entry(name.to_owned()).or_insert_with(|| NodePlan::new(*number));
            places.push((name.to_owned(), plan.lists.len()));
            plan.lists.push(Lists { of, runs, asks: Vec::new() });
        };
        if let Wanted::Outputs(outputs) = wanted {
            outputs.iter().for_each(|output| add(node, ListsOf::Output(*output), None));
            if outputs.is_empty() {
                add(node, ListsOf::Outputs, None);
            }
        } else if let Some(RanNode { own_input, received, .. }) = view.nodes.get(node) {
            if !own_input.is_empty() {
                add(node, ListsOf::OwnInput, Some(own_input.clone()));
            }
            for (output, runs) in received {
                add(&output.node, ListsOf::Output(output.output), Some(runs.clone()));
            }
        }
        places
    }

    fn ask(&mut self, question: usize, asked: &Question, which: Which, places: &Places) -> Outcome {
        if self.asks + places.len() > ASKS {
            return Outcome::OverLimit;
        }
        let leaves: Option<Vec<_>> =
            places.iter().map(|(node, _)| self.nodes.get_mut(node)?.paths.add(&asked.path)).collect();
        let Some(leaves) = leaves else { return Outcome::OverLimit };
        for ((node, lists), leaf) in places.iter().zip(leaves) {
            let Some(plan) = self.nodes.get_mut(node) else { continue };
            plan.lists[*lists].asks.push(Ask { question, leaf, which, number: plan.asks });
            plan.asks += 1;
        }
        self.asks += places.len();
        Outcome::LookedUp
    }

    /// Whether any item must be examined. If not, [`unread`](Self::unread) has all answers.
    pub fn needs_items(&self) -> bool {
        self.asks > 0
    }

    /// The answers without the items.
    pub fn unread(&self) -> Vec<Found> {
        self.outcomes.iter().map(|outcome| Found { outcome: *outcome, ..Found::default() }).collect()
    }

    /// What is looked for in the items of a node.
    pub(super) fn node(&self, name: &str) -> Option<&NodePlan> {
        self.nodes.get(name).filter(|node| node.asks > 0)
    }

    /// The same by its index.
    pub(super) fn node_at(&self, index: usize) -> Option<&NodePlan> {
        self.nodes.get_index(index).map(|(_, node)| node)
    }

    /// The index of a node whose items are examined.
    pub(super) fn index_of(&self, name: &str) -> Option<usize> {
        self.nodes.get_full(name).filter(|(_, _, node)| node.asks > 0).map(|(index, ..)| index)
    }

    /// The nodes whose items are examined.
    pub(super) fn nodes(&self) -> impl Iterator<Item = (&str, &NodePlan)> {
        self.nodes.iter().map(|(name, node)| (name.as_str(), node))
    }
}

impl NodePlan {
    fn new(number: u64) -> Self {
        Self { number, paths: PathTree::default(), lists: Vec::new(), asks: 0 }
    }

    /// Whether a list of this run is examined.
    pub(super) fn has_run(&self, run: u64) -> bool {
        self.lists.iter().any(|lists| lists.has_run(run))
    }
}

impl Lists {
    pub(super) fn has_run(&self, run: u64) -> bool {
        !self.asks.is_empty() && self.runs.as_ref().is_none_or(|runs| runs.contains(run))
    }
}
