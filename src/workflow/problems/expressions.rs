//! Rules about expressions and code.

use std::collections::{HashMap, HashSet};

use super::super::expression::{Access, NodeName, ParameterText, Scanned, unevaluated};
use super::super::left_over::is_left_over;
use super::super::parsed::{NOTE, ParsedNode};
use super::scans::Scans;
use super::view::View;
use super::{Problem, Rule};
use crate::json::shorten;
use crate::secrets::{REDACTED, redact};

/// The most characters shown of an expression.
const SHOWN_CHARS: usize = 100;

pub(super) fn problems<'v>(
    view: &'v View,
    is_hidden: &impl Fn(&ParsedNode, &str) -> bool,
    scans: &mut Scans<'v>,
) -> Vec<Problem> {
    let mut found = Vec::new();
    // The triggers of nodes that other nodes refer to.
    let mut known_triggers = HashMap::new();
    for (index, node) in view.active() {
        let mut upstream = None;
        let is_shown = |text: &&ParameterText| !is_left_over(node, &text.pointer) && !is_hidden(node, &text.pointer);
        for text in node.texts.iter().filter(is_shown) {
            let Some(syntax) = text.syntax else {
                found.extend(missing_equals(node, text));
                continue;
            };
            let scanned = scans.scan(text, syntax);
            found.extend(fault(node, text, &scanned));
            let asked = scanned.names.iter().filter(|name| name.access == Access::IsExecuted);
            let asked: HashSet<_> = asked.map(|name| name.name.as_str()).collect();
            for name in scanned.names.iter().filter(|name| !name.is_in_comment) {
                let Some(other) = view.find(&name.name) else {
                    found.push(at(Rule::UnknownNode, node, text, name));
                    continue;
                };
                if name.is_guarded || asked.contains(name.name.as_str()) {
                    continue;
                }
                let upstream = upstream.get_or_insert_with(|| Upstream::new(view, index));
                if let Some(why) = upstream.lacks(other, name.access, &mut known_triggers) {
                    found.push(at(Rule::NotUpstream, node, text, name).with_detail(why));
                }
            }
        }
    }
    found
}

fn at(rule: Rule, node: &ParsedNode, text: &ParameterText, name: &NodeName) -> Problem {
    let parameter = Some(text.pointer.clone());
    let reference = Some(shorten(text.text.get(name.source.clone()).unwrap_or_default(), SHOWN_CHARS));
    Problem { parameter, reference, ..Problem::new(rule, &node.name) }
}

fn fault(node: &ParsedNode, text: &ParameterText, scanned: &Scanned) -> Option<Problem> {
    let fault = scanned.fault.as_ref()?;
    let around = text.text.get(text.text.floor_char_boundary(fault.at.saturating_sub(20))..).unwrap_or_default();
    let around: String = around.chars().take(60).collect();
    let parameter = Some(text.pointer.clone());
    let reference = Some(without_secrets(node, text, around));
    let problem = Problem { parameter, reference, ..Problem::new(Rule::Syntax, &node.name) };
    Some(problem.with_detail(fault.to_string()))
}

/// A part of a parameter, unless the parameter holds a secret: the part may be of that.
fn without_secrets(node: &ParsedNode, text: &ParameterText, part: String) -> String {
    let texts = node.texts.iter().map(|other| (other.pointer.as_str(), other.text.as_str()));
    match redact::holds_secret(&text.pointer, &text.text, texts) {
        true => REDACTED.to_owned(),
        false => part,
    }
}

/// A text that would be an expression with `=`. Notes, workflows and other code as text are not intended as expressions.
fn missing_equals(node: &ParsedNode, text: &ParameterText) -> Option<Problem> {
    let name = text.pointer.rsplit('/').next().unwrap_or_default();
    if node.is(NOTE) || matches!(name, "workflowJson" | "jsonWorkflow" | "pythonCode" | "code") {
        return None;
    }
    let code = unevaluated(&text.text).filter(|_| !text.text.contains("\"nodes\""))?;
    let parameter = Some(text.pointer.clone());
    let reference = Some(without_secrets(node, text, shorten(&text.text[code], SHOWN_CHARS)));
    Some(Problem { parameter, reference, ..Problem::new(Rule::MissingEquals, &node.name) })
}

/// The nodes whose items reach a node.
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

    /// Why items of the other node cannot be read here. Nodes that never run are not judged, nor are items of sub-nodes.
    fn lacks(&self, other: usize, access: Access, known_triggers: &mut HashMap<usize, Vec<usize>>) -> Option<String> {
        let never_runs = self.triggers.is_empty();
        // n8n has the parameters of every node.
        let needs_no_run = access == Access::Other;
        if other == self.node || self.ancestors[other] || never_runs || needs_no_run || self.view.graph.is_used(other) {
            return None;
        }
        let theirs = known_triggers
            .entry(other)
            .or_insert_with(|| triggers(self.view, other, &self.view.graph.ancestors(other)));
        let is_ours = |trigger: &usize| self.triggers.binary_search(trigger).is_ok();
        let other_trigger = theirs.first().filter(|_| !theirs.iter().any(is_ours));
        match other_trigger {
            Some(trigger) => {
                Some(format!("it only runs after '{}'", shorten(&self.view.nodes[*trigger].name, SHOWN_CHARS)))
            }
            _ if access == Access::PairedItem => Some("no path leads from it to this node".to_owned()),
            _ => None,
        }
    }
}

/// The triggers that a node runs after, in order; for a trigger, itself.
fn triggers(view: &View, node: usize, ancestors: &[bool]) -> Vec<usize> {
    let starts = |index: &usize| (ancestors[*index] || *index == node) && view.is_trigger(*index);
    (0..ancestors.len()).filter(starts).collect()
}
