//! Servers at a `postgres://` address that are silent, or send more than requested.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use super::{binary, complaint, lens};
use crate::mcp_client::{McpClient, text};
use crate::support::hostile_postgres::Server;
use crate::support::memory;
use crate::wait::eventually;

/// The longest that a command may take with timeouts of 2 s, on a machine that may be busy.
const SOON: Duration = Duration::from_secs(12);

/// More than a command needs that shows nothing.
const MEMORY: u64 = 100 * 1024 * 1024;

/// A command with timeouts of 2 s.
fn impatient(url: &str) -> Command {
    lens(url, &["summary", "7", "--idle-timeout", "2", "--first-byte-timeout", "2"])
}

#[test]
fn a_silent_server_is_given_up() {
    for (server, said) in [
        (Server::Silent, "PostgreSQL cannot be reached: it did not answer within 2 s"),
        (Server::SilentAfterLogin, "The database did not answer in time"),
        (Server::SilentAfterBegin, "The database did not answer in time"),
    ] {
        let begun = Instant::now();
        let complaint = complaint(&mut impatient(&server.start()));
        assert!(complaint.contains(said) && !complaint.contains("127.0.0.1"), "{server:?}: {complaint}");
        assert!(begun.elapsed() < SOON, "{server:?}: {:?}", begun.elapsed());
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_server_that_sends_too_much_takes_no_memory() {
    for server in [Server::LargeMessage, Server::LargeRow, Server::Chatter] {
        let mut command = Command::new(binary());
        command.args(["--store", &server.start(), "--idle-timeout", "5"]).env_clear().stderr(Stdio::piped());
        let mut client = McpClient::try_spawn(&mut command).unwrap();
        let begun = Instant::now();
        let refusal = client.call("get_execution", json!({"id": "7"})).unwrap_err();
        let is_refused = refusal.contains("returned more than n8n keeps");
        // Small messages take long to read.
        let is_late = server == Server::Chatter && refusal.contains("did not answer in time");
        assert!(is_refused || is_late, "{server:?}: {refusal}");
        assert!(begun.elapsed() < SOON, "{server:?}: {:?}", begun.elapsed());
        assert!(memory::peak(client.pid()) < MEMORY, "{server:?}: {} bytes", memory::peak(client.pid()));
    }
}

/// How many threads and descriptors a process has.
#[cfg(target_os = "linux")]
fn held(pid: u32) -> (usize, usize) {
    let count = |what| std::fs::read_dir(format!("/proc/{pid}/{what}")).unwrap().count();
    (count("task"), count("fd"))
}

/// Many calls.
mod slow {
    use super::*;

    #[test]
    #[ignore = "slow: 28 s"]
    #[cfg(target_os = "linux")]
    fn cancelled_calls_hold_nothing() {
        for server in [Server::Silent, Server::SilentAfterLogin] {
            let mut command = Command::new(binary());
            command.args(["--store", &server.start(), "--idle-timeout", "3"]).env_clear().stderr(Stdio::piped());
            let mut client = McpClient::try_spawn(&mut command).unwrap();
            client.call("get_execution", json!({"id": "1"})).unwrap_err();
            let before = held(client.pid());
            let calls: Vec<_> =
                (0..60).map(|id| client.begin("get_execution", json!({"id": id.to_string()}))).collect();
            std::thread::sleep(Duration::from_millis(500));
            for id in calls {
                client.notify("notifications/cancelled", json!({"requestId": id, "reason": "enough"}));
            }
            let begun = Instant::now();
            eventually("the sockets are closed", || held(client.pid()).1 <= before.1);
            assert!(begun.elapsed() < Duration::from_secs(2), "{server:?}: {:?}", begun.elapsed());
            let begun = Instant::now();
            let id = client.begin("get_execution", json!({"id": "99"}));
            let refusal = text(&client.answer(id)).unwrap_err();
            assert!(refusal.contains("did not answer"), "{server:?}: {refusal}");
            assert!(begun.elapsed() < SOON, "{server:?}: {:?}", begun.elapsed());
            // Idle threads end after 10 s.
            let begun = Instant::now();
            eventually("the threads have ended", || held(client.pid()).0 <= before.0 + 2);
            assert!(begun.elapsed() < Duration::from_secs(20), "{server:?}: {:?}", begun.elapsed());
        }
    }
}
