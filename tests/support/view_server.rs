//! `n8n-lens view`, and the cookie of the first browser.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use super::http_client::{Answer, HttpServer};

/// A running page.
pub struct ViewServer {
    pub http: HttpServer,
    /// The address that it printed.
    pub address: String,
}

impl ViewServer {
    /// Starts `n8n-lens view` with its own environment.
    pub fn start(arguments: &[&str], environment: &[(&str, &str)]) -> Self {
        Self::start_opening(&[arguments, &["--no-open"]].concat(), environment)
    }

    /// The same, with the browser of that environment.
    pub fn start_opening(arguments: &[&str], environment: &[(&str, &str)]) -> Self {
        let mut command = Command::new(crate::support::binary());
        command.arg("view").args(arguments).env_clear().envs(environment.iter().copied());
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut address = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut address).unwrap();
        let authority = address.strip_prefix("http://").and_then(|rest| rest.split_once('/')).map(|(host, _)| host);
        let authority = authority.unwrap_or_else(|| panic!("no address: {address:?}")).to_owned();
        Self { http: HttpServer::of(child, authority), address: address.trim().to_owned() }
    }

    /// The path of the address, with the token.
    pub fn path(&self) -> &str {
        let from = "http://".len() + self.http.authority.len();
        self.address[from..].split('#').next().unwrap()
    }

    /// Exchanges the token for the cookie, `name=value`.
    pub fn enter(&self) -> String {
        let answer = self.http.send("GET", self.path(), &[], "");
        assert_eq!(answer.status, 200, "{answer:?}");
        let cookie = answer.header("set-cookie").expect("a cookie");
        cookie.split(';').next().unwrap().to_owned()
    }

    /// What the page knows about its server.
    pub fn about(&self, cookie: &str) -> Value {
        let page = self.http.send("GET", "/view/", &[("cookie", cookie)], "").body;
        let (_, after) = page.split_once("id=\"about\">").unwrap_or_else(|| panic!("{page:.300}"));
        serde_json::from_str(after.split_once("</script>").unwrap().0).unwrap()
    }

    /// Calls a tool; returns the lines of the answer.
    pub fn call(&self, cookie: &str, body: &str) -> Answer {
        let headers = [("cookie", cookie), ("content-type", "application/json")];
        self.http.send("POST", "/view/call", &headers, body)
    }
}

/// A folder with an `xdg-open` that opens nothing. It records how it was started, and what it should open, in the
/// folder named by `RECORDS`; the file `done`, with its arguments, comes last.
pub fn recording_opener() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let opener = folder.path().join("xdg-open");
    let script = r#"#!/bin/sh
cd "$RECORDS"
printf '%s\n' "$@" > arguments
env > environment
stat -c %a "$1" > mode
cp "$1" file
mv arguments done
"#;
    std::fs::write(&opener, script).unwrap();
    std::fs::set_permissions(&opener, PermissionsExt::from_mode(0o755)).unwrap();
    folder
}
