//! Items, the units of data that nodes receive and output (n8n's `INodeExecutionData`:
//! `{json, binary?, pairedItem?, …}`), held in bounded memory.

use std::ops::Range;

use bytes::Bytes;

use super::failure;
use super::runs::Item;
use crate::json::{Cursor, Excerpt, ReadError};
use crate::secrets::redact;

/// The members of a binary file that are shown; never its data, which n8n 1.x stores as base64.
const BINARY: [&str; 6] = ["mimeType", "fileName", "fileExtension", "fileSize", "bytes", "id"];

/// No node has more inputs or outputs. The items of any further ones are added to the total of one last list.
const MAX_LISTS: usize = 256;

/// The maximum number of members of an item, and files in its `binary`: n8n's items have half a dozen members (`json`,
/// `binary`, `pairedItem`, …), and hardly more files.
const MAX_MEMBERS: usize = 64;

/// The maximum number of listed sources of an item.
const PAIRED_ITEMS: u64 = 3;

/// Lines shown of the stack trace of an item's error.
const STACK_LINES: usize = 3;

/// The memory of a held item in addition to its text, bytes: an estimate of the allocator's overhead.
const ITEM_OVERHEAD_BYTES: usize = 64;

/// Which items are held, and in how much memory.
#[derive(Clone, Debug)]
pub(super) struct ItemLimits {
    /// Which items of each input and output.
    pub(super) window: Range<u64>,
    /// Bytes for all items of a run together.
    pub(super) bytes: usize,
}

/// The items of all inputs or all outputs of a run (n8n's `ITaskDataConnections`).
#[derive(Clone, Debug, Default)]
pub struct ItemLists {
    /// One list for each input or output, in document order.
    pub lists: Vec<ItemList>,
    /// Bytes of the held items.
    bytes: usize,
    /// Bytes of the held items when they were last shrunk.
    shrunk: usize,
}

/// The items of one input or output.
#[derive(Clone, Debug)]
pub struct ItemList {
    /// The type of connection: `main`, or `ai_languageModel`, `ai_tool`, …
    pub connection: String,
    /// Which input or output of this connection type, from 0.
    pub index: u64,
    /// How many items there are.
    pub total: u64,
    /// The items of the window.
    items: Vec<HeldItem>,
}

/// An item that is held: its JSON text as captured, or an excerpt cut to its share of the memory.
#[derive(Clone, Debug)]
enum HeldItem {
    Captured(Bytes),
    Excerpt(Excerpt),
}

impl HeldItem {
    fn bytes(&self) -> usize {
        ITEM_OVERHEAD_BYTES
            + match self {
                Self::Captured(json) => json.len(),
                Self::Excerpt(excerpt) => excerpt.bytes(),
            }
    }

    fn read(&self, bytes: usize) -> Result<Excerpt, ReadError> {
        match self {
            Self::Captured(json) => read_item(&mut Cursor::unpruned(&json[..]), bytes),
            Self::Excerpt(excerpt) => Ok(excerpt.clone()),
        }
    }

    fn shrink(&mut self, bytes: usize) -> Result<(), ReadError> {
        let mut excerpt = self.read(bytes)?;
        excerpt.shrink(bytes);
        *self = Self::Excerpt(excerpt);
        Ok(())
    }
}

impl ItemList {
    /// The items of the window, about `bytes` of each; less if memory for the run was short.
    ///
    /// # Errors
    /// When a captured item is not valid JSON; what a [`Pruner`](crate::json::Pruner) captures always is.
    pub fn items(&self, bytes: usize) -> Result<Vec<Excerpt>, ReadError> {
        self.items.iter().map(|item| item.read(bytes)).collect()
    }
}

impl ItemLists {
    /// The memory that these lists take, bytes.
    pub(super) fn bytes(&self) -> usize {
        let own: usize =
            self.lists.iter().map(|list| list.connection.len() + list.items.capacity() * size_of::<HeldItem>()).sum();
        self.bytes + self.lists.capacity() * size_of::<ItemList>() + own
    }

    /// The list `index` of the connection type `main`.
    pub(super) fn main(&self, index: u64) -> Option<&ItemList> {
        self.lists.iter().find(|list| list.connection == "main" && list.index == index)
    }

    /// The items of an input or output follow.
    pub(super) fn begin_list(&mut self, connection: &str, index: u64) {
        let connection = crate::json::cut_name(connection.to_owned());
        self.lists.push(ItemList { connection, index, total: 0, items: Vec::new() });
        self.lists.truncate(MAX_LISTS + 1);
    }

    /// The next item of the list; without limits it is only counted.
    pub(super) fn item(&mut self, item: Item<'_, '_>, limits: Option<&ItemLimits>) -> Result<(), ReadError> {
        let limits = limits.filter(|_| self.lists.len() <= MAX_LISTS);
        let Some(list) = self.lists.last_mut() else { return item.skip() };
        let index = list.total;
        list.total += item.count();
        match (item, limits) {
            (Item::Captured(json), Some(limits)) => self.hold(HeldItem::Captured(json), limits),
            (Item::Unread(cursor), Some(limits)) if limits.window.contains(&index) => {
                let item = read_item(cursor, limits.bytes)?;
                self.hold(HeldItem::Excerpt(item), limits)
            }
            (item, _) => item.skip(),
        }
    }

    /// The list has ended.
    pub(super) fn end_list(&mut self) {
        if let Some(list) = self.lists.last_mut() {
            list.items.shrink_to_fit();
        }
    }

    /// These lists, after all were read.
    pub(super) fn complete(mut self) -> Self {
        // Most runs have one output with few items, and there may be a hundred thousand runs.
        self.lists.shrink_to_fit();
        self
    }

    fn hold(&mut self, item: HeldItem, limits: &ItemLimits) -> Result<(), ReadError> {
        self.bytes += item.bytes();
        if let Some(list) = self.lists.last_mut() {
            list.items.push(item);
        }
        // Thousands of items cannot be shrunk below their limit; do not shrink all of them again for each new one.
        if self.bytes > limits.bytes && self.bytes > self.shrunk + limits.bytes / 8 {
            self.shrink(limits.bytes)?;
        }
        Ok(())
    }

    /// Makes room for one more item: none keeps more than an even share.
    fn shrink(&mut self, bytes: usize) -> Result<(), ReadError> {
        let items = self.lists.iter().map(|list| list.items.len()).sum::<usize>();
        // Leaves some room, so that the next item does not shrink all of them again.
        let share = (bytes * 3 / 4 / (items + 1)).saturating_sub(ITEM_OVERHEAD_BYTES);
        self.bytes = 0;
        for item in self.lists.iter_mut().flat_map(|list| &mut list.items) {
            if item.bytes() > share {
                item.shrink(share)?;
            }
            self.bytes += item.bytes();
        }
        self.shrunk = self.bytes;
        Ok(())
    }
}

/// A `pairedItem` as shown: a long list becomes its count.
fn paired(value: Excerpt) -> Excerpt {
    match value {
        Excerpt::Array { total, .. } if total > PAIRED_ITEMS => format!("{total} items").as_str().into(),
        value => value,
    }
}

/// Reads about `bytes` of an item.
pub(super) fn read_item(cursor: &mut Cursor<'_>, bytes: usize) -> Result<Excerpt, ReadError> {
    if !cursor.at_object()? {
        return cursor.excerpt(bytes);
    }
    let (mut left, mut total) = (bytes, 0);
    let mut kept: Vec<(String, Excerpt)> = Vec::new();
    // The execution of a sub-workflow that the item went through.
    let mut child = None;
    cursor.object(|cursor, member| {
        if left < ITEM_OVERHEAD_BYTES || kept.len() == MAX_MEMBERS {
            total += 1;
            return cursor.skip();
        }
        let value = match member {
            "binary" => read_binary(cursor, left / 2)?,
            "error" => Some(failure::read_of_item(cursor, left / 2, STACK_LINES)?),
            "metadata" => {
                let mut metadata = cursor.excerpt(left / 2)?;
                redact::error(&mut metadata);
                child = metadata.member("subExecution").and_then(|child| child.member("executionId")).cloned();
                Some(metadata)
            }
            "json" => {
                let mut json = cursor.excerpt(left - left / 8)?;
                shorten_stack_in(&mut json);
                Some(json)
            }
            "pairedItem" => Some(paired(cursor.excerpt(left - left / 8)?)),
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
    if let Some(child) = child.filter(|child| matches!(child, Excerpt::Text(_))) {
        kept.retain(|(name, _)| name != "subExecution");
        kept.push(("subExecution".to_owned(), child));
    }
    total += kept.len() as u64;
    Ok(Excerpt::Object { kept, total })
}

/// Shortens the stack of an error that a node put into the `json` of an item.
fn shorten_stack_in(json: &mut Excerpt) {
    let Excerpt::Object { kept, .. } = json else { return };
    let errors = kept.iter_mut().filter(|(name, error)| name == "error" && error.member("message").is_some());
    errors.for_each(|(_, error)| failure::shorten_stack(error, STACK_LINES));
}

/// Reads about `bytes` of the metadata of an item's files; `None` for a value that is not an object.
pub(super) fn read_binary(cursor: &mut Cursor<'_>, bytes: usize) -> Result<Option<Excerpt>, ReadError> {
    let mut kept = Vec::new();
    let (mut left, mut total) = (bytes, 0);
    let is_object = cursor.object(|cursor, property| {
        total += 1;
        if left < ITEM_OVERHEAD_BYTES || kept.len() == MAX_MEMBERS {
            return cursor.skip();
        }
        let mut metadata = Vec::new();
        cursor.object(|cursor, member| {
            if !BINARY.contains(&member) || left < ITEM_OVERHEAD_BYTES {
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
