//! The changes of an edit, one per line. Values are shown around the difference, and secrets never.

use crate::json::{CUT_NAME_CHARS, Cursor, Detail, Excerpt, Prefix, shorten_name};
use crate::secrets::{REDACTED, redact};
use crate::workflow::edit::{Changed, Held};

/// How many bytes are kept of a value's container: more than any line shows.
const CONTAINER_BYTES: usize = 256 * 1024;

/// The characters shown before and after a difference.
const CONTEXT_CHARS: usize = 24;

/// The fewest characters shown of a value.
const MIN_CHARS: usize = 12;

/// A change that is shown, in any length.
pub(super) struct Line<'c> {
    change: &'c Changed,
    /// The value before and after, if it is the change of one.
    values: [Option<String>; 2],
}

impl<'c> Line<'c> {
    /// A line about a change. Its values are read here, once for all lengths.
    pub(super) fn new(change: &'c Changed) -> Self {
        let values = match change {
            Changed::Value { before, after, .. } => [before, after].map(|held| held.as_ref().map(shown)),
            _ => [None, None],
        };
        Self { change, values }
    }

    /// The change in at most `chars` characters.
    pub(super) fn within(&self, chars: usize) -> String {
        let line = match self.change {
            Changed::Value { node, path, before, after } => {
                let head = node.as_deref().map(|node| format!("{}: ", shorten_name(node, CUT_NAME_CHARS)));
                let head = cut(&format!("{}{path}", head.unwrap_or_default()), chars / 2);
                self.value(&head, before == after, chars)
            }
            Changed::Added { name, source: Some(source), targets, .. } => {
                let onward = if targets.is_empty() { String::new() } else { format!(" -> {}", targets.join(", ")) };
                format!("+ {source} -> {name}{onward}")
            }
            Changed::Added { name, .. } => format!("+ node {name}"),
            Changed::Removed { name, bridges } if bridges.is_empty() => format!("- node {name}"),
            Changed::Removed { name, bridges } => {
                let bridges: Vec<_> = bridges.iter().map(ToString::to_string).collect();
                format!("- node {name}; now {}", bridges.join(", "))
            }
            Changed::Renamed { from, to, followed, nodes } => match (followed, nodes) {
                (0, _) => format!("~ node {from} -> {to}"),
                (1, _) => format!("~ node {from} -> {to}; followed in 1 expression"),
                (_, 1) => format!("~ node {from} -> {to}; followed in {followed} expressions of 1 node"),
                _ => format!("~ node {from} -> {to}; followed in {followed} expressions of {nodes} nodes"),
            },
            Changed::Connected { connection, is_new: true } => format!("+ {connection}"),
            Changed::Connected { connection, is_new: false } => format!("= {connection} was there already"),
            Changed::Disconnected(connection) => format!("- {connection}"),
        };
        cut(&line, chars)
    }

    fn value(&self, head: &str, is_same: bool, chars: usize) -> String {
        let room = chars.saturating_sub(head.chars().count() + 8);
        match &self.values {
            [Some(before), Some(after)] if before == after && is_same => format!("= {head}: no change"),
            // Only the hidden part differs.
            [Some(before), Some(after)] if before == after => format!("~ {head}: changed (not shown)"),
            [Some(before), Some(after)] => {
                let [before, after] = around_difference(before, after, room / 2);
                format!("~ {head}: {before} -> {after}")
            }
            [None, Some(after)] => format!("+ {head}: {}", cut(after, room)),
            [Some(before), None] => format!("- {head}: {}", cut(before, room)),
            [None, None] => format!("= {head}: not there"),
        }
    }
}

/// A value without secrets: a text unchanged, anything else as JSON.
fn shown(held: &Held) -> String {
    let excerpt = Cursor::unpruned(held.container.as_bytes()).excerpt(CONTAINER_BYTES);
    let Ok(mut container) = excerpt else { return "…".to_owned() };
    if held.name == "credentials" {
        return REDACTED.to_owned();
    }
    redact::item(&mut container);
    let index = held.name.parse().unwrap_or(usize::MAX);
    let mut value = container.member(&held.name).or_else(|| container.elements().nth(index)).cloned();
    if let Some(Excerpt::Text(text)) = &mut value {
        redact::text(text);
    }
    match value {
        Some(Excerpt::Text(Prefix { kept, .. })) => kept,
        Some(value) => {
            let mut json = String::new();
            value.write(Detail::WHOLE, &mut json, &mut 0);
            json
        }
        // It lies beyond the part that was kept.
        None => "…".to_owned(),
    }
}

/// The parts of two texts around their difference, each in about `chars` characters.
fn around_difference(before: &str, after: &str, chars: usize) -> [String; 2] {
    let chars = chars.max(MIN_CHARS);
    let (one, other): (Vec<char>, Vec<char>) = (before.chars().collect(), after.chars().collect());
    let same = one.iter().zip(&other).take_while(|(one, other)| one == other).count();
    let most = one.len().min(other.len()) - same;
    let same_end = one.iter().rev().zip(other.iter().rev()).take(most).take_while(|(one, other)| one == other).count();
    [one, other].map(|text| {
        let context = CONTEXT_CHARS.min(chars / 4);
        let from = if text.len() <= chars { 0 } else { same.saturating_sub(context) };
        let differs_to = text.len() - same_end;
        let to =
            if text.len() <= chars { text.len() } else { (differs_to + context).min(text.len()).min(from + chars) };
        let part: String = text[from..to].iter().map(|char| if char.is_control() { ' ' } else { *char }).collect();
        let quoted = if text.is_empty() { "\"\"".to_owned() } else { part };
        format!("{}{quoted}{}", if from > 0 { "…" } else { "" }, if to < text.len() { "…" } else { "" })
    })
}

/// A text in at most `chars` characters, on one line.
fn cut(text: &str, chars: usize) -> String {
    let is_longer = text.chars().nth(chars).is_some();
    let kept = text.chars().take(if is_longer { chars.saturating_sub(1) } else { chars });
    let kept: String = kept.map(|char| if char.is_control() { ' ' } else { char }).collect();
    if is_longer { kept + "…" } else { kept }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(path: &str, name: &str, before: &str, after: &str) -> Changed {
        let held = |container: &str| Some(Held { container: container.to_owned(), name: name.to_owned() });
        Changed::Value { node: Some("Get".to_owned()), path: path.to_owned(), before: held(before), after: held(after) }
    }

    #[test]
    fn a_change_is_shown_around_the_difference() {
        let code = |part: &str| {
            serde_json::json!({"jsCode": format!("{}keys({part}).sort(){}", "a;\n".repeat(50), "b;".repeat(50))})
                .to_string()
        };
        let change = of("/jsCode", "jsCode", &code("x"), &code("x ?? {}"));
        let line = Line::new(&change).within(160);
        assert!(
            line.starts_with("~ Get: /jsCode: …") && line.contains("keys(x).") && line.contains("keys(x ?? {})."),
            "{line}"
        );
        assert!(line.chars().count() <= 160 && !line.contains('\n'));
    }

    #[test]
    fn secrets_are_never_shown() {
        let header = |value: &str| serde_json::json!({"name": "Authorization", "value": value}).to_string();
        let change = of("/headerParameters/parameters/0/value", "value", &header("Bearer one"), &header("Bearer two"));
        assert_eq!(Line::new(&change).within(160), "~ Get: /headerParameters/parameters/0/value: changed (not shown)");
        let text =
            |token: &str| serde_json::json!({"url": format!("https://x.example/?api_key={token}&page=1")}).to_string();
        let change = of("/url", "url", &text("one"), &text("two"));
        let shown = Line::new(&change).within(160);
        assert!(!shown.contains("one") && !shown.contains("two"), "{shown}");
    }
}
