//! The processes that servers start, wherever they are.
//!
//! A process that creates a session of its own leaves the process group of its server, and one whose parent has exited
//! leaves the tree below it. So the environment of every child has a mark, which its descendants inherit, and the
//! gateway is a child subreaper: it becomes the parent of every process below it that loses its own. Only processes
//! below the gateway are ended, whatever the environment of others.
//!
//! Only Linux has subreapers. On other Unix systems such processes are not found.

/// The variable that identifies a child and its descendants.
pub(super) const MARK: &str = "N8N_LENS_GATEWAY_CHILD";

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
pub(super) use linux::{adopt_orphans, end_all, end_marked, exited_children, reap};

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(not(target_os = "linux"))]
pub(super) use elsewhere::{adopt_orphans, end_all, end_marked, exited_children, reap};
