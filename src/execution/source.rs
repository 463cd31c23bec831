//! Where the inputs of a run came from.

use serde::{Deserialize, Serialize};

use crate::json::{Cursor, Keep, Members, ReadError, members};

/// No node has more inputs; any further ones are not read.
const MAX_SOURCES: usize = 256;

/// The output that an input came from (n8n's `ISourceData`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputSource {
    /// The node with this output.
    pub node: String,
    /// Which of its outputs; n8n leaves out 0.
    pub output: u64,
    /// Which of its runs; n8n leaves out 0.
    pub run: u64,
}

/// An entry of `source`, whether it names a node or not.
#[derive(Default)]
struct SourceEntry {
    node: Option<String>,
    output: u64,
    run: u64,
}

members!(SourceEntry, |source, cursor| match name {
    ("previousNode", Keep::Whole) => source.node = cursor.name()?,
    ("previousNodeOutput", Keep::Whole) => source.output = index(cursor.number()?),
    ("previousNodeRun", Keep::Whole) => source.run = index(cursor.number()?),
});

/// What is kept of a run's `source`.
pub(super) const SOURCES: Keep = Keep::EachElement(&SourceEntry::KEEP);

/// Reads a run's `source`.
pub(super) fn read_sources(cursor: &mut Cursor<'_>) -> Result<Vec<Option<InputSource>>, ReadError> {
    let mut sources = Vec::new();
    cursor.array(|cursor, index| {
        let source = read_source(cursor)?;
        if index < MAX_SOURCES as u64 {
            sources.push(source);
        }
        Ok(())
    })?;
    Ok(sources)
}

/// Reads an entry of `source`, or a `sourceOverwrite`.
pub(super) fn read_source(cursor: &mut Cursor<'_>) -> Result<Option<InputSource>, ReadError> {
    let source = SourceEntry::read_or_default(cursor)?;
    Ok(source.node.map(|node| InputSource { node, output: source.output, run: source.run }))
}

/// An index; n8n leaves out 0. A number that cannot be an index becomes one that no array has.
fn index(number: Option<f64>) -> u64 {
    match number {
        None => 0,
        Some(number) if number >= 0.0 && number.fract() == 0.0 => number as u64,
        Some(_) => u64::MAX,
    }
}
