//! The page in a real Chromium: `cargo bench --bench view`, after `tests/view/setup.sh target/view`.
//!
//! A generated body of 325 MB in a file; run data of an execution of 325 MB in n8n's SQLite (105 MB of text); and three nodes
//! of 100,000 runs in a file. Server and browser share the cores.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    unreachable_pub,
    missing_docs,
    reason = "a script that prints"
)]

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::Command;

use serde_json::json;

#[path = "../tests/support/mod.rs"]
mod support;
use support::generator::Shape;
use support::large_store::LargeStore;
use support::n8n_store::N8nFolder;
use support::view_server::ViewServer;

/// The body, bytes.
const BODY: u64 = 325_000_000;

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("body.json");
    io::copy(&mut Shape::realistic(BODY), &mut File::create(&file).unwrap()).unwrap();
    figures("a body of 325 MB in a file", &[file.to_str().unwrap()], "0");
    std::fs::remove_file(&file).unwrap();

    let text = folder.path().join("text");
    LargeStore::LARGE.write_to(&text);
    let store = N8nFolder::wal();
    let text = std::fs::read_to_string(&text).unwrap();
    let row = json!({"id": "900", "status": "success", "mode": "webhook", "workflowId": "w", "finished": true, "startedAt": "2026-11-22T00:00:00.000Z"});
    store.save_row(&store.open(), &row);
    store.save_data(&store.open(), 900, &LargeStore::stored().workflow, &text);
    drop(text);
    figures("the same size in n8n's own store", &["--store", store.path().to_str().unwrap(), "900"], "900");

    let bodies = folder.path().join("bodies");
    node(Command::new("node").arg(script("bodies.mjs")).arg(&bodies));
    figures("three nodes of 100,000 runs in a file", &[bodies.join("1002.json").to_str().unwrap()], "0");
}

fn script(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/view").join(name)
}

fn node(command: &mut Command) {
    assert!(command.status().unwrap().success(), "{command:?}");
}

/// Prints the figures of a page.
fn figures(name: &str, arguments: &[&str], id: &str) {
    println!("\n{name}");
    let view = ViewServer::start(arguments, &[]);
    let modules = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/view");
    let url = format!("http://{}/view/", view.http.authority);
    let mut figures = Command::new("node");
    figures.arg(script("figures.mjs")).env("VIEW_URL", url).env("VIEW_ID", id);
    node(figures.env("VIEW_COOKIE", view.enter()).env("VIEW_MODULES", modules));
}
