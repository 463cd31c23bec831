//! `view_timeline`: a part of the time axis, in more detail.

use std::sync::Arc;

use serde::Serialize;

use super::bars::{BARS, Bars, ShownBar};
use crate::execution::timeline::{Timeline, TimelineProjection};
use crate::json::{Projection, cut_name};
use crate::n8n::Progress;
use crate::toolkit::answer::success;
use crate::toolkit::{Effect, Flag, Id, Integer, arguments};
use crate::tools::executions::{ID, IGNORE_SIZE_LIMIT_AGAIN, execution};
use crate::tools::{Context, Error, Handler, Tool, ToolCall};

/// The call.
pub static TOOL: Tool = Tool {
    name: "view_timeline",
    title: "A part of the time axis",
    description: "The runs of each node within a range of time, as bars.",
    parameters: ViewTimeline::PARAMETERS,
    effect: Effect::Read,
    handler: Handler::of::<ViewTimeline>().shared(),
};

/// Milliseconds, up to the largest number that is exact in JavaScript.
type Milliseconds = Integer<0, { 1 << 53 }>;

arguments! {
    struct ViewTimeline {
        id: Id = ID,
        start: Milliseconds = "`start` of view_overview.",
        from: Milliseconds = "Milliseconds since the start.",
        to: Milliseconds = "Milliseconds since the start.",
        bars: Bars = BARS,
        ignore_data_size_limit: Option<Flag> = IGNORE_SIZE_LIMIT_AGAIN,
    }
}

#[derive(Serialize)]
struct TimelinePart {
    from: u64,
    to: u64,
    nodes: Vec<(String, Vec<ShownBar>)>,
}

impl ToolCall for ViewTimeline {
    async fn run(self, context: Arc<Context>, progress: Progress) -> Result<String, Error> {
        let (start, from, to) = (self.start as f64, self.from, self.to);
        let projection =
            TimelineProjection { bars: self.bars as usize, range: Some(start + from as f64..start + to as f64) };
        let projection = projection.map(move |timeline| Ok(compose(timeline?, start, from, to)));
        let execution = execution(self.id, self.ignore_data_size_limit);
        context.executions().read(&execution, &projection, &progress).await?.view
    }
}

fn compose(timeline: Timeline, start: f64, from: u64, to: u64) -> String {
    let nodes = timeline.nodes.into_iter().filter(|(_, bars)| !bars.is_empty());
    let shown = |bars: Vec<_>| bars.into_iter().map(|bar| ShownBar { bar, start }).collect();
    let nodes = nodes.map(|(name, bars)| (cut_name(name), shown(bars))).collect();
    success("", &TimelinePart { from, to, nodes })
}
