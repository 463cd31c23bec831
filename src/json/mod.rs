//! RFC 8259 in flat memory: prune a stream of bytes first, then read well what is left.
//!
//! [`Pruner`] is fed chunks of any size and gives [`Batch`]es: a short JSON text in which everything
//! that a [`Keep`] table does not name is replaced by `0`, and the values that it captures, which
//! travel beside the text. [`Cursor`] reads the batches with struson, and [`Excerpt`] is a bounded
//! copy of one value that knows how much of it there was.

mod batch;
mod block;
mod cursor;
mod cut;
mod depth;
mod excerpt;
mod fault;
mod keep;
mod name;
mod projection;
mod prune;
mod pruned_reader;
mod read_ahead;
mod skip;
mod string;
mod utf8;

pub use batch::{Batch, CAPTURE_BYTES, Captured};
pub use cursor::{Cursor, Element, Text};
pub use cut::{Beginning, CUT_NAME_CHARS, cut_name, hold_name, is_name, shorten, shorten_name};
pub use depth::depth;
pub use excerpt::{Detail, Excerpt};
pub use fault::{Fault, FaultKind, ReadError};
pub use keep::Keep;
pub use projection::{Map, Projection};
pub use prune::Pruner;
pub use pruned_reader::PrunedReader;
pub use read_ahead::ReadAhead;
