use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::gateway::{Gateway, child, child_with_timeout, runs};
use crate::random::Random;
use crate::wait::eventually;

#[test]
fn servers_lose_no_call_when_others_change() {
    edits_lose_no_call(12);
}

#[test]
#[ignore = "long: minutes"]
fn servers_lose_no_call_in_a_hundred_edits() {
    edits_lose_no_call(100);
}

fn edits_lose_no_call(edits: u64) {
    let gateway = Gateway::start(json!({"steady": child(&[])}));
    let pid = gateway.pid_of("steady");
    let (stop, calls) = (AtomicBool::new(false), AtomicU64::new(0));
    let mut random = Random(7);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !stop.load(SeqCst) {
                    assert_eq!(gateway.call("steady", "echo", json!({"value": 1})).status, 200);
                    calls.fetch_add(1, SeqCst);
                }
            });
        }
        let mut servers = json!({"steady": child(&[])});
        for edit in 0..edits {
            let name = format!("s{}", random.below(5));
            let server = match random.below(6) {
                0 => Value::Null,
                1 => child(&["--page", "3"]),
                2 => child(&["--crash-at-start"]),
                3 => child_with_timeout(&[], 100 + random.below(1000)),
                4 => json!({"command": "/no/such/program"}),
                _ => child(&[&format!("--edit-{edit}")]),
            };
            match server {
                Value::Null => drop(servers.as_object_mut().unwrap().remove(&name)),
                server => servers[&name] = server,
            }
            servers["steady"]["timeoutMs"] = (10_000 + random.below(5000)).into();
            if edit % 10 == 9 {
                std::fs::write(gateway.config(), "servers: {steady: {comand").unwrap();
                std::thread::sleep(Duration::from_millis(random.below(800)));
            }
            gateway.configure(&servers);
            // Some edits are used, others are replaced before that.
            std::thread::sleep(Duration::from_millis(random.below(if edit % 4 == 0 { 1500 } else { 100 })));
        }
        let last: Vec<_> = servers.as_object().unwrap().keys().cloned().collect();
        gateway.wait_for("the last edit is in use", |health| {
            health["servers"].as_object().unwrap().keys().eq(last.iter().collect::<std::collections::BTreeSet<_>>())
        });
        stop.store(true, SeqCst);
    });
    assert!(calls.load(SeqCst) > edits * 10, "{calls:?}");
    assert_eq!(gateway.pid_of("steady"), pid);
    assert_eq!(gateway.detail("steady")["restarts"], 0);
}

#[test]
fn a_broken_file_changes_nothing() {
    let broken: [&[u8]; 8] = [
        b"",
        b"servers:",
        b"servers:\n  a:\n    comm",
        b"{\"servers\": {\"a\"",
        b"port: x",
        b"servers: {a: {comand: x}}",
        b"\0\x01",
        b"\xff\xfe",
    ];
    // Each in its own gateway, since a change takes a second to be noticed. The last one deletes the file.
    std::thread::scope(|scope| {
        for broken in broken.into_iter().map(Some).chain([None]) {
            scope.spawn(move || changes_nothing(broken));
        }
    });
}

fn changes_nothing(broken: Option<&[u8]>) {
    let gateway = Gateway::start(json!({"a": child(&[])}));
    let pid = gateway.pid_of("a");
    match broken {
        Some(broken) => std::fs::write(gateway.config(), broken).unwrap(),
        None => std::fs::remove_file(gateway.config()).unwrap(),
    }
    std::thread::sleep(Duration::from_millis(1300));
    assert_eq!(gateway.pid_of("a"), pid, "{broken:?}");
}

/// Many editors save files this way.
#[test]
fn a_file_that_replaces_the_old_one_is_used() {
    let gateway = Gateway::start(json!({"a": child(&[])}));
    let (pid, path) = (gateway.pid_of("a"), gateway.config());
    std::fs::remove_file(&path).unwrap();
    std::thread::sleep(Duration::from_millis(1300));
    let next = gateway.folder.path().join("next");
    std::fs::write(&next, json!({"servers": {"b": child(&[])}}).to_string()).unwrap();
    let begun = Instant::now();
    std::fs::rename(&next, &path).unwrap();
    gateway.wait_for("the new server is available", |health| health["servers"] == json!({"b": "available"}));
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    eventually("the old server is gone", || !runs(pid));
}

#[test]
fn calls_under_way_finish() {
    let gateway = Gateway::start(json!({"a": child(&[])}));
    let pid = gateway.pid_of("a");
    std::thread::scope(|scope| {
        let call = scope.spawn(|| gateway.call("a", "sleep", json!({"ms": 4000})).result());
        eventually("the call is pending", || gateway.detail("a")["pending"] == 1);
        gateway.configure(&json!({"a": child_with_timeout(&["--page", "5"], 200)}));
        eventually("the new server answers", || {
            let called = gateway.call("a", "pid", json!({}));
            called.status == 200 && called.result()["pid"] != pid
        });
        assert_eq!(call.join().unwrap(), "slept");
    });
    eventually("the old server is gone", || !runs(pid));
    assert_eq!(gateway.call("a", "sleep", json!({"ms": 1000})).code().0, 408);
}
