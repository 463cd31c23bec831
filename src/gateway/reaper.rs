//! Nobody outlives the gateway, even when it is killed: a small process of our own hears of every child,
//! and ends them when the pipe to the gateway closes.
//!
//! A child sees the end of its standard input then, too, but one that hangs, or has started others, does not go.

use std::collections::BTreeSet;
use std::io::{BufRead, Write};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The first argument with which our own program is the keeper.
pub const ARGUMENT: &str = "gateway-keeper";

/// How long children may end by themselves when the gateway is gone, and again after TERM.
const PATIENCE: Duration = Duration::from_millis(400);

/// The gateway's side.
#[derive(Default)]
pub(super) struct Keeper(Mutex<State>);

#[derive(Default)]
struct State {
    groups: BTreeSet<i32>,
    process: Option<Child>,
}

impl Keeper {
    /// A process group to end should the gateway be killed.
    pub(super) fn watch(&self, group: i32) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.groups.insert(group);
        if state.process.is_none() || state.tell(&format!("+{group}\n")).is_err() {
            state.start();
        }
    }

    /// A process group that has ended.
    pub(super) fn forget(&self, group: i32) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.groups.remove(&group);
        if state.tell(&format!("-{group}\n")).is_err() && !state.groups.is_empty() {
            state.start();
        }
    }
}

impl State {
    fn tell(&mut self, line: &str) -> std::io::Result<()> {
        match self.process.as_mut().and_then(|process| process.stdin.as_mut()) {
            Some(stdin) => stdin.write_all(line.as_bytes()),
            None => Err(std::io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn start(&mut self) {
        if let Some(mut gone) = self.process.take() {
            let _ = gone.kill().and_then(|()| gone.wait());
        }
        let mut command = Command::new(super::own_program());
        command.arg(ARGUMENT).env_clear().stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        match command.spawn() {
            Ok(process) => self.process = Some(process),
            Err(error) => tracing::warn!(%error, "children that hang may outlive a gateway that is killed"),
        }
        let all: String = self.groups.iter().map(|group| format!("+{group}\n")).collect();
        let _ = self.tell(&all);
    }
}

impl Drop for State {
    /// The keeper ends when its pipe closes; it has nobody left to end then.
    fn drop(&mut self) {
        if let Some(mut process) = self.process.take() {
            drop(process.stdin.take());
            let _ = process.wait();
        }
    }
}

/// The keeper's side: hears of children on standard input until that closes, and ends those that are left.
pub fn run() {
    let mut groups = BTreeSet::new();
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        match (line.get(..1), line.get(1..).and_then(|group| group.parse::<i32>().ok())) {
            (Some("+"), Some(group)) => drop(groups.insert(group)),
            (Some("-"), Some(group)) => drop(groups.remove(&group)),
            _ => {}
        }
    }
    end(&groups);
}

#[cfg(unix)]
fn end(groups: &BTreeSet<i32>) {
    use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
    let mut left: Vec<_> = groups.iter().filter_map(|group| Pid::from_raw(*group)).collect();
    for signal in [Signal::TERM, Signal::KILL] {
        left.retain(|group| test_kill_process_group(*group).is_ok());
        if left.is_empty() {
            return;
        }
        std::thread::sleep(PATIENCE);
        for group in &left {
            let _ = kill_process_group(*group, signal);
        }
    }
}

#[cfg(not(unix))]
fn end(_: &BTreeSet<i32>) {}
