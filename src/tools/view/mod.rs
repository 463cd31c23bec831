//! What people ask for in addition to the tools: for the page, the whole execution as one picture, a part of its time axis, and a trend as
//! lines; for the command line, a summary as long as a table can be. They are called like tools but never offered to agents: their answers
//! are as large as people need.

mod bars;
mod findings;
#[cfg(feature = "application")]
pub mod items;
mod request;
pub mod shell;
pub mod view_draft;
pub mod view_findings;
pub mod view_node;
pub mod view_overview;
pub mod view_ran;
pub mod view_summary;
pub mod view_talk;
pub mod view_timeline;
pub mod view_trend;
mod words;

pub use words::PAGE;

use super::{Context, Tool};
use crate::toolkit::Locale;

/// The calls that only the page offers.
pub static CALLS: [&Tool; 8] = [
    &view_overview::TOOL,
    &view_findings::TOOL,
    &view_node::TOOL,
    &view_talk::TOOL,
    &view_timeline::TOOL,
    &view_ran::TOOL,
    &view_trend::TOOL,
    &view_draft::TOOL,
];

/// The language that a page asks for.
pub fn locale(language: Option<&str>, context: &Context) -> Locale {
    match language {
        Some("en") => Locale::En,
        Some("ja") => Locale::Ja,
        _ => context.locale,
    }
}
