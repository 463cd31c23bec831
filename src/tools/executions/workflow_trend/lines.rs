//! A trend as sparklines for people: the same executions, period by period.

use serde::Serialize;

use super::super::not_read::NotRead;
use super::answer::Row;
use super::{Periods, Seen, WorkflowTrend};
use crate::execution::trend::{Line, PERIODS, Point};
use crate::json::{CUT_NAME_CHARS, cut_name};
use crate::toolkit::answer::{is_zero, success};
use crate::tools::executions::listed::minute;
use crate::tools::{Context, Error};

/// The most nodes that are shown; the others are counted.
const NODES: usize = 200;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Data<'a> {
    workflow_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    workflow: Option<String>,
    /// The earliest one first.
    periods: Vec<ShownPeriod>,
    moved: Vec<Row<'a>>,
    nodes: Vec<ShownLine>,
    #[serde(skip_serializing_if = "is_zero")]
    more_nodes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_read: Option<NotRead>,
    #[serde(skip_serializing_if = "is_zero")]
    not_ended: u64,
}

#[derive(Serialize)]
struct ShownPeriod {
    from: String,
    executions: usize,
    failures: usize,
}

/// A node, with a value for each period.
#[derive(Serialize)]
struct ShownLine {
    node: String,
    runs: Vec<usize>,
    failed: Vec<usize>,
    ms: Vec<Option<f64>>,
    items: Vec<Option<f64>>,
}

impl ShownLine {
    fn of(Line { node, periods }: &Line) -> Self {
        fn each<T>(periods: &[Point], value: impl Fn(&Point) -> T) -> Vec<T> {
            periods.iter().map(value).collect()
        }
        Self {
            node: cut_name(node.clone()),
            runs: each(periods, |point| point.runs),
            failed: each(periods, |point| point.failed),
            ms: each(periods, |point| point.ms),
            items: each(periods, |point| point.items),
        }
    }
}

/// The trend of a workflow over all eight periods.
///
/// # Errors
/// As `workflow_trend`.
pub(in crate::tools) async fn lines(asked: WorkflowTrend, context: &Context) -> Result<String, Error> {
    let (periods, seen) = asked.seen(context).await?;
    Ok(compose(&asked.workflow_id, periods, &seen))
}

fn compose(workflow: &str, periods: Periods, seen: &Seen) -> String {
    let period = |(at, from): (u8, jiff::Timestamp)| {
        let within = || seen.executions.iter().filter(move |execution| execution.period == at);
        ShownPeriod {
            from: minute(&from.to_string()),
            executions: within().count(),
            failures: within().filter(|execution| execution.failed).count(),
        }
    };
    let data = Data {
        workflow_id: workflow,
        workflow: seen.workflow_name.clone().map(cut_name),
        periods: (0..PERIODS).zip(periods.begins()).map(period).collect(),
        moved: seen.movements.moved.iter().map(|moved| Row::of(moved, seen, CUT_NAME_CHARS)).collect(),
        nodes: seen.lines.iter().take(NODES).map(ShownLine::of).collect(),
        more_nodes: seen.lines.len().saturating_sub(NODES) as u64,
        not_read: seen.not_read.any(),
        not_ended: seen.not_ended,
    };
    success("", &data)
}
