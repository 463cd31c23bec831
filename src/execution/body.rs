//! The top level of an execution's body, which all projections share: the header, `data` and `workflowData`.

use std::io::Read;

use super::Error;
use super::header::{self, Header};
use crate::json::{Cursor, Keep, ReadError};

/// The table for an execution: the whole header, and the given rules for `data` and `workflowData`.
pub(super) const fn keep(data: Keep, workflow_data: Keep) -> [(&'static str, Keep); header::FIELDS.len() + 2] {
    let mut table = [("", Keep::Skip); header::FIELDS.len() + 2];
    let mut at = 0;
    while at < header::FIELDS.len() {
        table[at] = (header::FIELDS[at], Keep::Whole);
        at += 1;
    }
    table[at] = ("data", data);
    table[at + 1] = ("workflowData", workflow_data);
    table
}

/// What was read of an execution.
pub(super) struct Body<D, W> {
    pub header: Header,
    /// `None` if n8n sent no data.
    pub data: Option<D>,
    pub workflow: W,
}

/// Reads an execution to its end, with the given readers for `data` and `workflowData`. Members can come in any
/// order; the reader of `data` gets what was read of the header before it.
///
/// # Errors
/// When the text is broken or ends early, or is not an execution.
pub(super) fn read<R: Read, D, W: Default>(
    mut cursor: Cursor<R>,
    mut read_data: impl FnMut(&mut Cursor<R>, &Header) -> Result<D, ReadError>,
    mut read_workflow: impl FnMut(&mut Cursor<R>) -> Result<W, ReadError>,
) -> Result<Body<D, W>, Error> {
    let mut body = Body { header: Header::default(), data: None, workflow: W::default() };
    cursor.object(|cursor, member| {
        match member {
            "data" if cursor.at_object()? => body.data = Some(read_data(cursor, &body.header)?),
            "workflowData" => body.workflow = read_workflow(cursor)?,
            _ if body.header.read(cursor, member)? => {}
            _ => cursor.skip()?,
        }
        Ok(())
    })?;
    cursor.finish()?;
    if body.header.id.is_none() && body.header.status.is_none() && body.data.is_none() {
        return Err(Error::NotAnExecution);
    }
    Ok(body)
}
