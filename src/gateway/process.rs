//! A child process in a group of its own, which ends as one.

use std::collections::VecDeque;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use super::config::Program;
use super::exit::Exit;
use super::keeper::Keeper;

/// How long a child may take to end by itself when its input is closed, and again after TERM.
const PATIENCE: Duration = Duration::from_millis(1500);

/// The end of the standard error that is kept for the log: lines, and bytes of each.
const TAIL_LINES: usize = 20;
const LINE_BYTES: u64 = 1000;

/// Our own secrets are nobody else's, unless the configuration says so.
const OWN_SECRETS: [&str; 4] = ["GATEWAY_TOKEN", "N8N_API_KEY", "N8N_LENS_AUTH_TOKEN", "N8N_LENS_DB"];

/// A running child. Dropping it ends its whole group at once.
pub(super) struct Process {
    server: String,
    child: Child,
    group: Group,
    tail: Tail,
    /// It was stopped on purpose.
    stopped: bool,
}

/// The last lines of standard error.
type Tail = Arc<Mutex<VecDeque<String>>>;

impl Program {
    /// Variables that it does not inherit: our own servers need what we were given, but for the gateway's token.
    fn secrets_to_keep(&self) -> &'static [&'static str] {
        if self.command == super::own_program() { &OWN_SECRETS[..1] } else { &OWN_SECRETS }
    }
}

impl Process {
    /// Starts a program; gives the pipes beside the process.
    ///
    /// # Errors
    /// How the start failed.
    pub(super) fn spawn(
        server: &str,
        program: &Program,
        keeper: &Arc<Keeper>,
    ) -> Result<(Self, ChildStdin, ChildStdout), Exit> {
        let mut command = Command::new(&program.command);
        for secret in program.secrets_to_keep() {
            command.env_remove(secret);
        }
        command.args(&program.args).envs(&program.env).kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(cwd) = &program.cwd {
            command.current_dir(cwd);
        }
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command.spawn().map_err(|error| Exit::because(why_not_started(error.kind(), program)))?;
        let group = Group::of(&child, keeper);
        let (Some(stdin), Some(stdout), Some(stderr)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(Exit::because("it was started without pipes"));
        };
        let tail = Tail::default();
        tokio::spawn(keep_tail(stderr, tail.clone(), Hidden::of(program)));
        let server = server.to_owned();
        Ok((Self { server, child, group, tail, stopped: false }, stdin, stdout))
    }

    /// Waits until the child has ended, and ends what it left behind. May be dropped and called again.
    pub(super) async fn ended(&mut self) -> Exit {
        let status = self.child.wait().await;
        self.group.kill();
        status.map_or_else(|_| Exit::because("its exit status could not be read"), Exit::of)
    }

    /// Ends the child, whose standard input is closed: it is left to end by itself, then asked, then made to.
    pub(super) async fn stop(mut self) -> Exit {
        self.stopped = true;
        for ask in [Group::terminate, Group::kill] {
            if let Ok(exit) = timeout(PATIENCE, self.ended()).await {
                return exit;
            }
            ask(&self.group);
        }
        self.ended().await
    }
}

impl Drop for Process {
    /// What a child said last is worth a line, unless it was stopped on purpose.
    fn drop(&mut self) {
        let tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.stopped && !tail.is_empty() {
            let tail = tail.iter().map(String::as_str).collect::<Vec<_>>().join("\n");
            tracing::warn!(server = self.server, "the end of its standard error:\n{tail}");
        }
    }
}

/// What the configuration gave to a child: it may say so.
struct Hidden(Vec<String>);

impl Hidden {
    /// A shorter value is none that is worth hiding, and stands in many words.
    const LEAST: usize = 8;

    fn of(program: &Program) -> Self {
        let mut values: Vec<_> = program.env.values().filter(|value| value.len() >= Self::LEAST).cloned().collect();
        // One may be the beginning of another.
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        Self(values)
    }

    fn hide_in(&self, line: &str) -> String {
        self.0.iter().fold(line.to_owned(), |line, value| line.replace(value, "[redacted]"))
    }
}

fn why_not_started(kind: std::io::ErrorKind, program: &Program) -> &'static str {
    match kind {
        std::io::ErrorKind::NotFound if program.cwd.as_ref().is_some_and(|cwd| !cwd.is_dir()) => {
            "its working directory does not exist"
        }
        std::io::ErrorKind::NotFound => "its program was not found",
        std::io::ErrorKind::PermissionDenied => "its program may not be executed",
        _ => "its program could not be started",
    }
}

/// Reads standard error for as long as there is any, so that the child never waits for it.
async fn keep_tail(stderr: ChildStderr, tail: Tail, hidden: Hidden) {
    let mut stderr = BufReader::new(stderr);
    loop {
        let mut line = Vec::new();
        match (&mut stderr).take(LINE_BYTES).read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let line = hidden.hide_in(String::from_utf8_lossy(&line).trim_end());
        tracing::debug!("standard error of a server: {line}");
        let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        if tail.len() == TAIL_LINES {
            tail.pop_front();
        }
        tail.push_back(line);
    }
}

/// The process group of a child, which also holds the children that it starts.
struct Group {
    #[cfg(unix)]
    id: Option<rustix::process::Pid>,
    keeper: Arc<Keeper>,
}

#[cfg(unix)]
impl Group {
    fn of(child: &Child, keeper: &Arc<Keeper>) -> Self {
        let id = child.id().and_then(|id| rustix::process::Pid::from_raw(id.cast_signed()));
        if let Some(id) = id {
            keeper.watch(id.as_raw_nonzero().get());
        }
        Self { id, keeper: keeper.clone() }
    }

    fn terminate(&self) {
        self.signal(rustix::process::Signal::TERM);
    }

    /// Also reaches those whose leader has ended: the group lives as long as one member.
    fn kill(&self) {
        self.signal(rustix::process::Signal::KILL);
    }

    fn signal(&self, signal: rustix::process::Signal) {
        if let Some(id) = self.id {
            // There may be nobody left.
            let _ = rustix::process::kill_process_group(id, signal);
        }
    }
}

#[cfg(unix)]
impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
        if let Some(id) = self.id {
            self.keeper.forget(id.as_raw_nonzero().get());
        }
    }
}
