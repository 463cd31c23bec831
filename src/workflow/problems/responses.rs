//! Triggers that a Respond to Webhook node answers, by n8n's own conditions: `checkResponseModeConfiguration` of
//! the Webhook and `validateResponseModeConfiguration` of the Form Trigger. Both count disabled Respond nodes.

use super::super::parsed::ParsedNode;
use super::view::View;
use super::{Problem, Rule};

const RESPOND: &str = "n8n-nodes-base.respondToWebhook";

pub(super) fn problems(view: &View) -> Vec<Problem> {
    view.active().filter_map(|(index, node)| problem(view, index, node)).collect()
}

fn problem(view: &View, index: usize, node: &ParsedNode) -> Option<Problem> {
    let is_webhook = node.is("n8n-nodes-base.webhook") && node.version >= 2.0;
    // Both always have parameters; a workflow that was published without them proves nothing.
    if !is_webhook && !node.is("n8n-nodes-base.formTrigger") || node.parameters.is_empty() {
        return None;
    }
    let mode = node.parameter("responseMode").unwrap_or("onReceived");
    if mode.starts_with('=') {
        return None;
    }
    let after = view.graph.descendants(index);
    let responds: Vec<_> = (0..after.len()).filter(|other| after[*other] && view.nodes[*other].is(RESPOND)).collect();
    let Some(first) = responds.first() else {
        return (mode == "responseNode").then(|| Problem::new(Rule::WebhookNeverResponds, &node.name));
    };
    let detail = if is_webhook {
        let is_awaited = matches!(mode, "responseNode" | "streaming");
        let unused = responds.iter().find(|respond| !answers_a_wait(view, **respond, &after))?;
        (!is_awaited).then(|| respond_name(view, *unused))
    } else if node.version > 2.1 {
        Some(format!("{}: a form of this version ends with a Form node", respond_name(view, *first)))
    } else {
        (mode != "responseNode").then(|| respond_name(view, *first))
    };
    detail.map(|detail| Problem::new(Rule::RespondNotAwaited, &node.name).with_detail(detail))
}

fn respond_name(view: &View, respond: usize) -> String {
    let name = &view.nodes[respond].name;
    format!("'{}' follows", crate::json::shorten(name, 100))
}

/// Whether the Respond node answers a Wait between it and the webhook.
fn answers_a_wait(view: &View, respond: usize, after: &[bool]) -> bool {
    let is_answered = |node: &ParsedNode| {
        node.is("n8n-nodes-base.wait")
            && matches!(node.parameter("resume"), Some("webhook" | "form"))
            && node.parameter("responseMode") == Some("responseNode")
    };
    let mut waits = view.active().filter(|(index, node)| after[*index] && is_answered(node)).peekable();
    let has_some = waits.peek().is_some();
    has_some && {
        let before = view.graph.ancestors(respond);
        waits.any(|(index, _)| before[index])
    }
}
