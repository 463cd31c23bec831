//! What people ask in addition to the tools: the page the whole execution as one picture, and a part of its time axis; the command
//! line a summary as long as a table can be. They are called like tools, but never offered to agents: their answers are as
//! large as people need.

mod bars;
pub mod view_overview;
pub mod view_summary;
pub mod view_timeline;

use super::Tool;

/// The calls that only the page offers.
pub static CALLS: [&Tool; 2] = [&view_overview::TOOL, &view_timeline::TOOL];
