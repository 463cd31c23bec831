//! Reads JSON (RFC 8259) of any size in flat memory: first prune the stream of bytes, then read what is left.
//!
//! ```text
//! bytes -> Pruner -> Batch: pruned text, captured values -> Cursor -> a projection's view, Excerpt
//! ```
//!
//! - A [`Keep`] table names what is kept of a text. [`Pruner`] is fed chunks of any size and returns [`Batch`]es: a
//!   short JSON text in which everything else is replaced by `0`, and captured values, which travel next to the text.
//! - [`Cursor`] reads the batches, with struson. [`Excerpt`] is a bounded copy of one value that knows how large the
//!   value was.
//! - [`walk`] passes the parts of a captured value to a [`Visitor`], without building anything. [`Capture`] says which
//!   values the pruner captures; a [`Prefilter`] picks those that may contain a text.
//! - A [`Projection`] combines a table with the code that reads what is left of it.
//! - [`markup`] recognizes a page that arrived in place of JSON.
//! - [`PrunedReader`] and [`ReadAhead`] prune a file or another blocking reader, [`PruneAhead`] on a thread of its own; a download
//!   feeds the pruner itself.
//! - [`flatted`] reads the form in which n8n stores run data, from anything that has bytes at a position ([`ReadAt`]), and
//!   returns the batches that the pruner would.
//!
//! # Glossary
//!
//! | term | meaning |
//! |---|---|
//! | table | what is kept of a text: a [`Keep`] rule for each member that is named |
//! | batch | what the filter left of one chunk: a piece of the pruned text, and the values that were captured in it |
//! | captured | handed over as JSON next to the pruned text, which has the mark `1` in its place |
//! | raw | captured as the bytes that arrived: the reader checks the grammar, not the filter |
//! | window | the elements of each array with [`Keep::Window`] that are captured; the others are counted |
//! | focus | the only member of the outermost [`Keep::EachMember`] that is kept |
//! | selection | the half of the filter that applies the table, to JSON and to `flatted` text alike |
//! | expansion | `flatted` text, read as the JSON that it stands for |
//! | pick | decides which elements in a window are captured raw |
//! | prefilter | looks for a text in JSON before it is parsed; what it finds is a candidate |
//! | excerpt | a bounded copy of a value, which knows how large the value was |
//! | extent | how deep a text nests and how many parts it has, before anything is built from it |
//! | fault | why a text is not JSON, and at which byte |
//!
//! # What is checked
//!
//! The filter checks the grammar of what it keeps, the brackets of everything else, and that all is UTF-8. So a broken
//! body is always a [`Fault`] with its byte offset, and never looks like a complete one.
//!
//! # Example
//!
//! ```
//! use n8n_lens::json::{Cursor, Keep, PrunedReader, Pruner, ReadError};
//!
//! const KEEP: Keep = Keep::Members(&[("name", Keep::Whole), ("nodes", Keep::Count)]);
//!
//! // A body of 10 MB. The cursor sees `{"name":"Orders","nodes":3}`.
//! let body = format!(r#"{{"name": "Orders", "nodes": [1, 2, 3], "log": "{}"}}"#, "x".repeat(10_000_000));
//! let mut cursor = Cursor::over(PrunedReader::new(body.as_bytes(), Pruner::new(KEEP, 0..0)));
//! let (mut name, mut nodes) = (None, 0);
//! cursor.object(|cursor, member| {
//!     match member {
//!         "name" => name = cursor.name()?,
//!         "nodes" => nodes = cursor.count()?,
//!         _ => cursor.skip()?,
//!     }
//!     Ok(())
//! })?;
//! cursor.finish()?;
//! assert_eq!((name.as_deref(), nodes), (Some("Orders"), 3));
//! # Ok::<_, ReadError>(())
//! ```

mod batch;
mod block;
mod count;
mod cursor;
mod cut;
mod excerpt;
mod extent;
mod fault;
pub mod flatted;
mod html;
mod keep;
mod long_string;
mod marks;
mod markup;
mod members;
mod name;
mod pick;
mod prefilter;
mod projection;
mod prune;
mod prune_ahead;
mod pruned_reader;
mod raw_capture;
mod read_ahead;
mod read_at;
mod scalar;
mod selection;
mod skip;
mod spool;
mod string;
mod utf8;
mod walk;
mod word;
mod written;

pub use batch::{Batch, CAPTURE_BYTES, Captured};
pub use cursor::{Cursor, Element};
pub(crate) use cut::stable_hash;
pub use cut::{
    CUT_NAME_CHARS, Prefix, cut_json_both, cut_name, hold_name, is_clipped, is_name, quoted_name, shorten, shorten_name,
};
pub use excerpt::{Detail, Excerpt};
pub use extent::Extent;
pub use fault::{Fault, FaultKind, ReadError};
pub use html::visible_text;
pub use keep::Keep;
pub use marks::Marks;
pub use markup::{SHOWN_PREFIX_BYTES, markup, shown_prefix};
pub(crate) use members::{Members, first_member, member, members};
pub use pick::Pick;
pub use prefilter::Prefilter;
pub use projection::{Map, Projection};
pub use prune::Pruner;
pub use prune_ahead::PruneAhead;
pub use pruned_reader::{PrunedReader, check};
pub use raw_capture::{Capture, SHARED_WITHIN};
pub use read_ahead::ReadAhead;
pub use read_at::{InOrder, ReadAt};
pub use scalar::number;
pub use spool::Spool;
pub(crate) use walk::walk_levels;
pub use walk::{Visitor, WALKED_LEVELS, begins_with, walk};
pub use written::{Written, well_formed};
