//! The pruning filter: any bytes, in any pieces.

use std::ops::Range;

use n8n_lens::execution::node::NodeProjection;
use n8n_lens::execution::summary::SummaryProjection;
use n8n_lens::json::{Batch, Captured, Fault, FaultKind, Keep, Projection, Pruner, depth};
use n8n_lens::workflow::projections::{self, GraphProjection, OutlinePageProjection, RawProjection};
use serde_json::Value;

use super::{has_long_word, is_json, reference, shown, split};

/// Every rule, alone and below the others, and the tables of the projections.
const TABLES: [Keep; 25] = [
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
    projections::NodeProjection::KEEP,
];

/// What comes out before it is known that it must: the two brackets of a container that is too deep.
const AHEAD: usize = 1;

/// Whatever the pieces are, the result is that of the whole body, the one that serde_json and a simple reference
/// have of it, and no larger than the body.
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
            (one, other) => panic!("{keep:?}: {one:?} of the whole, {other:?} of pieces: {}", shown(body)),
        }
    }
    assert!(bytes.text.starts_with(&pieces.text) && bytes.captured.starts_with(&pieces.captured));
    whole.judge(body, keep, &window);
}

/// What a filter leaves of a body, up to the fault if there is one.
#[derive(Default)]
struct Left {
    text: Vec<u8>,
    captured: Vec<Captured>,
    fault: Option<Fault>,
}

impl Left {
    /// Feeds pieces of these sizes, again and again; at no time there is more than was given.
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

    /// A captured value costs its place, one byte. Before and behind a window one element may be skipped, and `0` is
    /// shorter than `-1`. Nothing else costs anything.
    fn assert_small(&self, given: usize, lists: usize, keep: Keep) {
        let captured: usize = self.captured.iter().map(|value| value.len()).sum();
        let (places, all) = (self.text.len(), self.text.len() + captured);
        let most = given + AHEAD + if counts(keep) { 2 * lists } else { 0 };
        assert!(places <= most, "{keep:?}: {places} bytes of {given}");
        assert!(all <= most + self.captured.len(), "{keep:?}: {all} bytes of {given}");
    }

    fn assert_same(&self, other: &Self) {
        assert_eq!(shown(&self.text), shown(&other.text), "the text depends on the pieces");
        assert!(self.text == other.text && self.captured == other.captured, "the values depend on the pieces");
    }

    /// Holds what came of the body as a whole against others' opinion of it.
    fn judge(&self, body: &[u8], keep: Keep, window: &Range<u64>) {
        if self.fault.is_none() {
            assert!(is_json(&self.text), "{keep:?} makes {} of {}", shown(&self.text), shown(body));
            assert!(self.captured.iter().all(|value| is_json(value)), "{keep:?} captures what is no JSON");
        }
        if is_json(body) {
            match (reference::prune(body, keep, window), self.fault) {
                (Some(expected), None) => {
                    assert_eq!(shown(&self.text), shown(&expected.text), "{keep:?} of {}", shown(body));
                    assert!(self.text == expected.text && self.captured == expected.captured, "{keep:?}");
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
        // Below what is kept only brackets are looked at, and that all is UTF-8.
        let seen = matches!(keep, Keep::Whole) && text.is_ok_and(|text| depth(text) <= reference::FRAMES);
        assert!(self.fault.is_some() || !(seen || text.is_err()), "{keep:?} takes {}", shown(body));
    }

    /// The same value, where serde_json has one: it knows no half of a surrogate pair, and no number beyond f64.
    fn assert_same_value(&self, body: &[u8]) {
        /// Longer names may be cut.
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

/// Whether a table has rules that put numbers into the text.
fn counts(keep: Keep) -> bool {
    match keep {
        Keep::Window | Keep::Capture => true,
        Keep::Members(rules) | Keep::Except(rules) => rules.iter().any(|(_, rule)| counts(*rule)),
        Keep::EachMember(rule) | Keep::EachElement(rule) => counts(*rule),
        Keep::Whole | Keep::Skip | Keep::Count => false,
    }
}

/// A value without what is nested too deep.
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

/// Of a broken body the fault is the same, whatever the pieces are, with two exceptions. The place of an invalid escape or
/// number may be anywhere in it, up to the fault. A piece that ends inside of a character is looked at before it is
/// known that it is none: then the fault may be the one that its first byte is where it stands.
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
    assert!(same, "{one:?} or {other:?}, as the pieces are: {}", shown(body));
}
