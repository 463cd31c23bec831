//! The node types that workflows use.

use std::collections::HashMap;

use crate::json::{Cursor, Keep, Projection, ReadError, member};

/// The parts of a list of workflows that are needed.
const KEEP: Keep = Keep::Members(&[(
    "data",
    Keep::EachElement(&Keep::Members(&[("nodes", Keep::EachElement(&Keep::Members(&[("type", Keep::Whole)])))])),
)]);

/// Types are never longer.
const TYPE_CHARS: usize = 200;

/// Reads the node types that a list of workflows uses, the most used first.
#[derive(Clone, Copy, Debug)]
pub struct UsedTypesProjection;

impl Projection for UsedTypesProjection {
    type View = Result<Vec<String>, ReadError>;
    const KEEP: Keep = KEEP;

    fn read(&self, mut cursor: Cursor<'_>) -> Self::View {
        let mut used: HashMap<String, u64> = HashMap::new();
        member(&mut cursor, "data", |cursor| cursor.array(|cursor, _| read_workflow(cursor, &mut used)))?;
        cursor.finish()?;
        let mut types: Vec<_> = used.into_iter().collect();
        types.sort_by(|(one, used_one), (other, used_other)| used_other.cmp(used_one).then_with(|| one.cmp(other)));
        Ok(types.into_iter().map(|(name, _)| name).collect())
    }
}

/// Counts the types of the nodes of a workflow.
fn read_workflow(cursor: &mut Cursor<'_>, used: &mut HashMap<String, u64>) -> Result<(), ReadError> {
    let mut node = |cursor: &mut Cursor<'_>| {
        if let Some(name) = member(cursor, "type", |cursor| cursor.text(TYPE_CHARS))? {
            *used.entry(name).or_default() += 1;
        }
        Ok(())
    };
    member(cursor, "nodes", |cursor| cursor.array(|cursor, _| node(cursor))).map(drop)
}
