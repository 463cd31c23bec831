//! Bars as the page draws them: `[from, to, run, runs, failed, items, ms]`, with times in milliseconds since the first start.

use serde::{Serialize, Serializer};

use crate::execution::timeline::Bar;
use crate::toolkit::IntegerOr;

/// How many bars a node has at most: about one for each pixel of a wide window.
pub(super) type Bars = IntegerOr<1000, 2, 5000>;

/// The description of [`Bars`].
pub(super) const BARS: &str = "The most bars of a node.";

/// A bar on an axis that begins at `start`, milliseconds since 1970.
pub(super) struct ShownBar {
    pub bar: Bar,
    pub start: f64,
}

impl Serialize for ShownBar {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Bar { from, to: end, run, runs, failed, items, ms } = self.bar;
        let since = |time: f64| (time - self.start).round() as i64;
        (since(from), since(end), run, runs, failed, items, ms).serialize(to)
    }
}
