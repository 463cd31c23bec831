//! Third-party clients against the real binary and a fake n8n: the MCP Inspector, the official Python SDK, the
//! conformance suite, and Claude Code, Codex and Gemini CLI. They are installed from npm and PyPI, so these tests only run on request:
//! `cargo test --test clients -- --ignored`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    unreachable_pub,
    missing_docs,
    reason = "a test fails by a panic, and nothing here is reachable"
)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Once;

use n8n_lens::config::Access;
use n8n_lens::transport::http;
use n8n_lens::workflow::catalogue::{Catalogue, Query};
use tokio::net::TcpListener;

mod catalogue_queries;
mod conformance_server;
mod expressions;
mod flatted;
mod setup;
#[path = "../support/mod.rs"]
mod support;

use conformance_server::ConformanceServer;
use support::http_client::HttpServer;
use support::server::Server;
use support::workflow_store::{Flavour, WorkflowStore};
use support::{fixtures, mcp_client, server};

const ERAS: [&str; 2] = ["2025-11-25", "2026-07-28"];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients")
}

/// Installs the clients once; returns the folder.
fn installed() -> PathBuf {
    static ONCE: Once = Once::new();
    let clients = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/clients");
    ONCE.call_once(|| run(Command::new(folder().join("setup.sh")).env("CLIENTS_DIR", &clients)));
    clients
}

fn run(command: &mut Command) {
    let output = command.output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    println!("{}", String::from_utf8_lossy(&said));
    assert!(output.status.success(), "{command:?} ended with {}", output.status);
}

/// An n8n with real executions, in which workflows can be created.
fn n8n() -> Server {
    let executions = fixtures::executions().into_iter().filter(|(name, _)| name == "b_http_500" || name == "e_loop_25");
    let by_id = executions.map(|(_, body)| (fixtures::parse(&body)["id"].as_str().unwrap().to_owned(), body)).collect();
    let (store, executions) = (WorkflowStore::new(Flavour::V2), server::n8n_handler(by_id));
    Server::start(move |request| store.answer(request).unwrap_or_else(|| executions(request)))
}

/// Runs a script against the binary, over stdio and HTTP.
fn drive(command: &mut Command) {
    let n8n = n8n();
    let http = HttpServer::start(&n8n.url(), &["--files-root", "/"]);
    let url = format!("http://{}/mcp", http.authority);
    run(command
        .env("CLIENTS_DIR", installed())
        .env("N8N_LENS", crate::support::binary())
        .env("N8N_LENS_MCP_URL", url)
        .env("N8N_URL", n8n.url())
        .env("N8N_API_KEY", mcp_client::KEY)
        .env("EXECUTION_ID", "42")
        .env("OTHER_EXECUTION_ID", "49")
        .env("NODE_NAME", "HTTP Request"));
}

#[test]
#[ignore = "installs a client from npm"]
fn the_inspector_accepts_everything_in_both_eras() {
    drive(&mut Command::new(folder().join("inspector.sh")));
}

#[test]
#[ignore = "installs a client from PyPI"]
fn the_python_sdk_works_in_both_eras() {
    let python = installed().join("python/bin/python");
    drive(Command::new(python).arg(folder().join("python_client.py")));
}

#[test]
#[ignore = "installs OpenTelemetry's protocol from PyPI"]
fn an_opentelemetry_receiver_takes_the_traces() {
    let store = support::n8n_store::N8nFolder::wal();
    for (at, (_, body)) in fixtures::executions().into_iter().filter(|(_, body)| body.len() < 1_000_000).enumerate() {
        let mut body = fixtures::parse(&body);
        body["id"] = (at + 1).to_string().into();
        store.save(&body);
    }
    let mut receiver = Command::new(installed().join("python/bin/python"));
    receiver
        .arg(folder().join("otlp_receiver.py"))
        .env("N8N_LENS", crate::support::binary())
        .env("STORE", store.path());
    run(&mut receiver);
}

/// For common queries, the right node is among the first three results.
#[test]
#[ignore = "gets n8n's packages from npm"]
fn the_real_catalogue_finds_common_queries() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("catalogue.json");
    run(Command::new(crate::support::binary()).args(["catalogue", "update", "--catalogue"]).arg(&file));
    let text = std::fs::read(&file).unwrap();
    assert!(text.len() < 3_000_000, "{} bytes", text.len());
    let catalogue = Catalogue::read(&text).unwrap();
    let search = |words: &str| catalogue.search(&Query::keyword(words));
    search("warm up");
    let (mut found, mut slowest) = (0, std::time::Duration::ZERO);
    for (words, right) in catalogue_queries::QUERIES {
        let begun = std::time::Instant::now();
        let nodes = search(words);
        slowest = slowest.max(begun.elapsed());
        let first: Vec<_> = nodes.iter().take(3).map(|node| node.node_type.as_str()).collect();
        match first.iter().any(|node| right.contains(node)) {
            true => found += 1,
            false => println!("{words}: {first:?}"),
        }
    }
    let all = catalogue_queries::QUERIES.len();
    println!("{found} of {all}; the slowest took {slowest:?}; {} bytes of {}", text.len(), catalogue.source());
    // A later n8n can rename its nodes.
    assert!(found * 30 >= all * 27, "{found} of {all}");
}

fn conformance(url: &str, more: &[&str]) {
    for era in ERAS {
        let mut command = Command::new(folder().join("conformance.sh"));
        run(command.args([url, era]).args(more).env("CLIENTS_DIR", installed()));
    }
}

#[test]
#[ignore = "installs the conformance suite from npm"]
fn n8n_lens_passes_the_applicable_conformance_scenarios() {
    let n8n = n8n();
    let http = HttpServer::start(&n8n.url(), &["--files-root", "/"]);
    let expected = folder().join("conformance-own.yml");
    conformance(&format!("http://{}/mcp", http.authority), &["--expected-failures", expected.to_str().unwrap()]);
}

/// The same HTTP stack with a handler that has the tools of the suite.
#[test]
#[ignore = "installs the conformance suite from npm"]
fn the_conformance_server_passes_every_scenario() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let access = Access { loopback: true, auth_token: None, hosts: Vec::new(), max_sessions: 100 };
    runtime.spawn(async move { http::serve(listener, ConformanceServer::default, &access).await });
    conformance(&url, &[]);
}
