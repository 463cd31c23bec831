//! Rules that several tools share.

pub(super) mod execution;
pub(super) mod session;
pub(super) mod task;
