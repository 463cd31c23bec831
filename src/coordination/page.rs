//! Lists that fit the context of the model that reads them.

use serde_json::{Value, json};

use crate::budget;

/// The largest answer to an agent, tokens: what clients take of one tool.
const MAX_TOKENS: usize = 25_000;

/// Room for saying what was left out, tokens.
const RESERVE: usize = 100;

/// A first guess that saves most counting, bytes: texts have two to four to a token.
const MAX_BYTES: usize = 80_000;

/// The answer with its list from an offset on, and only as much of that as fits; then it says how to go on.
pub(super) fn shorten(answer: Value, offset: usize) -> Value {
    let Value::Object(mut members) = answer else {
        return answer;
    };
    let Some((name, Value::Array(all))) = members.iter_mut().find(|(_, value)| value.is_array()) else {
        return Value::Object(members);
    };
    let (name, all) = (name.clone(), std::mem::take(all));
    let total = all.len();
    let mut shown: Vec<_> = all.into_iter().skip(offset).collect();
    let whole = shown.len();
    shown.truncate(most(&shown));
    loop {
        let is_short = shown.len() < whole;
        members.insert(name.clone(), shown.clone().into());
        if is_short {
            let next_offset = offset + shown.len();
            members.insert("truncated".to_owned(), json!({"total": total, "next_offset": next_offset}));
        }
        if shown.len() <= 1 || budget::fits(&json!(members).to_string(), MAX_TOKENS - RESERVE) {
            return Value::Object(members);
        }
        shown.truncate(shown.len() * 9 / 10);
    }
}

/// How many entries can fit at all; at least one is shown.
fn most(entries: &[Value]) -> usize {
    let mut bytes = 0;
    let fitting = entries.iter().take_while(|entry| {
        bytes += entry.to_string().len();
        bytes <= MAX_BYTES
    });
    fitting.count().max(1)
}
