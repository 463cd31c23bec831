//! Signals to npx and to the launcher, while the binary serves over HTTP: there, no closed input asks it to end.

use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::npm::Npm;
use super::support::http_client::HttpServer;
use super::wait::eventually;

/// How long a server may outlive its killed launcher: two checks, and its shutdown.
const ORPHAN_LIMIT: Duration = Duration::from_secs(5);

/// Sends a signal, such as `TERM`.
pub fn kill(process: u32, signal: &str) {
    assert!(Command::new("kill").args(["-s", signal, &process.to_string()]).status().unwrap().success());
}

/// Whether a process exists and has not ended.
pub fn is_running(process: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
}

fn children(process: u32) -> Vec<u32> {
    let path = PathBuf::from(format!("/proc/{process}/task/{process}/children"));
    let children = std::fs::read_to_string(path).unwrap_or_default();
    children.split_whitespace().map(|id| id.parse().unwrap()).collect()
}

/// The child of a process that has one, as soon as it runs a program of its own.
pub fn only_child(process: u32) -> u32 {
    eventually("a child", || children(process).first().is_some_and(|child| is_lens(*child)));
    children(process)[0]
}

fn is_lens(process: u32) -> bool {
    std::fs::read_link(format!("/proc/{process}/exe")).is_ok_and(|path| path.ends_with("n8n-lens"))
}

/// The processes from the one that was started down to the binary.
fn chain(first: u32) -> Vec<u32> {
    let mut chain = vec![first];
    while let Some(child) = chain.last().and_then(|last| children(*last).first().copied()) {
        chain.push(child);
    }
    chain
}

/// A server over HTTP, started by this command.
struct Served {
    server: HttpServer,
    /// From the process that was started to the binary.
    chain: Vec<u32>,
}

impl Served {
    fn by(command: &mut Command) -> Self {
        command.args(["--transport", "http", "--port", "0"]).env("N8N_URL", "http://127.0.0.1:9");
        let server = HttpServer::spawn(command.stdout(Stdio::null()));
        let chain = chain(server.pid());
        assert!(is_lens(*chain.last().unwrap()), "{chain:?}");
        Self { server, chain }
    }

    fn binary(&self) -> u32 {
        *self.chain.last().unwrap()
    }

    fn launcher(&self) -> u32 {
        self.chain[self.chain.len() - 2]
    }

    /// Waits until every process has ended; returns how long that took.
    fn ends(&self) -> Duration {
        let begun = Instant::now();
        eventually("the end of the binary", || !is_running(self.binary()));
        let took = begun.elapsed();
        assert!(std::net::TcpStream::connect(&self.server.authority).is_err());
        took
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        for process in self.chain.iter().filter(|process| is_running(**process)) {
            kill(*process, "KILL");
        }
    }
}

#[test]
#[ignore = "runs npm"]
fn a_signal_shuts_the_server_down() {
    let npm = Npm::new();
    let launcher = npm.install(&[]);
    for signal in ["TERM", "INT"] {
        let mut served = Served::by(&mut npm.node(&launcher));
        kill(served.launcher(), signal);
        served.ends();
        assert_eq!(served.server.wait().0, Some(0), "{signal}");
    }
    // A service manager signals npx; a terminal signals everything in its foreground.
    let mut served = Served::by(&mut npm.npx());
    kill(served.chain[0], "TERM");
    served.ends();
    served.server.wait();
    let mut served = Served::by(npm.npx().process_group(0));
    assert!(
        Command::new("kill").args(["-s", "INT", "--", &format!("-{}", served.chain[0])]).status().unwrap().success()
    );
    served.ends();
    served.server.wait();
}

#[test]
#[ignore = "runs npm"]
fn a_server_ends_with_its_killed_launcher() {
    let npm = Npm::new();
    let launcher = npm.install(&[]);
    let served = Served::by(&mut npm.node(&launcher));
    kill(served.launcher(), "KILL");
    let took = served.ends();
    println!("the binary ended {took:?} after its launcher was killed");
    assert!(took < ORPHAN_LIMIT, "{took:?}");

    for signal in ["HUP", "KILL"] {
        let served = Served::by(&mut npm.npx());
        kill(served.chain[0], signal);
        let took = served.ends();
        println!("{} processes: the binary ended {took:?} after SIG{signal} to npx", served.chain.len());
        assert!(took < ORPHAN_LIMIT, "{took:?}");
    }
}

/// A server that was started without npx outlives the shell that started it, as servers do.
#[test]
#[ignore = "runs npm"]
fn a_server_does_not_end_with_a_shell() {
    let npm = Npm::new();
    let launcher = npm.install(&[]);
    let command = npm.node(&launcher);
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(r#""$0" "$@" & wait"#).arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        shell.envs(value.map(|value| (name, value)));
    }
    let served = Served::by(&mut shell);
    kill(served.chain[0], "KILL");
    std::thread::sleep(Duration::from_millis(2500));
    assert!(is_running(served.binary()));
    kill(served.launcher(), "TERM");
    served.ends();
}
