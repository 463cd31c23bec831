//! The name of a member, held in bounded memory.

use std::borrow::Cow;

use super::cut::Prefix;
use super::string::StringSink;
use super::utf8::utf8_lossy;

/// The maximum number of bytes held of a raw name. A longer name has more than 1,000 characters, because one takes at
/// most 12 bytes, and only the first 1,000 matter.
const NAME_BYTES: usize = 16 * 1024;

/// The name that is being read, as the inside of a JSON string.
#[derive(Default)]
pub(super) struct Name {
    written: Vec<u8>,
    chars: u64,
    escaped: bool,
    cut: bool,
}

impl Name {
    pub(super) fn clear(&mut self) {
        self.written.clear();
        (self.chars, self.escaped, self.cut) = (0, false, false);
    }

    /// The raw name, from between its quotes; `None` if it was cut.
    pub(super) fn written(&self) -> Option<&[u8]> {
        (!self.cut).then_some(self.written.as_slice())
    }

    /// The name, decoded; a name of more than [`NAME_BYTES`] is cut as when shown.
    pub(super) fn text(&self) -> Cow<'_, str> {
        let whole = self.decode();
        if !self.cut {
            return whole;
        }
        Prefix { kept: whole.into_owned(), chars: self.chars }.into_name().into()
    }

    fn decode(&self) -> Cow<'_, str> {
        // The cut may have split a character, but none that is shown.
        let written = utf8_lossy(&self.written);
        if !self.escaped {
            return written;
        }
        // The escapes were checked as they arrived.
        serde_json::from_str(&format!("\"{written}\"")).unwrap_or_default()
    }

    fn hold(&mut self, bytes: &[u8]) {
        if self.cut {
            return;
        }
        let mut room = NAME_BYTES.saturating_sub(self.written.len()).min(bytes.len());
        self.cut = room < bytes.len();
        while room > 0 && room < bytes.len() && is_continuation(bytes[room]) {
            room -= 1;
        }
        self.written.extend_from_slice(&bytes[..room]);
    }
}

impl StringSink for Name {
    fn plain(&mut self, bytes: &[u8]) {
        self.chars += bytes.iter().filter(|byte| !is_continuation(**byte)).count() as u64;
        self.hold(bytes);
    }

    fn escape(&mut self, bytes: &[u8]) {
        self.chars += 1;
        self.escaped = true;
        if self.written.len() + bytes.len() > NAME_BYTES {
            self.cut = true;
        }
        self.hold(bytes);
    }
}

fn is_continuation(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}
