//! How a server exited.

use std::process::ExitStatus;

use serde_json::{Map, Value};

/// The exit of a server, as far as it is known.
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
        Self { code: status.code(), signal: signal(status), reason: None }
    }

    /// An exit for which there is no exit status.
    pub(super) fn because(reason: &'static str) -> Self {
        Self { reason: Some(reason), ..Self::default() }
    }

    /// Those that are known of `exitCode`, `signal` and `reason`.
    pub(super) fn details(&self) -> Map<String, Value> {
        let members = [
            ("exitCode", self.code.map(Value::from)),
            ("signal", self.signal.clone().map(Value::from)),
            ("reason", self.reason.map(Value::from)),
        ];
        members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    }
}

/// The standard library exposes signal names only in its display text: `signal: 9 (SIGKILL)`.
#[cfg(unix)]
fn signal(status: ExitStatus) -> Option<String> {
    use std::os::unix::process::ExitStatusExt;
    let number = status.signal()?;
    let text = status.to_string();
    let name = text.split(['(', ')']).find(|word| word.starts_with("SIG"));
    Some(name.map_or_else(|| number.to_string(), str::to_owned))
}

#[cfg(not(unix))]
fn signal(_: ExitStatus) -> Option<String> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    #[test]
    fn signals_have_names() {
        for (number, name) in [(9, "SIGKILL"), (11, "SIGSEGV"), (15, "SIGTERM"), (40, "40")] {
            let exit = Exit::of(ExitStatus::from_raw(number));
            assert_eq!((exit.code, exit.signal.as_deref()), (None, Some(name)));
        }
        assert_eq!(Exit::of(ExitStatus::from_raw(3 << 8)).code, Some(3));
    }
}
