//! A running gateway, its configuration, and the state of its processes.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::http_client::{Answer, HttpServer};
use crate::wait::TEST_TIMEOUT;

/// A gateway with its own configuration.
pub struct Gateway {
    pub http: HttpServer,
    pub folder: TempDir,
}

/// A server entry that runs this binary as the child.
pub fn child(flags: &[&str]) -> Value {
    let arguments: Vec<_> = ["--ignored", "--exact", "child", "--"].iter().chain(flags).collect();
    json!({"command": std::env::current_exe().unwrap(), "args": arguments})
}

/// The same, with a timeout.
pub fn child_with_timeout(flags: &[&str], ms: u64) -> Value {
    let mut server = child(flags);
    server["timeoutMs"] = ms.into();
    server
}

/// A response of the gateway.
pub struct Called {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub text: String,
}

impl Called {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {:.300}", self.text))
    }

    /// The result of a successful call.
    pub fn result(&self) -> Value {
        let answer = self.json();
        assert_eq!((self.status, &answer["success"]), (200, &json!(true)), "{answer}");
        answer["result"].clone()
    }

    /// Status, code, message and details of a failed call, after checking the shape.
    pub fn failure(&self) -> (u16, String, String, Value) {
        let answer = self.json();
        let error = &answer["error"];
        let form = (answer.as_object().map(|answer| answer.len()), error.as_object().map(|error| error.len()));
        assert_eq!((form, &answer["success"]), ((Some(2), Some(3)), &json!(false)), "{answer}");
        let text = |name: &str| error[name].as_str().unwrap().to_owned();
        assert!(error["details"].is_object(), "{answer}");
        (self.status, text("code"), text("message"), error["details"].clone())
    }

    /// Status and code of a failed call.
    pub fn code(&self) -> (u16, String) {
        let (status, code, ..) = self.failure();
        (status, code)
    }
}

impl Gateway {
    /// Starts a gateway with these servers, and waits until all of them are available.
    pub fn start(servers: Value) -> Self {
        let gateway = Self::begin(servers, &[], &[]);
        gateway.wait_for("all servers are available", |health| health["status"] == "ok");
        gateway
    }

    /// Starts a gateway without waiting for its servers.
    pub fn begin(servers: Value, arguments: &[&str], environment: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("config.yaml"), json!({"servers": servers}).to_string()).unwrap();
        let mut command = Self::command(&folder, arguments);
        command.envs(environment.iter().copied());
        Self { http: HttpServer::spawn(&mut command), folder }
    }

    fn command(folder: &TempDir, arguments: &[&str]) -> Command {
        let mut command = Command::new(crate::support::binary());
        command.args(["gateway", "--port", "0", "--config"]).arg(folder.path().join("config.yaml")).args(arguments);
        command
    }

    pub fn config(&self) -> PathBuf {
        self.folder.path().join("config.yaml")
    }

    /// Replaces the servers in the configuration.
    pub fn configure(&self, servers: &Value) {
        std::fs::write(self.config(), json!({"servers": servers}).to_string()).unwrap();
    }

    pub fn call(&self, server: &str, tool: &str, input: Value) -> Called {
        self.post(&json!({"server": server, "toolName": tool, "input": input}).to_string())
    }

    pub fn post(&self, body: &str) -> Called {
        self.send("POST", "/mcp/call", &[("content-type", "application/json")], body)
    }

    pub fn get(&self, path: &str) -> Called {
        self.send("GET", path, &[], "")
    }

    pub fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Called {
        let Answer { status, headers, body } = self.http.send(method, path, headers, body);
        Called { status, headers, text: body }
    }

    pub fn health(&self) -> Value {
        let health = self.get("/health");
        assert_eq!(health.status, 200);
        health.json()
    }

    pub fn detail(&self, server: &str) -> Value {
        self.get("/health?detail=true").json()["servers"][server].clone()
    }

    /// Polls the health until a condition holds; returns how long that took.
    pub fn wait_for(&self, what: &str, holds: impl Fn(&Value) -> bool) -> Duration {
        let begun = Instant::now();
        while !holds(&self.health()) {
            assert!(begun.elapsed() < TEST_TIMEOUT, "{what}: {}", self.get("/health?detail=true").text);
            std::thread::sleep(Duration::from_millis(2));
        }
        begun.elapsed()
    }

    pub fn wait_for_status(&self, server: &str, status: &str) -> Duration {
        self.wait_for(&format!("{server} is {status}"), |health| health["servers"][server] == status)
    }

    pub fn pid_of(&self, server: &str) -> u32 {
        self.call(server, "pid", json!({})).result()["pid"].as_u64().unwrap() as u32
    }

    /// Sends a signal to the gateway, such as `TERM` or `KILL`.
    pub fn signal(&self, signal: &str) {
        kill(self.http.pid(), signal);
    }
}

/// Sends a signal.
pub fn kill(pid: u32, signal: &str) {
    let killed = Command::new("kill").args(["-s", signal, &pid.to_string()]).output().unwrap();
    assert!(killed.status.success(), "{killed:?}");
}

/// State (such as `S` or `Z`) and parent of a process, if it exists.
fn stat(pid: u32) -> Option<(char, u32)> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    let mut words = rest.split_whitespace();
    Some((words.next()?.chars().next()?, words.next()?.parse().ok()?))
}

/// Whether a process is running; a zombie is not.
pub fn runs(pid: u32) -> bool {
    stat(pid).is_some_and(|(state, _)| state != 'Z')
}

/// The children of a process with their states, including zombies.
pub fn children(parent: u32) -> Vec<(u32, char)> {
    let processes =
        std::fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    processes.filter_map(|pid| stat(pid).filter(|(_, its)| *its == parent).map(|(state, _)| (pid, state))).collect()
}

/// The number of open file descriptors.
pub fn descriptors(pid: u32) -> usize {
    std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count()
}
