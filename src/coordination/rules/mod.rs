//! Rules shared by several tools: functions over one unit of work.

pub(super) mod execution;
pub(super) mod session;
pub(super) mod task;
