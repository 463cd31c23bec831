//! What the page asks besides the tools: the whole execution as one picture, and a part of its time axis. Both are called as
//! tools are, but only the page offers them: their answers are as large as a picture needs, and no agent reads them.

mod bars;
pub mod view_overview;
pub mod view_timeline;

use super::Tool;

/// The calls that only the page offers.
pub static CALLS: [&Tool; 2] = [&view_overview::TOOL, &view_timeline::TOOL];
