//! Truncates lists so that an answer fits an agent's context.

use serde_json::{Value, json};

use crate::budget;
use crate::toolkit::answer::MAX_TOKENS;

/// Room for the `truncated` member, in tokens.
const TRUNCATED_TOKENS: usize = 100;

/// Entries beyond this many bytes are dropped before any tokens are counted. Text has two to four bytes a token.
const MAX_BYTES: usize = 80_000;

/// The answer with its list starting at `offset`, cut to what fits. If entries remain, `truncated` holds the
/// `total` and the `next_offset`. An answer without a list is returned unchanged.
pub(super) fn truncate_list(answer: Value, offset: usize) -> Value {
    let Value::Object(mut members) = answer else {
        return answer;
    };
    let Some((name, Value::Array(all))) = members.iter_mut().find(|(_, value)| value.is_array()) else {
        return Value::Object(members);
    };
    let (name, all) = (name.clone(), std::mem::take(all));
    let total = all.len();
    let mut shown: Vec<_> = all.into_iter().skip(offset).collect();
    let remaining = shown.len();
    shown.truncate(entries_within_max_bytes(&shown));
    loop {
        let is_truncated = shown.len() < remaining;
        members.insert(name.clone(), shown.clone().into());
        if is_truncated {
            let next_offset = offset + shown.len();
            members.insert("truncated".to_owned(), json!({"total": total, "next_offset": next_offset}));
        }
        if shown.len() <= 1 || budget::fits(&json!(members).to_string(), MAX_TOKENS - TRUNCATED_TOKENS) {
            return Value::Object(members);
        }
        shown.truncate(shown.len() * 9 / 10);
    }
}

/// How many entries stay within [`MAX_BYTES`]; at least one is always shown.
fn entries_within_max_bytes(entries: &[Value]) -> usize {
    let mut bytes = 0;
    let fitting = entries.iter().take_while(|entry| {
        bytes += entry.to_string().len();
        bytes <= MAX_BYTES
    });
    fitting.count().max(1)
}
