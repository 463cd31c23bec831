//! The page in a real Chromium, against the real binary and a fake n8n. The browser driver is installed from npm, so these
//! tests only run on request: `cargo test --test view -- --ignored`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    unreachable_pub,
    missing_docs,
    reason = "a test fails by a panic, and nothing here is reachable"
)]

#[path = "../support/mod.rs"]
mod support;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, Once};

use serde_json::{Value, json};
use support::http_client::HttpServer;
use support::mcp_client::KEY;
use support::n8n_store::N8nFolder;
use support::server;
use support::view_server::{ViewServer, recording_opener};
use support::wait::eventually;

/// One browser at a time: it takes all cores.
static BROWSER: Mutex<()> = Mutex::new(());

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/view")
}

/// Where the browser driver is installed.
fn modules() -> PathBuf {
    static ONCE: Once = Once::new();
    let modules = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/view");
    ONCE.call_once(|| run(Command::new(folder().join("setup.sh")).arg(&modules)));
    modules
}

/// The executions that page.mjs visits, by id, and their folder.
fn bodies() -> (PathBuf, HashMap<String, Vec<u8>>) {
    let bodies = Path::new(env!("CARGO_TARGET_TMPDIR")).join("view");
    run(Command::new("node").arg(folder().join("bodies.mjs")).arg(&bodies));
    let read = |id: u32| (id.to_string(), std::fs::read(bodies.join(format!("{id}.json"))).unwrap());
    let mut executions: HashMap<_, _> = (1000..=1007).map(read).collect();
    // More than one page of the list.
    let (_, small) = support::fixtures::executions().into_iter().find(|(name, _)| name == "b_http_500").unwrap();
    let mut small = support::fixtures::parse(&small);
    // Failures are grouped if they are of the last days.
    let now = json!(jiff::Timestamp::now().strftime("%FT%T.000Z").to_string());
    (small["startedAt"], small["stoppedAt"]) = (now.clone(), now);
    executions.extend((100..160).map(|id| {
        small["id"] = json!(id.to_string());
        (id.to_string(), small.to_string().into_bytes())
    }));
    (bodies, executions)
}

fn run(command: &mut Command) {
    let output = command.output().unwrap();
    println!("{}", String::from_utf8_lossy(&[output.stdout, output.stderr].concat()));
    assert!(output.status.success(), "{command:?} ended with {}", output.status);
}

/// Runs the tests of a script against a page.
fn drive(view: &ViewServer, script: &str) {
    let mut node = Command::new("node");
    node.arg("--test").arg(folder().join(script)).env("VIEW_MODULES", modules()).env("VIEW_COOKIE", view.enter());
    run(node.env("VIEW_URL", format!("http://{}/view/", view.http.authority)));
}

#[test]
#[ignore = "runs npm and Chromium"]
fn the_page_works() {
    let _browser = BROWSER.lock();
    modules();
    let n8n = server::n8n(bodies().1);
    let url = n8n.url();
    drive(&ViewServer::start(&[], &[("N8N_URL", &url), ("N8N_API_KEY", KEY)]), "page.mjs");
}

#[test]
#[ignore = "runs npm and Chromium"]
fn a_file_leads_the_browser_to_the_page() {
    let _browser = BROWSER.lock();
    let modules = modules();
    let n8n = server::n8n(bodies().1);
    let (opener, home) = (recording_opener(), tempfile::tempdir().unwrap());
    let path = format!("{}:/usr/bin:/bin", opener.path().display());
    let environment = [
        ("N8N_URL", n8n.url()),
        ("N8N_API_KEY", KEY.to_owned()),
        ("HOME", home.path().display().to_string()),
        ("PATH", path),
        ("RECORDS", opener.path().display().to_string()),
    ];
    let environment: Vec<_> = environment.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let _view = ViewServer::start_opening(&["1001"], &environment);
    let opened = opener.path().join("done");
    eventually("the opener was started", || opened.exists());
    let file = std::fs::read_to_string(opened).unwrap();
    let mut node = Command::new("node");
    node.arg("--test").arg(folder().join("entry.mjs")).env("VIEW_MODULES", modules);
    run(node.env("VIEW_URL", format!("file://{}", file.trim_end())));
}

#[test]
#[ignore = "runs npm and Chromium"]
fn the_page_works_inside_an_mcp_client() {
    let _browser = BROWSER.lock();
    let modules = modules();
    let n8n = server::n8n(bodies().1);
    let server = HttpServer::start(&n8n.url(), &["--locale", "en"]);
    let mcp = format!("http://{}/mcp", server.authority);
    // The strictest client that the specification allows, and one made of ext-apps' own host code.
    for (script, client) in [("app.mjs", "http://client.test/"), ("bridge.mjs", "https://client.test/")] {
        let mut node = Command::new("node");
        node.arg("--test").arg(folder().join(script)).env("VIEW_MODULES", &modules);
        run(node.env("VIEW_URL", client).env("VIEW_MCP", &mcp));
    }
}

#[test]
#[ignore = "runs npm and Chromium"]
fn a_saved_execution_is_a_page_without_a_list() {
    let _browser = BROWSER.lock();
    modules();
    let body = bodies().0.join("1001.json");
    drive(&ViewServer::start(&[body.to_str().unwrap()], &[]), "file.mjs");
}

/// A store whose executions began in the last eight hours: a node that became slower, failures of two kinds after an edit, one execution
/// that is running, one that is waiting, and a text to find.
fn store_of_many() -> N8nFolder {
    let store = N8nFolder::wal();
    let connection = store.open();
    let now = jiff::Timestamp::now();
    let ago = |seconds: i64| (now - jiff::SignedDuration::from_secs(seconds)).strftime("%FT%T.000Z").to_string();
    let run = |ms: u64, json: Value| {
        json!([{"executionIndex": 0, "startTime": 1_795_226_662_000_u64, "executionTime": ms, "executionStatus": "success", "source": [],
            "data": {"main": [[{"json": json}]]}}])
    };
    let execution = |id: u64, workflow: &str, name: &str, seconds: i64, version: &str| {
        json!({"id": id.to_string(), "workflowId": workflow, "status": "success", "finished": true, "mode": "webhook",
            "startedAt": ago(seconds), "stoppedAt": ago(seconds), "workflowVersionId": format!("{version}-0000-4000-8000-000000000000"),
            "data": {"resultData": {"runData": {"Read": run(1, json!({"n": id})), "Price": run(if seconds < 3600 { 900 } else { 300 }, json!({"n": id}))}}},
            "workflowData": {"id": workflow, "name": name, "nodes": [], "connections": {}}})
    };
    let failed = |mut body: Value, node: &str, message: &str, description: String| {
        let error = json!({"name": "NodeApiError", "message": message, "description": description, "httpCode": "500", "node": {"name": node}});
        (body["status"], body["finished"]) = (json!("error"), json!(false));
        let result = &mut body["data"]["resultData"];
        result["runData"][node] = json!([{"executionIndex": 3, "startTime": 1_795_226_662_400_u64, "executionTime": 9, "executionStatus": "error",
            "source": [{"previousNode": "Price"}], "error": error}]);
        (result["error"], result["lastNodeExecuted"]) = (error, json!(node));
        body
    };
    for id in 1..=200_u64 {
        let seconds = 28_700 - 143 * id as i64;
        let version = if id > 188 { "bbbbbbbb" } else { "aaaaaaaa" };
        let mut body = execution(id, "orders", "Orders", seconds, version);
        if id == 60 {
            body["data"]["resultData"]["runData"]["Read"] =
                run(1, json!({"note": "the customer asks about order 4711 again"}));
        }
        if id > 188 {
            let description = format!("Label service: parcel {id} was refused");
            body = failed(body, "Ship", "The service was not able to process your request", description);
        }
        store.save_with(&connection, &body);
    }
    let invoices = |id: u64, seconds: i64| execution(id, "invoices", "Invoices", seconds, "cccccccc");
    let refused = |id: u64| failed(invoices(id, 40), "Mail", "Mail refused", "550".to_owned());
    store.save_with(&connection, &invoices(201, 50));
    store.save_with(&connection, &refused(202));
    for (id, status, till) in [(203, "running", Value::Null), (204, "waiting", json!("2099-05-04T10:00:00.000Z"))] {
        let mut body = invoices(id, 30);
        (body["status"], body["finished"], body["stoppedAt"], body["waitTill"]) =
            (json!(status), json!(false), Value::Null, till);
        store.save_with(&connection, &body);
    }
    store
}

#[test]
#[ignore = "runs npm and Chromium"]
fn the_home_of_a_store() {
    let _browser = BROWSER.lock();
    modules();
    let store = store_of_many();
    drive(&ViewServer::start(&["--store", store.path().to_str().unwrap()], &[]), "home.mjs");
}
