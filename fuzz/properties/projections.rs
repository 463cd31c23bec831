//! Both projections of an execution, with any JSON, mutated real bodies, and any bytes.

use std::fmt::Debug;

use n8n_lens::budget;
use n8n_lens::execution::Error;
use n8n_lens::execution::node::{NodeProjection, NodeView};
use n8n_lens::execution::summary::SummaryProjection;
use n8n_lens::json::{Cursor, FaultKind, Projection, ReadError, shorten_name};
use n8n_lens::toolkit::Locale;
use n8n_lens::tools;
use n8n_lens::tools::executions::get_execution_by_node::{self, NodeQuery, Part};
use n8n_lens::tools::executions::summary_answer;
use serde_json::Value;

use super::entropy::Entropy;
use super::{batches, execution, has_long_word, is_json, shown, split};

/// Larger bodies take long and reveal nothing more.
const MAX_BODY_BYTES: usize = 512 * 1024;

/// Offsets of pages.
const OFFSETS: [u64; 8] = [0, 1, 2, 3, 10, 100, u64::MAX - 1, u64::MAX];

/// Token budgets.
const TOKENS: [usize; 8] = [1000, 25_000, 1001, 1100, 1500, 2500, 5000, 20_000];

/// Names that usually no node has.
const STRANGERS: [&str; 5] =
    ["", "no such node", "…[+3 chars]", "a…[+18446744073709551615 chars]", "constructor…[+1 chars]"];

/// The summary of an execution is JSON of at most 1,000 tokens, and does not depend on the pieces of the body.
pub fn summary(data: &[u8]) {
    let (mut choices, rest) = split(data);
    let body = execution(&mut choices, rest);
    if body.len() > MAX_BODY_BYTES {
        return;
    }
    let Some(summary) = read_in_pieces(&body, &SummaryProjection, &choices.sizes()) else { return };
    let locale = locale(&mut choices);
    for offset in [0, *choices.pick(&OFFSETS)] {
        let answer = summary_answer::compose(&summary, Some("1234"), offset, locale, true);
        let value = assert_answer(&answer, summary_answer::MAX_TOKENS);
        let data = &value["data"];
        if let Some(next) = data["nextOffset"].as_u64() {
            assert!(next > offset, "the next page is not further on: {answer}");
        }
        let shown = data["availableNodes"].as_array().map_or(0, Vec::len);
        let from = usize::try_from(offset).unwrap_or(usize::MAX).min(summary.nodes.len());
        let omitted = data["omittedNodes"].as_u64().unwrap_or(0) as usize;
        assert_eq!(from + shown + omitted, summary.nodes.len(), "every node is shown or counted: {answer}");
    }
}

/// The answer about one node is JSON within its budget, and does not depend on the pieces of the body.
pub fn node(data: &[u8]) {
    let (mut choices, rest) = split(data);
    let body = execution(&mut choices, rest);
    if body.len() > MAX_BODY_BYTES {
        return;
    }
    let sizes = choices.sizes();
    let mut request = NodeProjection::default();
    let Some(view) = view(&body, &request, &[usize::MAX]) else { return };
    request.node = node_name(&mut choices, &view.names);
    request.run = *choices.pick(&[None, None, None, Some(0), Some(1), Some(u64::MAX)]);
    let offset = if choices.one_in(2) { *choices.pick(&OFFSETS) } else { 0 };
    let limit = *choices.pick(&[50, 1, 2, 3, 10, 500]);
    request.window = offset..offset.saturating_add(limit);
    let Some(view) = self::view(&body, &request, &sizes) else { return };
    let question = NodeQuery {
        projection: request,
        output: *choices.pick(&[None, None, None, Some(0), Some(1), Some(255), Some(u64::MAX)]),
        part: *choices.pick(&[Part::Both, Part::Both, Part::Input, Part::Output]),
        rows: choices.one_in(3),
        max_tokens: *choices.pick(&TOKENS),
        for_people: choices.one_in(2),
        redact: choices.one_in(2),
        locale: locale(&mut choices),
    };
    assert_node(&view, &question, limit);
    if let Some(projection) = question.projection.second_pass(&view) {
        let view = self::view(&body, &projection, &sizes).expect("it can be read again");
        assert_node(&view, &NodeQuery { projection, ..question }, limit);
    }
}

fn view(body: &[u8], projection: &NodeProjection, sizes: &[usize]) -> Option<NodeView> {
    read_in_pieces(body, projection, sizes)
}

fn locale(choices: &mut Entropy<'_>) -> Locale {
    *choices.pick(&[Locale::Ja, Locale::En])
}

/// The name of an executed node, its shortened form, or another name.
fn node_name(choices: &mut Entropy<'_>, names: &[String]) -> String {
    if names.is_empty() || choices.one_in(8) {
        return (*choices.pick(&STRANGERS)).to_owned();
    }
    let name = choices.pick(names);
    if choices.one_in(6) { shorten_name(name, choices.below(30)) } else { name.clone() }
}

/// Reads a body whole and in pieces, with the same result; `None` if it is not an execution.
fn read_in_pieces<T: Debug, P: Projection<View = Result<T, Error>>>(
    body: &[u8],
    projection: &P,
    sizes: &[usize],
) -> Option<T> {
    let read = |sizes: &[usize]| projection.read(Cursor::over(batches(body, projection.pruner(), sizes)));
    let (whole, pieces) = (read(&[usize::MAX]), read(sizes));
    match (whole, pieces) {
        (Ok(whole), Ok(pieces)) => {
            assert!(format!("{whole:?}") == format!("{pieces:?}"), "the result depends on the pieces: {}", shown(body));
            Some(whole)
        }
        (Err(Error::NotAnExecution), Err(Error::NotAnExecution)) => None,
        (Err(Error::Read(error)), Err(Error::Read(_))) => {
            // JSON can be read unless a number is too long.
            let is_scalar = matches!(&error, ReadError::Fault(fault) if fault.kind == FaultKind::Scalar);
            assert!(!is_json(body) || (is_scalar && has_long_word(body)), "{error}: {}", shown(body));
            None
        }
        (whole, pieces) => panic!("{whole:?} for the whole, {pieces:?} for pieces: {}", shown(body)),
    }
}

/// The answer about a node, or an error that says what does not exist.
fn assert_node(view: &NodeView, question: &NodeQuery, limit: u64) {
    let answer = match get_execution_by_node::answer(view, Some("1234"), question) {
        Ok(answer) => answer,
        Err(tools::Error::FailedPrecondition(why)) => {
            let no_run = view.node.as_ref().is_none_or(|node| node.run.is_none());
            assert!(no_run || question.output.is_some(), "{why}");
            return;
        }
        Err(error) => panic!("{error}"),
    };
    let value = assert_answer(&answer, question.max_tokens);
    let data = &value["data"];
    if let Some(next) = data["truncated"]["nextOffset"].as_u64() {
        assert!(next > question.projection.window.start, "the next page is not further on: {answer}");
    }
    for output in data["output"]["outputs"].as_array().into_iter().flatten() {
        let (returned, total) = (output["returned"].as_u64(), output["total"].as_u64());
        assert!(returned <= total && returned <= Some(limit), "{output}");
    }
}

/// The answer is JSON within its budget. Returns `Null` if serde_json cannot hold one of its numbers.
pub fn assert_answer(answer: &str, tokens: usize) -> Value {
    assert!(is_json(answer.as_bytes()), "not JSON: {answer}");
    // A token has at least one byte.
    let used = if answer.len() <= tokens { 0 } else { budget::count(answer) };
    assert!(used <= tokens && answer.len() <= budget::ANSWER_BYTES, "{used} tokens of {tokens}: {answer}");
    let answer: Value = serde_json::from_str(answer).unwrap_or_default();
    assert!(answer.is_null() || answer["success"] == true, "{answer}");
    answer
}
