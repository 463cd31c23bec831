//! Changes to a value while it is expanded.

use super::peek::Peek;
use crate::json::ReadError;

/// Changes a value while it is expanded: leaves members out, replaces values, and adds members.
///
/// An edit follows the path from the root. Each container on the way has a place, of a type of the edit's own; from
/// there the edit decides on each member or element. It is not asked below a place that it does not care about.
pub trait Edit {
    /// What the edit needs to know about where a container is.
    type Place: Copy;

    /// What to do with the root.
    fn root(&self) -> Step<Self::Place>;

    /// What to do with a member of an object at this place.
    fn member(&self, object: Self::Place, name: &str) -> Step<Self::Place>;

    /// What to do with an element of an array at this place. Elements that are only counted are not asked about.
    fn element(&self, array: Self::Place, index: u64) -> Step<Self::Place>;

    /// What to do with a value that was to be [looked](Step::Look) at.
    ///
    /// # Errors
    /// When the value cannot be read.
    fn look(&self, place: Self::Place, value: &mut Peek<'_, '_>) -> Result<Verdict<Self::Place>, ReadError>;
}

/// What to do with a member or an element.
#[derive(Clone, Copy, Debug)]
pub enum Step<P> {
    /// It stays, with everything in it.
    Keep,
    /// It stays, and the edit decides on its parts.
    Enter(P),
    /// It is left out; an element becomes `null`.
    Drop,
    /// This JSON text replaces it.
    Put(&'static str),
    /// The edit decides after looking at the value. A member can have another name from here on.
    Look {
        /// The place of the value.
        place: P,
        /// The member's new name.
        name: Option<&'static str>,
    },
}

/// What to do with a value that the edit has looked at.
#[derive(Clone, Debug)]
pub enum Verdict<P> {
    /// This JSON text replaces it.
    Put(String),
    /// The element is counted like one outside the window; only for elements that would be captured.
    Count,
    /// The object stays, and the edit decides on its members. At its end these members are added, written as in JSON.
    Extend(P, String),
}

/// Changes nothing.
#[derive(Clone, Copy, Debug)]
pub struct Unedited;

/// Nowhere.
#[derive(Clone, Copy, Debug)]
pub enum Nowhere {}

impl Edit for Unedited {
    type Place = Nowhere;

    fn root(&self) -> Step<Nowhere> {
        Step::Keep
    }

    fn member(&self, object: Nowhere, _: &str) -> Step<Nowhere> {
        match object {}
    }

    fn element(&self, array: Nowhere, _: u64) -> Step<Nowhere> {
        match array {}
    }

    fn look(&self, place: Nowhere, _: &mut Peek<'_, '_>) -> Result<Verdict<Nowhere>, ReadError> {
        match place {}
    }
}
