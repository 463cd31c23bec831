//! Executions as n8n stores them: every view equals that of the body, byte for byte.

/// Every fixture, from its body and from the store.
mod equality;
/// Texts that are broken, hostile, or in an unknown format.
mod faults;
/// How much of a stored text is read.
mod reading;
/// The data that n8n's redaction hides.
mod redaction;

use std::fmt::Debug;

use n8n_lens::execution::node::{NodeProjection, NodeView};
use n8n_lens::execution::{Error, StoredExecution, StoredProjection};
use n8n_lens::json::ReadAt;
use n8n_lens::json::flatted::Flatted;
use n8n_lens::tools::executions::get_execution_by_node::{self, NodeQuery};

use crate::flatten::{Stored, escape};

pub(crate) fn read<P: StoredProjection>(projection: &P, stored: &Stored, reveal: bool) -> P::View {
    let mut data = stored.data.as_bytes();
    read_from(projection, stored, &mut data, reveal)
}

fn read_from<P: StoredProjection>(projection: &P, stored: &Stored, data: &mut dyn ReadAt, reveal: bool) -> P::View {
    read_text(projection, stored, Flatted::new(Box::new(data)), reveal)
}

/// Reads it from the inside of a JSON string, as in a bundle.
fn read_escaped<P: StoredProjection>(projection: &P, stored: &Stored, reveal: bool) -> P::View {
    let escaped = escape(stored.data.as_bytes());
    read_text(projection, stored, Flatted::escaped(Box::new(&escaped[..])), reveal)
}

fn read_text<P: StoredProjection>(projection: &P, stored: &Stored, data: Flatted<'_>, reveal: bool) -> P::View {
    projection.read_stored(StoredExecution { reveal, ..stored.with_data(data) })
}

/// The answer about a node as an agent receives it, second pass included.
fn answer(projection: &NodeProjection, read: impl Fn(&NodeProjection) -> Result<NodeView, Error>) -> String {
    let (mut projection, mut view) = (projection.clone(), read(projection).unwrap());
    if let Some(again) = projection.second_pass(&view) {
        (view, projection) = (read(&again).unwrap(), again);
    }
    let question = NodeQuery::new(projection, 20_000);
    get_execution_by_node::answer(&view, None, &question).unwrap_or_else(|error| error.to_string())
}

fn assert_same(ours: &str, body: &str, what: &str) {
    if ours != body {
        let same = ours.bytes().zip(body.bytes()).take_while(|(one, other)| one == other).count();
        let around = |text: &str| {
            let from = text.floor_char_boundary(same.saturating_sub(200));
            text[from..text.ceil_char_boundary((same + 200).min(text.len()))].to_owned()
        };
        panic!("{what}\nstored: {}\nbody:   {}", around(ours), around(body));
    }
}

fn debug(view: impl Debug) -> String {
    format!("{view:?}")
}

/// The run data of an execution of one item, whose `json` is the first of these elements, number 9.
pub(crate) fn with_item(elements: &[String]) -> String {
    format!(
        r#"[{{"version":1,"resultData":"1"}},{{"runData":"2"}},{{"A":"3"}},["4"],{{"startTime":1,"executionTime":1,"data":"5"}},{{"main":"6"}},["7"],["8"],{{"json":"9"}},{}]"#,
        elements.join(",")
    )
}

/// Objects that each refer to the next one twice.
pub(crate) fn pairs(levels: usize) -> String {
    let objects = (10..10 + levels).map(|next| format!(r#"{{"a":"{next}","b":"{next}"}}"#));
    with_item(&objects.chain(["\"boom\"".to_owned()]).collect::<Vec<_>>())
}

/// Lists that each refer to the next one this many times, and the last one to this element.
pub(crate) fn lists(levels: usize, times: usize, last: &str) -> String {
    let lists = (10..10 + levels).map(|next| format!("[{}]", vec![format!("\"{next}\""); times].join(",")));
    with_item(&lists.chain([last.to_owned()]).collect::<Vec<_>>())
}
