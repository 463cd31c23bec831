//! Reads `flatted` text, the form in which n8n stores run data, in flat memory.
//!
//! # The format
//!
//! n8n writes `execution_data.data` with the npm package `flatted` (`packages/cli/src/executions/execution-data`,
//! flatted 3.2 to 3.4: the same text). One JSON value becomes one JSON array, in which containers never nest:
//!
//! ```text
//! {"name":"Ann","tags":["new","vip"],"age":7}     the value
//! [{"name":"1","tags":"2","age":7},"Ann",["3","4"],"new","vip"]     its flatted text
//!  0                               1     2         3     4          the indices of its elements
//! ```
//!
//! - Element 0 is the value itself. Each element is an object, an array or a string; a number, a literal or
//!   anything else that JSON has stands alone only as element 0.
//! - Inside an element, every string is the index of another element, in decimal. Numbers, `true`, `false` and `null`
//!   stand for themselves, and so do the names of members.
//! - Strings are shared by value and containers by identity, so that a text can refer to an element from many places,
//!   and to one that contains the reference: a cycle.
//! - There is no white space. An index that the text does not have stands for `undefined`.
//!
//! flatted numbers the elements as it meets them, **breadth first**: what is near the root is near the beginning. In the
//! text of a large execution the names of nodes, their runs and the number of their items are the first few percent,
//! and the items follow.
//!
//! # How it is read
//!
//! ```text
//! ReadAt -> Text: chunks, index -> Expansion: the Pruner's sibling -> Batch -> Cursor -> a projection's view
//! ```
//!
//! - [`Flatted`] finds elements. It scans the text for the commas between them with the masks of the pruning filter, and
//!   remembers one mark for each chunk of 16 KiB: how many elements begin before it. It scans only as far as the wanted
//!   element, and holds 2 MiB of chunks. Nodes such as Sort output items in another order than the text has them in:
//!   each chunk that is read again out of order makes room for a few more, up to 16 MiB. A text inside a JSON string is scanned with its escapes; only
//!   the chunks that are read are unescaped.
//! - [`Expansion`] walks from the root, and enters what a [`Keep`](super::Keep) table names. It resolves no reference
//!   to anything else, and counts the elements of an array without looking at them. What is left is the same, byte for
//!   byte, as what the [`Pruner`](super::Pruner) leaves of the whole body, because both pass what they meet to one
//!   selection.
//! - An [`Edit`] changes the value on the way: it leaves members out, and replaces values.
//!
//! No value is ever whole in memory; strings pass in pieces. A cycle becomes `"[Circular Reference]"`, as in n8n's
//! responses. Containers nested deeper than 64 are emptied. The work is bounded as well
//! ([`FaultKind::Expansion`](super::FaultKind::Expansion)), since a short text can refer to its elements often enough to
//! stand for terabytes. It is counted in units of about a nanosecond (values, bytes, chunks that are read again): half a
//! second, and 1,024 units for each byte of the text, which is many times what n8n's own texts need.
//!
//! What is read is checked as the pruning filter checks a body: a broken text is a [`Fault`](super::Fault) with its
//! offset in the flatted text. What is not read is not checked.
//!
//! ```
//! use n8n_lens::json::flatted::{Expansion, Flatted};
//! use n8n_lens::json::{Cursor, Keep, Pruner, ReadError};
//!
//! const KEEP: Keep = Keep::Members(&[("name", Keep::Whole), ("tags", Keep::Count)]);
//!
//! let data = &br#"[{"name":"1","tags":"2","age":7},"Ann",["3","4"],"new","vip"]"#[..];
//! let mut text = Flatted::new(Box::new(data));
//! let mut cursor = Cursor::over(Expansion::new(&mut text, Pruner::new(KEEP, 0..0)));
//! let (mut name, mut tags) = (None, 0);
//! cursor.object(|cursor, member| match member {
//!     "name" => cursor.name().map(|read| name = read),
//!     "tags" => cursor.count().map(|count| tags = count),
//!     _ => cursor.skip(),
//! })?;
//! assert_eq!((name.as_deref(), tags), (Some("Ann"), 2));
//! # Ok::<_, ReadError>(())
//! ```

mod byte_kinds;
mod cache;
mod edit;
mod expand;
mod peek;
mod pieces;
mod text;
mod token;
mod unescape;

pub use byte_kinds::{ByteKind, ByteKinds};
pub use edit::{Edit, Step, Unedited, Verdict};
pub use expand::Expansion;
pub use peek::Peek;
pub use text::Flatted;
