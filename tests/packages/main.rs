//! The packages that `packaging/pack` makes, installed without publishing them: npm's from a registry on loopback, the
//! wheels from their folder. Tools come from npm and PyPI, so these tests only run on request:
//! `cargo test --test packages -- --ignored`.
#![cfg(target_os = "linux")]
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
use std::process::{Command, Output};
use std::sync::LazyLock;

use serde_json::{Value, json};

mod bundle;
mod installer;
mod launcher;
mod licences;
mod npm;
mod npm_registry;
mod pypi;
#[path = "../support/mod.rs"]
mod support;

use support::mcp_client::{KEY, McpClient};
use support::{fixtures, server, wait};

const BINARY: &str = env!("CARGO_BIN_EXE_n8n-lens");
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The execution that every package summarizes.
const EXECUTION: &str = "fixtures/executions/b_http_500.json";

/// All targets of a release.
const TARGETS: [&str; 7] = [
    "x86_64-unknown-linux-gnu",
    "aarch64-unknown-linux-gnu",
    "x86_64-unknown-linux-musl",
    "aarch64-unknown-linux-musl",
    "x86_64-apple-darwin",
    "aarch64-apple-darwin",
    "x86_64-pc-windows-msvc",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The folder of these tests below `target`.
fn work() -> PathBuf {
    root().join("target/packages")
}

/// All packages, made once: with the binary under test for this machine and text files for other platforms.
static PACKAGES: LazyLock<PathBuf> = LazyLock::new(|| {
    LazyLock::force(&PYTHON);
    let (binaries, packages) = (work().join("binaries"), work().join("dist"));
    let _ = std::fs::remove_dir_all(&binaries);
    for target in TARGETS {
        let folder = binaries.join(target);
        std::fs::create_dir_all(&folder).unwrap();
        if target.starts_with(&format!("{}-unknown-linux", std::env::consts::ARCH)) {
            // As in a release, there are no debug symbols.
            succeed(Command::new("strip").arg("-o").arg(folder.join("n8n-lens")).arg(BINARY));
        } else {
            let name = if target.contains("windows") { "n8n-lens.exe" } else { "n8n-lens" };
            std::fs::write(folder.join(name), "stands in for a binary").unwrap();
        }
    }
    succeed(Command::new(root().join("packaging/pack")).arg(&binaries).arg(&packages));
    packages
});

/// The Python environment with uv, twine and shellcheck, made once, in which the requirements of packaging/pack are installed.
static PYTHON: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = work().join("python");
    succeed(Command::new(root().join("tests/packages/setup.sh")).arg(&folder));
    folder
});

/// Runs a command that must succeed; returns its standard output.
#[track_caller]
fn succeed(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let Output { status, stdout, stderr } = output;
    assert!(
        status.success(),
        "{command:?} ended with {status}: {}",
        String::from_utf8_lossy(&[stdout, stderr].concat())
    );
    String::from_utf8(stdout).unwrap()
}

/// A command without the environment of the tests, in its own home folder.
fn isolated(program: impl AsRef<std::ffi::OsStr>, home: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", home).current_dir(root());
    command
}

/// The binary's own output for [`EXECUTION`].
fn expected_summary() -> String {
    succeed(Command::new(BINARY).args(["summary", EXECUTION]).env_clear().current_dir(root()))
}

/// The installed command lists the tools over MCP, and summarizes an execution that it requests from n8n.
fn assert_it_serves(command: &mut Command) {
    let execution = fixtures::execution("b_http_500");
    let id = fixtures::parse(&execution)["id"].as_str().unwrap().to_owned();
    let n8n = server::n8n([(id.clone(), execution)].into());
    let mut client = McpClient::try_spawn(command.env("N8N_URL", n8n.url()).env("N8N_API_KEY", KEY)).expect("a server");
    let tools = client.request("tools/list", json!({}));
    let names: Vec<_> = tools["result"]["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert!(names.contains(&&json!("get_execution")), "{names:?}");
    let summary: Value = serde_json::from_str(&client.call("get_execution", json!({"id": id})).unwrap()).unwrap();
    assert_eq!(summary["data"]["status"], "error", "{summary}");
    // The client leaves: its side of standard input is closed.
    assert_eq!(client.close(), Some(0));
}
