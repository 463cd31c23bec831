//! JSON-RPC over pipes: one message per line (MCP's stdio transport), and what can be known of one that cannot be read.

mod line_reader;
mod unreadable;

pub(crate) use line_reader::{Line, LineReader};
pub(crate) use unreadable::UnreadableMessage;
