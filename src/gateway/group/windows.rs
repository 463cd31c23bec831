//! Job objects, which hold a process and all its descendants, and which the system ends when their last handle closes.

use std::ffi::OsStr;
use std::io;
use std::process::ExitStatus;
use std::sync::Arc;

use process_wrap::tokio::{ChildWrapper, CommandWrap, CreationFlags, JobObject, KillOnDrop};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};
use windows::Win32::System::Threading::CREATE_NO_WINDOW;

/// The shared state of a gateway's job objects: none.
#[derive(Default)]
pub(in crate::gateway) struct Groups;

impl Groups {
    /// No process leaves its job object, so that there are no orphans.
    pub(in crate::gateway) fn adopt_orphans(self: &Arc<Self>) {}

    pub(in crate::gateway) fn end_all(&self) {}
}

/// A child in a job object of its own. Dropping it, or the end of this process, kills all processes in the job object.
pub(in crate::gateway) struct Group(Box<dyn ChildWrapper>);

impl Group {
    /// The steps for ending a group whose leader does not exit when its standard input is closed. Windows has no TERM.
    pub(in crate::gateway) const ESCALATION: &[fn(&mut Self)] = &[Self::end];

    /// Starts a child in a new job object; it runs once it is inside.
    ///
    /// # Errors
    /// The program cannot be started.
    pub(in crate::gateway) fn spawn(command: Command, _groups: &Arc<Groups>) -> io::Result<Self> {
        let mut command = CommandWrap::from(command);
        // Without its own window, and without the gateway's console, whose Ctrl-C is not for the child.
        command.wrap(CreationFlags(CREATE_NO_WINDOW)).wrap(KillOnDrop).wrap(JobObject);
        command.spawn().map(Self)
    }

    /// The standard input, output and error of the leader, if they are pipes that were not taken before.
    pub(in crate::gateway) fn take_pipes(&mut self) -> Option<(ChildStdin, ChildStdout, ChildStderr)> {
        Some((self.0.stdin().take()?, self.0.stdout().take()?, self.0.stderr().take()?))
    }

    /// Waits until the leader has exited. Cancel-safe.
    ///
    /// # Errors
    /// The system does not report the exit status.
    pub(in crate::gateway) async fn leader_exited(&mut self) -> io::Result<ExitStatus> {
        // The wrapper itself would wait for all processes in the job object.
        self.0.inner_mut().wait().await
    }

    /// Kills all processes in the job object, if there are any.
    pub(in crate::gateway) fn end(&mut self) {
        let _ = self.0.start_kill();
    }
}

/// Never the reaper: on Windows nothing has to outlive the gateway.
pub fn run_as_reaper(_first_argument: Option<&OsStr>) -> bool {
    false
}
