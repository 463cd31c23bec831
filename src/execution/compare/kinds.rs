//! The kinds of the values with one path: all that a comparison knows of them.

use crate::execution::fields::table::PathValues;
use crate::execution::fields::{Kind, NodePlace, NumberedPlace, shown_container, shown_text};
use crate::json::Written;

/// The first value of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct First {
    /// Where it is.
    pub place: NodePlace,
    /// The value as JSON, shortened.
    pub value: String,
}

/// The values with one path.
#[derive(Debug)]
pub(super) struct KindsOfPath {
    /// The first value of each kind that occurs.
    pub firsts: Vec<(Kind, First)>,
    present: u64,
}

impl KindsOfPath {
    fn add(&mut self, kind: Kind, place: NodePlace, shown: impl FnOnce() -> String) {
        self.present += 1;
        if self.firsts.iter().all(|(known, _)| *known != kind) {
            self.firsts.push((kind, First { place, value: shown() }));
        }
    }
}

impl PathValues for KindsOfPath {
    type Shared = ();

    fn new(_: &str, _: Option<NodePlace>, (): &()) -> Self {
        Self { firsts: Vec::new(), present: 0 }
    }

    fn scalar(&mut self, json: Written<'_>, place: &NumberedPlace) {
        self.add(Kind::of_scalar(json), place.place, || json.text().into_owned());
    }

    fn string(&mut self, text: Written<'_>, place: &NumberedPlace) {
        self.add(Kind::String, place.place, || shown_text(&text.text()));
    }

    fn container(&mut self, object: bool, _: u64, json: &[u8], place: &NumberedPlace) {
        self.add(Kind::of_container(object), place.place, || shown_container(json));
    }

    fn absent(&mut self, _: NodePlace) {}

    fn present(&self) -> u64 {
        self.present
    }

    fn last_item(&self) -> u64 {
        0
    }

    fn end(&mut self) {}
}
