//! Points in time, as the database stores them and as answers show them.

use std::fmt::{Display, Formatter};
use std::time::Duration;

use serde::{Serialize, Serializer};

use super::StoreError;
use super::sql::{Cell, Column, SqlValue};

/// A point in time: milliseconds since 1970-01-01T00:00:00Z. Answers show it as `2025-01-06T10:00:00Z`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(pub i64);

impl Time {
    /// The current time of this machine's clock.
    pub fn system_now() -> Self {
        Self(jiff::Timestamp::now().as_millisecond())
    }

    /// The time `duration` later.
    pub fn plus(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)))
    }

    /// The seconds since an earlier time, with milliseconds; 0 if that time is later, since clocks can be set
    /// back.
    pub fn seconds_since(self, earlier: Self) -> f64 {
        self.0.saturating_sub(earlier.0).max(0) as f64 / 1000.0
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
    fn read(cell: Cell) -> Result<Self, StoreError> {
        i64::read(cell).map(Self)
    }

    fn value(&self) -> SqlValue<'_> {
        self.0.value()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_duration_is_negative() {
        assert_eq!(Time(1500).seconds_since(Time(1000)), 0.5);
        assert_eq!(Time(1000).seconds_since(Time(1500)), 0.0, "the clock was set back");
    }
}
