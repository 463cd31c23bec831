//! A child process in a process group of its own; the whole group is ended together.

use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use super::descendants;
use super::exit::Exit;
use super::program::Program;
use super::reaper::Reaper;
use super::standard_error::Tail;

/// How long a child has to exit once its standard input is closed, and again after TERM.
const EXIT_GRACE: Duration = Duration::from_millis(1500);

/// A running child. Dropping it kills its whole process group.
pub(super) struct Process {
    server: String,
    child: Child,
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
        reaper: &Arc<Reaper>,
    ) -> Result<(Self, ChildStdin, ChildStdout), Exit> {
        let mut command = Command::new(&program.command);
        for variable in program.withheld_variables() {
            command.env_remove(variable);
        }
        command.args(&program.args).envs(&program.env).kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(cwd) = &program.cwd {
            command.current_dir(cwd);
        }
        #[cfg(unix)]
        command.process_group(0);
        let mark = uuid::Uuid::new_v4().to_string();
        command.env(descendants::MARK, &mark);
        let spawned = reaper.spawn(&mut command);
        let mut child = spawned.map_err(|error| Exit::because(start_failure(error.kind(), program)))?;
        let group = Group::of(&child, mark, reaper);
        let (Some(stdin), Some(stdout), Some(stderr)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(Exit::because("its pipes could not be opened"));
        };
        let tail = Tail::of(stderr, program);
        let server = server.to_owned();
        Ok((Self { server, child, group, tail, stopped: false }, stdin, stdout))
    }

    /// Waits until the child has exited, then kills what is left of its group and its descendants. Cancel-safe.
    pub(super) async fn exited(&mut self) -> Exit {
        let status = self.child.wait().await;
        tokio::task::block_in_place(|| self.group.kill());
        self.group.is_ended = true;
        status.map_or_else(|_| Exit::because("its exit status could not be read"), Exit::of)
    }

    /// Stops the child, whose standard input is already closed: waits for it to exit, then sends TERM, then KILL.
    pub(super) async fn stop(mut self) {
        self.stopped = true;
        for signal in [Group::terminate, Group::kill] {
            if timeout(EXIT_GRACE, self.exited()).await.is_ok() {
                return;
            }
            tokio::task::block_in_place(|| signal(&self.group));
        }
        self.exited().await;
    }
}

impl Drop for Process {
    /// Logs the end of standard error, unless the child was stopped on purpose.
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

/// The process group of a child, which the processes that the child starts belong to as well, unless they leave it.
struct Group {
    #[cfg(unix)]
    id: Option<rustix::process::Pid>,
    /// Identifies the child and all its descendants.
    mark: String,
    /// Whether the child has exited, and what was left of it was killed.
    is_ended: bool,
    reaper: Arc<Reaper>,
}

#[cfg(unix)]
impl Group {
    fn of(child: &Child, mark: String, reaper: &Arc<Reaper>) -> Self {
        let id = child.id().and_then(|id| rustix::process::Pid::from_raw(id.cast_signed()));
        Self { id, mark, is_ended: false, reaper: reaper.clone() }
    }

    fn terminate(&self) {
        self.signal(rustix::process::Signal::TERM);
    }

    /// Works after the leader has exited, too: the group exists as long as it has a member. Kills the processes that
    /// have left it as well.
    fn kill(&self) {
        self.signal(rustix::process::Signal::KILL);
        descendants::end_marked(&self.mark);
    }

    fn signal(&self, signal: rustix::process::Signal) {
        if let Some(id) = self.id {
            // The group may be empty already.
            let _ = rustix::process::kill_process_group(id, signal);
        }
    }
}

#[cfg(unix)]
impl Drop for Group {
    fn drop(&mut self) {
        if !self.is_ended {
            self.kill();
        }
        if let Some(id) = self.id {
            self.reaper.unregister(id.as_raw_nonzero().get());
        }
    }
}
