//! Small objects, each declared once: its members, what is kept of them, and where their values go.

use super::cursor::Cursor;
use super::fault::ReadError;
use super::keep::Keep;

/// An object that is declared with [`members!`].
pub(crate) trait Members: Default {
    /// Its members, with what is kept of each.
    const MEMBERS: &'static [(&'static str, Keep)];

    /// What is kept of it.
    const KEEP: Keep = Keep::Members(Self::MEMBERS);

    /// Reads the value of the member `name`; returns whether there is such a member. If not, nothing was read.
    fn read_member(&mut self, cursor: &mut Cursor<'_>, name: &str) -> Result<bool, ReadError>;

    /// Reads the members of an object; returns whether the value is one.
    fn read_members(&mut self, cursor: &mut Cursor<'_>) -> Result<bool, ReadError> {
        cursor.object(|cursor, name| if self.read_member(cursor, name)? { Ok(()) } else { cursor.skip() })
    }

    /// Reads an object; `None` for a value of another type.
    fn read_object(cursor: &mut Cursor<'_>) -> Result<Option<Self>, ReadError> {
        let mut object = Self::default();
        Ok(object.read_members(cursor)?.then_some(object))
    }

    /// Reads an object; the default for a value of another type.
    fn read_or_default(cursor: &mut Cursor<'_>) -> Result<Self, ReadError> {
        Ok(Self::read_object(cursor)?.unwrap_or_default())
    }
}

/// Reads one member of an object; the default if there is no such member, or a value of another type.
pub(crate) fn member<'t, T: Default>(
    cursor: &mut Cursor<'t>,
    name: &str,
    mut read: impl FnMut(&mut Cursor<'t>) -> Result<T, ReadError>,
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

/// The first value of the member `name` of an object whose text may end in the middle, which is not an error here.
pub(crate) fn first_member<'t, T>(
    mut cursor: Cursor<'t>,
    name: &str,
    mut read: impl FnMut(&mut Cursor<'t>) -> Result<Option<T>, ReadError>,
) -> Option<T> {
    let mut found = None;
    let _ = cursor.object(|cursor, other| {
        if other != name || found.is_some() {
            return cursor.skip();
        }
        found = read(cursor)?;
        Ok(())
    });
    found
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
    ($type:ty, |$object:ident, $cursor:ident| match name { $(($name:literal, $keep:expr) => $read:expr,)* }) => {
        impl $crate::json::Members for $type {
            const MEMBERS: &'static [(&'static str, $crate::json::Keep)] = &[$(($name, $keep)),*];

            fn read_member(
                &mut self,
                $cursor: &mut $crate::json::Cursor<'_>,
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
pub(crate) use members;
