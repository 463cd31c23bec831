//! Searches for secrets in everything that a binary writes.

use std::fs::File;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::wait::TEST_TIMEOUT;

/// The length of a piece of a secret that counts as the secret.
pub const PIECE: usize = 10;

/// A secret, and a harmless marker that takes the same path.
pub struct Plant {
    pub secret: String,
    pub marker: String,
}

/// A secret and a marker that are derived from a name.
pub fn plant(name: &str) -> Plant {
    const LETTERS: &[u8] = b"abcdefghijkmnpqrstuvwxyz23456789";
    let mut state = name.bytes().fold(7, |seed: u64, byte| seed.wrapping_mul(31).wrapping_add(byte.into()));
    let secret = (0..3 * PIECE).map(|_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(LETTERS[(state >> 33) as usize % LETTERS.len()])
    });
    Plant { secret: secret.collect(), marker: format!("marker-of-{}", name.to_lowercase()) }
}

/// A string as JSON, without quotes.
pub fn escaped(text: &str) -> String {
    let json = json!(text).to_string();
    json[1..json.len() - 1].to_owned()
}

/// The part of a text's base64 encoding that does not depend on the bytes around it, if this many come before it.
fn in_base64(text: &str, before: usize) -> String {
    let bytes = [vec![0; before], text.as_bytes().to_vec()].concat();
    let (first, end) = ((before * 8).div_ceil(6), bytes.len() * 8 / 6);
    STANDARD_NO_PAD.encode(bytes)[first..end].to_owned()
}

/// All encodings of a text, in lower case.
fn spellings(text: &str) -> Vec<String> {
    // A tool's answer is JSON inside JSON.
    let mut all = vec![text.to_owned(), escaped(text), escaped(&escaped(text))];
    all.push(utf8_percent_encode(text, NON_ALPHANUMERIC).to_string());
    for before in 0..3 {
        let base64 = in_base64(text, before);
        all.push(base64.replace('+', "-").replace('/', "_"));
        all.push(base64);
    }
    all.iter().map(|spelling| spelling.to_ascii_lowercase()).collect()
}

/// Everything that a binary wrote: the place, and the bytes in lower case.
#[derive(Default)]
pub struct Evidence(Vec<(String, Vec<u8>)>);

impl Evidence {
    pub fn add(&mut self, place: &str, bytes: &[u8]) {
        self.0.push((place.to_owned(), bytes.to_ascii_lowercase()));
    }

    /// Adds every file below a folder, and its name.
    fn add_folder(&mut self, folder: &Path) {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            let place = path.display().to_string();
            self.add("the name of a file", place.as_bytes());
            if path.is_dir() {
                self.add_folder(&path);
            } else {
                self.add(&place, &std::fs::read(&path).unwrap());
            }
        }
    }

    /// The log only, without answers.
    pub fn log(mut self) -> Self {
        self.0.retain(|(place, _)| place.ends_with("stderr"));
        self
    }

    /// The places that contain a text in any encoding.
    fn places(&self, text: &str) -> Vec<String> {
        let spellings = spellings(text);
        let found = |(place, bytes): &(String, Vec<u8>)| {
            let at = spellings.iter().find_map(|spelling| memchr::memmem::find(bytes, spelling.as_bytes()))?;
            let around = &bytes[at.saturating_sub(60)..bytes.len().min(at + 60)];
            Some(format!("{place}: …{}…", String::from_utf8_lossy(around)))
        };
        self.0.iter().filter_map(found).collect()
    }

    /// The places that contain a secret or a piece of it.
    pub fn traces(&self, secret: &str) -> Vec<String> {
        assert!(secret.len() >= PIECE, "a secret of {} bytes cannot be looked for", secret.len());
        let pieces = secret.as_bytes().chunks_exact(PIECE).map(|piece| std::str::from_utf8(piece).unwrap());
        pieces.flat_map(|piece| self.places(piece)).collect()
    }

    #[track_caller]
    pub fn hides(&self, secrets: &[&str]) {
        for secret in secrets {
            assert_eq!(self.traces(secret), Vec::<String>::new(), "{secret}");
        }
    }

    #[track_caller]
    pub fn shows(&self, markers: &[&str]) {
        for marker in markers {
            assert!(!self.places(marker).is_empty(), "the search does not find {marker}");
        }
    }
}

/// The binary at log level `trace`, with everything that it can write to below a folder.
fn command(folder: &Path, arguments: &[&str], settings: &[(&str, &str)]) -> Command {
    let (home, work) = (folder.join("home"), folder.join("work"));
    for made in [&home, &work] {
        std::fs::create_dir(made).unwrap();
    }
    let mut command = Command::new(crate::support::binary());
    command.args(arguments).env_clear().env("LOG_LEVEL", "trace").env("HOME", &home).env("XDG_DATA_HOME", &home);
    command.envs(settings.iter().copied()).current_dir(work);
    command.stdout(File::create(folder.join("stdout")).unwrap()).stderr(File::create(folder.join("stderr")).unwrap());
    command
}

/// Runs a command; returns everything that it wrote.
pub fn run(arguments: &[&str], settings: &[(&str, &str)], input: &[u8]) -> Evidence {
    let folder = tempfile::tempdir().unwrap();
    let mut child = command(folder.path(), arguments, settings).stdin(Stdio::piped()).spawn().unwrap();
    // A command that fails early does not read its input.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait().unwrap();
    let mut evidence = Evidence::default();
    evidence.add_folder(folder.path());
    evidence
}

/// A running server.
pub struct Lens {
    child: Child,
    folder: TempDir,
    last_id: u64,
}

impl Lens {
    pub fn start(arguments: &[&str], settings: &[(&str, &str)], input: Stdio) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let child = command(folder.path(), arguments, settings).stdin(input).spawn().unwrap();
        Self { child, folder, last_id: 0 }
    }

    /// Starts an MCP server on stdio, with a handshake.
    pub fn serve(arguments: &[&str], settings: &[(&str, &str)]) -> Self {
        let mut lens = Self::start(arguments, settings, Stdio::piped());
        let who = json!({"name": "test", "version": "0"});
        lens.ask("initialize", json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": who}));
        lens.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string());
        lens
    }

    pub fn write(&mut self, line: &str) {
        let stdin = self.child.stdin.as_mut().unwrap();
        writeln!(stdin, "{line}").unwrap();
        stdin.flush().unwrap();
    }

    /// Polls a file of output until it contains something.
    fn wait_for<T>(&self, file: &str, what: impl Fn(&str) -> Option<T>) -> T {
        let begun = Instant::now();
        while begun.elapsed() < TEST_TIMEOUT {
            let said = std::fs::read(self.folder.path().join(file)).unwrap();
            if let Some(found) = what(&String::from_utf8_lossy(&said)) {
                return found;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("{file} does not say what it should")
    }

    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        self.last_id += 1;
        let id = self.last_id;
        self.write(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string());
        self.wait_for("stdout", |said| {
            let mut messages = said.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
            messages.find(|message| message["id"] == id)
        })
    }

    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// Stops the server; returns everything that it wrote.
    pub fn end(mut self) -> Evidence {
        // A server on stdio ends with its standard input.
        if self.child.stdin.take().is_none() {
            let _ = self.child.kill();
        }
        self.child.wait().unwrap();
        let mut evidence = Evidence::default();
        evidence.add_folder(self.folder.path());
        evidence
    }
}

impl Drop for Lens {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A running server over HTTP, and all of its responses.
pub struct HttpLens {
    lens: Lens,
    authority: String,
    heard: Evidence,
}

impl HttpLens {
    pub fn open(settings: &[(&str, &str)]) -> Self {
        let lens = Lens::start(&["--transport", "http", "--port", "0"], settings, Stdio::null());
        let authority = lens.wait_for("stderr", |said| {
            let (_, rest) = said.split_once("listens on http://")?;
            rest.split_once("/mcp").map(|(authority, _)| authority.to_owned())
        });
        Self { lens, authority, heard: Evidence::default() }
    }

    pub fn send(&mut self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) {
        let mut connection = TcpStream::connect(&self.authority).unwrap();
        connection.set_read_timeout(Some(TEST_TIMEOUT)).unwrap();
        let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let (host, length) = (&self.authority, body.len());
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n"
        );
        connection.write_all(format!("{head}{body}").as_bytes()).unwrap();
        let mut answer = Vec::new();
        connection.read_to_end(&mut answer).unwrap();
        assert!(answer.starts_with(b"HTTP/1.1 "), "no answer to {method} {path}");
        self.heard.add("an answer over HTTP", &answer);
    }

    pub fn end(self) -> Evidence {
        let Self { lens, mut heard, .. } = self;
        heard.0.extend(lens.end().0);
        heard
    }
}
