//! The pruning filter, with any bytes in any pieces.

use std::ops::Range;

use n8n_lens::execution::node::NodeProjection;
use n8n_lens::execution::summary::SummaryProjection;
use n8n_lens::json::{Batch, Captured, Extent, Fault, FaultKind, Keep, Projection, Pruner};
use n8n_lens::workflow::graph::GraphProjection;
use n8n_lens::workflow::node;
use n8n_lens::workflow::outline::OutlinePageProjection;
use n8n_lens::workflow::raw::RawProjection;
use serde_json::Value;

use super::{has_long_word, is_json, reference, shown, split};

/// Every rule, alone and inside others, and the tables of the projections.
pub const TABLES: [Keep; 25] = [
    Keep::Whole,
    SummaryProjection::KEEP,
    NodeProjection::KEEP,
    Keep::Skip,
    Keep::Members(&[]),
    Keep::Members(&[("a", Keep::Whole), ("b", Keep::Members(&[("a", Keep::Count), ("é", Keep::Capture)]))]),
    Keep::Members(&[("a", Keep::Skip), ("", Keep::Whole), ("json", Keep::Window)]),
    Keep::Except(&[("a", Keep::Skip), ("b", Keep::Count), ("json", Keep::Capture)]),
    Keep::EachMember(&Keep::Whole),
    Keep::EachMember(&Keep::Skip),
    Keep::EachMember(&Keep::EachElement(&Keep::Window)),
    Keep::EachElement(&Keep::Whole),
    Keep::EachElement(&Keep::Skip),
    Keep::EachElement(&Keep::Capture),
    Keep::EachElement(&Keep::Count),
    Keep::EachElement(&Keep::Window),
    Keep::EachElement(&Keep::Members(&[("a", Keep::Capture), ("b", Keep::Window)])),
    Keep::EachElement(&Keep::EachElement(&Keep::Except(&[("a", Keep::EachElement(&Keep::Capture))]))),
    Keep::Count,
    Keep::Window,
    Keep::Capture,
    GraphProjection::KEEP,
    OutlinePageProjection::KEEP,
    RawProjection::KEEP,
    node::NodeLookupProjection::KEEP,
];

/// How many bytes the output can be ahead of the input: a container that is too deep gets both its brackets at once.
const AHEAD: usize = 1;

/// The output does not depend on the pieces, agrees with serde_json and with a simple reference, and is no larger than
/// the body.
pub fn check(data: &[u8]) {
    let (mut choices, body) = split(data);
    let keep = *choices.pick(&TABLES);
    let start = choices.below(6) as u64;
    let window = start..start + choices.below(6) as u64;
    let whole = Left::of(body, keep, &window, &[usize::MAX]);
    let pieces = Left::of(body, keep, &window, &choices.sizes());
    let bytes = Left::of(body, keep, &window, &[1]);
    for other in [&pieces, &bytes] {
        match (whole.fault, other.fault) {
            (None, None) => whole.assert_same(other),
            (Some(one), Some(other)) => assert_same_fault(body, one, other),
            (one, other) => panic!("{keep:?}: {one:?} for the whole, {other:?} for pieces: {}", shown(body)),
        }
    }
    assert!(bytes.text.starts_with(&pieces.text) && bytes.captured.starts_with(&pieces.captured));
    whole.judge(body, keep, &window);
}

/// A filter's output for a body, up to the fault if there is one.
#[derive(Default)]
struct Left {
    text: Vec<u8>,
    captured: Vec<Captured>,
    fault: Option<Fault>,
}

impl Left {
    /// Feeds pieces of these sizes, cyclically; the output is never larger than the input so far.
    fn of(body: &[u8], keep: Keep, window: &Range<u64>, sizes: &[usize]) -> Self {
        let (mut left, mut rest, mut lists) = (Self::default(), body, 0);
        let mut pruner = Pruner::new(keep, window.clone());
        for size in sizes.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (piece, more) = rest.split_at((*size).clamp(1, rest.len()));
            rest = more;
            lists += piece.iter().filter(|byte| **byte == b'[').count();
            match pruner.feed(piece) {
                Ok(batch) => left.take(batch),
                Err(fault) => {
                    left.fault = Some(fault);
                    return left;
                }
            }
            left.assert_small(body.len() - rest.len(), lists, keep);
        }
        match pruner.finish() {
            Ok(batch) => left.take(batch),
            Err(fault) => left.fault = Some(fault),
        }
        left.assert_small(body.len(), lists, keep);
        left
    }

    fn take(&mut self, batch: Batch) {
        self.text.extend_from_slice(&batch.text);
        self.captured.extend(batch.captured);
    }

    /// A captured value costs one more byte, its place in the text. A skipped element before or after a window costs
    /// one, because `-1` is longer than `0`. Nothing else makes the output larger.
    fn assert_small(&self, given: usize, lists: usize, keep: Keep) {
        let captured: usize = self.captured.iter().map(|value| value.json.len()).sum();
        let (places, all) = (self.text.len(), self.text.len() + captured);
        let most = given + AHEAD + if counts(keep) { 2 * lists } else { 0 };
        assert!(places <= most, "{keep:?}: {places} bytes of {given}");
        assert!(all <= most + self.captured.len(), "{keep:?}: {all} bytes of {given}");
    }

    fn assert_same(&self, other: &Self) {
        assert_eq!(shown(&self.text), shown(&other.text), "the text depends on the pieces");
        assert!(self.text == other.text && self.captured == other.captured, "the values depend on the pieces");
    }

    /// Compares the output for the whole body with serde_json and the reference.
    fn judge(&self, body: &[u8], keep: Keep, window: &Range<u64>) {
        if self.fault.is_none() {
            assert!(is_json(&self.text), "{keep:?}: the output is {} for {}", shown(&self.text), shown(body));
            assert!(self.captured.iter().all(|value| self.text[value.end as usize - 1] == b'1'), "{keep:?}: no mark");
            assert!(self.captured.is_sorted_by(|one, other| one.end < other.end), "{keep:?}: out of order");
            assert!(
                self.captured.iter().all(|value| is_json(&value.json)),
                "{keep:?} captures something that is not JSON"
            );
        }
        if is_json(body) {
            match (reference::prune(body, keep, window), self.fault) {
                (Some(expected), None) => {
                    assert_eq!(shown(&self.text), shown(&expected.text), "{keep:?} of {}", shown(body));
                    assert!(self.text == expected.text, "{keep:?}");
                    let captured = self.captured.iter().map(|value| &value.json[..]);
                    assert!(captured.eq(expected.captured.iter().map(Vec::as_slice)), "{keep:?}");
                }
                (None, Some(Fault { kind: FaultKind::Scalar, .. })) => assert!(has_long_word(body)),
                (_, fault) => panic!("{keep:?}, {fault:?}: {}", shown(body)),
            }
            if matches!(keep, Keep::Whole) {
                self.assert_same_value(body);
            }
            return;
        }
        let text = std::str::from_utf8(body);
        // In skipped parts, only brackets and UTF-8 are checked.
        let seen = matches!(keep, Keep::Whole)
            && text.is_ok_and(|text| Extent::of(text.as_bytes()).depth <= reference::FRAMES);
        assert!(self.fault.is_some() || !(seen || text.is_err()), "{keep:?} accepts {}", shown(body));
    }

    /// The value is the same as for serde_json, unless that refuses a lone surrogate or a number beyond f64.
    fn assert_same_value(&self, body: &[u8]) {
        /// Longer names can be cut.
        const NAME_BYTES: usize = 16 * 1024;
        if let Ok(value) = serde_json::from_slice::<Value>(body)
            && body.len() <= NAME_BYTES
            && self.fault.is_none()
        {
            let ours: Value = serde_json::from_slice(&self.text).expect("it is JSON");
            assert!(ours == hollow(&value, 0), "{ours} of {value}");
        }
    }
}

/// Whether a table has rules that write extra bytes into the text.
fn counts(keep: Keep) -> bool {
    match keep {
        Keep::Window | Keep::Capture => true,
        Keep::Members(rules) | Keep::Except(rules) => rules.iter().any(|(_, rule)| counts(*rule)),
        Keep::EachMember(rule) | Keep::EachElement(rule) => counts(*rule),
        Keep::Whole | Keep::Skip | Keep::Count => false,
    }
}

/// A value with the containers emptied that are nested too deeply.
fn hollow(value: &Value, open: usize) -> Value {
    match value {
        Value::Array(_) if open == reference::FRAMES => Value::Array(Vec::new()),
        Value::Object(_) if open == reference::FRAMES => Value::Object(serde_json::Map::new()),
        Value::Array(elements) => elements.iter().map(|element| hollow(element, open + 1)).collect(),
        Value::Object(members) => {
            members.iter().map(|(name, member)| (name.clone(), hollow(member, open + 1))).collect()
        }
        scalar => scalar.clone(),
    }
}

/// The fault does not depend on the pieces, with two exceptions. The offset of an invalid escape or number can be
/// anywhere inside it. And a piece that ends with an incomplete character is walked before the character turns out to
/// be invalid: then its first byte can be the fault.
fn assert_same_fault(body: &[u8], one: Fault, other: Fault) {
    let (from, to) = (one.offset.min(other.offset) as usize, one.offset.max(other.offset) as usize);
    assert!(to <= body.len());
    let same = match (one.kind, other.kind) {
        (FaultKind::Utf8, FaultKind::Utf8) => to - from <= 3,
        (FaultKind::Utf8, kind) | (kind, FaultKind::Utf8) => {
            matches!(kind, FaultKind::Unexpected(0x80..) | FaultKind::Trailing | FaultKind::Scalar | FaultKind::Escape)
        }
        (FaultKind::Scalar, FaultKind::Scalar) => body[from..to].iter().all(|byte| reference::is_scalar(*byte)),
        // No string ends between the two.
        (FaultKind::Escape, FaultKind::Escape) => {
            (from..to).all(|at| body[at] != b'"' || (at > 0 && body[at - 1] == b'\\'))
        }
        _ => one == other,
    };
    assert!(same, "{one:?} or {other:?}, depending on the pieces: {}", shown(body));
}
