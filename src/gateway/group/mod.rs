//! The process of a server together with all processes that it starts: a group, which ends as a unit, and with the gateway,
//! even if the gateway is killed.
//!
//! | system | a group is | if the gateway is killed |
//! |---|---|---|
//! | Unix | a process group; on Linux also the descendants that have left it | the reaper, a process of n8n-lens, ends it |
//! | Windows | a job object | the system ends it when it closes the gateway's handle |

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use unix::run_as_reaper;
#[cfg(unix)]
pub(super) use unix::{Group, Groups};
#[cfg(windows)]
pub use windows::run_as_reaper;
#[cfg(windows)]
pub(super) use windows::{Group, Groups};
