//! JSON-RPC as MCP uses it: one message per line on pipes, its kind, what can be known of one that cannot be read, and the
//! requests of a peer that are not answered yet.

mod envelope;
mod line_reader;
mod not_a_message;
mod pending;
mod unreadable;

pub(crate) use envelope::Envelope;
pub(crate) use line_reader::{Line, LineReader};
pub(crate) use not_a_message::not_a_message;
pub(crate) use pending::{Answering, NotAdmitted, PendingRequests};
pub(crate) use unreadable::UnreadableMessage;
