//! Moments, as databases keep them and as answers show them.

use std::fmt::{Display, Formatter};
use std::time::Duration;

use serde::{Serialize, Serializer};

use super::sql::{Cell, Column, Value};

/// Milliseconds since 1970-01-01T00:00:00Z; written as `2025-01-06T10:00:00Z`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(pub i64);

impl Time {
    /// What this machine's clock says.
    pub fn of_this_machine() -> Self {
        Self(jiff::Timestamp::now().as_millisecond())
    }

    /// So much later.
    pub fn after(self, time: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(time.as_millis()).unwrap_or(i64::MAX)))
    }

    /// Seconds from then to now, with their fractions.
    pub fn seconds_since(self, then: Self) -> f64 {
        (self.0.saturating_sub(then.0)) as f64 / 1000.0
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Display for Time {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        jiff::Timestamp::from_second(self.0.div_euclid(1000)).unwrap_or_default().fmt(f)
    }
}

impl Column for Time {
    fn read(cell: Cell) -> Option<Self> {
        i64::read(cell).map(Self)
    }
}

impl From<Time> for Value<'_> {
    fn from(time: Time) -> Self {
        Self::Integer(time.0)
    }
}
