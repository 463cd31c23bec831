//! The process of a server in its own group; the whole group is ended together.

use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use tokio::process::{ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use super::exit::Exit;
use super::group::{Group, Groups};
use super::program::Program;
use super::standard_error::Tail;

/// How long a child has to exit once its standard input is closed, and again after each step of the escalation.
const EXIT_GRACE: Duration = Duration::from_millis(1500);

/// A running child. Dropping it kills its whole group.
pub(super) struct Process {
    server: String,
    group: Group,
    tail: Tail,
    /// Whether it was stopped on purpose.
    stopped: bool,
}

impl Process {
    /// Starts a program; returns the process and its standard input and output.
    ///
    /// # Errors
    /// The program cannot be started: it or its working directory does not exist, or it is not executable.
    pub(super) fn spawn(
        server: &str,
        program: &Program,
        groups: &Arc<Groups>,
    ) -> Result<(Self, ChildStdin, ChildStdout), Exit> {
        let mut command = Command::new(program.file());
        command.args(&program.args).env_clear().envs(program.inherited()).envs(&program.env);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(cwd) = &program.cwd {
            command.current_dir(cwd);
        }
        let spawned = Group::spawn(command, groups);
        let mut group = spawned.map_err(|error| Exit::because(start_failure(error.kind(), program)))?;
        let pipes = group.take_pipes();
        let (stdin, stdout, stderr) = pipes.ok_or_else(|| Exit::because("its pipes could not be opened"))?;
        let tail = Tail::of(stderr, program);
        let server = server.to_owned();
        Ok((Self { server, group, tail, stopped: false }, stdin, stdout))
    }

    /// Waits until the child has exited, then kills the rest of its group. Cancel-safe.
    pub(super) async fn exited(&mut self) -> Exit {
        let status = self.group.leader_exited().await;
        tokio::task::block_in_place(|| self.group.end());
        status.map_or_else(|_| Exit::because("its exit status could not be read"), Exit::of)
    }

    /// Stops the child, whose standard input is already closed: waits for it to exit, then ends its group, on Unix with
    /// TERM before KILL.
    pub(super) async fn stop(mut self) {
        self.stopped = true;
        for step in Group::ESCALATION {
            if timeout(EXIT_GRACE, self.exited()).await.is_ok() {
                return;
            }
            tokio::task::block_in_place(|| step(&mut self.group));
        }
        self.exited().await;
    }
}

impl Drop for Process {
    /// Logs the tail of standard error, unless the child was stopped on purpose.
    fn drop(&mut self) {
        if !self.stopped && tokio::runtime::Handle::try_current().is_ok() {
            self.tail.log(&self.server);
        }
    }
}

fn start_failure(kind: std::io::ErrorKind, program: &Program) -> &'static str {
    match kind {
        std::io::ErrorKind::NotFound if program.cwd.as_ref().is_some_and(|cwd| !cwd.is_dir()) => {
            "its working directory does not exist"
        }
        std::io::ErrorKind::NotFound => "its program was not found",
        std::io::ErrorKind::PermissionDenied => "its program is not executable",
        _ => "its program could not be started",
    }
}
