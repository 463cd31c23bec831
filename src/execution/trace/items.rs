//! The second pass of a trace: the items that it leads over.

use std::collections::{BTreeSet, HashMap};
use std::io::Read;
use std::ops::Range;
use std::sync::Arc;

use super::route::Place;
use crate::execution::values::ITEM_LISTS;
use crate::execution::{Error, Header, body, items, stored_json};
use crate::json::{Capture, Cursor, Element, Excerpt, Keep, Pick, Projection, Pruner, ReadError, hold_name};
use crate::secrets::redact;

/// Of a run: its items.
const RUN: Keep = Keep::Members(&[("data", ITEM_LISTS)]);

const DATA: Keep =
    Keep::Members(&[("resultData", Keep::Members(&[("runData", Keep::EachMember(&Keep::EachElement(&RUN)))]))]);

/// Memory for one item.
const ITEM_BYTES: usize = 64 * 1024;

/// The parts of an item that are shown.
const PARTS: [&str; 3] = ["json", "binary", "error"];

/// Reads a few items, each by its place.
#[derive(Clone, Debug)]
pub struct ItemsProjection {
    /// Which items.
    pub places: Arc<[Place]>,
    /// Whether values of known secret keys are masked.
    pub redacts: bool,
}

/// The items that were found: objects with the members `json`, `binary` and `error`, as far as an item has them.
pub type ItemsView = HashMap<Place, Excerpt>;

impl Projection for ItemsProjection {
    type View = Result<ItemsView, Error>;
    const KEEP: Keep = Keep::Members(&body::keep(DATA, Keep::Skip));

    fn window(&self) -> Range<u64> {
        let items = self.places.iter().map(|place| place.item);
        items.clone().min().unwrap_or(0)..items.max().map_or(0, |last| last.saturating_add(1))
    }

    fn pruner(&self) -> Pruner {
        let indexes = self.places.iter().map(|place| place.item).collect();
        Pruner::new(Self::KEEP, self.window()).capturing(Capture::picked(Indexes(indexes)))
    }

    fn read<R: Read>(&self, cursor: Cursor<R>) -> Self::View {
        let read = |cursor: &mut Cursor<R>, _: &Header| {
            stored_json::member(cursor, "resultData", |cursor| {
                stored_json::member(cursor, "runData", |cursor| self.read_nodes(cursor))
            })
        };
        Ok(body::read(cursor, read, Cursor::skip)?.data.unwrap_or_default())
    }
}

/// Picks elements by their index.
struct Indexes(BTreeSet<u64>);

impl Pick for Indexes {
    fn picks(&mut self, _: u64, index: u64, _: &[u8]) -> bool {
        self.0.contains(&index)
    }
}

impl ItemsProjection {
    fn read_nodes<R: Read>(&self, cursor: &mut Cursor<R>) -> Result<ItemsView, ReadError> {
        let mut found = ItemsView::new();
        cursor.object(|cursor, name| {
            let node = hold_name(name);
            // The last of several nodes with the same name counts.
            found.retain(|place, _| place.node != node);
            if self.places.iter().all(|place| place.node != node) {
                return cursor.skip();
            }
            cursor
                .array(|cursor, run| {
                    let items = stored_json::member(cursor, "data", |cursor| self.read_lists(cursor, &node, run))?;
                    found.extend(items);
                    Ok(())
                })
                .map(drop)
        })?;
        Ok(found)
    }

    fn read_lists<R: Read>(&self, cursor: &mut Cursor<R>, node: &str, run: u64) -> Result<ItemsView, ReadError> {
        let (mut found, mut output) = (ItemsView::new(), 0);
        cursor.object(|cursor, _| {
            cursor
                .array(|cursor, _| {
                    let mut place = Place { node: node.to_owned(), run, output, item: 0 };
                    output += 1;
                    cursor
                        .array(|cursor, _| {
                            let is_wanted = self.places.contains(&place);
                            let items = match cursor.element()? {
                                Element::Omitted(items) => items,
                                Element::Captured(item) => {
                                    if is_wanted {
                                        found.insert(place.clone(), self.shown(&mut Cursor::unpruned(&item[..]))?);
                                    }
                                    1
                                }
                                Element::Unread if is_wanted => {
                                    found.insert(place.clone(), self.shown(cursor)?);
                                    1
                                }
                                Element::Unread => {
                                    cursor.skip()?;
                                    1
                                }
                            };
                            place.item += items;
                            Ok(())
                        })
                        .map(drop)
                })
                .map(drop)
        })?;
        Ok(found)
    }

    fn shown<R: Read>(&self, cursor: &mut Cursor<R>) -> Result<Excerpt, ReadError> {
        let item = items::read_item(cursor, ITEM_BYTES)?;
        let Excerpt::Object { mut kept, .. } = item else { return Ok(item) };
        kept.retain(|(name, _)| PARTS.contains(&name.as_str()));
        for (_, json) in kept.iter_mut().filter(|(name, _)| self.redacts && name == "json") {
            redact::item(json);
        }
        let total = kept.len() as u64;
        Ok(Excerpt::Object { kept, total })
    }
}
