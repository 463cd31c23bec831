//! Executions as n8n stores them: every view is that of the body, byte for byte.

use std::fmt::Debug;

use n8n_lens::execution::node::{NodeProjection, NodeView};
use n8n_lens::execution::summary::SummaryProjection;
use n8n_lens::execution::{Error, StoredExecution, StoredProjection};
use n8n_lens::json::{Projection, ReadAt};
use n8n_lens::toolkit::Locale;
use n8n_lens::tools::executions::get_execution_by_node::{self, NodeQuery};
use n8n_lens::tools::executions::summary_answer;

use crate::fixtures;
use crate::flatten::{Share, Stored, stored};

fn read<P: StoredProjection>(projection: &P, stored: &Stored, reveal: bool) -> P::View {
    let mut data = stored.data.as_bytes();
    read_from(projection, stored, &mut data, reveal)
}

fn read_from<P: StoredProjection>(projection: &P, stored: &Stored, data: &mut dyn ReadAt, reveal: bool) -> P::View {
    let (header, workflow) = (stored.header.as_bytes(), stored.workflow.as_bytes());
    projection.read_stored(StoredExecution { header, workflow, data, reveal })
}

/// The answer about a node as an agent gets it, second pass included.
fn answer(projection: &NodeProjection, read: impl Fn(&NodeProjection) -> Result<NodeView, Error>) -> String {
    let (mut projection, mut view) = (projection.clone(), read(projection).unwrap());
    if let Some(again) = projection.second_pass(&view) {
        (view, projection) = (read(&again).unwrap(), again);
    }
    let question = NodeQuery { projection, output: None, max_tokens: 20_000, redact: false, locale: Locale::En };
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

#[test]
fn the_summary_of_every_fixture_is_that_of_its_body() {
    for (name, body) in fixtures::executions() {
        let truth = SummaryProjection.read_from(&body[..]).unwrap();
        let body = std::str::from_utf8(&body).unwrap();
        for share in [Share::Nothing, Share::Equal] {
            let ours = read(&SummaryProjection, &stored(body, share), false).unwrap();
            assert_same(&debug(&ours), &debug(&truth), &name);
            let answers = [&ours, &truth].map(|summary| summary_answer::compose(summary, None, 0, Locale::En));
            assert_same(&answers[0], &answers[1], &name);
        }
    }
}

#[test]
fn every_run_of_every_node_of_every_fixture_is_that_of_its_body() {
    for (name, body) in fixtures::executions() {
        let names = NodeProjection::default().read_from(&body[..]).unwrap().names;
        let text = std::str::from_utf8(&body).unwrap();
        let stored = [Share::Nothing, Share::Equal].map(|share| stored(text, share));
        // Large bodies have hundreds of nodes alike.
        let most = if body.len() > 300_000 { 12 } else { names.len() };
        for (at, node) in names.iter().take(most).chain([&"no such node".to_owned()]).enumerate() {
            for (run, window) in [(None, 0..50), (Some(0), 0..50), (Some(1), 1..3), (Some(9), 0..1), (None, 20..70)] {
                let projection = NodeProjection { node: node.clone(), run, window, sources: None };
                let truth = answer(&projection, |projection| projection.read_from(&body[..]));
                let ours = answer(&projection, |projection| read(projection, &stored[at % 2], false));
                assert_same(&ours, &truth, &format!("{name}, {node:?}, run {run:?}"));
            }
        }
    }
}
