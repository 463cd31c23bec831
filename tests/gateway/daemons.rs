//! Processes that leave the group and the tree of the server that started them.

use std::io::Write;
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::gateway::{Gateway, child, children, kill, runs};
use crate::http_client::HttpServer;
use crate::wait::eventually;

fn daemon(gateway: &Gateway, server: &str, input: Value) -> u32 {
    gateway.wait_for_status(server, "available");
    let pid = gateway.call(server, "daemon", input).result()["pid"].as_u64().unwrap() as u32;
    assert!(runs(pid));
    pid
}

/// A process outside the gateway, which has the environment of a process below it.
struct Outsider(Child);

impl Outsider {
    fn like(pid: u32) -> Self {
        let environment = String::from_utf8(std::fs::read(format!("/proc/{pid}/environ")).unwrap()).unwrap();
        let variables = environment.split('\0').filter_map(|variable| variable.split_once('='));
        let mut command = Command::new("sleep");
        Self(command.arg("1000").env_clear().envs(variables).stdin(Stdio::null()).spawn().unwrap())
    }

    fn runs(&self) -> bool {
        runs(self.0.id())
    }
}

impl Drop for Outsider {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn daemons_end_with_their_server() {
    let mut gateway = Gateway::start(json!({"a": child(&[]), "b": child(&[])}));
    let kept = daemon(&gateway, "b", json!({}));
    for (restarts, way) in ["crash", "kill", "removal"].into_iter().enumerate() {
        eventually("it has restarted", || gateway.detail("a")["restarts"] == restarts);
        let pid = daemon(&gateway, "a", json!({}));
        let outsider = Outsider::like(pid);
        match way {
            "crash" => assert_eq!(gateway.call("a", "crash", json!({})).code().0, 502),
            "kill" => kill(gateway.pid_of("a"), "KILL"),
            _ => gateway.configure(&json!({"b": child(&[])})),
        }
        eventually(&format!("the daemon is gone after the {way}"), || !runs(pid));
        assert!(runs(kept) && outsider.runs(), "others are not touched after the {way}");
    }
    assert_eq!(gateway.call("b", "echo", json!({})).status, 200);
    assert_eq!(gateway.detail("b")["restarts"], 0);
    gateway.signal("TERM");
    assert_eq!((gateway.http.wait().0, runs(kept)), (Some(0), false));
}

#[test]
fn daemons_end_with_the_gateway() {
    let mut gateway = Gateway::start(json!({"a": child(&[]), "b": child(&["--ignore-eof", "--ignore-term"])}));
    let daemons = [
        daemon(&gateway, "a", json!({})),
        daemon(&gateway, "a", json!({"clean": true})),
        daemon(&gateway, "b", json!({})),
        daemon(&gateway, "b", json!({"clean": true})),
    ];
    let outsiders = daemons.map(Outsider::like);
    gateway.signal("TERM");
    assert_eq!(gateway.http.wait().0, Some(0));
    assert_eq!(daemons.map(runs), [false; 4]);
    assert!(outsiders.iter().all(Outsider::runs));
}

#[test]
fn daemons_that_exit_leave_no_zombie() {
    let gateway = Gateway::start(json!({"a": child(&[])}));
    for clean in [false, true] {
        let pid = daemon(&gateway, "a", json!({ "clean": clean }));
        assert!(children(gateway.http.pid()).iter().any(|(child, _)| *child == pid), "it is adopted");
        kill(pid, "KILL");
        eventually("it is reaped", || children(gateway.http.pid()).iter().all(|(child, _)| *child != pid));
    }
    assert_eq!(gateway.call("a", "crash", json!({"code": 7})).failure().3["exitCode"], 7, "its own children are not");
}

#[test]
fn processes_from_before_the_gateway_are_not_ended() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("config.yaml"), json!({"servers": {"a": child(&[])}}).to_string()).unwrap();
    let mut command = Command::new("sh");
    command.current_dir(&folder).args([
        "-c",
        r#"sleep 1000 > /dev/null 2>&1 & echo $! > pid; exec "$0" "$@""#,
        crate::support::binary(),
    ]);
    command.args(["gateway", "--port", "0", "--config", "config.yaml"]);
    let http = HttpServer::spawn(&mut command);
    let pid = std::fs::read_to_string(folder.path().join("pid")).unwrap().trim().parse().unwrap();
    let mut gateway = Gateway { http, folder };
    let daemon = daemon(&gateway, "a", json!({}));
    gateway.signal("TERM");
    assert_eq!(gateway.http.wait().0, Some(0));
    assert_eq!((runs(pid), runs(daemon)), (true, false));
    kill(pid, "KILL");
}

/// With a call in progress, a stop waits for it: up to ten seconds, but not for a connection without a request.
#[test]
fn half_a_head_does_not_hold_up_a_stop() {
    let mut gateway = Gateway::start(json!({"a": child(&[])}));
    let mut half = TcpStream::connect(&gateway.http.authority).unwrap();
    half.write_all(b"POST /mcp/call HTTP/1.1\r\nhost: loc").unwrap();
    assert_eq!(gateway.call("a", "echo", json!({})).status, 200, "the half is accepted");
    gateway.signal("TERM");
    let (code, took) = gateway.http.wait();
    assert_eq!(code, Some(0));
    assert!(took < Duration::from_secs(5), "{took:?}");
}
