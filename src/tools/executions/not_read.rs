//! How many of many executions were not read, by reason.

use serde::Serialize;

use crate::store::Unread;
use crate::toolkit::answer::is_zero;

/// Executions that were not read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct NotRead {
    /// Their data is in an object store.
    #[serde(skip_serializing_if = "is_zero")]
    elsewhere: u64,
    #[serde(skip_serializing_if = "is_zero")]
    no_data: u64,
    /// Missing, damaged, or of an unknown form.
    #[serde(skip_serializing_if = "is_zero")]
    unreadable: u64,
}

impl NotRead {
    pub(super) fn add(&mut self, reason: Unread) {
        *match reason {
            Unread::Elsewhere => &mut self.elsewhere,
            Unread::NoData => &mut self.no_data,
            Unread::Unreadable => &mut self.unreadable,
        } += 1;
    }

    /// `None` if there are none.
    pub(super) fn any(self) -> Option<Self> {
        (self != Self::default()).then_some(self)
    }
}
