//! A projection: what is kept of a JSON text, and how the rest is read, as one value.

use std::io::{BufRead, Read};
use std::ops::Range;

use super::cursor::Cursor;
use super::keep::Keep;
use super::prune::Pruner;
use super::pruned_reader::PrunedReader;

/// One way to look at a JSON text.
///
/// The table of what is kept, the window and the reader travel together, so that a text is never read with a reader
/// that expects another table. A projection does not know where the text comes from: a source (n8n's response, a file,
/// a database) prunes it with [`pruner`](Self::pruner) and hands what is left to [`read`](Self::read).
///
/// ```
/// use std::io::Read;
///
/// use n8n_lens::json::{Cursor, Keep, Projection, ReadError};
///
/// #[derive(Clone)]
/// struct Name;
///
/// impl Projection for Name {
///     type View = Result<Option<String>, ReadError>;
///     const KEEP: Keep = Keep::Members(&[("name", Keep::Whole)]);
///
///     fn read<R: Read>(&self, mut cursor: Cursor<R>) -> Self::View {
///         let mut name = None;
///         cursor.object(|cursor, member| match member {
///             "name" => cursor.name().map(|read| name = read),
///             _ => cursor.skip(),
///         })?;
///         cursor.finish().map(|()| name)
///     }
/// }
///
/// let name = Name.read_from(&br#"{"nodes": [1, 2, 3], "name": "Orders"}"#[..])?;
/// assert_eq!(name.as_deref(), Some("Orders"));
/// # Ok::<_, ReadError>(())
/// ```
pub trait Projection: Clone + Send + 'static {
    /// What the reader returns, usually a `Result`.
    type View: Send + 'static;

    /// What is kept of the text.
    const KEEP: Keep;

    /// The elements of each [`Keep::Window`] that are captured; none by default.
    fn window(&self) -> Range<u64> {
        0..0
    }

    /// Reads what [`pruner`](Self::pruner) left of a text, or a text from which nothing was pruned.
    fn read<R: Read>(&self, cursor: Cursor<R>) -> Self::View;

    /// The filter for this projection.
    fn pruner(&self) -> Pruner {
        Pruner::new(Self::KEEP, self.window())
    }

    /// Prunes and reads a text from a reader that may block.
    fn read_from(&self, text: impl BufRead) -> Self::View {
        self.read(Cursor::over(PrunedReader::new(text, self.pruner())))
    }

    /// The same projection with `map` applied to its view, on the thread that reads.
    fn map<T, F>(self, map: F) -> Map<Self, F>
    where
        T: Send + 'static,
        F: Fn(Self::View) -> T + Clone + Send + 'static,
    {
        Map { projection: self, map }
    }
}

/// A projection whose view is passed through a function; see [`Projection::map`].
#[derive(Clone, Debug)]
pub struct Map<P, F> {
    projection: P,
    map: F,
}

impl<P: Projection, T, F: Fn(P::View) -> T> Map<P, F> {
    /// The projection below the function.
    pub(crate) fn inner(&self) -> &P {
        &self.projection
    }

    /// Passes a view through the function.
    pub(crate) fn apply(&self, view: P::View) -> T {
        (self.map)(view)
    }
}

impl<P, T, F> Projection for Map<P, F>
where
    P: Projection,
    T: Send + 'static,
    F: Fn(P::View) -> T + Clone + Send + 'static,
{
    type View = T;
    const KEEP: Keep = P::KEEP;

    fn window(&self) -> Range<u64> {
        self.projection.window()
    }

    fn read<R: Read>(&self, cursor: Cursor<R>) -> T {
        self.apply(self.projection.read(cursor))
    }

    fn pruner(&self) -> Pruner {
        self.projection.pruner()
    }
}
