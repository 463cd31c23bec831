//! `n8n-lens setup`, with its own home folder.

/// The content of an entry.
mod entries;
/// The effect on a file.
mod files;
/// The file with the skill.
mod skills;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::server::{Reply, Request, Server};
use crate::support::binary;

const KEY: &str = "the-key-of-n8n";
const URL: &str = "http://127.0.0.1:9";

/// Each client, and its file in the home folder.
const CLIENTS: [(&str, &str); 7] = [
    ("claude-code", ".claude.json"),
    ("claude-desktop", ".config/Claude/claude_desktop_config.json"),
    ("cursor", ".cursor/mcp.json"),
    ("vscode", ".config/Code/User/mcp.json"),
    ("codex", ".codex/config.toml"),
    ("gemini", ".gemini/settings.json"),
    ("devin", ".config/devin/mcp_config.json"),
];

/// The member with the servers.
fn servers(client: &str) -> &'static str {
    match client {
        "vscode" => "servers",
        "codex" => "mcp_servers",
        _ => "mcpServers",
    }
}

fn file_of(client: &str) -> &'static str {
    CLIENTS.iter().find(|(name, _)| *name == client).unwrap().1
}

/// A home folder, in which the commands also run.
struct Home(tempfile::TempDir);

/// The result of a command.
struct Done {
    code: Option<i32>,
    /// Standard output.
    out: String,
    /// Standard error.
    err: String,
}

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, file: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(file)
    }

    fn put(&self, file: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    fn text(&self, file: &str) -> String {
        fs::read_to_string(self.path(file)).unwrap()
    }

    /// The entry of n8n-lens in a client's file.
    fn entry(&self, client: &str) -> Value {
        self.document(client, file_of(client))[servers(client)]["n8n-lens"].clone()
    }

    fn document(&self, client: &str, file: &str) -> Value {
        match client {
            "codex" => from_toml(&self.text(file)),
            _ => serde_json::from_str(&self.text(file)).unwrap(),
        }
    }

    /// The names of all files, without those of folders.
    fn files(&self) -> Vec<String> {
        fn walk(folder: &Path, root: &Path, found: &mut Vec<String>) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => walk(&path, root, found),
                    false => found.push(path.strip_prefix(root).unwrap().to_str().unwrap().to_owned()),
                }
            }
        }
        let (mut found, root) = (Vec::new(), self.path(""));
        walk(&root, &root, &mut found);
        found.sort();
        found
    }

    /// Runs `setup` with an address and a key.
    fn setup(&self, arguments: &[&str]) -> Done {
        self.setup_with(arguments, &[])
    }

    /// Runs `setup` with more variables; one without a value is unset.
    fn setup_with(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Done {
        self.run("", arguments, variables)
    }

    /// Runs `setup` in a folder.
    fn setup_in(&self, folder: &str, arguments: &[&str]) -> Done {
        self.run(folder, arguments, &[])
    }

    fn run(&self, folder: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Done {
        let mut command = Command::new(binary());
        command.arg("setup").args(arguments).current_dir(self.path(folder)).env_clear();
        command.env("HOME", self.path("")).env("N8N_URL", URL).env("N8N_API_KEY", KEY);
        for (name, value) in variables {
            match value.is_empty() {
                true => command.env_remove(name),
                false => command.env(name, value),
            };
        }
        let output = command.output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Done { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    /// Runs `setup --write`, which must succeed. The check afterwards fails, since there is no n8n.
    fn write(&self, arguments: &[&str]) -> Done {
        self.write_with(arguments, &[])
    }

    fn write_with(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Done {
        let done = self.setup_with(&[arguments, &["--write"]].concat(), variables);
        assert_eq!(done.code, Some(0), "{arguments:?}: {}", done.err);
        done
    }
}

impl Done {
    fn said(&self) -> String {
        format!("{}{}", self.out, self.err)
    }

    /// The message of a command that has failed.
    fn refused(&self, code: i32) -> &str {
        assert_eq!(self.code, Some(code), "{}", self.said());
        assert!(self.out.is_empty(), "{}", self.out);
        assert!(!self.err.contains(KEY), "{}", self.err);
        &self.err
    }
}

/// The tables and strings of a TOML file.
fn from_toml(text: &str) -> Value {
    fn value(item: &toml_edit::Item) -> Value {
        if let Some(table) = item.as_table_like() {
            return Value::Object(table.iter().map(|(name, item)| (name.to_owned(), value(item))).collect());
        }
        match (item.as_str(), item.as_array()) {
            (Some(text), _) => json!(text),
            (_, Some(array)) => array.iter().map(|element| json!(element.as_str())).collect(),
            _ => json!(item.to_string().trim()),
        }
    }
    value(text.parse::<toml_edit::DocumentMut>().unwrap().as_item())
}

/// An n8n that accepts the key, with all scopes.
fn n8n() -> Server {
    Server::start(|request: &Request| match request.header("x-n8n-api-key") {
        Some(KEY) if request.path.ends_with("/executions") => Reply::json(200, r#"{"data":[],"nextCursor":null}"#),
        Some(KEY) => Reply::json(404, r#"{"message":"not found"}"#),
        None if request.path == "/" => Reply::json(200, "{}"),
        _ => Reply::json(401, r#"{"message":"Unauthorized"}"#),
    })
}
