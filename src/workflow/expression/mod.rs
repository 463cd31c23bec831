//! stub
use std::ops::Range;
/// stub
#[derive(Clone, Copy, Debug)]
pub enum Syntax {
    /// stub
    Expression,
}
impl Syntax {
    /// stub
    pub fn of(_: &str, _: f64, _: &str, text: &str) -> Option<Self> {
        text.starts_with('=').then_some(Self::Expression)
    }
}
/// stub
pub fn rename(text: &str, _: Syntax, old: &str, new: &str) -> Vec<(Range<usize>, String)> {
    let old = format!("$('{old}')");
    text.match_indices(&old).map(|(at, part)| (at..at + part.len(), format!("$('{new}')"))).collect()
}
/// stub
#[derive(Debug)]
pub struct NodeName {
    /// stub
    pub name: String,
}
/// stub
#[derive(Debug, Default)]
pub struct Scanned {
    /// stub
    pub names: Vec<NodeName>,
}
/// stub
pub fn scan(_: &str, _: Syntax) -> Scanned {
    Scanned::default()
}
