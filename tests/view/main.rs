//! The page in a real Chromium, against the real binary and a fake n8n. What drives the browser is installed from npm, so these
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

use support::http_client::HttpServer;
use support::mcp_client::KEY;
use support::server;
use support::view_server::{ViewServer, recording_opener};
use support::wait::eventually;

/// One browser at a time: it takes all cores.
static BROWSER: Mutex<()> = Mutex::new(());

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/view")
}

/// Where what drives the browser is installed.
fn modules() -> PathBuf {
    static ONCE: Once = Once::new();
    let modules = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/view");
    ONCE.call_once(|| run(Command::new(folder().join("setup.sh")).arg(&modules)));
    modules
}

/// The executions that page.mjs looks at, by id, and their folder.
fn bodies() -> (PathBuf, HashMap<String, Vec<u8>>) {
    let bodies = Path::new(env!("CARGO_TARGET_TMPDIR")).join("view");
    run(Command::new("node").arg(folder().join("bodies.mjs")).arg(&bodies));
    let read = |id: u32| (id.to_string(), std::fs::read(bodies.join(format!("{id}.json"))).unwrap());
    let mut executions: HashMap<_, _> = (1000..=1005).map(read).collect();
    // More than one page of the list.
    let (_, small) = support::fixtures::executions().into_iter().find(|(name, _)| name == "b_http_500").unwrap();
    executions.extend((100..160).map(|id| (id.to_string(), small.clone())));
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
    let mut node = Command::new("node");
    node.arg("--test")
        .arg(folder().join("app.mjs"))
        .env("VIEW_MODULES", modules)
        .env("VIEW_URL", "http://client.test/");
    run(node.env("VIEW_MCP", format!("http://{}/mcp", server.authority)));
}

#[test]
#[ignore = "runs npm and Chromium"]
fn a_saved_execution_is_a_page_without_a_list() {
    let _browser = BROWSER.lock();
    modules();
    let body = bodies().0.join("1001.json");
    drive(&ViewServer::start(&[body.to_str().unwrap()], &[]), "file.mjs");
}
