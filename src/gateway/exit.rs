//! How a server exited.

use std::process::ExitStatus;

use serde_json::{Map, Value};

use crate::platform::signal_name;

/// The known facts about a server's exit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exit {
    /// The exit code, if the process exited by itself.
    pub code: Option<i32>,
    /// The name of the signal that killed it, such as `SIGKILL`.
    pub signal: Option<String>,
    /// Further explanation: why it could not be started, or why it was stopped.
    pub reason: Option<&'static str>,
}

impl Exit {
    /// The exit of a process.
    pub(super) fn of(status: ExitStatus) -> Self {
        Self { code: status.code(), signal: signal_name(status), reason: None }
    }

    /// An exit for which there is no exit status.
    pub(super) fn because(reason: &'static str) -> Self {
        Self { reason: Some(reason), ..Self::default() }
    }

    /// The known ones of `exitCode`, `signal` and `reason`.
    pub(super) fn details(&self) -> Map<String, Value> {
        let members = [
            ("exitCode", self.code.map(Value::from)),
            ("signal", self.signal.clone().map(Value::from)),
            ("reason", self.reason.map(Value::from)),
        ];
        members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    }
}
