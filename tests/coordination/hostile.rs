//! PostgreSQL servers that are silent, or send more than requested.

use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::instance::binary;
use crate::support::hostile_postgres::Server;

/// Three times as long as the database may take to answer.
const SOON: Duration = Duration::from_secs(45);

/// More than a process needs that has not done anything yet.
#[cfg(target_os = "linux")]
const MEMORY: u64 = 100 * 1024 * 1024;

/// The last message of the process.
fn given_up(server: Server, url: &str) -> String {
    let mut command = binary();
    command.args(["coordinate", "--db", url]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut process = command.spawn().unwrap();
    let begun = Instant::now();
    loop {
        #[cfg(target_os = "linux")]
        if let Some(peak) = crate::support::memory::peak_while_running(process.id()) {
            assert!(peak < MEMORY, "{server:?}: {peak} bytes");
        }
        if process.try_wait().unwrap().is_some() {
            break;
        }
        assert!(begun.elapsed() < SOON, "{server:?}: {:?}", begun.elapsed());
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = process.wait_with_output().unwrap();
    assert!(!output.status.success(), "{server:?}");
    String::from_utf8(output.stderr).unwrap()
}

mod slow {
    use super::*;

    /// The process ends with an explanation, and has not read what the server announced.
    #[test]
    #[ignore = "slow: 20 s"]
    fn servers_that_are_silent_or_flood_are_given_up() {
        let tried = [
            (Server::Silent, "", "it did not answer within 5 s"),
            (Server::Silent, "?sslmode=disable", "it did not answer within 5 s"),
            (Server::SilentAfterLogin, "?sslmode=disable", "did not answer within 15 s"),
            (Server::SilentAfterBegin, "?sslmode=disable", "the server does not answer"),
            (Server::LargeMessage, "?sslmode=disable", "sent more than n8n-lens stores"),
            (Server::LargeRow, "?sslmode=disable", "sent more than n8n-lens stores"),
            (Server::Chatter, "?sslmode=disable", ""),
        ];
        let trials = tried.map(|(server, mode, said)| {
            std::thread::spawn(move || {
                let url = format!("{}{mode}", server.start());
                let complaint = given_up(server, &url);
                assert!(complaint.contains(said) && !complaint.contains("127.0.0.1"), "{server:?}: {complaint}");
            })
        });
        trials.into_iter().for_each(|trial| trial.join().unwrap());
    }
}
