//! Every row of "What can go wrong", through the real binary and real HTTP.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::fixtures;
use crate::mcp_client::{KEY, McpClient};
use crate::server::{Reply, Request, Server};

/// The answer of `get_execution` from such an n8n.
fn summary_of(
    handler: impl Fn(&Request) -> Reply + Send + Sync + 'static,
    arguments: &[&str],
) -> (Result<String, String>, Server) {
    let n8n = Server::start(handler);
    let mut client = McpClient::start_with(&n8n.url(), arguments);
    let answer = client.call("get_execution", json!({"id": "42"}));
    let said = answer.as_ref().unwrap_or_else(|error| error);
    assert!(!said.contains(KEY), "the key is never shown: {said}");
    (answer, n8n)
}

fn error_of(handler: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> String {
    summary_of(handler, &[]).0.unwrap_err()
}

/// A handler that receives the number of each request.
fn by_number(
    replies: impl Fn(usize, &Request) -> Reply + Send + Sync + 'static,
) -> impl Fn(&Request) -> Reply + Send + Sync + 'static {
    let turn = AtomicUsize::new(0);
    move |request| replies(turn.fetch_add(1, SeqCst), request)
}

fn body() -> Vec<u8> {
    fixtures::execution("b_http_500")
}

fn good() -> Reply {
    Reply::json(200, body())
}

#[test]
fn a_refused_key() {
    let said = error_of(|_| Reply::json(401, r#"{"message":"Unauthorized"}"#));
    assert_eq!(said, "n8n refused the API key (401). Check N8N_API_KEY.");
}

#[test]
fn a_missing_scope() {
    let said = error_of(|_| Reply::json(403, r#"{"message":"Forbidden"}"#));
    assert!(said.starts_with("n8n returned 403 (Forbidden): the API key lacks the scope execution:read."), "{said}");
}

#[test]
fn an_unknown_execution() {
    assert_eq!(error_of(|_| Reply::json(404, r#"{"message":"Not Found"}"#)), "Execution '42' not found.");
}

#[test]
fn too_many_requests_are_retried_after_the_requested_pause() {
    let begun = Instant::now();
    let (answer, n8n) = summary_of(
        by_number(|turn, _| if turn == 0 { Reply::json(429, "{}").header("Retry-After", "1") } else { good() }),
        &[],
    );
    assert!(answer.is_ok() && begun.elapsed() >= Duration::from_secs(1));
    assert_eq!(n8n.requests().len(), 2);
    let begun = Instant::now();
    let said = error_of(|_| Reply::json(429, r#"{"message":"slow down"}"#).header("Retry-After", "3600"));
    assert!(said.contains("429 (slow down)") && begun.elapsed() < Duration::from_secs(10), "{said}");
}

#[test]
fn a_server_that_fails_twice_and_then_answers() {
    let (answer, n8n) = summary_of(
        by_number(|turn, request| match (turn, request.query("includeData")) {
            (_, None) => Reply::json(200, r#"{"id":"42","jsonSizeBytes":1000}"#),
            (0..3, _) => Reply::json(500, r#"{"message":"Internal server error"}"#),
            _ => good(),
        }),
        &[],
    );
    assert!(answer.is_ok(), "{answer:?}");
    let bodies = n8n.requests().iter().filter(|request| request.query("includeData").is_some()).count();
    assert_eq!(bodies, 3);
}

#[test]
fn a_server_that_always_fails() {
    let said = error_of(|_| Reply::json(503, "<html>maintenance</html>"));
    assert!(said.starts_with("n8n returned 503 3 times in "), "{said}");
}

#[test]
fn an_execution_that_n8n_cannot_serialize_is_not_requested_again() {
    let (answer, n8n) = summary_of(
        |request| match request.query("includeData") {
            None => Reply::json(200, r#"{"id":"42","jsonSizeBytes":62900000}"#),
            Some(_) => {
                Reply::json(500, std::fs::read(fixtures::folder().join("api/i_large_100k_too_big.json")).unwrap())
            }
        },
        &[],
    );
    let said = answer.unwrap_err();
    assert!(said.contains("512 million characters") && said.contains("63 MB"), "{said}");
    assert_eq!(n8n.requests().iter().filter(|request| request.query("includeData").is_some()).count(), 1);
}

#[test]
fn a_refused_connection() {
    // A port that has just been released.
    let url = Server::start(|_| good()).url();
    let mut client = McpClient::start(&url);
    let said = client.call("get_execution", json!({"id": "42"})).unwrap_err();
    assert!(
        said.starts_with("n8n at http://127.0.0.1:")
            && said.contains("could not be reached")
            && said.contains("3 times"),
        "{said}"
    );
}

#[test]
fn https_to_a_server_without_tls() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    // Like Node.js.
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
        }
    });
    let said = McpClient::start(&url).call("get_execution", json!({"id": "42"})).unwrap_err();
    assert!(said.contains("(it does not respond with TLS: write http:// instead of https://)"), "{said}");
    assert!(!said.contains("corrupt"), "{said}");
}

#[test]
fn an_old_n8n_without_the_size_parameter() {
    let n8n = Server::start(|request| match request.query("ignoreDataSizeLimit") {
        Some(_) => Reply::json(400, r#"{"message":"Unknown query parameter 'ignoreDataSizeLimit'"}"#),
        None => good(),
    });
    let mut client = McpClient::start(&n8n.url());
    assert!(client.call("get_execution", json!({"id": "42", "ignoreDataSizeLimit": true})).is_ok());
    assert_eq!(n8n.requests().len(), 2);
    let refused =
        error_of(|_| Reply::json(400, r#"{"message":"request/params/executionId must be a positive integer"}"#));
    assert!(refused.contains("400 (request/params/executionId must be a positive integer)"));
}

#[test]
fn html_from_a_proxy() {
    let said =
        error_of(|_| Reply::bytes(200, "text/html; charset=utf-8", b"<!DOCTYPE html><title>Sign in</title>".to_vec()));
    assert!(
        said.contains("with HTML instead of JSON") && said.contains("byte 0") && said.contains("Sign in"),
        "{said}"
    );
}

/// Whatever precedes it, and however it is sent.
#[test]
fn html_with_a_json_content_type() {
    const PAGE: &str = "<!DOCTYPE html><html><head><title>Sign in</title></head><body>to the proxy</body></html>";
    let sent: [fn(Reply) -> Reply; 4] =
        [|reply| reply, |reply| reply.pace(1, Duration::from_millis(1)), Reply::gzip, Reply::until_close];
    for (before, is) in [("", "HTML"), ("\u{feff}\r\n\t", "HTML"), ("<?xml version=\"1.0\"?>", "XML")] {
        for send in sent {
            let said = error_of(move |_| send(Reply::json(200, format!("{before}{PAGE}"))));
            assert!(said.contains(&format!("n8n responded with {is} instead of JSON, at byte 0")), "{said}");
            assert!(said.contains("<!DOCTYPE html>") && said.contains("login page"), "{said}");
        }
    }
    // Whatever is requested.
    let n8n = Server::start(|_| Reply::json(200, PAGE));
    let mut client = McpClient::start(&n8n.url());
    for (tool, arguments) in [
        ("list_executions", json!({})),
        ("get_execution_by_node", json!({"id": "42", "nodeName": "A"})),
        ("search_execution", json!({"id": "42", "text": "a"})),
        ("list_workflows", json!({})),
        ("get_workflow", json!({"id": "42"})),
        ("update_workflow", json!({"id": "42", "name": "A"})),
    ] {
        let said = client.call(tool, arguments).unwrap_err();
        assert!(said.contains("with HTML instead of JSON, at byte 0") && said.contains("Sign in"), "{tool}: {said}");
    }
}

#[test]
fn json_that_is_not_an_execution() {
    let said = error_of(|_| Reply::json(200, r#"{"message":"hello"}"#));
    assert!(said.contains("not an n8n execution"), "{said}");
    assert!(error_of(|_| Reply::json(200, "[1,2]")).contains("not an n8n execution"));
    // The form in which n8n's own editor receives an execution.
    let wrapped = [b"{\"data\":", &body()[..], b"}"].concat();
    assert!(error_of(move |_| Reply::json(200, wrapped.clone())).contains("not an n8n execution"));
    assert!(error_of(|_| Reply::json(200, "")).contains("ends early at byte 0"));
}

#[test]
fn a_cut_body_is_requested_once_more() {
    let (answer, n8n) = summary_of(by_number(|turn, _| if turn == 0 { good().cut_after(3000) } else { good() }), &[]);
    assert!(answer.is_ok(), "{answer:?}");
    assert_eq!(n8n.requests().len(), 2);
    for fault in [Reply::cut_after, Reply::reset_after] {
        let (answer, n8n) = summary_of(move |_| fault(good(), 3000), &[]);
        let said = answer.unwrap_err();
        assert!(said.contains("broke off at byte 3000 of 7402"), "{said}");
        assert_eq!(n8n.requests().len(), 2);
    }
}

#[test]
fn a_body_without_a_length_that_ends_early() {
    // Without a length or chunks, only the JSON shows it.
    let said = error_of(|_| good().until_close().cut_after(5000));
    assert!(said.contains("the JSON ends early at byte 5000"), "{said}");
}

#[test]
fn trailing_data() {
    let mut text = body();
    text.extend_from_slice(b"\n{}");
    let said = error_of(move |_| Reply::json(200, text.clone()));
    assert!(said.contains("trailing data at byte 7403"), "{said}");
}

#[test]
fn no_first_byte() {
    let begun = Instant::now();
    let (answer, _n8n) =
        summary_of(|_| good().delay_first_byte(Duration::from_secs(30)), &["--first-byte-timeout", "1"]);
    let said = answer.unwrap_err();
    assert!(said.contains("n8n sent nothing within 1.0 s"), "{said}");
    assert!(begun.elapsed() < Duration::from_secs(20));
}

#[test]
fn a_slow_first_byte_is_not_a_stall() {
    let (answer, _n8n) = summary_of(|_| good().delay_first_byte(Duration::from_secs(2)), &["--idle-timeout", "1"]);
    assert!(answer.is_ok(), "{answer:?}");
}

#[test]
fn a_body_that_stalls() {
    let (answer, _n8n) = summary_of(|_| good().stall_after(4000), &["--idle-timeout", "1"]);
    let said = answer.unwrap_err();
    assert!(said.contains("nothing arrived for 1.0 s after byte 4000"), "{said}");
}

#[test]
fn the_key_is_never_sent_to_another_host() {
    let other = Server::start(|_| good());
    let target = format!("{}/api/v1/executions/42?token=secret", other.url());
    let said = error_of(move |_| Reply::json(302, "").header("Location", &target));
    assert!(said.contains("the API key must not follow") && !said.contains("secret"), "{said}");
    assert!(other.requests().is_empty());
}

#[test]
fn a_redirect_on_the_same_host_is_followed() {
    let (answer, n8n) = summary_of(
        |request| {
            if request.path.starts_with("/api/") { Reply::json(301, "").header("Location", "/n8n/api") } else { good() }
        },
        &[],
    );
    assert!(answer.is_ok(), "{answer:?}");
    assert!(n8n.requests().iter().all(|request| request.header("x-n8n-api-key") == Some(KEY)));
}

#[test]
fn compressed_bodies_are_read() {
    let (answer, n8n) = summary_of(|_| good().gzip(), &[]);
    assert!(answer.is_ok(), "{answer:?}");
    let asked = n8n.requests()[0].header("accept-encoding").map(str::to_owned);
    assert_eq!(asked.as_deref(), Some("identity"), "compression costs more than loopback");
    let said = error_of(|_| good().gzip().cut_after(500));
    assert!(said.contains("broke off") || said.contains("compressed"), "{said}");
}

/// A compressed body that continues with spaces forever. It costs its sender nothing: compressed data after a full
/// flush does not depend on earlier data, so the same bytes are repeated.
fn endless_gzip(begin: &[u8]) -> Reply {
    let mut deflate = flate2::Compress::new(flate2::Compression::best(), false);
    let mut compress = |bytes: &[u8]| {
        let mut compressed = Vec::with_capacity(bytes.len() + 100);
        deflate.compress_vec(bytes, &mut compressed, flate2::FlushCompress::Full).unwrap();
        compressed
    };
    // RFC 1952: magic number, deflate, no flags, no time, unknown system.
    let head = [&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255], &compress(begin)[..]].concat();
    let spaces = compress(&[b' '; 1 << 20]);
    Reply::json(200, head).endless(&spaces).header("content-encoding", "gzip")
}

#[test]
#[ignore = "long: 1.6 GB are expanded, twice"]
fn a_compressed_body_without_an_end_is_refused() {
    let said = error_of(|_| endless_gzip(b"{\"id\":\""));
    assert!(said.contains("decompresses to more than n8n can send"), "{said}");
}

#[test]
fn a_key_in_a_proxys_response_is_redacted() {
    let said = error_of(|request| {
        let key = request.header("x-n8n-api-key").unwrap_or_default();
        Reply::json(400, format!(r#"{{"message":"bad header X-N8N-API-KEY: {key}"}}"#))
    });
    assert!(said.contains("[redacted]"), "{said}");
}

#[test]
fn invalid_utf8_and_control_characters_are_named() {
    let said = error_of(|_| Reply::json(200, b"{\"id\":\"\xff\"}".to_vec()));
    assert!(said.contains("invalid UTF-8 at byte 7"), "{said}");
    let said = error_of(|_| Reply::json(200, b"{\"x\":{\"a\":\"\n\"}}".to_vec()));
    assert!(said.contains("control character in a string at byte 11"), "{said}");
    let said = error_of(|_| Reply::json(200, b"{\"x\":{\"a\":[1}]}".to_vec()));
    assert!(said.contains("mismatched closing bracket at byte 12"), "{said}");
}
