//! The cache of executions, through the real binary.

/// The folder, its files, and their failures.
mod files;
/// Processes that are killed.
mod kills;
/// Which executions may be shown from the cache, and which may not.
mod looks;
/// The cache as people see it.
mod people;
/// Several processes, and several calls.
mod together;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::fixtures;
use crate::server::{Reply, Request, Server, n8n_handler};

/// A second key that n8n accepts.
const OTHER_KEY: &str = "other-key";

/// How n8n answers, which a test can change at any time.
#[derive(Clone)]
struct Behaviour {
    executions: HashMap<String, Vec<u8>>,
    /// Sent in place of an execution's metadata.
    metadata: Option<(u16, String)>,
    /// Passed on every answer with a body.
    shape: fn(Reply) -> Reply,
    refused_key: Option<&'static str>,
}

/// An n8n with execution 42 and a folder for the cache.
struct Cached {
    n8n: Server,
    behaviour: Arc<Mutex<Behaviour>>,
    root: TempDir,
}

impl Cached {
    fn new() -> Self {
        Self::with(fixtures::execution("b_http_500"))
    }

    fn with(body: Vec<u8>) -> Self {
        let executions = HashMap::from([("42".to_owned(), body)]);
        let behaviour = Behaviour { executions, metadata: None, shape: |reply| reply, refused_key: None };
        let behaviour = Arc::new(Mutex::new(behaviour));
        let answering = behaviour.clone();
        let n8n = Server::start(move |request| answer(&answering.lock().unwrap().clone(), request));
        Self { n8n, behaviour, root: tempfile::tempdir().unwrap() }
    }

    /// The folder of the cache, which n8n-lens creates.
    fn folder(&self) -> PathBuf {
        self.root.path().join("cache")
    }

    fn change(&self, change: impl FnOnce(&mut Behaviour)) {
        change(&mut self.behaviour.lock().unwrap());
    }

    /// Changes the body of execution 42.
    fn edit(&self, change: impl FnOnce(&mut Value)) {
        self.change(|behaviour| {
            let body = behaviour.executions.get_mut("42").unwrap();
            let mut value = fixtures::parse(body);
            change(&mut value);
            *body = value.to_string().into_bytes();
        });
    }

    /// A command with this cache.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(crate::support::binary());
        command.args(arguments).env_clear().env("N8N_URL", self.n8n.url()).env("N8N_API_KEY", "test-key");
        command.env("N8N_LENS_CACHE", self.folder()).stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// The summary of execution 42.
    fn summary(&self) -> String {
        self.summary_with(&[])
    }

    fn summary_with(&self, options: &[&str]) -> String {
        let output = self.run(&[&["summary", "42"], options].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// How often n8n sent a body.
    fn bodies(&self) -> usize {
        self.requests(|request| request.query("includeData").is_some())
    }

    /// How often n8n was asked for the metadata of an execution.
    fn looks(&self) -> usize {
        self.requests(|request| request.path.contains("/executions/") && request.query("includeData").is_none())
    }

    fn requests(&self, like: impl Fn(&Request) -> bool) -> usize {
        self.n8n.requests().iter().filter(|request| like(request)).count()
    }

    /// The files with this ending.
    fn files(&self, ending: &str) -> Vec<PathBuf> {
        files(&self.folder(), ending)
    }
}

fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder).into_iter().flatten().map(|file| file.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|its| its == ending)).collect()
}

fn answer(behaviour: &Behaviour, request: &Request) -> Reply {
    let mut request = request.clone();
    let key = request.header("x-n8n-api-key").map(str::to_owned);
    if key.as_deref() == behaviour.refused_key {
        return Reply::json(403, r#"{"message":"Forbidden"}"#);
    }
    if key.as_deref() == Some(OTHER_KEY) {
        request.headers.retain(|(name, _)| name != "x-n8n-api-key");
        request.headers.push(("x-n8n-api-key".to_owned(), "test-key".to_owned()));
    }
    let is_body = request.query("includeData").is_some();
    if let (Some((status, text)), false) = (&behaviour.metadata, is_body) {
        return Reply::json(*status, text.clone());
    }
    let reply = n8n_handler(behaviour.executions.clone())(&request);
    if is_body { (behaviour.shape)(reply) } else { reply }
}

/// A realistic body of execution 42.
fn large(bytes: u64) -> Vec<u8> {
    let mut body = Vec::new();
    std::io::Read::read_to_end(&mut crate::generator::Shape::realistic(bytes), &mut body).unwrap();
    let text = String::from_utf8(body).unwrap();
    text.replacen(r#""id":"59""#, r#""id":"42""#, 1).into_bytes()
}

/// Sends a body of 300 KB within a third of a second.
fn slowly(reply: Reply) -> Reply {
    reply.pace(16 * 1024, Duration::from_millis(15))
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn empty_id(id: &str) -> Value {
    json!({ "id": id })
}
