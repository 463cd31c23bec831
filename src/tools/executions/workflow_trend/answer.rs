//! The answer about a trend within its budget.

use std::collections::HashSet;

use jiff::Timestamp;
use serde::Serialize;

use super::super::not_read::NotRead;
use super::{Periods, Seen, SeenExecution};
use crate::budget::Ladder;
use crate::execution::trend::{Figures, Level, Moved, Movements, PERIODS, What};
use crate::json::{CUT_NAME_CHARS, shorten_name};
use crate::toolkit::Locale;
use crate::toolkit::answer::{is_zero, success};
use crate::tools::executions::listed::{minute, short_version};
use crate::units::counted;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TrendAnswer<'a> {
    workflow_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    workflow: Option<String>,
    before: Window,
    after: Window,
    moved: Vec<Row<'a>>,
    #[serde(skip_serializing_if = "is_zero")]
    moved_more: u64,
    steady: usize,
    too_few: Vec<String>,
    #[serde(skip_serializing_if = "is_zero")]
    too_few_more: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_read: Option<NotRead>,
    #[serde(skip_serializing_if = "is_zero")]
    not_ended: u64,
    #[serde(rename = "_guidance", skip_serializing_if = "Option::is_none")]
    guidance: Option<String>,
}

#[derive(Serialize)]
struct Window {
    from: String,
    to: String,
    executions: usize,
    failures: usize,
}

#[derive(Serialize)]
pub(super) struct Row<'a> {
    node: String,
    what: &'static str,
    before: ShownLevel,
    after: ShownLevel,
    since: Since<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    edited: Option<[String; 2]>,
}

#[derive(Serialize)]
struct ShownLevel {
    runs: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    p50: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    p95: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cases: Option<usize>,
}

#[derive(Serialize)]
struct Since<'a> {
    id: &'a str,
    at: String,
}

impl ShownLevel {
    fn of(level: &Level) -> Self {
        let shown = Self { runs: level.runs, p50: None, p95: None, cases: None };
        match level.figures {
            Figures::Spread { p50, p95 } => Self { p50: Some(p50), p95: Some(p95), ..shown },
            Figures::Cases { count, .. } => Self { cases: Some(count), ..shown },
            Figures::Runs => shown,
        }
    }
}

impl<'a> Row<'a> {
    pub(super) fn of(moved: &Moved, seen: &'a Seen, chars: usize) -> Self {
        let execution = seen.executions.get(moved.since.execution as usize);
        let version = |number: u16| seen.versions.get_index(number.into())?.as_deref().map(short_version);
        Self {
            node: shorten_name(&moved.node, chars),
            what: moved.what.name(),
            before: ShownLevel::of(&moved.before),
            after: ShownLevel::of(&moved.after),
            since: Since {
                id: execution.map_or("", |execution| &execution.id),
                at: execution.map(|execution| minute(&execution.at)).unwrap_or_default(),
            },
            edited: moved.since.edited.and_then(|(old, new)| Some([version(old)?, version(new)?])),
        }
    }
}

/// How much is shown: the number of entries of each list, and of characters of a name.
#[derive(Clone, Copy)]
struct TrendLimits {
    moved: usize,
    too_few: usize,
    chars: usize,
}

fn message(movements: &Movements, locale: Locale) -> String {
    let moved: HashSet<_> = movements.moved.iter().map(|moved| &moved.node).collect();
    let (judged, count) = (movements.steady + moved.len(), movements.moved.len());
    let (japanese, english) = match count {
        0 => (
            format!("変化はありません（{judged} ノードを判定）"),
            format!("Nothing moved ({} judged)", counted(judged, "node", "nodes")),
        ),
        count => (format!("{count} 件の変化があります"), counted(count, "thing moved", "things moved")),
    };
    locale.choose(&japanese, &english).to_owned()
}

/// The comparison that shows most, and what is not judged.
fn guidance(seen: &Seen) -> Option<String> {
    // A node that stopped ran well in the execution since which it is missing.
    let moved = seen.movements.moved.iter().find(|moved| moved.what != What::Stopped);
    let compared = moved.map(|moved| {
        let since = Row::of(moved, seen, CUT_NAME_CHARS).since.id;
        format!("compare_executions(id: '{since}') shows what differs from the last good execution before it.")
    });
    let incomplete = seen.is_last_incomplete.then(|| {
        "Executions of the last period were not read: which nodes stopped or ran too rarely is not known.".to_owned()
    });
    let unfinished = (!seen.is_last_incomplete && seen.waits_for_more()).then(|| {
        let waiting =
            counted(seen.not_ended as usize, "execution of the last period has", "executions of the last period have");
        format!("{waiting} not ended: which nodes stopped or ran too rarely is not known.")
    });
    let nothing = is_unknown(seen).then(|| {
        "No execution started in these eight periods. workflowId is an id, not a name; manual executions do not count."
            .to_owned()
    });
    let all: Vec<_> = compared.into_iter().chain(incomplete).chain(unfinished).chain(nothing).collect();
    (!all.is_empty()).then(|| all.join(" "))
}

/// Whether the store has nothing of the workflow in these periods, as for a name in place of an id.
fn is_unknown(seen: &Seen) -> bool {
    seen.executions.is_empty() && seen.not_read.any().is_none() && seen.not_ended == 0
}

/// The answer as it is sent.
pub(super) fn compose(workflow: &str, periods: Periods, seen: &Seen, max_tokens: usize, locale: Locale) -> String {
    let movements = &seen.movements;
    let message = message(movements, locale);
    let window = |from: Timestamp, to: Timestamp, is_in: &dyn Fn(&&SeenExecution) -> bool| {
        let within: Vec<_> = seen.executions.iter().filter(is_in).collect();
        Window {
            from: minute(&from.to_string()),
            to: minute(&to.to_string()),
            executions: within.len(),
            failures: within.iter().filter(|execution| execution.failed).count(),
        }
    };
    let write = |limits: TrendLimits| {
        let (moved, too_few) = (&movements.moved, &movements.too_few);
        let data = TrendAnswer {
            workflow_id: workflow,
            workflow: seen.workflow_name.as_ref().map(|name| shorten_name(name, limits.chars)),
            before: window(periods.begin(), periods.last(), &|execution| execution.period < PERIODS - 1),
            after: window(periods.last(), periods.until, &|execution| execution.period == PERIODS - 1),
            moved: moved.iter().take(limits.moved).map(|moved| Row::of(moved, seen, limits.chars)).collect(),
            moved_more: moved.len().saturating_sub(limits.moved) as u64,
            steady: movements.steady,
            too_few: too_few.iter().take(limits.too_few).map(|name| shorten_name(name, limits.chars)).collect(),
            too_few_more: too_few.len().saturating_sub(limits.too_few) as u64,
            not_read: seen.not_read.any(),
            not_ended: seen.not_ended,
            guidance: guidance(seen),
        };
        success(&message, &data)
    };
    let most =
        TrendLimits { moved: movements.moved.len(), too_few: movements.too_few.len().min(20), chars: CUT_NAME_CHARS };
    let ladder = Ladder::new(most)
        .fewer(|limits| &mut limits.too_few, |names| names - 1, 0)
        .fewer(|limits| &mut limits.moved, |moved| moved - 1, 1)
        .shorter(|limits| &mut limits.chars, |chars| chars * 3 / 4, 12);
    ladder.largest_that_fits(max_tokens, write).answer
}
