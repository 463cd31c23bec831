//! Without subreapers, the processes that have left their group are not found.

use std::collections::BTreeSet;

pub(in crate::gateway) fn adopt_orphans() -> std::io::Result<BTreeSet<i32>> {
    Ok(BTreeSet::new())
}

pub(in crate::gateway) fn end_all(_: &BTreeSet<i32>) {}

pub(in crate::gateway) fn end_marked(_: &str) {}

pub(in crate::gateway) fn exited_children() -> Vec<i32> {
    Vec::new()
}

pub(in crate::gateway) fn reap(_: i32) {}
