//! Bounded copies of values and how they are written: always JSON, never above their bounds.

use n8n_lens::budget::{self, Entry, PageLimits};
use n8n_lens::json::{
    CUT_NAME_CHARS, Cursor, Detail, Excerpt, FaultKind, Keep, PrunedReader, Pruner, ReadError, cut_name, hold_name,
    is_name, shorten, shorten_name,
};
use serde::de::IgnoredAny;
use serde_json::Value;

use super::entropy::Entropy;
use super::{execution, has_long_word, is_json, shown, split};

/// The cost that a copy counts for a value in addition to its text.
const VALUE_OVERHEAD_BYTES: usize = 40;

/// A string of up to this many bytes is always kept.
const SHORT_BYTES: usize = 64;

/// The longest mark, in characters: `…[+18446744073709551615 chars]`.
const MARK_CHARS: usize = 32;

/// Limits: bytes of a copy, tokens of a page.
const LIMITS: [usize; 14] = [0, 100_000, 39, 40, 41, 79, 80, 81, 103, 104, 150, 400, 1000, 5000];

/// Limits of characters, elements or members.
const SIZES: [usize; 12] = [0, usize::MAX, 1, 2, 3, 4, 24, 31, 60, 199, 200, 1000];

/// Reads any JSON into a bounded copy, shrinks it, writes it, and fills pages with it.
pub fn check(data: &[u8]) {
    let (mut choices, rest) = split(data);
    let text = execution(&mut choices, rest);
    let (room, less) = (*choices.pick(&LIMITS), *choices.pick(&LIMITS));
    if let Some(excerpt) = read(&text, room) {
        assert_bounded(&excerpt, room, &excerpt);
        assert_shown(&excerpt, &mut choices);
        assert_whole(&excerpt, &text);
        let mut smaller = excerpt.clone();
        smaller.shrink(less);
        assert!(smaller.bytes() <= excerpt.bytes(), "shrinking made it larger");
        assert_bounded(&smaller, less, &excerpt);
        assert_shown(&smaller, &mut choices);
        // Counting tokens takes longer than everything else.
        if choices.one_in(3) {
            assert_pages(&excerpt, &mut choices);
        }
    }
    let name: String = String::from_utf8_lossy(rest).chars().take(2000).collect();
    assert_cut(&name, choices.below(300));
}

/// A copy of about `room` bytes; `None` if the text is not JSON.
fn read(text: &[u8], room: usize) -> Option<Excerpt> {
    let filtered = || {
        let mut cursor = Cursor::over(PrunedReader::new(text, Pruner::new(Keep::Whole, 0..0)));
        let excerpt = cursor.excerpt(room)?;
        cursor.finish()?;
        Ok::<_, ReadError>(excerpt)
    };
    let unfiltered = || {
        let mut cursor = Cursor::pruned(text);
        let excerpt = cursor.excerpt(room)?;
        cursor.finish()?;
        Ok::<_, ReadError>(excerpt)
    };
    match (filtered(), unfiltered()) {
        (Ok(excerpt), unfiltered) => {
            // Without the filter, lone surrogates and deep nesting are refused.
            assert!(unfiltered.is_err() || unfiltered.is_ok_and(|other| other == excerpt), "{}", shown(text));
            Some(excerpt)
        }
        (Err(ReadError::Fault(fault)), unfiltered) => {
            let allowed = fault.kind == FaultKind::Scalar && has_long_word(text);
            assert!(allowed || (unfiltered.is_err() && !is_json(text)), "{fault:?}: {}", shown(text));
            None
        }
        // Without the filter, a fault within a string arrives as text.
        (Err(ReadError::Io(_)), unfiltered) => {
            assert!(unfiltered.is_err() && !is_json(text), "{}", shown(text));
            None
        }
        (Err(error), _) => panic!("{error}: the filter's output is not JSON: {}", shown(text)),
    }
}

/// A copy, made from the larger copy `from`, has about `room` bytes. Each container may exceed its share by the name
/// of its last member, and the last value by the minimum that is kept of any value.
fn assert_bounded(excerpt: &Excerpt, room: usize, from: &Excerpt) {
    let mut parts = Parts::default();
    parts.measure(from, 1);
    let above = parts.depth * parts.name + VALUE_OVERHEAD_BYTES + parts.scalar.max(SHORT_BYTES);
    let bytes = excerpt.bytes();
    assert!(bytes <= room + above, "{bytes} bytes with a limit of {room}, and {above} of tolerance");
}

/// The depth of a copy, and its longest name and scalar.
#[derive(Default)]
struct Parts {
    depth: usize,
    name: usize,
    scalar: usize,
}

impl Parts {
    fn measure(&mut self, excerpt: &Excerpt, depth: usize) {
        self.depth = self.depth.max(depth);
        if let Excerpt::Scalar(text) = excerpt {
            self.scalar = self.scalar.max(text.len());
        }
        for (name, member) in excerpt.members() {
            self.name = self.name.max(name.len());
            self.measure(member, depth + 1);
        }
        for element in excerpt.elements() {
            self.measure(element, depth + 1);
        }
    }
}

/// In any detail the output is JSON, and every part is within its limit.
fn assert_shown(excerpt: &Excerpt, choices: &mut Entropy<'_>) {
    let mut size = || *choices.pick(&SIZES);
    let details = [
        Detail::WHOLE,
        Detail { chars: 0, elements: 0, members: 0, name_chars: 0 },
        Detail { chars: size(), elements: size(), members: size(), name_chars: size() },
    ];
    for detail in details {
        let (mut text, mut clipped) = (String::new(), 0);
        excerpt.write(detail, &mut text, &mut clipped);
        assert!(is_json(text.as_bytes()), "{detail:?}: {}", shown(text.as_bytes()));
        // serde_json refuses numbers beyond f64.
        if let Ok(value) = serde_json::from_str::<Value>(&text) {
            assert!(is_within(&value, detail), "{detail:?}: {}", shown(text.as_bytes()));
        }
        if detail == Detail::WHOLE {
            assert!(excerpt.least_json_bytes() <= text.len(), "{} bytes at least", excerpt.least_json_bytes());
        }
    }
}

fn is_within(value: &Value, detail: Detail) -> bool {
    let chars = |text: &str, most: usize| text.chars().count() <= most.saturating_add(MARK_CHARS);
    match value {
        Value::String(text) => chars(text, detail.chars),
        Value::Array(elements) => {
            elements.len() <= detail.elements.saturating_add(1)
                && elements.iter().all(|element| is_within(element, detail))
        }
        Value::Object(members) => {
            members.len() <= detail.members.saturating_add(1)
                && members.iter().all(|(name, member)| {
                    chars(name, detail.name_chars.min(CUT_NAME_CHARS)) && is_within(member, detail)
                })
        }
        _ => true,
    }
}

/// If nothing was left out, the output equals the value.
fn assert_whole(excerpt: &Excerpt, text: &[u8]) {
    let (mut ours, mut clipped) = (String::new(), 0);
    excerpt.write(Detail::WHOLE, &mut ours, &mut clipped);
    // serde_json refuses lone surrogates, and numbers beyond f64.
    if clipped == 0
        && excerpt.cut_names() == 0
        && let Ok(value) = serde_json::from_slice::<Value>(text)
    {
        let ours: Value = serde_json::from_str(&ours).expect("it is JSON");
        assert!(ours == value, "{ours} of {value}");
    }
}

/// Fills pages with the value's elements, or with the value alone.
fn assert_pages(excerpt: &Excerpt, choices: &mut Entropy<'_>) {
    /// Tokens are counted per entry; joining entries can add a few.
    const JOINED: usize = 2;
    let tagged = choices.one_in(2);
    let values: Vec<_> = match excerpt.elements().count() {
        0 => vec![excerpt.clone()],
        _ => excerpt.elements().cloned().collect(),
    };
    let entry = |(at, value)| Entry { value, tag: tagged.then_some(("outputIndex", at)) };
    let entries: Vec<_> = (0..).zip(values).map(entry).collect();
    let chars = if choices.one_in(3) { PageLimits::DROPPING_CHARS } else { usize::MAX };
    let tokens = (*choices.pick(&LIMITS)).min(5000);
    let limits = PageLimits { tokens, bytes: budget::ANSWER_BYTES, chars };
    let need = budget::need(&entries, limits);
    let page = budget::fill(&entries, limits, need);
    for (page, all) in [(&page, false), (&budget::whole(&entries), true)] {
        let list = format!("[{}]", page.text);
        let shown_entries: Vec<IgnoredAny> = serde_json::from_str(&list).expect("a page is JSON");
        assert_eq!(shown_entries.len(), page.shown);
        assert!(page.shown >= 1 && page.shown <= entries.len() && (!all || page.shown == entries.len()));
    }
    let used = budget::count(&page.text);
    let most = tokens + JOINED * (page.shown + 4);
    assert!(page.shown == 1 || used <= most, "{used} tokens of {tokens}, {} entries", page.shown);
    let needs: Vec<_> = (0..choices.below(6)).map(|_| *choices.pick(&LIMITS)).collect();
    let shares = budget::shares(tokens, &needs);
    assert!(shares.iter().sum::<usize>() <= tokens);
    assert!(shares.iter().zip(&needs).all(|(share, need)| share <= need));
    assert!(needs.iter().sum::<usize>() > tokens || shares == needs);
}

/// A shortened text or name has at most the given characters and the mark, and a shortened name is still recognised.
fn assert_cut(name: &str, chars: usize) {
    let count = |text: &str| text.chars().count();
    let cut = shorten(name, chars);
    assert!(count(&cut) <= chars + MARK_CHARS);
    assert!(count(name) > chars || cut == name);
    assert!(count(&shorten_name(name, chars)) <= chars + MARK_CHARS);
    let held = hold_name(name);
    assert!(if count(name) <= 1000 { held == name } else { count(&held) <= CUT_NAME_CHARS + MARK_CHARS });
    let once = cut_name(name.to_owned());
    assert!(count(&once) <= CUT_NAME_CHARS + MARK_CHARS);
    assert_eq!(cut_name(once.clone()), once, "shortening twice changes nothing");
    assert!(is_name(name, name));
    // A name can look as if it had been shortened.
    if !name.contains("…[+") {
        for short in [&cut, &once, &shorten_name(name, chars)] {
            assert!(is_name(short, name), "{short:?} is not {name:?}");
        }
    }
    for short in ["…[+18446744073709551615 chars]", "a…[+18446744073709551615 chars]", "…[+0 chars]"] {
        is_name(short, name);
        is_name(name, short);
    }
}
