//! Truncates lists so that an answer fits an agent's context.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value, json};

use crate::budget::Ladder;
use crate::toolkit::answer::MAX_TOKENS;

/// Room for the `truncated` member, in tokens.
const TRUNCATED_TOKENS: usize = 100;

/// Entries beyond this many bytes are dropped before any tokens are counted. Text has two to four bytes per token.
const MAX_BYTES: usize = 80_000;

/// The answer with its list starting at `offset`, cut to what fits. If entries remain, `truncated` holds the
/// `total` and the `next_offset`. An answer without a list is returned unchanged.
pub(super) fn truncate_list(answer: Value, offset: usize) -> Value {
    let Value::Object(mut members) = answer else {
        return answer;
    };
    let Some((list, Value::Array(all))) = members.iter_mut().find(|(_, value)| value.is_array()) else {
        return Value::Object(members);
    };
    let (list, mut entries) = (list.clone(), std::mem::take(all));
    let total = entries.len();
    entries.drain(..offset.min(total));
    let truncated =
        |shown: usize| (shown < entries.len()).then(|| json!({"total": total, "next_offset": offset + shown}));
    let ladder = Ladder::new(entries_within_max_bytes(&entries)).fewer(|shown| shown, |shown| shown * 9 / 10, 1);
    let write = |shown: usize| {
        let page = Page { members: &members, list: &list, shown: &entries[..shown], truncated: truncated(shown) };
        // Keys are strings and no value can fail: there is nothing to report.
        serde_json::to_string(&page).unwrap_or_default()
    };
    let shown = ladder.largest_that_fits(MAX_TOKENS - TRUNCATED_TOKENS, write).size;
    let truncated = truncated(shown);
    entries.truncate(shown);
    members.insert(list, entries.into());
    members.extend(truncated.map(|truncated| ("truncated".to_owned(), truncated)));
    Value::Object(members)
}

/// How many entries stay within [`MAX_BYTES`]; at least one, if there is one, is always shown.
fn entries_within_max_bytes(entries: &[Value]) -> usize {
    let mut bytes = 0;
    let fitting = entries.iter().take_while(|entry| {
        bytes += entry.to_string().len();
        bytes <= MAX_BYTES
    });
    fitting.count().max(1).min(entries.len())
}

/// An answer with only the first entries of its list.
struct Page<'a> {
    members: &'a Map<String, Value>,
    list: &'a str,
    shown: &'a [Value],
    truncated: Option<Value>,
}

impl Serialize for Page<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in self.members {
            match name == self.list {
                true => map.serialize_entry(name, self.shown)?,
                false => map.serialize_entry(name, value)?,
            }
        }
        if let Some(truncated) = &self.truncated {
            map.serialize_entry("truncated", truncated)?;
        }
        map.end()
    }
}
