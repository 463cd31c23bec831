//! `n8n-lens check`: a report on the connection to n8n.

use base64::Engine;
use serde_json::json;

use crate::server::{Reply, Request, Server};

/// An n8n with a version and the scopes of the key, if it reports them.
fn n8n(version: Option<&'static str>, scopes: Option<&'static [&'static str]>, knows_limit: bool) -> Server {
    Server::start(move |request: &Request| match request.path.as_str() {
        "/" => {
            let config = version.map(|version| json!({"dsn": "", "release": format!("n8n@{version}")}).to_string());
            let config = config.map(|config| base64::engine::general_purpose::STANDARD.encode(config));
            let meta = config.map(|config| format!("<meta name=\"n8n:config:sentry\" content=\"{config}\">"));
            let page = format!("<html><head>{}</head></html>", meta.unwrap_or_default());
            Reply::bytes(200, "text/html", page.into_bytes())
        }
        "/api/v1/discover" => match scopes {
            Some(scopes) => Reply::json(200, json!({"data": {"scopes": scopes}}).to_string()),
            None => Reply::json(404, r#"{"message":"not found"}"#),
        },
        _ if request.header("x-n8n-api-key") != Some("test-key") => Reply::json(401, r#"{"message":"Unauthorized"}"#),
        _ if request.query("ignoreDataSizeLimit").is_some() && !knows_limit => {
            Reply::json(400, r#"{"message":"Unknown query parameter 'ignoreDataSizeLimit'"}"#)
        }
        _ => Reply::json(200, r#"{"data":[],"nextCursor":null}"#),
    })
}

fn check(url: &str, key: &str) -> (Option<i32>, String) {
    let mut command = std::process::Command::new(crate::support::binary());
    let output = command.arg("check").env_clear().env("N8N_URL", url).env("N8N_API_KEY", key).output().unwrap();
    (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
}

const ALL: &[&str] = &[
    "execution:list",
    "execution:read",
    "workflow:list",
    "workflow:read",
    "workflow:create",
    "workflow:update",
    "workflow:delete",
    "workflow:activate",
    "workflow:deactivate",
    "tag:list",
];

#[test]
fn a_good_n8n_passes() {
    let server = n8n(Some("2.41.1"), Some(ALL), true);
    let (code, said) = check(&server.url(), "test-key");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("n8n 2.41.1 responds and accepts the API key."), "{said}");
    assert!(said.contains("supports --ignore-data-size-limit") && said.contains("has all scopes"), "{said}");
    let editor = server.requests().into_iter().find(|request| request.path == "/").unwrap();
    assert!(editor.header("x-n8n-api-key").is_none(), "the key is not sent to the editor");
}

#[test]
fn an_old_n8n_is_reported() {
    let (code, said) = check(&n8n(Some("1.123.81"), None, false).url(), "test-key");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("n8n 1.123.81") && said.contains("no display limit") && said.contains("unknown:"), "{said}");
    let (_, said) = check(&n8n(None, Some(ALL), true).url(), "test-key");
    assert!(said.contains("n8n (unknown version) responds"), "{said}");
}

#[test]
#[ignore = "long: the editor has ten seconds"]
fn a_key_for_workflows_only_and_a_silent_editor_do_not_hang() {
    let server = Server::start(|request: &Request| match request.path.as_str() {
        "/" => Reply::json(200, "{}").delay_first_byte(std::time::Duration::from_secs(60)),
        "/api/v1/discover" => Reply::json(200, json!({"data": {"scopes": ALL[2..]}}).to_string()),
        _ => Reply::json(403, r#"{"message":"Forbidden"}"#),
    });
    let (code, said) = check(&server.url(), "test-key");
    assert_eq!(code, Some(1));
    assert!(said.contains("unknown: whether it supports --ignore-data-size-limit"), "{said}");
    assert!(said.contains("lacks execution:list, execution:read"), "{said}");
}

#[test]
fn problems_are_named() {
    let (code, said) = check(&n8n(Some("2.41.1"), Some(&ALL[..4]), true).url(), "test-key");
    assert_eq!(code, Some(1));
    assert!(said.contains("lacks workflow:create, workflow:update, workflow:delete"), "{said}");
    let (code, said) = check(&n8n(Some("2.41.1"), Some(ALL), true).url(), "another-key");
    assert_eq!((code, said.as_str()), (Some(1), "n8n-lens: n8n refused the API key (401). Check N8N_API_KEY.\n"));
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (code, said) = check(&format!("http://{free}"), "test-key");
    assert_eq!(code, Some(1));
    assert!(said.contains("could not be reached"), "{said}");
    let html = Server::start(|_| Reply::bytes(200, "text/html", b"<html>".as_slice()));
    let (code, said) = check(&html.url(), "test-key");
    assert_eq!(code, Some(1));
    assert!(said.contains("HTML instead of JSON"), "{said}");
}
