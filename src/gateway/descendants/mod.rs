//! The processes that servers start, wherever they are.
//!
//! A process that creates a session of its own leaves the process group of its server, and one whose parent has exited
//! leaves the tree below it. So the environment of every child has a mark, which its descendants inherit, and the
//! gateway is a child subreaper: it becomes the parent of every process below it that loses its own. Only processes
//! below the gateway are ended, whatever the environment of others.
//!
//! Only Linux has subreapers. Elsewhere such processes are not found.

/// The variable that identifies a child and its descendants.
pub(super) const MARK: &str = "N8N_LENS_GATEWAY_CHILD";

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
pub(super) use linux::{adopt_orphans, end_all, end_marked, exited_children, reap};

#[cfg(not(target_os = "linux"))]
mod elsewhere {
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
}
#[cfg(not(target_os = "linux"))]
pub(super) use elsewhere::{adopt_orphans, end_all, end_marked, exited_children, reap};
