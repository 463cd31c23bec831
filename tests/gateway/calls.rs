use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::Barrier;
use std::time::{Duration, Instant};

use n8n_lens::coordination::tools::TOOLS;
use serde_json::{Value, json};

use crate::gateway::{Gateway, child, child_with_timeout};
use crate::tools;
use crate::wait::eventually;

const MIB_64: usize = 64 * 1024 * 1024;

#[test]
fn results_are_passed_on_unchanged() {
    let gateway = Gateway::start(json!({"a": child(&[])}));
    let echo = |input: &str| gateway.post(&format!(r#"{{"server":"a","toolName":"echo","input":{input}}}"#)).text;
    for input in [
        "{}",
        r#"{"value":null}"#,
        r#"{"value":"ä 😀 \" \\ \u0000 < > & '"}"#,
        r#"{"value":{"z":1,"a":[true,false,{"":""}],"m":-0.5}}"#,
        r#"{"value":[9007199254740993,-9223372036854775808,18446744073709551615]}"#,
    ] {
        let sent: Value = serde_json::from_str(input).unwrap();
        let answer: Value = serde_json::from_str(&echo(input)).unwrap();
        assert_eq!(answer, json!({"success": true, "result": sent}));
    }
    let call = |tool: &str, input: Value| gateway.call("a", tool, input).result();
    assert_eq!(call("text", json!({"text": "plain"})), "plain");
    assert_eq!(call("text", json!({"text": " {\"a\": [1]} "})), json!({"a": [1]}));
    assert_eq!(call("text", json!({"text": ""})), "");
    assert_eq!(
        call("texts", json!({"texts": ["1", "2"]})),
        json!([{"type": "text", "text": "1"}, {"type": "text", "text": "2"}])
    );
    assert_eq!(call("nothing", json!({})), json!([]));
    assert_eq!(call("image", json!({}))[1]["type"], "image");
    // Values that Rust cannot represent are passed on unchanged, too.
    let lone = gateway.call("a", "text", json!({"text": r#"{"a":"\ud83d","n":1e400,"big":12345678901234567890123}"#}));
    assert_eq!(lone.text, r#"{"success":true,"result":{"a":"\ud83d","n":1e400,"big":12345678901234567890123}}"#);
}

/// The call in the README, with curl.
#[test]
fn the_readme_example_runs() {
    let gateway = Gateway::start(json!({"health-server": child(&[])}));
    let output = Command::new("curl")
        .args(["-s", "-X", "POST", "-H", "content-type: application/json", "-d"])
        .arg(r#"{"server": "health-server", "toolName": "sum", "input": {"numbers": [1, 2, 3]}}"#)
        .arg(format!("http://{}/mcp/call", gateway.http.authority))
        .output()
        .unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&answer["success"], answer["result"]["sum"].as_f64()), (&json!(true), Some(6.0)));
}

#[test]
fn errors_have_their_codes() {
    let gateway = Gateway::begin(json!({"a": child(&[]), "slow": child(&["--slow-start", "5000"])}), &[], &[]);
    gateway.wait_for_status("a", "available");

    let (status, code, message, details) = gateway.call("nobody", "echo", json!({})).failure();
    assert_eq!((status, code.as_str(), message.as_str()), (404, "SERVER_NOT_FOUND", "MCP Server 'nobody' not found"));
    assert_eq!(details["server"], "nobody");

    let (status, code, message, details) = gateway.call("a", "unknown-tool", json!({})).failure();
    assert_eq!((status, code.as_str(), message.as_str()), (404, "TOOL_NOT_FOUND", "Tool 'unknown-tool' not found"));
    assert_eq!((&details["toolName"], &details["server"]), (&json!("unknown-tool"), &json!("a")));

    let begun = Instant::now();
    let starting = gateway.call("slow", "echo", json!({}));
    assert!(begun.elapsed() < Duration::from_secs(1), "an immediate response");
    let (status, code, message, details) = starting.failure();
    assert_eq!(
        (status, code.as_str(), message.as_str()),
        (503, "SERVER_NOT_RUNNING", "MCP Server 'slow' is not running")
    );
    assert_eq!((&details["server"], &details["status"]), (&json!("slow"), &json!("unavailable")));
    let retry = starting.headers.iter().find(|(name, _)| name == "retry-after").unwrap();
    assert!(retry.1.parse::<u64>().unwrap() >= 1);
    assert_eq!(gateway.health()["servers"]["slow"], "unavailable");

    let (status, code, message, details) =
        gateway.call("a", "fail", json!({"text": "No such file: x\nTry y."})).failure();
    assert_eq!((status, code.as_str(), message.as_str()), (500, "TOOL_EXECUTION_ERROR", "No such file: x\nTry y."));
    assert_eq!(details, json!({"toolName": "fail", "server": "a"}));

    let error = json!({"code": -32050, "message": "Odd"});
    let (status, code, message, details) = gateway.call("a", "rpc_error", error).failure();
    assert_eq!((status, code.as_str(), message.as_str()), (500, "TOOL_EXECUTION_ERROR", "Odd"));
    assert_eq!(details["jsonrpcCode"], -32050);

    for (tool, input, ended) in [
        ("crash", json!({"code": 7}), json!(7)),
        ("panic", json!({}), json!(101)),
        ("crash", json!({"code": 0}), json!(0)),
    ] {
        gateway.wait_for_status("a", "available");
        let (status, code, message, details) = gateway.call("a", tool, input).failure();
        assert_eq!((status, code.as_str(), message.as_str()), (502, "SERVER_CRASHED", "MCP Server 'a' has crashed"));
        assert_eq!((&details["server"], &details["exitCode"]), (&json!("a"), &ended));
    }
    assert_eq!(gateway.detail("a")["lastExit"]["exitCode"], 0);
    gateway.wait_for_status("a", "available");
    // An answer sent just before the exit counts.
    assert_eq!(gateway.call("a", "answer_and_exit", json!({})).result(), "bye");
}

#[test]
fn malformed_answers_are_internal_errors() {
    let gateway = Gateway::start(json!({"a": child(&[]), "b": child_with_timeout(&[], 1500)}));
    for kind in ["no_result", "result_string", "content_string", "truncated"] {
        let (status, code, _, details) = gateway.call("a", "malformed", json!({"kind": kind})).failure();
        assert_eq!((status, code.as_str()), (500, "INTERNAL_ERROR"), "{kind}");
        assert!(details["id"].as_str().is_some_and(|id| id.len() == 36), "{kind}: {details}");
    }
    assert_eq!(gateway.call("a", "input_required", json!({})).code(), (500, "INTERNAL_ERROR".to_owned()));
    for kind in ["latin_1", "latin_1_id_last", "control_character", "not_a_number"] {
        let failed = gateway.call("a", "malformed", json!({"kind": kind})).code();
        assert_eq!(failed, (500, "INTERNAL_ERROR".to_owned()), "{kind}");
    }
    for kind in ["wrong_id", "latin_1_without_id"] {
        let failed = gateway.call("b", "malformed", json!({"kind": kind})).code();
        assert_eq!(failed, (408, "TIMEOUT_ERROR".to_owned()), "{kind}: nothing says which call it answers");
    }
    assert_eq!(gateway.call("a", "echo", json!({})).status, 200);
    assert_eq!(gateway.detail("a")["restarts"], 0);
}

#[test]
fn answers_of_64_mib_pass() {
    answers_of_64_mib(&["text"]);
}

#[test]
#[ignore = "long: minutes"]
fn answers_of_64_mib_of_every_kind_pass() {
    answers_of_64_mib(&["text", "structured", "json", "quotes"]);
}

fn answers_of_64_mib(kinds: &[&str]) {
    let gateway = Gateway::start(json!({"a": child_with_timeout(&[], 60_000)}));
    let pid = gateway.pid_of("a");
    for kind in kinds {
        let called = gateway.call("a", "big", json!({"bytes": MIB_64, "kind": kind}));
        assert_eq!(called.status, 200, "{kind}: {:.300}", called.text);
        assert!(called.text.len() >= MIB_64, "{kind}");
        assert!(called.text.starts_with(r#"{"success":true,"result":"#) && called.text.ends_with('}'), "{kind}");
        let (status, code, message, _) = gateway.call("a", "big", json!({"bytes": MIB_64 + 1, "kind": kind})).failure();
        assert_eq!((status, code.as_str()), (500, "TOOL_EXECUTION_ERROR"), "{kind}");
        assert!(message.contains("67108864 bytes"), "{message}");
    }
    // One answer that is too large to be buffered.
    let (_, code, message, _) = gateway.call("a", "big", json!({"bytes": 4 * MIB_64, "kind": "text"})).failure();
    assert_eq!((code.as_str(), message.contains("67108864 bytes")), ("TOOL_EXECUTION_ERROR", true));
    // The server was not restarted.
    assert_eq!(gateway.pid_of("a"), pid);
}

#[test]
fn noise_on_stdout_is_ignored() {
    let gateway = Gateway::start(json!({"a": child(&["--noise", "--stderr-flood"])}));
    for n in 0..20 {
        assert_eq!(gateway.call("a", "echo", json!({"value": n})).result(), json!({"value": n}));
    }
    assert_eq!(gateway.call("a", "ask_client", json!({})).status, 200);
}

#[test]
fn calls_time_out_and_are_cancelled() {
    let gateway = Gateway::start(json!({"a": child_with_timeout(&[], 300)}));
    for (tool, input) in [("sleep", json!({"ms": 5000})), ("progress", json!({"ms": 5000, "steps": 100}))] {
        let begun = Instant::now();
        let (status, code, message, details) = gateway.call("a", tool, input).failure();
        assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
        assert_eq!(
            (status, code.as_str(), message.as_str()),
            (408, "TIMEOUT_ERROR", "Tool execution timed out after 300ms")
        );
        assert_eq!(details, json!({"toolName": tool, "timeout": 300}));
    }
    eventually("both are cancelled", || cancelled(&gateway) == 2);
    assert_eq!(gateway.call("a", "sleep", json!({"ms": 50})).result(), "slept");
    assert_eq!(gateway.detail("a")["restarts"], 0);
}

fn cancelled(gateway: &Gateway) -> u64 {
    gateway.call("a", "cancelled", json!({})).result()["count"].as_u64().unwrap()
}

#[test]
fn a_client_that_disconnects_cancels_its_calls() {
    let gateway = Gateway::start(json!({"a": child(&[])}));
    let body = json!({"server": "a", "toolName": "sleep", "input": {"ms": 20_000}}).to_string();
    let open = || gateway.http.open("POST", "/mcp/call", &[("content-type", "application/json")], &body);
    let waiting: Vec<TcpStream> = (0..5).map(|_| open()).collect();
    eventually("all calls are pending", || gateway.detail("a")["pending"] == 5);
    // Calls that have not been sent yet are withdrawn, and the child never sees them: wait until they are sent.
    std::thread::sleep(Duration::from_millis(300));
    drop(waiting);
    eventually("all are cancelled", || cancelled(&gateway) == 5);
    assert_eq!(gateway.detail("a")["pending"], 0);
}

/// Makes calls at once, each on its own thread; returns how long all of them took.
fn at_once(calls: usize, call: impl Fn(usize) + Sync) -> Duration {
    let barrier = Barrier::new(calls + 1);
    let begun = std::thread::scope(|scope| {
        for n in 0..calls {
            let (barrier, call) = (&barrier, &call);
            scope.spawn(move || {
                barrier.wait();
                call(n);
            });
        }
        barrier.wait();
        Instant::now()
    });
    begun.elapsed()
}

#[test]
fn a_hundred_calls_at_once() {
    let gateway = Gateway::start(json!({"a": child(&[]), "b": child(&[])}));
    at_once(100, |n| {
        let server = if n % 2 == 0 { "a" } else { "b" };
        let (tool, input, result) = match n % 4 {
            0 | 1 => ("echo", json!({"value": n}), json!({"value": n})),
            2 => ("sleep", json!({"ms": 100, "answer": format!("{n}!")}), json!(format!("{n}!"))),
            _ => ("text", json!({"text": format!("{n}?")}), json!(format!("{n}?"))),
        };
        assert_eq!(gateway.call(server, tool, input).result(), result);
    });
    let served = |server| gateway.detail(server)["served"].as_u64().unwrap();
    assert_eq!(served("a") + served("b"), 100);
}

#[test]
fn at_most_64_calls_run_at_once() {
    let gateway = Gateway::start(json!({"a": child(&[])}));
    at_once(130, |_| assert_eq!(gateway.call("a", "sleep", json!({"ms": 1500})).result(), "slept"));
    assert_eq!(gateway.call("a", "sleepers", json!({})).result(), json!({"most": 64}));
}

#[test]
fn a_call_that_waits_for_its_turn_can_time_out() {
    let gateway = Gateway::start(json!({"a": child_with_timeout(&[], 1000)}));
    // None of the first 64 ends in time, and those after them wait for as long.
    at_once(130, |_| assert_eq!(gateway.call("a", "sleep", json!({"ms": 60_000})).code().0, 408));
    assert_eq!(gateway.call("a", "echo", json!({})).status, 200);
}

#[test]
fn tools_are_listed() {
    let gateway = Gateway::begin(
        json!({"b": child(&[]), "a": child(&["--page", "3"]), "none": child(&["--no-tools"]), "down": {"command": "/no/such/program"}}),
        &[],
        &[],
    );
    for server in ["a", "b", "none"] {
        gateway.wait_for_status(server, "available");
    }
    let listed = gateway.get("/mcp/tools").json();
    assert_eq!(listed["success"], true);
    let tools = listed["tools"].as_array().unwrap();
    let names: Vec<_> =
        tools.iter().map(|tool| (tool["server"].as_str().unwrap(), tool["name"].as_str().unwrap())).collect();
    assert!(names.is_sorted() && names.contains(&("a", "echo")) && names.contains(&("b", "sum")));
    assert_eq!(names.iter().filter(|(server, _)| *server == "a").count() * 2, names.len());
    let sum = tools.iter().find(|tool| tool["name"] == "sum").unwrap();
    assert_eq!(sum.as_object().unwrap().keys().collect::<Vec<_>>(), ["name", "description", "server", "inputSchema"]);
    assert_eq!(sum["inputSchema"]["properties"]["numbers"]["type"], "array");
}

#[test]
fn changed_tools_are_listed_again() {
    let gateway = Gateway::start(json!({"a": child(&[])}));
    let has = |name: &str| {
        gateway.get("/mcp/tools").json()["tools"].as_array().unwrap().iter().any(|tool| tool["name"] == name)
    };
    assert_eq!(gateway.call("a", "fresh", json!({})).code(), (404, "TOOL_NOT_FOUND".to_owned()));
    gateway.call("a", "add_tool", json!({"name": "fresh"})).result();
    // A listed tool can be called at once.
    assert_eq!(gateway.call("a", "fresh", json!({"x": 1})).result(), json!({"x": 1}));
    assert!(has("fresh"));
    gateway.call("a", "remove_tool", json!({"name": "fresh"})).result();
    eventually("the tool is gone", || !has("fresh"));
    gateway.call("a", "add_tool", json!({"name": "fresh"})).result();
    let crashed = gateway.call("a", "crash", json!({}));
    assert_eq!(crashed.code().0, 502);
    assert!(!has("fresh"), "a server that is down lists no tools");
    gateway.wait_for_status("a", "available");
    assert!(has("echo") && !has("fresh"), "listed again after the restart");
}

#[test]
fn a_stateless_server_is_supported() {
    let gateway = Gateway::start(json!({"a": child(&["--legacy-error"])}));
    assert_eq!(gateway.call("a", "echo", json!({"value": 1})).result(), json!({"value": 1}));
    assert_eq!(gateway.call("a", "input_required", json!({})).code(), (500, "INTERNAL_ERROR".to_owned()));
    assert_eq!(gateway.detail("a")["restarts"], 0);
}

/// The n8n-lens MCP server over HTTP.
struct Remote {
    process: Child,
    /// `127.0.0.1:PORT/mcp`
    at: String,
}

impl Remote {
    fn start(port: &str) -> Self {
        let mut command = Command::new(crate::support::binary());
        command.args(["--transport", "http", "--port", port]);
        command.env("N8N_URL", "http://127.0.0.1:1").env("N8N_API_KEY", "key").stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let mut line = String::new();
        let mut lines = BufReader::new(process.stderr.take().unwrap());
        lines.read_line(&mut line).unwrap();
        std::thread::spawn(move || lines.read_to_end(&mut Vec::new()));
        Self { process, at: line.trim_end().split_once("http://").unwrap().1.to_owned() }
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// n8n-lens stands in for any remote server.
#[test]
fn a_remote_server_is_called() {
    let remote = Remote::start("0");
    let at = remote.at.clone();
    let elsewhere = json!({"url": format!("http://{at}"), "headers": {"X-Any": "1"}});
    let gateway = Gateway::start(json!({"remote": elsewhere, "a": child(&[])}));
    let (_, code, message, _) = gateway.call("remote", "get_execution", json!({"id": "1"})).failure();
    assert_eq!(code, "TOOL_EXECUTION_ERROR");
    assert!(message.contains("n8n"), "{message}");
    assert_eq!(gateway.call("remote", "get_execution", json!({"id": {}})).code().0, 400);
}

#[test]
#[ignore = "long: minutes"]
fn a_remote_server_that_comes_back_is_called_again() {
    let remote = Remote::start("0");
    let at = remote.at.clone();
    let gateway = Gateway::start(json!({"remote": {"url": format!("http://{at}")}, "a": child(&[])}));
    drop(remote);
    gateway.wait_for("the loss is detected", |health| health["servers"]["remote"] != "available");
    assert_eq!(gateway.call("a", "echo", json!({})).status, 200);
    let port = at.split_once(':').unwrap().1.trim_end_matches("/mcp").to_owned();
    let _remote = Remote::start(&port);
    gateway.wait_for_status("remote", "available");
    assert_eq!(gateway.call("remote", "get_execution", json!({"id": "1"})).code().1, "TOOL_EXECUTION_ERROR");
}

#[test]
fn the_n8n_server_is_built_in() {
    let environment = json!({"N8N_URL": "http://127.0.0.1:1", "N8N_API_KEY": "k", "N8N_LENS_LOCALE": "en"});
    let servers = json!({"n8n": {"builtin": "n8n", "env": environment}, "flags": {"builtin": "n8n"}});
    let flags = ["--n8n-url", "http://127.0.0.1:1", "--api-key", "k"];
    let gateway = Gateway::begin(servers, &flags, &[]);
    gateway.wait_for("both are up", |health| health["status"] == "ok");
    let listed = gateway.get("/mcp/tools").json();
    assert_eq!(listed["tools"].as_array().unwrap().len(), 2 * tools::tools(&[]).len());
    let (_, code, message, _) = gateway.call("n8n", "get_execution", json!({"id": "42"})).failure();
    assert_eq!(code, "TOOL_EXECUTION_ERROR");
    assert!(message.contains("n8n"), "{message}");
}

#[test]
fn the_agents_server_is_built_in() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("agents.db");
    let servers = json!({"agents": {"builtin": "agents", "args": ["--db", db.to_str().unwrap()]}});
    let gateway = Gateway::start(servers);
    assert_eq!(gateway.get("/mcp/tools").json()["tools"].as_array().unwrap().len(), TOOLS.len());
    let health = gateway.call("agents", "health_check", json!({})).result();
    assert_eq!(health["status"], "ok");
    let (_, code, message, _) = gateway.call("agents", "get_task", json!({"task_id": "tsk_1"})).failure();
    assert_eq!((code.as_str(), message.contains("Task not found: tsk_1")), ("TOOL_EXECUTION_ERROR", true), "{message}");
}

#[test]
fn openapi_and_metrics_describe_every_tool() {
    let gateway = Gateway::start(json!({"a": child(&[])}));
    let document = gateway.get("/openapi.json").json();
    assert_eq!(document["openapi"], "3.1.0");
    let sum = &document["paths"]["/mcp/call/a/sum"]["post"];
    assert_eq!(sum["requestBody"]["content"]["application/json"]["schema"]["required"], json!(["numbers"]));
    let tools = gateway.get("/mcp/tools").json()["tools"].as_array().unwrap().len();
    assert_eq!(document["paths"].as_object().unwrap().len(), tools + 5);
    // Each operation can be called.
    let json = [("content-type", "application/json")];
    let send = |path: &str, body: &str| gateway.send("POST", path, &json, body);
    assert_eq!(send("/mcp/call/a/sum", r#"{"numbers":[1,2]}"#).result()["sum"].as_f64(), Some(3.0));
    assert_eq!(send("/mcp/call/a/sum", "[]").code(), (400, "VALIDATION_ERROR".to_owned()));
    assert_eq!(send("/mcp/call/a/none", "{}").code(), (404, "TOOL_NOT_FOUND".to_owned()));
    assert_eq!(send("/mcp/call/b/sum", "{}").code(), (404, "SERVER_NOT_FOUND".to_owned()));
    assert_eq!(send("/mcp/call/a%20b/sum", "{}").code(), (400, "VALIDATION_ERROR".to_owned()));

    let metrics = gateway.get("/metrics").text;
    for line in [
        r#"gateway_calls_total{server="a",tool="sum",code="OK"} 1"#,
        r#"gateway_calls_total{server="a",tool="",code="TOOL_NOT_FOUND"} 1"#,
        r#"gateway_calls_total{server="",tool="",code="SERVER_NOT_FOUND"} 1"#,
        r#"gateway_call_duration_seconds_count{server="a",tool="sum"} 1"#,
        r#"gateway_server_up{server="a"} 1"#,
        "# EOF",
    ] {
        assert!(metrics.lines().any(|its| its == line), "{line}\n{metrics}");
    }
}
