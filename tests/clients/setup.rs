//! Clients from npm connect to n8n-lens as `n8n-lens setup` configured them.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::binary;
use crate::support::http_client::HttpServer;
use crate::support::mcp_client::KEY;
use crate::{installed, n8n, run};

const TOKEN: &str = "the-token-of-n8n-lens";

/// A program in its own home folder, with the key and the token in its environment.
fn in_home(home: &Path, program: impl AsRef<Path>, n8n_url: &str) -> Command {
    let binaries = installed().join("node_modules/.bin");
    let path = std::env::var_os("PATH").unwrap();
    let path = std::env::join_paths([binaries].into_iter().chain(std::env::split_paths(&path))).unwrap();
    let mut command = Command::new(program.as_ref());
    command.current_dir(home).env_clear().env("PATH", path).env("HOME", home);
    command.env("N8N_URL", n8n_url).env("N8N_API_KEY", KEY).env("N8N_LENS_AUTH_TOKEN", TOKEN);
    command
}

/// Sets a client up over stdio and over HTTP, and calls `connects` for both.
fn configured(client: &str, file: &str, connects: impl Fn(&dyn Fn(&str) -> Command)) {
    let n8n = n8n();
    let server = HttpServer::start(&n8n.url(), &["--auth-token", TOKEN]);
    let url = format!("http://{}/mcp", server.authority);
    let home = tempfile::tempdir().unwrap();
    for transport in [&[][..], &["--http", &url]] {
        let setup = ["setup", client, "--write"];
        run(in_home(home.path(), binary(), &n8n.url()).args(setup).args(transport));
        let text = std::fs::read_to_string(home.path().join(file)).unwrap();
        assert!(!text.contains(KEY) && !text.contains(TOKEN), "{text}");
        connects(&|program| in_home(home.path(), program, &n8n.url()));
    }
    run(in_home(home.path(), binary(), &n8n.url()).args(["setup", client, "--remove", "--write"]));
}

/// The output of a command that must succeed.
fn printed(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{command:?}: {said}");
    said
}

#[test]
#[ignore = "installs a client from npm"]
fn claude_code_connects_as_configured() {
    configured("claude-code", ".claude.json", |command| {
        let mut claude = command("claude");
        claude.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
        let said = printed(claude.args(["mcp", "list"]));
        assert!(said.lines().any(|line| line.starts_with("n8n-lens: ") && line.ends_with("✔ Connected")), "{said}");
    });
}

#[test]
#[ignore = "installs a client from npm"]
fn gemini_cli_connects_as_configured() {
    configured("gemini", ".gemini/settings.json", |command| {
        let mut gemini = command("gemini");
        // It starts no servers in folders that the user has not trusted.
        gemini.env("GEMINI_CLI_TRUST_WORKSPACE", "true");
        let said = printed(gemini.args(["mcp", "list"]));
        assert!(said.lines().any(|line| line.contains("n8n-lens: ") && line.ends_with(" - Connected")), "{said}");
    });
}

/// `codex mcp list` does not connect; the app server does, and returns the tools that it received.
#[test]
#[ignore = "installs a client from npm"]
fn codex_connects_as_configured() {
    configured("codex", ".codex/config.toml", |command| {
        let said = printed(command("codex").args(["mcp", "list"]));
        assert!(said.lines().any(|line| line.starts_with("n8n-lens ") && line.contains("enabled")), "{said}");
        let status = status_in_codex(command("codex").arg("app-server"));
        assert_eq!(status["name"], "n8n-lens", "{status}");
        assert!(status["tools"]["get_execution"].is_object(), "{status}");
    });
}

/// The status of the first MCP server, as Codex's app server reports it.
fn status_in_codex(command: &mut Command) -> Value {
    let mut codex = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut input = codex.stdin.take().unwrap();
    let client = json!({ "name": "test", "title": "Test", "version": "1" });
    for message in [
        json!({ "id": 0, "method": "initialize", "params": { "clientInfo": client } }),
        json!({ "method": "initialized" }),
        json!({ "id": 1, "method": "mcpServerStatus/list", "params": {} }),
    ] {
        writeln!(input, "{message}").unwrap();
    }
    let lines = BufReader::new(codex.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut messages = lines.filter_map(|line| serde_json::from_str::<Value>(&line).ok());
    let answer = messages.find(|message| message["id"] == 1);
    drop(input);
    codex.kill().unwrap();
    codex.wait().unwrap();
    answer.expect("Codex answers")["result"]["data"][0].clone()
}
