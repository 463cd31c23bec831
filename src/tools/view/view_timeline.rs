//! `view_timeline`: a part of the time axis, in more detail.

use std::sync::Arc;

use serde::Serialize;

use super::bars::{BARS, DEFAULT, ShownBar};
use crate::execution::timeline::{Timeline, TimelineProjection};
use crate::json::{Projection, cut_name};
use crate::n8n::Progress;
use crate::toolkit::answer::success;
use crate::toolkit::{Arguments, Effect, Kind, Parameter};
use crate::tools::executions::{IGNORE_SIZE_LIMIT_AGAIN, execution};
use crate::tools::{Call, Context, Handler, Tool};

/// The call.
pub static TOOL: Tool = Tool {
    name: "view_timeline",
    title: "A part of the time axis",
    description: "The runs of each node within a range of time, as bars.",
    parameters: &[
        Parameter::required("id", Kind::Id, "The execution's id."),
        Parameter::required("start", Kind::Integer { range: 0..=MAX_MS, default: None }, "`start` of view_overview."),
        Parameter::required(
            "from",
            Kind::Integer { range: 0..=MAX_MS, default: None },
            "Milliseconds since the start.",
        ),
        Parameter::required("to", Kind::Integer { range: 0..=MAX_MS, default: None }, "Milliseconds since the start."),
        BARS,
        IGNORE_SIZE_LIMIT_AGAIN,
    ],
    effect: Effect::Read,
    handler: Handler::new(call).shared(),
};

/// Numbers up to here are exact in JavaScript.
const MAX_MS: u64 = 1 << 53;

#[derive(Serialize)]
struct Shown {
    from: u64,
    to: u64,
    nodes: Vec<(String, Vec<ShownBar>)>,
}

fn call(context: Arc<Context>, arguments: Arguments, progress: Progress) -> Call {
    Box::pin(async move {
        let number = |name| arguments.integer(name).unwrap_or(0);
        let (start, from, to) = (number("start") as f64, number("from"), number("to"));
        let bars = arguments.integer("bars").unwrap_or(DEFAULT) as usize;
        let projection = TimelineProjection { bars, range: Some(start + from as f64..start + to as f64) };
        let projection = projection.map(move |timeline| Ok(compose(timeline?, start, from, to)));
        context.executions().read(&execution(&arguments), &projection, &progress).await?.view
    })
}

fn compose(timeline: Timeline, start: f64, from: u64, to: u64) -> String {
    let nodes = timeline.nodes.into_iter().filter(|(_, node)| !node.bars.is_empty());
    let shown = |bars: Vec<_>| bars.into_iter().map(|bar| ShownBar { bar, start }).collect();
    let nodes = nodes.map(|(name, node)| (cut_name(name), shown(node.bars))).collect();
    success("", &Shown { from, to, nodes })
}
