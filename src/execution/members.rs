//! Small objects of an execution, each declared once: its members, what is kept of them, and where their values go.

use std::io::Read;

use crate::json::{Cursor, Keep, ReadError};

/// An object that is declared with [`members!`].
pub(super) trait Members: Default {
    /// Its members, with what is kept of each.
    const MEMBERS: &'static [(&'static str, Keep)];

    /// What is kept of it.
    const KEEP: Keep = Keep::Members(Self::MEMBERS);

    /// Reads the value of the member `name`; returns whether there is such a member. If not, nothing was read.
    fn read_member<R: Read>(&mut self, cursor: &mut Cursor<R>, name: &str) -> Result<bool, ReadError>;

    /// Reads the object; `None` for a value of another type.
    fn read_object<R: Read>(cursor: &mut Cursor<R>) -> Result<Option<Self>, ReadError> {
        let mut object = Self::default();
        let is_object = cursor.object(|cursor, name| {
            if !object.read_member(cursor, name)? {
                cursor.skip()?;
            }
            Ok(())
        })?;
        Ok(is_object.then_some(object))
    }
}

/// Reads one member of an object; the default if there is no such member, or a value of another type.
pub(super) fn member<R: Read, T: Default>(
    cursor: &mut Cursor<R>,
    name: &str,
    mut read: impl FnMut(&mut Cursor<R>) -> Result<T, ReadError>,
) -> Result<T, ReadError> {
    let mut found = T::default();
    cursor.object(|cursor, other| {
        if other != name {
            return cursor.skip();
        }
        found = read(cursor)?;
        Ok(())
    })?;
    Ok(found)
}

/// Declares how an object is read, as the arms of a `match`: each member with what is kept of it, and the expression that
/// reads it. An arm has no block: what does not fit in a line is a function.
///
/// ```text
/// members!(Parent, |parent, cursor| match name {
///     ("executionId", Keep::Whole) => parent.id = cursor.text(ID_CHARS)?,
///     ("workflowId", Keep::Whole) => parent.workflow_id = cursor.text(ID_CHARS)?,
/// });
/// ```
macro_rules! members {
    ($type:ty, |$object:ident, $cursor:ident| match name { $(($name:literal, $keep:path) => $read:expr,)* }) => {
        impl $crate::execution::members::Members for $type {
            const MEMBERS: &'static [(&'static str, $crate::json::Keep)] = &[$(($name, $keep)),*];

            fn read_member<R: std::io::Read>(
                &mut self,
                $cursor: &mut $crate::json::Cursor<R>,
                name: &str,
            ) -> Result<bool, $crate::json::ReadError> {
                let $object = self;
                match name {
                    $($name => $read,)*
                    _ => return Ok(false),
                }
                Ok(true)
            }
        }
    };
}
pub(super) use members;
