//! The second pass of a trace: the items that it leads over.

use std::collections::{BTreeSet, HashMap};
use std::io::Read;
use std::ops::Range;
use std::sync::Arc;

use super::route::Place;
use crate::execution::runs::{self, Item, ItemPlace, Parts, RunHead, RunObserver, Side};
use crate::execution::{Error, items};
use crate::json::{Capture, Cursor, Excerpt, Keep, Pick, Projection, Pruner, ReadError};
use crate::secrets::redact;

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

/// The items that were found: objects with those of the members `json`, `binary` and `error` that the item has.
pub type ItemsView = HashMap<Place, Excerpt>;

impl Projection for ItemsProjection {
    type View = Result<ItemsView, Error>;
    const KEEP: Keep = Keep::Members(&runs::keep::<Reader<'_>>(Keep::Skip));

    fn window(&self) -> Range<u64> {
        let items = self.places.iter().map(|place| place.item);
        items.clone().min().unwrap_or(0)..items.max().map_or(0, |last| last.saturating_add(1))
    }

    fn pruner(&self) -> Pruner {
        let indexes = self.places.iter().map(|place| place.item).collect();
        Pruner::new(Self::KEEP, self.window()).capturing(Capture::picked(Indexes(indexes)))
    }

    fn read<R: Read>(&self, cursor: Cursor<R>) -> Self::View {
        Ok(runs::read(cursor, |_| Reader::new(self), Cursor::skip)?.runs.found)
    }
}

/// Picks elements by their index.
struct Indexes(BTreeSet<u64>);

impl Pick for Indexes {
    fn picks(&mut self, _: u64, index: u64, _: &[u8]) -> bool {
        self.0.contains(&index)
    }
}

/// Reads the items that are wanted.
struct Reader<'p> {
    projection: &'p ItemsProjection,
    found: ItemsView,
    /// The items of the run that is being read.
    of_run: ItemsView,
    /// The places in the node that is being read.
    wanted: Vec<&'p Place>,
}

impl RunObserver for Reader<'_> {
    const PARTS: Parts = Parts::OUTPUTS;

    fn begin_node(&mut self, name: &str) {
        self.found.retain(|place, _| place.node != name);
        self.wanted.clear();
        self.wanted.extend(self.projection.places.iter().filter(|place| place.node == name));
    }

    fn begin_lists(&mut self, _: u64, _: Side) {
        self.of_run.clear();
    }

    fn item<R: Read>(&mut self, at: ItemPlace, item: Item<'_, R>) -> Result<(), ReadError> {
        let is_here = |place: &&&Place| (place.run, place.output, place.item) == (at.run, at.output, at.item);
        let Some(place) = self.wanted.iter().find(is_here) else { return item.skip() };
        let shown = match item {
            Item::Omitted(_) => return Ok(()),
            Item::Captured(json) => self.projection.shown(&mut Cursor::unpruned(&json[..]))?,
            Item::Unread(cursor) => self.projection.shown(cursor)?,
        };
        self.of_run.insert(Place::clone(place), shown);
        Ok(())
    }

    fn end_run(&mut self, _: RunHead) -> Result<(), ReadError> {
        self.found.extend(self.of_run.drain());
        Ok(())
    }
}

impl<'p> Reader<'p> {
    fn new(projection: &'p ItemsProjection) -> Self {
        Self { projection, found: ItemsView::new(), of_run: ItemsView::new(), wanted: Vec::new() }
    }
}

impl ItemsProjection {
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
