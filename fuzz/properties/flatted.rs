//! Flatted text: the part that is kept equals what the filter keeps of the JSON that it stands for.

use std::fmt::Debug;
use std::ops::Range;

use n8n_lens::execution::describe::DescribeProjection;
use n8n_lens::execution::lookup::{LookupProjection, Plan, RunsProjection};
use n8n_lens::execution::node::NodeProjection;
use n8n_lens::execution::summary::{Summary, SummaryProjection};
use n8n_lens::execution::trace::ItemsProjection;
use n8n_lens::execution::{Error, StoredExecution, StoredProjection};
use n8n_lens::json::flatted::{Expansion, Flatted};
use n8n_lens::json::{Batch, Captured, Extent, Fault, FaultKind, Keep, Projection, Pruner};

use super::entropy::Entropy;
use super::expanded::{self, Expanded};
use super::filter::TABLES;
use super::flatten::{Share, Stored, escape, flatten, members, stored, unescape};
use super::{execution, has_long_word, is_json, lookup, references, shown, split, trace};

/// The most work for one text, in units of about a nanosecond, and the most bytes that the reference expands.
const MAX_WORK: u64 = 2 * 1024 * 1024;
const MAX_EXPANDED: usize = 256 * 1024;

/// So little of a text is held that most texts of several chunks are read more than once.
const ROOM: usize = 2 * CHUNK;

/// Larger texts take long and reveal nothing more.
const MAX_BYTES: usize = 512 * 1024;

/// The unit in which a text is read and checked, bytes.
const CHUNK: usize = 16 * 1024;

/// The reference, which recurses for each level, has no stack for more.
const MAX_DEPTH: usize = 2000;

/// Any JSON and mutated executions: body through the filter equals flatted body through its sibling.
pub fn same_as_the_body(data: &[u8]) {
    let (mut choices, rest) = split(data);
    let keep = *choices.pick(&TABLES);
    let start = choices.below(6) as u64;
    let window = start..start + choices.below(6) as u64;
    let share = if choices.one_in(2) { Share::Equal } else { Share::Nothing };
    let body = body(&mut choices, rest);
    if !is_small(&body) || !is_json(&body) {
        return;
    }
    let body = std::str::from_utf8(&body).expect("JSON is UTF-8");
    let flat = flatten(body, share);
    let expected = pruned(body.as_bytes(), keep, &window);
    let ours = expanded(flat.as_bytes(), keep, &window, u64::MAX / 2);
    match (&expected, &ours) {
        (Ok(expected), Ok(ours)) => assert_same(expected, ours, keep, &flat),
        // A number or a literal of more than 1,024 bytes.
        (Err(Fault { kind: FaultKind::Scalar, .. }), Err(Fault { kind: FaultKind::Scalar, .. })) => {}
        _ => panic!("{keep:?}: {expected:?} of the body, {ours:?} of {}", shown(flat.as_bytes())),
    }
}

/// Any JSON and mutated executions: the views of a stored execution are those of its body.
pub fn same_views(data: &[u8]) {
    let (mut choices, rest) = split(data);
    let share = if choices.one_in(2) { Share::Equal } else { Share::Nothing };
    let body = body(&mut choices, rest);
    let is_object = body.first() == Some(&b'{') && is_json(&body);
    if !is_small(&body) || !is_object {
        return;
    }
    let body = std::str::from_utf8(&body).expect("JSON is UTF-8");
    // A name that is spelled in another way would be mistaken for one of the header.
    if members(body).iter().any(|(name, _)| name.contains('\\')) {
        return;
    }
    let stored = stored(body, share);
    // From a store, the items of an execution in which none can stand for an error are only counted.
    let without_errors = |summary: Result<Summary, Error>| {
        let mut summary = summary?;
        summary.nodes.iter_mut().for_each(|node| node.error_items = None);
        Ok(summary)
    };
    let has_errors = |summary: Summary| summary.nodes.iter().any(|node| node.error_items.is_some());
    if from_store(&SummaryProjection, &stored).is_ok_and(has_errors) {
        compare(&SummaryProjection, body, &stored);
    } else {
        compare(&SummaryProjection.map(without_errors), body, &stored);
    }
    compare(&DescribeProjection { redacts: choices.one_in(2) }, body, &stored);
    let Ok(names) = NodeProjection::default().read_from(body.as_bytes()).map(|view| view.names) else { return };
    let node = if names.is_empty() { "none".to_owned() } else { choices.pick(&names).clone() };
    let run = *choices.pick(&[None, Some(0), Some(1), Some(u64::MAX)]);
    let start = choices.below(3) as u64;
    let projection = NodeProjection { node, run, window: start..start + 1 + choices.below(50) as u64, sources: None };
    let view = compare(&projection, body, &stored);
    if let Some(again) = view.and_then(|view| projection.second_pass(&view)) {
        compare(&again, body, &stored);
    }
    let places = (0..1 + choices.below(3)).map(|_| trace::place(&mut choices, &names)).collect();
    let items = ItemsProjection { places, redacts: false };
    compare(&items.map(|items| items.map(|items| trace::as_text(&items))), body, &stored);
    if let Some(runs) = compare(&RunsProjection, body, &stored) {
        let backwards: Vec<u8> = data.iter().rev().copied().collect();
        let questions = lookup::questions(&mut Entropy::new(&backwards), &runs, &lookup::paths(body.as_bytes()));
        compare(&LookupProjection::new(Plan::new(&runs, questions)), body, &stored);
    }
}

/// An execution; sometimes one whose nodes pass on the same items in other orders.
fn body(choices: &mut Entropy<'_>, rest: &[u8]) -> Vec<u8> {
    if choices.one_in(8) { references::sorted(rest) } else { execution(choices, rest) }
}

/// Whether a body is small enough for the reference.
fn is_small(body: &[u8]) -> bool {
    body.len() <= MAX_BYTES && Extent::of(body).depth <= MAX_DEPTH
}

/// Compares the view of a stored execution with that of its body, and returns it.
fn compare<T: Debug, P>(projection: &P, body: &str, stored: &Stored) -> Option<T>
where
    P: StoredProjection<View = Result<T, Error>>,
{
    let ours = from_store(projection, stored);
    match (projection.read_from(body.as_bytes()), ours) {
        (Ok(truth), Ok(ours)) => {
            assert_eq!(format!("{ours:?}"), format!("{truth:?}"), "{} of {body}", stored.data);
            Some(ours)
        }
        // The body does not show its version, nor numbers of more than 1,024 bytes that are skipped here.
        (_, Err(Error::StoredVersion(_))) | (Err(Error::Read(_)), _) => None,
        (Err(Error::NotAnExecution), Err(Error::NotAnExecution)) => None,
        (truth, ours) => panic!("{truth:?} of the body, {ours:?} of {}, {body}", stored.data),
    }
}

fn from_store<P: StoredProjection>(projection: &P, stored: &Stored) -> P::View {
    let data = Flatted::new(Box::new(stored.data.as_bytes())).with_room(ROOM);
    projection.read_stored(StoredExecution { reveal: true, ..stored.with_data(data) })
}

/// Any text: it is refused or expanded as by a simple reference, whatever it refers to.
pub fn any_text(data: &[u8]) {
    let (mut choices, rest) = split(data);
    let keep = *choices.pick(&TABLES);
    let start = choices.below(6) as u64;
    let window = start..start + choices.below(6) as u64;
    let multiplying = (choices.byte() % 6 == 5).then(|| references::multiplying(rest));
    let rest = multiplying.as_deref().unwrap_or(rest);
    if rest.len() > MAX_BYTES {
        return;
    }
    // Whatever the table, it ends.
    let some = expanded(rest, keep, &window, MAX_WORK);
    let whole = expanded(rest, Keep::Whole, &window, MAX_WORK);
    check_as_escaped(rest, keep, &window);
    match (expanded::expand(rest, MAX_EXPANDED), whole) {
        (Expanded::Broken, Ok(whole)) => panic!("accepted {} as {whole:?}", shown(rest)),
        (Expanded::Json { json, unusual }, Ok(whole)) => {
            let expected = pruned(json.as_bytes(), Keep::Whole, &window).expect("the reference writes JSON");
            assert_same(&expected, &whole, Keep::Whole, &String::from_utf8_lossy(rest));
            if !unusual {
                let expected = pruned(json.as_bytes(), keep, &window).expect("the reference writes JSON");
                let some = some.unwrap_or_else(|fault| panic!("{keep:?} refuses {}: {fault}", shown(rest)));
                assert_same(&expected, &some, keep, &String::from_utf8_lossy(rest));
            }
        }
        // The work that one byte may cause is that of a value, in addition to the work for chunks that are read again.
        (Expanded::Json { json, unusual }, Err(Fault { kind: FaultKind::Expansion, .. }))
            if unusual || json.len() as u64 * 64 > MAX_WORK / 2 => {}
        (Expanded::Json { .. }, Err(Fault { kind: FaultKind::Scalar, .. })) if has_long_word(rest) => {}
        (Expanded::Json { json, .. }, Err(fault)) => {
            panic!("{fault}: refused {}: {}", shown(rest), shown(json.as_bytes()))
        }
        (Expanded::TooLarge | Expanded::Broken, _) => {}
    }
}

type Left = (Vec<u8>, Vec<Captured>);

fn assert_same(expected: &Left, ours: &Left, keep: Keep, flat: &str) {
    let flat = flat.as_bytes();
    assert_eq!(shown(&ours.0), shown(&expected.0), "{keep:?} of {}", shown(flat));
    assert!(ours == expected, "{keep:?} of {}", shown(flat));
}

fn pruned(body: &[u8], keep: Keep, window: &Range<u64>) -> Result<Left, Fault> {
    let mut pruner = Pruner::new(keep, window.clone());
    let mut left = pruner.feed(body)?;
    left.append(pruner.finish()?);
    Ok((left.text, left.captured))
}

/// The part of a text that is kept, which is the same if the text is inside a JSON string.
fn expanded(text: &[u8], keep: Keep, window: &Range<u64>, max_work: u64) -> Result<Left, Fault> {
    let left = left_of(Flatted::new(Box::new(text)).with_max_work(max_work), keep, window);
    if let Ok((text, captured)) = &left {
        let bytes = text.len() + captured.iter().map(|captured| captured.json.len()).sum::<usize>();
        assert!(bytes as u64 <= max_work, "{bytes} bytes are left");
    }
    let escaped = escape(text);
    // However much of it is held.
    let of_escaped = Flatted::escaped(Box::new(&escaped[..])).with_room(ROOM).with_max_work(max_work);
    let of_escaped = left_of(of_escaped, keep, window);
    match (&left, &of_escaped) {
        (Ok(left), Ok(of_escaped)) => assert_same(left, of_escaped, keep, &String::from_utf8_lossy(text)),
        // Reading chunks again counts as work.
        (Err(Fault { kind: FaultKind::Expansion, .. }), _) | (_, Err(Fault { kind: FaultKind::Expansion, .. })) => {}
        (Err(fault), Err(other)) => {
            let is_same = fault == other || (fault.offset, other.offset) == (0, 0);
            assert!(is_same || escaped.len() > CHUNK, "{fault}, {other}: {}", shown(text));
        }
        (left, other) => panic!("{left:?}, {other:?} of the escaped text {}", shown(text)),
    }
    left
}

/// A text inside a JSON string, which may be invalid, is refused, or expanded as what it stands for.
fn check_as_escaped(source: &[u8], keep: Keep, window: &Range<u64>) {
    let left = left_of(Flatted::escaped(Box::new(source)).with_max_work(MAX_WORK), keep, window);
    match unescape(source) {
        Some(text) => {
            let _ = expanded(&text, keep, window, MAX_WORK);
        }
        None if source.len() <= CHUNK => assert!(left.is_err(), "accepted {}", shown(source)),
        None => {}
    }
}

fn left_of(mut text: Flatted<'_>, keep: Keep, window: &Range<u64>) -> Result<Left, Fault> {
    let mut left = Batch::default();
    for batch in Expansion::new(&mut text, Pruner::new(keep, window.clone())) {
        left.append(batch.map_err(|error| error.downcast::<Fault>().expect("memory can be read"))?);
    }
    Ok((left.text, left.captured))
}
