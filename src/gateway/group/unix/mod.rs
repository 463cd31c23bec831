//! Process groups, and the reaper that outlives the gateway.

mod descendants;
mod groups;
mod reaper;

use std::io;
use std::process::ExitStatus;
use std::sync::Arc;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

pub(in crate::gateway) use groups::Groups;
pub use reaper::run_as_reaper;

/// A child that leads a process group. Dropping it kills the group.
pub(in crate::gateway) struct Group {
    /// Dropped first: it must not be reaped as an adopted process while it can still be killed by its id.
    leader: Child,
    members: Members,
}

/// The process group of a child. The processes that the child starts also belong to it, unless they leave it.
struct Members {
    id: Option<Pid>,
    /// Identifies the child and all its descendants.
    mark: String,
    /// Whether the child has exited, and the rest of its group was killed.
    is_ended: bool,
    groups: Arc<Groups>,
}

impl Group {
    /// The steps, in order, for ending a group whose leader does not exit when its standard input is closed.
    pub(in crate::gateway) const ESCALATION: &[fn(&mut Self)] = &[Self::terminate, Self::kill];

    /// Starts a child as the leader of a new group.
    ///
    /// # Errors
    /// The program cannot be started.
    pub(in crate::gateway) fn spawn(mut command: Command, groups: &Arc<Groups>) -> io::Result<Self> {
        let mark = uuid::Uuid::new_v4().to_string();
        command.process_group(0).env(descendants::MARK, &mark).kill_on_drop(true);
        let leader = groups.spawn(&mut command)?;
        let id = leader.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        Ok(Self { leader, members: Members { id, mark, is_ended: false, groups: groups.clone() } })
    }

    /// The standard input, output and error of the leader, if they are pipes that were not taken before.
    pub(in crate::gateway) fn take_pipes(&mut self) -> Option<(ChildStdin, ChildStdout, ChildStderr)> {
        Some((self.leader.stdin.take()?, self.leader.stdout.take()?, self.leader.stderr.take()?))
    }

    /// Waits until the leader has exited. Cancel-safe.
    ///
    /// # Errors
    /// The system does not report the exit status.
    pub(in crate::gateway) async fn leader_exited(&mut self) -> io::Result<ExitStatus> {
        self.leader.wait().await
    }

    /// Kills the rest of the group after the leader has exited. Blocks the thread.
    pub(in crate::gateway) fn end(&mut self) {
        self.members.kill();
        self.members.is_ended = true;
    }

    fn terminate(&mut self) {
        self.members.signal(Signal::TERM);
    }

    fn kill(&mut self) {
        self.members.kill();
    }
}

impl Members {
    /// Also works after the leader has exited: the group exists as long as it has a member. Also kills the processes that
    /// have left it.
    fn kill(&self) {
        self.signal(Signal::KILL);
        descendants::end_marked(&self.mark);
    }

    fn signal(&self, signal: Signal) {
        if let Some(id) = self.id {
            // The group may already be empty.
            let _ = kill_process_group(id, signal);
        }
    }
}

impl Drop for Members {
    fn drop(&mut self) {
        if !self.is_ended {
            self.kill();
        }
        if let Some(id) = self.id {
            self.groups.unregister(id.as_raw_nonzero().get());
        }
    }
}
