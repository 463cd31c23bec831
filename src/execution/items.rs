//! Items: what a node puts out and takes in, `{json, binary?, pairedItem?, …}`, held in bounded memory.

use std::io::Read;
use std::ops::Range;

use super::failure;
use crate::json::{Captured, Cursor, Element, Excerpt, ReadError};
use crate::secrets::redact;

/// What is shown of a binary; never its data, which n8n 1.x keeps as base64.
const BINARY: [&str; 6] = ["mimeType", "fileName", "fileExtension", "fileSize", "bytes", "id"];

/// No node has more outputs; those behind are counted with their items and not shown.
const PORTS: usize = 256;

/// An item of n8n has half a dozen members (`json`, `binary`, `pairedItem`, …), and hardly more files.
const MEMBERS: usize = 64;

/// What one held item counts for, beside its bytes and its place: the allocator's and the counter's share.
const ITEM_BYTES: usize = 64;

/// Which items are held, and in how much memory.
#[derive(Clone, Debug)]
pub(super) struct Room {
    /// The items of each input and output.
    pub(super) window: Range<u64>,
    /// Bytes, for all items of a run together.
    pub(super) bytes: usize,
}

/// The inputs or the outputs of a run.
#[derive(Clone, Debug, Default)]
pub struct Ports {
    /// In document order.
    pub list: Vec<Port>,
    bytes: usize,
    /// What they came to when they were last made smaller.
    shrunk: usize,
}

/// One input or output.
#[derive(Clone, Debug)]
pub struct Port {
    /// `main`, or `ai_languageModel`, `ai_tool`, …
    pub connection: String,
    /// Its place within the connection.
    pub index: u64,
    /// All its items.
    pub total: u64,
    /// Those of the window.
    items: Vec<Item>,
}

/// An item, as small as it came or cut to the room that it has.
#[derive(Clone, Debug)]
enum Item {
    Raw(Captured),
    Read(Excerpt),
}

impl Item {
    fn bytes(&self) -> usize {
        ITEM_BYTES
            + match self {
                Self::Raw(json) => json.len(),
                Self::Read(excerpt) => excerpt.bytes(),
            }
    }

    fn read(&self, bytes: usize) -> Result<Excerpt, ReadError> {
        match self {
            Self::Raw(json) => read_item(&mut Cursor::unpruned(&json[..]), bytes),
            Self::Read(excerpt) => Ok(excerpt.clone()),
        }
    }

    fn shrink(&mut self, bytes: usize) -> Result<(), ReadError> {
        let mut excerpt = self.read(bytes)?;
        excerpt.shrink(bytes);
        *self = Self::Read(excerpt);
        Ok(())
    }
}

impl Port {
    /// The items of the window, each in about `bytes`.
    ///
    /// # Errors
    /// [`ReadError`]
    pub fn items(&self, bytes: usize) -> Result<Vec<Excerpt>, ReadError> {
        self.items.iter().map(|item| item.read(bytes)).collect()
    }
}

impl Ports {
    /// Reads `{connection: [[item, …], …]}`; `None` for something else. Without room the items are
    /// only counted.
    pub(super) fn read<R: Read>(cursor: &mut Cursor<R>, room: Option<&Room>) -> Result<Option<Self>, ReadError> {
        let mut ports = Self::default();
        let is_object = cursor.object(|cursor, connection| {
            cursor.array(|cursor, index| ports.read_port(cursor, connection, index, room)).map(drop)
        })?;
        // Most runs have one output with few items, and there may be a hundred thousand of them.
        ports.list.shrink_to_fit();
        Ok(is_object.then_some(ports))
    }

    /// Bytes that these ports count for.
    pub(super) fn bytes(&self) -> usize {
        let places: usize =
            self.list.iter().map(|port| port.connection.len() + port.items.capacity() * size_of::<Item>()).sum();
        self.bytes + self.list.capacity() * size_of::<Port>() + places
    }

    /// The output `index` of the connection `main`.
    pub(super) fn main(&self, index: u64) -> Option<&Port> {
        self.list.iter().find(|port| port.connection == "main" && port.index == index)
    }

    fn read_port<R: Read>(
        &mut self,
        cursor: &mut Cursor<R>,
        connection: &str,
        index: u64,
        room: Option<&Room>,
    ) -> Result<(), ReadError> {
        let connection = crate::json::cut_name(connection.to_owned());
        self.list.push(Port { connection, index, total: 0, items: Vec::new() });
        let room = room.filter(|_| self.list.len() <= PORTS);
        let at = self.list.len().min(PORTS + 1) - 1;
        self.list.truncate(PORTS + 1);
        cursor.array(|cursor, _| {
            let element = self.list[at].total;
            let read = cursor.element()?;
            self.list[at].total += if let Element::Skipped(elements) = read { elements } else { 1 };
            match (read, room) {
                (Element::Captured(json), Some(room)) => self.hold(at, Item::Raw(json), room),
                (Element::Here, Some(room)) if room.window.contains(&element) => {
                    let item = read_item(cursor, room.bytes)?;
                    self.hold(at, Item::Read(item), room)
                }
                (Element::Here, _) => cursor.skip(),
                (Element::Captured(_) | Element::Skipped(_), _) => Ok(()),
            }
        })?;
        self.list[at].items.shrink_to_fit();
        Ok(())
    }

    fn hold(&mut self, at: usize, item: Item, room: &Room) -> Result<(), ReadError> {
        self.bytes += item.bytes();
        self.list[at].items.push(item);
        // Thousands of items cannot be made as small as their room: then not each one shrinks all of them again.
        if self.bytes > room.bytes && self.bytes > self.shrunk + room.bytes / 8 {
            self.shrink(room.bytes)?;
        }
        Ok(())
    }

    /// Makes room for one more: no item keeps more than its even share.
    fn shrink(&mut self, bytes: usize) -> Result<(), ReadError> {
        let items = self.list.iter().map(|port| port.items.len()).sum::<usize>();
        // Some room is left, so that the next item does not shrink all of them again.
        let share = (bytes * 3 / 4 / (items + 1)).saturating_sub(ITEM_BYTES);
        self.bytes = 0;
        for item in self.list.iter_mut().flat_map(|port| &mut port.items) {
            if item.bytes() > share {
                item.shrink(share)?;
            }
            self.bytes += item.bytes();
        }
        self.shrunk = self.bytes;
        Ok(())
    }
}

/// Reads about `bytes` of an item.
fn read_item<R: Read>(cursor: &mut Cursor<R>, bytes: usize) -> Result<Excerpt, ReadError> {
    if !cursor.at_object()? {
        return cursor.excerpt(bytes);
    }
    let (mut left, mut total) = (bytes, 0);
    let mut kept: Vec<(String, Excerpt)> = Vec::new();
    cursor.object(|cursor, member| {
        if left < ITEM_BYTES || kept.len() == MEMBERS {
            total += 1;
            return cursor.skip();
        }
        let value = match member {
            "binary" => read_binary(cursor, left / 2)?,
            "error" if cursor.at_object()? => failure::read_whole(cursor, left / 2)?,
            "metadata" => {
                let mut metadata = cursor.excerpt(left / 2)?;
                redact::error(&mut metadata);
                Some(metadata)
            }
            _ => Some(cursor.excerpt(left - left / 8)?),
        };
        if let Some(value) = value {
            left = left.saturating_sub(value.bytes());
            let name = crate::json::cut_name(member.to_owned());
            match kept.iter_mut().find(|(known, _)| *known == name) {
                Some((_, first)) => *first = value,
                None => kept.push((name, value)),
            }
        }
        Ok(())
    })?;
    total += kept.len() as u64;
    Ok(Excerpt::Object { kept, total })
}

fn read_binary<R: Read>(cursor: &mut Cursor<R>, bytes: usize) -> Result<Option<Excerpt>, ReadError> {
    let mut kept = Vec::new();
    let (mut left, mut total) = (bytes, 0);
    let is_object = cursor.object(|cursor, property| {
        total += 1;
        if left < ITEM_BYTES || kept.len() == MEMBERS {
            return cursor.skip();
        }
        let mut metadata = Vec::new();
        cursor.object(|cursor, member| {
            if !BINARY.contains(&member) || left < ITEM_BYTES {
                return cursor.skip();
            }
            let value = cursor.excerpt(left / 8)?;
            left = left.saturating_sub(value.bytes());
            metadata.push((member.to_owned(), value));
            Ok(())
        })?;
        let total = metadata.len() as u64;
        kept.push((crate::json::cut_name(property.to_owned()), Excerpt::Object { kept: metadata, total }));
        Ok(())
    })?;
    Ok(is_object.then_some(Excerpt::Object { kept, total }))
}
