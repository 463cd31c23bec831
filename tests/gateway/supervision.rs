use std::io::Read;
use std::net::TcpStream;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::gateway::{Gateway, child, child_with_timeout, children, descriptors, kill, runs};
use crate::support::memory::anonymous;
use crate::wait::eventually;

/// Calls a server without a pause while `run` runs; returns the number of calls and the failures.
fn load<T>(gateway: &Gateway, server: &str, run: impl FnOnce() -> T) -> (T, u64, Vec<String>) {
    let (stop, calls, failures) = (AtomicBool::new(false), AtomicU64::new(0), Mutex::new(Vec::new()));
    let done = std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !stop.load(SeqCst) {
                    let called = gateway.call(server, "sleep", json!({"ms": 5}));
                    calls.fetch_add(1, SeqCst);
                    if called.status != 200 {
                        failures.lock().unwrap().push(called.text);
                    }
                }
            });
        }
        let done = run();
        stop.store(true, SeqCst);
        done
    });
    (done, calls.load(SeqCst), failures.into_inner().unwrap())
}

#[test]
fn a_killed_child_is_back_within_a_second() {
    let gateway = Gateway::start(json!({"a": child(&[]), "b": child(&[])}));
    for _ in 0..3 {
        let pid = gateway.pid_of("a");
        let answered = Mutex::new(Vec::new());
        let killed = std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let called = gateway.call("a", "sleep", json!({"ms": 10_000}));
                    answered.lock().unwrap().push((Instant::now(), called));
                });
            }
            eventually("all calls are pending", || gateway.detail("a")["pending"] == 8);
            let killed = Instant::now();
            kill(pid, "KILL");
            gateway.wait_for("the crash is detected", |health| health["servers"]["a"] != "available");
            assert!(killed.elapsed() < Duration::from_millis(150), "{:?}", killed.elapsed());
            assert_eq!(gateway.health()["status"], "degraded");
            assert_eq!(gateway.call("a", "echo", json!({})).code(), (503, "SERVER_NOT_RUNNING".to_owned()));
            gateway.wait_for_status("a", "available");
            // Including the pause of 0.25 s, and as much jitter.
            assert!(killed.elapsed() < Duration::from_secs(1), "{:?}", killed.elapsed());
            killed
        });
        for (at, called) in answered.into_inner().unwrap() {
            let (status, code, _, details) = called.failure();
            assert_eq!((status, code.as_str(), &details["signal"]), (502, "SERVER_CRASHED", &json!("SIGKILL")));
            // Sending the signal takes time, too.
            assert!(at - killed < Duration::from_millis(120), "{:?}", at - killed);
        }
        assert_ne!(gateway.pid_of("a"), pid);
    }
    let detail = gateway.detail("a");
    assert_eq!(
        (&detail["restarts"], &detail["lastExit"]["signal"], &detail["pending"]),
        (&json!(3), &json!("SIGKILL"), &json!(0))
    );
}

#[test]
fn other_servers_lose_no_call() {
    let gateway = Gateway::start(json!({"a": child(&[]), "b": child(&[])}));
    let ((), calls, failures) = load(&gateway, "b", || {
        for _ in 0..4 {
            gateway.wait_for_status("a", "available");
            kill(gateway.pid_of("a"), "KILL");
            gateway.wait_for("the crash is detected", |health| health["servers"]["a"] != "available");
        }
    });
    assert!(calls > 100, "{calls}");
    assert_eq!(failures, Vec::<String>::new());
}

#[test]
fn a_hundred_kills_leave_nothing() {
    kills_leave_nothing(1);
}

#[test]
#[ignore = "long: minutes"]
fn a_thousand_kills_leave_nothing() {
    kills_leave_nothing(10);
}

/// Four kills per server and minute: with the fifth, restarts would pause. Hence many servers, and new ones each round.
fn kills_leave_nothing(rounds: usize) {
    const SERVERS: usize = 25;
    const KILLS: usize = 4;
    let servers = |round: usize| -> Value {
        let names = (0..SERVERS).map(|n| format!("s{round}-{n}"));
        names.map(|name| (name, child(&["--grandchild"]))).collect::<serde_json::Map<_, _>>().into()
    };
    let gateway = Gateway::start(servers(0));
    let before = descriptors(gateway.http.pid());
    let mut seen = Vec::new();
    for round in 0..rounds {
        let is_up =
            |health: &Value| health["status"] == "ok" && health["servers"][format!("s{round}-0")] == "available";
        for _ in 0..KILLS {
            gateway.wait_for("all servers are available", is_up);
            for n in 0..SERVERS {
                let pids = gateway.call(&format!("s{round}-{n}"), "pid", json!({})).result();
                let pid = |pid: &Value| pid.as_u64().unwrap() as u32;
                seen.extend(pids["grandchildren"].as_array().unwrap().iter().map(pid));
                seen.push(pid(&pids["pid"]));
                kill(pid(&pids["pid"]), "KILL");
            }
        }
        gateway.configure(&servers(round + 1));
        let next = format!("s{}-0", round + 1);
        gateway.wait_for("the next servers are available", |health| {
            health["servers"][&next] == "available" && health["status"] == "ok"
        });
    }
    assert_eq!(seen.len(), SERVERS * KILLS * rounds * 2);
    eventually("all are gone", || !seen.iter().any(|pid| runs(*pid)));
    // Adopted processes are reaped a moment after they have ended.
    eventually("only the servers and the reaper are left", || children(gateway.http.pid()).len() == SERVERS + 1);
    let its = children(gateway.http.pid());
    assert!(its.iter().all(|(_, state)| *state != 'Z'), "{its:?}");
    let after = descriptors(gateway.http.pid());
    assert!(after <= before + 3, "{before} descriptors before, {after} after");
}

#[test]
fn a_server_that_fails_at_startup_is_restarted() {
    let folder = tempfile::tempdir().unwrap();
    let gateway = Gateway::begin(
        json!({
            "a": child(&["--crash-at-start", "9"]),
            "missing": {"command": "/no/such/program"},
            "once": child(&["--crash-once", folder.path().join("once").to_str().unwrap()]),
            "good": child(&[]),
        }),
        &[],
        &[],
    );
    gateway.wait_for_status("good", "available");
    let (status, code, message, details) = gateway.call("missing", "echo", json!({})).failure();
    assert_eq!((status, code.as_str(), message.as_str()), (502, "SERVER_CRASHED", "MCP Server 'missing' has crashed"));
    assert!(details["reason"].as_str().unwrap().contains("not found") && !details.to_string().contains("/no/such"));
    gateway.wait_for_status("a", "crashed");
    assert_eq!(gateway.call("a", "echo", json!({})).failure().3["exitCode"], 9);
    // It is restarted without a call.
    gateway.wait_for_status("once", "available");
}

/// Even if it exits right after it has printed something.
#[test]
fn each_exit_logs_the_end_of_standard_error() {
    let names = (0..8).map(|n| (format!("s{n}"), child(&["--crash-at-start"])));
    let gateway = Gateway::begin(names.collect::<serde_json::Map<_, _>>().into(), &[], &[]);
    let logged = |words: &str| {
        let count = std::cell::Cell::new(0);
        gateway.http.stderr.find(Duration::ZERO, |line| {
            count.set(count.get() + usize::from(line.contains(words)));
            None::<()>
        });
        count.get()
    };
    eventually("each exit has its lines", || {
        let exits = logged(": exited server=");
        exits >= 16 && logged("told to crash") == exits
    });
}

#[test]
#[ignore = "long: minutes"]
fn restarts_of_a_server_that_always_fails_pause() {
    let folder = tempfile::tempdir().unwrap();
    let starts = folder.path().join("starts");
    std::fs::write(&starts, "").unwrap();
    let flags = ["--starts", starts.to_str().unwrap(), "--crash-at-start", "9"];
    let gateway = Gateway::begin(json!({"a": child(&flags)}), &[], &[]);
    let count = || std::fs::read_to_string(&starts).unwrap().lines().count();
    eventually("restarts pause", || count() == 5);
    let spent = cpu(gateway.http.pid());
    std::thread::sleep(Duration::from_secs(3));
    gateway.call("a", "echo", json!({}));
    assert_eq!(count(), 5, "no restart during the pause, not even for a call");
    let spent = cpu(gateway.http.pid()) - spent;
    assert!(spent < Duration::from_millis(300), "{spent:?} of CPU time in 3 s");
    assert_eq!(gateway.health()["servers"]["a"], "crashed");
    // After 30 s, the next call triggers another restart.
    std::thread::sleep(Duration::from_secs(30));
    assert_eq!(count(), 5);
    assert_eq!(gateway.call("a", "echo", json!({})).code(), (502, "SERVER_CRASHED".to_owned()));
    eventually("another restart", || count() == 6);
}

/// The CPU time of a process.
fn cpu(pid: u32) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let words: Vec<_> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    // User and system time in hundredths of a second (proc(5)).
    let ticks: u64 = words[11..13].iter().map(|ticks| ticks.parse::<u64>().unwrap()).sum();
    Duration::from_millis(ticks * 10)
}

#[test]
fn a_server_that_hangs_blocks_no_other() {
    let gateway = Gateway::begin(
        json!({"hangs": child(&["--hang"]), "unlisted": child(&["--hang-at-list", "--ignore-term", "--ignore-eof"]), "good": child(&[])}),
        &[],
        &[],
    );
    let up = gateway.wait_for_status("good", "available");
    assert!(up < Duration::from_secs(3), "{up:?}");
    for server in ["hangs", "unlisted"] {
        let begun = Instant::now();
        assert_eq!(gateway.call(server, "echo", json!({})).code(), (503, "SERVER_NOT_RUNNING".to_owned()));
        assert!(begun.elapsed() < Duration::from_millis(500));
    }
    assert!(gateway.get("/mcp/tools").json()["tools"].as_array().unwrap().iter().all(|tool| tool["server"] == "good"));
}

#[test]
#[ignore = "long: minutes"]
fn a_handshake_that_hangs_times_out() {
    let gateway = Gateway::begin(json!({"hangs": child(&["--hang"])}), &[], &[]);
    eventually("the handshake times out", || gateway.health()["servers"]["hangs"] == "crashed");
    let reason = gateway.call("hangs", "echo", json!({})).failure().3["reason"].clone();
    assert!(reason.as_str().unwrap().contains("handshake"), "{reason}");
}

#[test]
fn grandchildren_end_with_their_parent() {
    let gateway = Gateway::start(json!({"a": child(&["--grandchild-ignores"])}));
    let grandchild =
        |gateway: &Gateway| gateway.call("a", "grandchild", json!({})).result()["pid"].as_u64().unwrap() as u32;
    for (restarts, crash) in ["crash", "kill"].into_iter().enumerate() {
        gateway.wait_for_status("a", "available");
        let pid = grandchild(&gateway);
        assert!(runs(pid));
        match crash {
            "crash" => assert_eq!(gateway.call("a", "crash", json!({})).code().0, 502),
            _ => kill(gateway.pid_of("a"), "KILL"),
        }
        eventually("the grandchild is gone", || !runs(pid));
        eventually("it restarts", || gateway.detail("a")["restarts"] == restarts + 1);
    }
    gateway.wait_for_status("a", "available");
    let pid = grandchild(&gateway);
    gateway.configure(&json!({}));
    eventually("the last grandchild is gone", || !runs(pid));
}

#[test]
fn a_stop_is_orderly() {
    let mut gateway = Gateway::start(
        json!({"a": child(&[]), "b": child(&["--ignore-eof", "--ignore-term", "--grandchild-ignores"])}),
    );
    let pids = [gateway.pid_of("a"), gateway.pid_of("b")];
    let grandchild = gateway.call("b", "pid", json!({})).result()["grandchildren"][0].as_u64().unwrap() as u32;
    std::thread::scope(|scope| {
        let call = scope.spawn(|| gateway.call("a", "sleep", json!({"ms": 1500})).result());
        eventually("the call is pending", || gateway.detail("a")["pending"] == 1);
        gateway.signal("TERM");
        assert_eq!(call.join().unwrap(), "slept");
    });
    let (code, took) = gateway.http.wait();
    assert_eq!(code, Some(0));
    assert!(took < Duration::from_secs(6), "{took:?}");
    for pid in [pids[0], pids[1], grandchild] {
        assert!(!runs(pid));
    }
}

/// Waits for the ten seconds that calls have on shutdown.
#[test]
#[ignore = "long: minutes"]
fn a_call_cut_by_sigterm_reports_the_shutdown() {
    let mut gateway = Gateway::start(json!({"a": child_with_timeout(&[], 60_000)}));
    let pid = gateway.pid_of("a");
    std::thread::scope(|scope| {
        let call = scope.spawn(|| gateway.call("a", "sleep", json!({"ms": 50_000})));
        eventually("it is called", || gateway.detail("a")["pending"] == 1);
        gateway.signal("TERM");
        let (status, code, message, details) = call.join().unwrap().failure();
        assert_eq!((status, code.as_str()), (503, "SERVER_NOT_RUNNING"), "{message} {details}");
        assert_eq!(message, "MCP Server 'a' is not running: the gateway is shutting down");
        assert_eq!((&details["server"], &details["status"]), (&json!("a"), &json!("unavailable")));
    });
    assert_eq!(gateway.http.wait().0, Some(0));
    assert!(!runs(pid));
}

/// Waits for the ten seconds that calls have when their server is removed.
#[test]
#[ignore = "long: minutes"]
fn a_call_cut_by_a_reload_reports_the_change() {
    let gateway = Gateway::start(json!({"a": child_with_timeout(&[], 60_000)}));
    std::thread::scope(|scope| {
        let call = scope.spawn(|| gateway.call("a", "sleep", json!({"ms": 50_000})));
        eventually("it is called", || gateway.detail("a")["pending"] == 1);
        gateway.configure(&json!({}));
        let (status, code, message, _) = call.join().unwrap().failure();
        assert_eq!((status, code.as_str()), (503, "SERVER_NOT_RUNNING"), "{message}");
        assert!(message.contains("removed from the configuration, or changed"), "{message}");
    });
}

#[test]
fn a_killed_gateway_leaves_no_process() {
    let gateway = Gateway::start(json!({
        "a": child(&[]),
        "b": child(&["--ignore-eof", "--ignore-term", "--grandchild-ignores"]),
        "d": child(&["--grandchild"]),
    }));
    let own = children(gateway.http.pid()).into_iter().map(|(pid, _)| pid);
    let pids = gateway.call("b", "pid", json!({})).result()["grandchildren"][0].as_u64().map(|pid| pid as u32);
    let more = gateway.call("d", "pid", json!({})).result()["grandchildren"][0].as_u64().map(|pid| pid as u32);
    let all: Vec<_> = own.chain(pids).chain(more).collect();
    assert_eq!(all.len(), 6, "three servers, the reaper, two grandchildren");
    gateway.signal("KILL");
    eventually("all are gone", || !all.iter().any(|pid| runs(*pid)));
}

/// Calls time out and are withdrawn before they are sent; the server survives.
#[test]
fn a_child_that_reads_nothing_survives() {
    let gateway = Gateway::start(json!({"a": child_with_timeout(&[], 100), "b": child(&[])}));
    let pid = gateway.pid_of("a");
    kill(pid, "STOP");
    let state = || Command::new("ps").args(["-o", "state=", "-p", &pid.to_string()]).output().unwrap().stdout;
    eventually("it is stopped", || state().starts_with(b"T"));
    let input = json!({"value": "x".repeat(100_000)});
    std::thread::scope(|scope| {
        for _ in 0..32 {
            scope.spawn(|| {
                for _ in 0..25 {
                    assert_eq!(gateway.call("a", "echo", input.clone()).code(), (408, "TIMEOUT_ERROR".to_owned()));
                }
            });
        }
    });
    assert_eq!(gateway.call("b", "echo", json!({})).status, 200);
    let held = anonymous(gateway.http.pid());
    assert!(held < 40_000_000, "{held} bytes: the 80 MB of calls are not kept");
    kill(pid, "CONT");
    eventually("the child answers again", || gateway.call("a", "echo", json!({})).status == 200);
    assert_eq!((gateway.pid_of("a"), &gateway.detail("a")["restarts"]), (pid, &json!(0)));
}

/// A child that sends requests and reads no replies takes no memory of the gateway.
#[test]
fn a_flood_of_requests_takes_little_memory() {
    let gateway = Gateway::start(json!({"a": child(&[]), "b": child(&[])}));
    std::thread::scope(|scope| {
        let flood = scope.spawn(|| gateway.call("a", "flood", json!({"ms": 1500})).result());
        eventually("the flood is under way", || gateway.detail("a")["pending"] == 1);
        assert_eq!(gateway.call("b", "echo", json!({})).status, 200);
        assert_eq!(flood.join().unwrap(), "flooded");
    });
    let held = anonymous(gateway.http.pid());
    assert!(held < 25_000_000, "{held} bytes");
    assert_eq!(gateway.call("a", "ask_client", json!({})).status, 200, "requests are answered again");
    assert_eq!(gateway.detail("a")["restarts"], 0);
}

/// Large answers are passed on, and their memory is released.
#[test]
fn large_answers_leave_no_memory_behind() {
    let gateway = Gateway::start(json!({"a": child_with_timeout(&[], 60_000)}));
    let before = anonymous(gateway.http.pid());
    for kind in ["text", "quotes", "text"] {
        assert_eq!(gateway.call("a", "big", json!({"bytes": 32 * 1024 * 1024, "kind": kind})).status, 200);
    }
    gateway.call("a", "echo", json!({})).result();
    let after = anonymous(gateway.http.pid());
    assert!(after < before + 20_000_000, "{before} bytes before, {after} after");
}

/// Eight clients do not read answers of 16 MiB: 64 MiB may wait, and the answers that have waited longest are dropped.
#[test]
fn answers_that_are_never_read_are_given_up() {
    let gateway = Gateway::start(json!({"a": child_with_timeout(&[], 60_000)}));
    let input = json!({"bytes": 16 * 1024 * 1024, "kind": "text"});
    let body = json!({"server": "a", "toolName": "big", "input": input}).to_string();
    let headers = [("content-type", "application/json")];
    let unread: Vec<_> = (0..8).map(|_| gateway.http.open("POST", "/mcp/call", &headers, &body)).collect();
    // The first bytes of a response arrive even if nothing reads them.
    for connection in &unread {
        connection.peek(&mut [0]).unwrap();
    }
    std::thread::sleep(Duration::from_secs(3));
    let read = |mut connection: TcpStream| connection.read_to_end(&mut Vec::new()).unwrap_or(0);
    let complete = unread.into_iter().map(read).filter(|bytes| *bytes > 16 * 1024 * 1024).count();
    assert!((1..=4).contains(&complete), "{complete} of 8 answers");
    assert_eq!(gateway.call("a", "big", input).status, 200, "a client that reads is served");
}

/// A remote server that closes the connection, or responds with an HTTP error or invalid JSON.
#[test]
fn a_failing_remote_server_blocks_no_other() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for connection in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || remote(connection));
        }
    });
    let gateway = Gateway::start(json!({"far": {"url": url, "timeoutMs": 3000}}));
    assert_eq!(gateway.call("far", "good", json!({})).result(), "fine");
    for tool in ["closes", "fails", "surrogate"] {
        let begun = Instant::now();
        let (status, code, ..) = gateway.call("far", tool, json!({})).failure();
        assert!(begun.elapsed() < Duration::from_millis(3500), "{tool}");
        assert_eq!(status / 100, 5, "{tool}: {code}");
        assert_eq!(gateway.call("far", "good", json!({})).result(), "fine", "{tool}");
    }
}

/// Serves one connection of an MCP server that responds with JSON, without sessions.
fn remote(connection: std::net::TcpStream) {
    use std::io::{BufRead, Read, Write};
    let mut reader = std::io::BufReader::new(connection.try_clone().unwrap());
    let mut writer = connection;
    loop {
        let (mut line, mut length, mut method) = (String::new(), 0, String::new());
        while reader.read_line(&mut line).is_ok_and(|bytes| bytes > 2) {
            if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if method.is_empty() {
                method = line.clone();
            }
            line.clear();
        }
        let mut body = vec![0; length];
        if method.is_empty() || reader.read_exact(&mut body).is_err() {
            return;
        }
        let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
        let described = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
        let tools = ["good", "closes", "fails", "surrogate"].map(described);
        let result = match asked["method"].as_str().unwrap_or_default() {
            "initialize" => {
                json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "far", "version": "0"}})
            }
            "tools/list" => {
                json!({ "tools": tools })
            }
            "tools/call" => json!({"content": [{"type": "text", "text": "fine"}]}),
            _ => Value::Null,
        };
        let mut answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": result}).to_string();
        let mut status = if result.is_null() { "202 Accepted" } else { "200 OK" };
        match asked["params"]["name"].as_str() {
            Some("closes") => return,
            Some("fails") => status = "500 Internal Server Error",
            Some("surrogate") => answer = answer.replace("fine", "\\ud83d"),
            _ if method.starts_with("GET") => status = "405 Method Not Allowed",
            _ => {}
        }
        let body = if result.is_null() { "" } else { &answer };
        let head =
            format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", body.len());
        if writer.write_all(format!("{head}{body}").as_bytes()).is_err() {
            return;
        }
    }
}
