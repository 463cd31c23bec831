//! The id of a message that cannot be parsed or held, so that it can be answered, or its call can fail at once.

use rmcp::model::RequestId;

use crate::json::{Cursor, Detail, Keep, Pruner};

/// What is kept of the message: its id, and whether it has a method.
const ID: Keep = Keep::Members(&[("id", Keep::Whole), ("method", Keep::Count)]);

/// How much of the message is repaired at once, in bytes.
const PIECE_BYTES: usize = 64 * 1024;

/// The maximum kept of a message, in bytes; an id comes early, or not at all.
const KEPT_BYTES: usize = 64 * 1024;

/// The longest id, in bytes.
const ID_BYTES: usize = 1000;

/// A message; only its id is kept. Bytes that are not UTF-8 and control characters do not hide it; after any
/// other fault, the rest of the message is ignored.
pub(crate) struct UnreadableMessage {
    /// `None` after a fault.
    pruner: Option<Pruner>,
    kept: Vec<u8>,
}

impl UnreadableMessage {
    /// A message before any of it is read.
    pub(crate) fn new() -> Self {
        Self { pruner: Some(Pruner::new(ID, 0..0)), kept: Vec::new() }
    }

    /// A whole message.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let mut message = Self::new();
        message.feed(bytes);
        message
    }

    /// Reads more of the message.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        for piece in bytes.chunks(PIECE_BYTES) {
            let Some(pruner) = &mut self.pruner else { return };
            let piece: Vec<_> = piece.iter().map(|byte| if byte.is_ascii_control() { b' ' } else { *byte }).collect();
            let fed = pruner.feed(String::from_utf8_lossy(&piece).as_bytes());
            let is_sound = fed.is_ok();
            self.kept.append(&mut fed.unwrap_or_else(|_| pruner.take()).text);
            if !is_sound || self.kept.len() > KEPT_BYTES {
                self.pruner = None;
            }
        }
    }

    /// The id of the request that this message answers; `None` if it has no id, or is itself a request.
    pub(crate) fn answered(&self) -> Option<RequestId> {
        self.id_if(|has_method| !has_method)
    }

    /// The id of the request that this message is; `None` if it has no id, or is an answer.
    pub(crate) fn requested(&self) -> Option<RequestId> {
        self.id_if(|has_method| has_method)
    }

    fn id_if(&self, matches: impl Fn(bool) -> bool) -> Option<RequestId> {
        let (mut id, mut has_method) = (None, false);
        // An error after the id does not matter.
        let _ = Cursor::pruned(self.kept.as_slice()).object(|json, name| match name {
            "id" => {
                let mut text = String::new();
                json.excerpt(ID_BYTES)?.write(Detail::WHOLE, &mut text, &mut 0);
                id = serde_json::from_str(&text).ok();
                Ok(())
            }
            name => {
                has_method |= name == "method";
                json.skip()
            }
        });
        id.filter(|_| matches(has_method))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(message: &[u8]) -> Option<RequestId> {
        let mut unreadable = UnreadableMessage::new();
        message.chunks(7).for_each(|chunk| unreadable.feed(chunk));
        unreadable.answered()
    }

    #[test]
    fn the_id_is_read_despite_faults() {
        for message in [
            b"{\"id\":5,\"result\":{\"text\":\"caf\xe9\"}}".as_slice(),
            b"{\"result\":{\"text\":\"caf\xe9\", \"\xff\":\"a\tb\x1b\"},\"id\":5}",
            b"{\"id\":5,\"result\":{\"number\":NaN}}",
            b"{\"id\":5,\"result\":{\"content\":[{\"te",
            b"{\"id\":5,\"result\":\"\\x41\"}",
            b"{\"id\":5}}",
        ] {
            assert_eq!(id(message), Some(RequestId::Number(5)), "{}", String::from_utf8_lossy(message));
        }
    }

    #[test]
    fn an_endless_message_takes_little_memory() {
        for unit in ["\"a\":0,", "\"id\":0,", "a"] {
            let mut message = UnreadableMessage::of(b"{\"id\":");
            if unit == "a" {
                message.feed(b"\"");
            } else {
                message.feed(b"5,");
            }
            (0..100).for_each(|_| message.feed(unit.repeat(10_000).as_bytes()));
            assert!(message.kept.capacity() < 1_000_000, "{unit}: {}", message.kept.capacity());
        }
    }

    #[test]
    fn other_lines_have_no_id() {
        for line in [
            b"\xff\xfe\xc3\x28".as_slice(),
            b"[5]",
            b"{\"half\":",
            b"{\"result\":{\"id\":5}}",
            b"{\"id\":5,\"method\":\"ping\",\"params\":\"\xff\"}",
            b"{\"id\":null,\"error\":\"\xff\"}",
            b"caf\xe9 {\"id\":5}",
        ] {
            assert_eq!(id(line), None, "{}", String::from_utf8_lossy(line));
        }
    }
}
