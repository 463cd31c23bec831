//! Properties that hold for any bytes.
//!
//! Each property takes an input, and panics if it does not hold. The fuzzers in `fuzz_targets` search for such
//! inputs; `tests/it/properties.rs` checks the same properties on the seeds, and on a few mutations of them, in
//! every `cargo test`.
#![allow(dead_code, reason = "a fuzz target needs one of them")]

pub mod clipping;
pub mod describe;
pub mod edits;
pub mod edits_reference;
pub mod entropy;
pub mod expressions;
pub mod fields;
pub mod fields_reference;
pub mod filter;
pub mod flatted;
pub mod html;
pub mod import;
pub mod lookup;
pub mod lookup_reference;
pub mod projections;
pub mod search;
pub mod search_reference;
pub mod settings;
pub mod splits_reference;
pub mod tokens;
pub mod trace;
pub mod values_reference;
pub mod workflow;

mod expanded;
#[allow(clippy::duplicate_mod, reason = "a fuzz target has no other way to it, and the tests have both")]
#[path = "../../tests/support/flatten.rs"]
mod flatten;
mod mutation;
mod odd;
mod reference;
mod references;
mod tree;

use std::io;
use std::sync::LazyLock;

use n8n_lens::execution::Error;
use n8n_lens::json::{Batch, Cursor, Prefix, Projection, Pruner};
use n8n_lens::secrets::redact;
use regex::Regex;
use serde::de::IgnoredAny;
use serde_json::Value;

use entropy::Entropy;

/// How many bytes of an input make choices; the rest is the text, or what the text is made from.
const HEAD: usize = 16;

/// An input's choices, and its rest.
fn split(data: &[u8]) -> (Entropy<'_>, &[u8]) {
    let (head, rest) = data.split_at(data.len().min(HEAD));
    (Entropy::new(head), rest)
}

/// A text, by the first choice: `0` the rest itself, `1` any JSON, otherwise a mutated real text.
fn text(choices: &mut Entropy<'_>, rest: &[u8], changed: impl FnOnce(&[u8]) -> Vec<u8>) -> Vec<u8> {
    text_of_kind(choices.byte(), rest, changed)
}

/// The same for an execution, by the first choice: `7` one that n8n can write but that no real body resembles.
fn execution(choices: &mut Entropy<'_>, rest: &[u8]) -> Vec<u8> {
    match choices.byte() {
        kind if kind % 8 == 7 => odd::execution(&mut Entropy::new(rest)).text().into_bytes(),
        kind => text_of_kind(kind, rest, mutation::execution),
    }
}

fn text_of_kind(kind: u8, rest: &[u8], changed: impl FnOnce(&[u8]) -> Vec<u8>) -> Vec<u8> {
    match kind % 4 {
        0 => rest.to_vec(),
        1 => tree::any(&mut Entropy::new(rest), 16).text().into_bytes(),
        _ => changed(rest),
    }
}

/// Whether a text is JSON by RFC 8259, of any depth and with any numbers.
fn is_json(text: &[u8]) -> bool {
    std::str::from_utf8(text).is_ok() && serde_json::from_slice::<IgnoredAny>(text).is_ok()
}

/// The value of a JSON text, for a reference: as the reader sees it, with 0 in place of what a `Value` cannot hold, numbers
/// beyond a double and containers inside sixty others, which the filter would empty. `None` if it is not JSON.
fn value_of(text: &[u8]) -> Option<Value> {
    const LEVELS: usize = 60;
    static TOKEN: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"(?s)"(?:[^"\\]|\\.)*"|[\[{\]}]|[-0-9][-+.0-9eE]*|[^"\[{\]}\-0-9]+"#).expect("it is valid")
    });
    if !is_json(text) {
        return None;
    }
    let text = String::from_utf8(reference::repaired(text)).ok()?;
    let (mut held, mut open) = (String::new(), 0);
    for token in TOKEN.find_iter(&text).map(|token| token.as_str()) {
        let begins = matches!(token, "[" | "{");
        open += usize::from(begins);
        match open {
            ..=LEVELS if token.parse::<f64>().is_ok_and(f64::is_infinite) => held.push('0'),
            ..=LEVELS => held.push_str(token),
            level if begins && level == LEVELS + 1 => held.push('0'),
            _ => {}
        }
        open -= usize::from(matches!(token, "]" | "}"));
    }
    Some(serde_json::from_str(&held).expect("it is JSON that a value can hold"))
}

/// Whether a number or word is so long that the filter may refuse it.
fn has_long_word(text: &[u8]) -> bool {
    text.split(|byte| !reference::is_scalar(*byte)).any(|word| word.len() > reference::SCALAR_BYTES)
}

/// A projection's view of a body that arrives in pieces, formatted by `tell`; it is the same without the filter.
/// `None` if the body is not an execution.
fn read<P, V>(body: &[u8], projection: &P, sizes: &[usize], tell: impl Fn(&V) -> String) -> Option<V>
where
    P: Projection<View = Result<V, Error>>,
    V: std::fmt::Debug,
{
    let pieces = projection.read(Cursor::over(batches(body, projection.pruner(), sizes)));
    let unpruned = projection.read(Cursor::unpruned(io::Cursor::new(body)));
    match (pieces, unpruned) {
        (Ok(pieces), Ok(unpruned)) => {
            let (ours, truth) = (tell(&pieces), tell(&unpruned));
            assert!(ours == truth, "the filter makes {ours} of {truth}: {}", shown(body));
            Some(pieces)
        }
        (Err(Error::NotAnExecution), Err(Error::NotAnExecution)) => None,
        // Without the filter, a long word in a skipped part is also refused.
        (_, Err(Error::Read(_))) if has_long_word(body) => None,
        (pieces, unpruned) => panic!("{pieces:?} of pieces, {unpruned:?} unpruned: {}", shown(body)),
    }
}

/// Removes all members with these names, but keeps errors whose shown form is the stored one.
fn leave_out(value: &mut Value, names: &[&str]) {
    match value {
        Value::Object(members) => {
            members.retain(|name, value| !names.contains(&name.as_str()) || is_shown_as_stored(name, value));
            members.values_mut().for_each(|member| leave_out(member, names));
        }
        Value::Array(elements) => elements.iter_mut().for_each(|element| leave_out(element, names)),
        _ => {}
    }
}

/// An error that is no object is shown as it is stored, unless there is a secret in it.
fn is_shown_as_stored(name: &str, value: &Value) -> bool {
    let has_secret = |text: &str| {
        let mut shown = Prefix::from(text.to_owned());
        redact::text(&mut shown);
        shown.kept != *text
    };
    let is_stored = || match value {
        Value::String(text) => !has_secret(text),
        value => value.is_number() || value.is_boolean(),
    };
    name == "error" && is_stored()
}

/// The batches of a body that arrives in pieces of these sizes, cyclically.
fn batches(body: &[u8], mut pruner: Pruner, sizes: &[usize]) -> std::vec::IntoIter<io::Result<Batch>> {
    let (mut batches, mut rest) = (Vec::new(), body);
    let mut sizes = sizes.iter().cycle();
    while !rest.is_empty() {
        let size = sizes.next().map_or(1, |size| (*size).clamp(1, rest.len()));
        let (piece, more) = rest.split_at(size);
        match pruner.feed(piece) {
            Ok(batch) => batches.push(Ok(batch)),
            Err(fault) => {
                batches.push(Err(io::Error::other(fault)));
                return batches.into_iter();
            }
        }
        rest = more;
    }
    batches.push(pruner.finish().map_err(io::Error::other));
    batches.into_iter()
}

/// A text for a failure message.
fn shown(text: &[u8]) -> String {
    const BYTES: usize = 2000;
    let more = text.len().saturating_sub(BYTES);
    let text = String::from_utf8_lossy(&text[..text.len() - more]);
    if more > 0 { format!("{text}… and {more} bytes") } else { text.into_owned() }
}
