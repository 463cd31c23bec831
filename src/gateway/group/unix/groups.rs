//! All process groups of a gateway, which the reaper process knows, and the processes that have left them.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};

use super::{descendants, reaper};
use crate::gateway::program::own_program;

/// The least time between two searches for adopted processes that have exited.
const REAP_INTERVAL: Duration = Duration::from_millis(200);

/// The process groups of a gateway, and its handle to the reaper process.
#[derive(Default)]
pub(in crate::gateway) struct Groups(Mutex<State>);

#[derive(Default)]
struct State {
    groups: BTreeSet<i32>,
    process: Option<Child>,
    /// Children that the process had before the gateway started.
    inherited: BTreeSet<i32>,
}

impl Groups {
    /// Starts a child, which leads a process group of its own, and registers that group: it is ended if the gateway is
    /// killed.
    pub(super) fn spawn(&self, command: &mut tokio::process::Command) -> io::Result<tokio::process::Child> {
        // Locked, so that the exit of a child is not mistaken for that of an adopted process.
        let mut state = self.lock();
        let child = command.spawn()?;
        if let Some(group) = child.id() {
            state.register(group.cast_signed());
        }
        Ok(child)
    }

    /// Unregisters a process group that has ended.
    pub(super) fn unregister(&self, group: i32) {
        let mut state = self.lock();
        state.groups.remove(&group);
        if state.send(&format!("-{group}\n")).is_err() && !state.groups.is_empty() {
            state.start();
        }
    }

    /// Adopts the processes below this one whose own parent has exited, and reaps them once they have exited, too.
    pub(in crate::gateway) fn adopt_orphans(self: &Arc<Self>) {
        match descendants::adopt_orphans() {
            Ok(inherited) => {
                self.lock().inherited = inherited;
                tokio::spawn(reap_adopted(Arc::downgrade(self)));
            }
            Err(error) => {
                tracing::warn!(%error, "orphans cannot be adopted: a process that a server leaves behind may outlive it")
            }
        }
    }

    /// Ends all processes that are below this one because of the gateway, except the reaper.
    pub(in crate::gateway) fn end_all(&self) {
        let state = self.lock();
        descendants::end_all(&state.inherited.iter().copied().chain(state.process_id()).collect());
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reaps adopted processes until the gateway stops.
async fn reap_adopted(groups: Weak<Groups>) {
    if let Ok(mut exits) = signal(SignalKind::child()) {
        while let (Some(()), Some(groups)) = (exits.recv().await, groups.upgrade()) {
            let reaping = tokio::task::spawn_blocking(move || {
                let exited = descendants::exited_children();
                // The gateway's own children are registered as long as their exit status is needed.
                let state = groups.lock();
                let is_own = |child: &i32| state.groups.contains(child) || state.process_id() == Some(*child);
                exited.into_iter().filter(|child| !is_own(child)).for_each(descendants::reap);
            });
            let _ = reaping.await;
            tokio::time::sleep(REAP_INTERVAL).await;
        }
    }
}

impl State {
    fn process_id(&self) -> Option<i32> {
        self.process.as_ref().map(|process| process.id().cast_signed())
    }

    fn register(&mut self, group: i32) {
        self.groups.insert(group);
        if self.process.is_none() || self.send(&format!("+{group}\n")).is_err() {
            self.start();
        }
    }

    fn send(&mut self, line: &str) -> io::Result<()> {
        match self.process.as_mut().and_then(|process| process.stdin.as_mut()) {
            Some(stdin) => stdin.write_all(line.as_bytes()),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn start(&mut self) {
        if let Some(mut previous) = self.process.take() {
            let _ = previous.kill().and_then(|()| previous.wait());
        }
        let mut command = Command::new(own_program());
        command.arg(reaper::ARGUMENT).env_clear().process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        match command.spawn() {
            Ok(process) => self.process = Some(process),
            Err(error) => {
                tracing::warn!(%error, "the reaper could not be started: if the gateway is killed, children that hang may outlive it")
            }
        }
        let all: String = self.groups.iter().map(|group| format!("+{group}\n")).collect();
        let _ = self.send(&all);
    }
}

impl Drop for State {
    /// The reaper exits when its pipe closes; by then no group remains to be ended.
    fn drop(&mut self) {
        if let Some(mut process) = self.process.take() {
            drop(process.stdin.take());
            let _ = process.wait();
        }
    }
}
