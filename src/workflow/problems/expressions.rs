//! Rules about expressions and code.

use super::super::expression::{Access, NodeName, ParameterText, Scanned, scan, unevaluated};
use super::view::{NOTE, Node, View};
use super::{Problem, Rule};
use crate::json::shorten;

/// Characters of an expression that are shown.
const SHOWN_CHARS: usize = 100;

pub(super) fn problems(view: &View) -> Vec<Problem> {
    let mut found = Vec::new();
    for (index, node) in view.active() {
        let mut upstream = None;
        for text in &node.texts {
            let Some(syntax) = text.syntax else {
                found.extend(missing_equals(node, text));
                continue;
            };
            let scanned = scan(&text.text, syntax);
            found.extend(fault(node, text, &scanned));
            let named = scanned.names.iter().filter(|name| !name.is_in_comment);
            for name in named {
                let problem = match view.find(&name.name) {
                    None => Some(at(Rule::UnknownNode, node, text, name)),
                    Some(_) if name.is_guarded || asks_if_executed(&scanned, name) => None,
                    Some(other) => {
                        let upstream = upstream.get_or_insert_with(|| Upstream::new(view, index));
                        upstream
                            .lacks(other, name.access)
                            .map(|why| at(Rule::NotUpstream, node, text, name).with_detail(why))
                    }
                };
                found.extend(problem);
            }
        }
    }
    found
}

fn at(rule: Rule, node: &Node, text: &ParameterText, name: &NodeName) -> Problem {
    let parameter = Some(text.pointer.clone());
    let reference = Some(shorten(text.text.get(name.source.clone()).unwrap_or_default(), SHOWN_CHARS));
    Problem { parameter, reference, ..Problem::new(rule, &node.name) }
}

fn asks_if_executed(scanned: &Scanned, name: &NodeName) -> bool {
    scanned.names.iter().any(|other| other.access == Access::IsExecuted && other.name == name.name)
}

fn fault(node: &Node, text: &ParameterText, scanned: &Scanned) -> Option<Problem> {
    let fault = scanned.fault.as_ref()?;
    let around = text.text.get(text.text.floor_char_boundary(fault.at.saturating_sub(20))..).unwrap_or_default();
    let around: String = around.chars().take(60).collect();
    let parameter = Some(text.pointer.clone());
    let problem = Problem { parameter, reference: Some(around), ..Problem::new(Rule::Syntax, &node.name) };
    Some(problem.with_detail(fault.to_string()))
}

/// A text that would be an expression with `=`. A note, a workflow and other code as text are not meant to be.
fn missing_equals(node: &Node, text: &ParameterText) -> Option<Problem> {
    let name = text.pointer.rsplit('/').next().unwrap_or_default();
    let is_text = node.is(NOTE)
        || matches!(name, "workflowJson" | "jsonWorkflow" | "pythonCode" | "code")
        || text.text.contains("\"nodes\"");
    if is_text {
        return None;
    }
    let code = unevaluated(&text.text)?;
    let parameter = Some(text.pointer.clone());
    let reference = Some(shorten(&text.text[code], SHOWN_CHARS));
    Some(Problem { parameter, reference, ..Problem::new(Rule::MissingEquals, &node.name) })
}

/// The nodes from which items come to one node.
struct Upstream<'a> {
    view: &'a View,
    node: usize,
    ancestors: Vec<bool>,
    triggers: Vec<usize>,
}

impl<'a> Upstream<'a> {
    fn new(view: &'a View, node: usize) -> Self {
        let ancestors = view.graph.ancestors(node);
        let triggers = triggers(view, node, &ancestors);
        Self { view, node, ancestors, triggers }
    }

    /// Why items of the other node cannot be read here. A node that never runs is not judged, nor an item of a sub-node.
    fn lacks(&self, other: usize, access: Access) -> Option<String> {
        let never_runs = self.triggers.is_empty();
        if other == self.node || self.ancestors[other] || never_runs || self.view.graph.is_used(other) {
            return None;
        }
        let theirs = triggers(self.view, other, &self.view.graph.ancestors(other));
        let other_trigger = theirs.first().filter(|_| !theirs.iter().any(|trigger| self.triggers.contains(trigger)));
        match other_trigger {
            Some(trigger) => {
                Some(format!("it only runs after '{}'", shorten(&self.view.nodes[*trigger].name, SHOWN_CHARS)))
            }
            _ if access == Access::PairedItem => Some("no path leads from it to this node".to_owned()),
            _ => None,
        }
    }
}

/// The triggers that a node runs after; of a trigger itself.
fn triggers(view: &View, node: usize, ancestors: &[bool]) -> Vec<usize> {
    let starts = |index: &usize| (ancestors[*index] || *index == node) && view.nodes[*index].is_trigger;
    (0..ancestors.len()).filter(starts).collect()
}
