//! A child process in a process group of its own; the whole group is ended together.

use std::collections::VecDeque;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use super::exit::Exit;
use super::program::Program;
use super::reaper::Reaper;
use crate::secrets::{Redactor, Secret};

/// How long a child has to exit once its standard input is closed, and again after TERM.
const EXIT_GRACE: Duration = Duration::from_millis(1500);

/// How much of the end of standard error is kept for the log: lines, and bytes per line.
const TAIL_LINES: usize = 20;
const LINE_BYTES: u64 = 1000;

/// A running child. Dropping it kills its whole process group.
pub(super) struct Process {
    server: String,
    child: Child,
    group: Group,
    tail: Tail,
    /// Whether it was stopped on purpose.
    stopped: bool,
}

/// The last lines of standard error.
type Tail = Arc<Mutex<VecDeque<String>>>;

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
        let mut child = command.spawn().map_err(|error| Exit::because(start_failure(error.kind(), program)))?;
        let group = Group::of(&child, reaper);
        let (Some(stdin), Some(stdout), Some(stderr)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(Exit::because("its pipes could not be opened"));
        };
        let tail = Tail::default();
        tokio::spawn(keep_tail(stderr, tail.clone(), redactor(program)));
        let server = server.to_owned();
        Ok((Self { server, child, group, tail, stopped: false }, stdin, stdout))
    }

    /// Waits until the child has exited, then kills what is left of its group. Cancel-safe.
    pub(super) async fn exited(&mut self) -> Exit {
        let status = self.child.wait().await;
        self.group.kill();
        status.map_or_else(|_| Exit::because("its exit status could not be read"), Exit::of)
    }

    /// Stops the child, whose standard input is already closed: waits for it to exit, then sends TERM, then KILL.
    pub(super) async fn stop(mut self) {
        self.stopped = true;
        for signal in [Group::terminate, Group::kill] {
            if timeout(EXIT_GRACE, self.exited()).await.is_ok() {
                return;
            }
            signal(&self.group);
        }
        self.exited().await;
    }
}

impl Drop for Process {
    /// Logs the end of standard error, unless the child was stopped on purpose.
    fn drop(&mut self) {
        let tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.stopped && !tail.is_empty() {
            let tail = tail.iter().map(String::as_str).collect::<Vec<_>>().join("\n");
            tracing::warn!(server = self.server, "the end of its standard error:\n{tail}");
        }
    }
}

/// Hides the values of the child's configured environment, which it may print.
fn redactor(program: &Program) -> Redactor {
    /// Shorter values are unlikely to be secrets, and would match inside ordinary words.
    const LEAST_BYTES: usize = 8;
    let values = program.env.values().filter(|value| value.len() >= LEAST_BYTES);
    let secrets: Vec<_> = values.map(Secret::new).collect();
    Redactor::new(&secrets)
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

/// Reads standard error to its end, so that the child never blocks on it.
async fn keep_tail(stderr: ChildStderr, tail: Tail, redactor: Redactor) {
    let mut stderr = BufReader::new(stderr);
    loop {
        let mut line = Vec::new();
        match (&mut stderr).take(LINE_BYTES).read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let line = redactor.redact(String::from_utf8_lossy(&line).trim_end());
        tracing::debug!("standard error of a server: {line}");
        let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        if tail.len() == TAIL_LINES {
            tail.pop_front();
        }
        tail.push_back(line);
    }
}

/// The process group of a child, which the processes that the child starts belong to as well.
struct Group {
    #[cfg(unix)]
    id: Option<rustix::process::Pid>,
    reaper: Arc<Reaper>,
}

#[cfg(unix)]
impl Group {
    fn of(child: &Child, reaper: &Arc<Reaper>) -> Self {
        let id = child.id().and_then(|id| rustix::process::Pid::from_raw(id.cast_signed()));
        if let Some(id) = id {
            reaper.register(id.as_raw_nonzero().get());
        }
        Self { id, reaper: reaper.clone() }
    }

    fn terminate(&self) {
        self.signal(rustix::process::Signal::TERM);
    }

    /// Works after the leader has exited, too: the group exists as long as it has a member.
    fn kill(&self) {
        self.signal(rustix::process::Signal::KILL);
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
        self.kill();
        if let Some(id) = self.id {
            self.reaper.unregister(id.as_raw_nonzero().get());
        }
    }
}
