//! Endless responses and endless redirects.

use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;

use super::proxy::Fault;
use super::{Framing, ProxiedClient, SUMMARY, Wire, every_attempt, gzip, n8n, named, took_little_memory};
use crate::fixtures;
use crate::mcp_client::{KEY, McpClient};
use crate::server::{Reply, Server};

#[test]
fn floods_of_headers_are_errors_and_take_little_memory() {
    let n8n = n8n(Framing::Chunked(100));
    let wire = Wire::of(&n8n, SUMMARY);
    let (head, trailers, length) = (wire.head as u64, wire.bytes.len() as u64 - 2, wire.length());
    let headers = wire.bytes.windows(2).position(|end| end == b"\r\n").unwrap() as u64 + 2;
    let with = |more: String| Fault::Head(Box::new(move |head: &str| head.replacen("\r\n", &format!("\r\n{more}"), 1)));
    let plan = move |position| match position {
        0 => with((0..10_000).map(|number| format!("x-flood-{number}: and another\r\n")).collect()),
        1 => with(format!("x-flood: {}\r\n", "a".repeat(10_000_000))),
        2 => Fault::Flood(headers, b"x-flood: and another\r\n".to_vec()),
        3 => Fault::Flood(headers, b"x-name-without-an-end-".to_vec()),
        // After the two digits of the first chunk's size, and in place of trailers.
        4 => Fault::Flood(head + 2, b";extension=and-another".to_vec()),
        _ => Fault::Flood(trailers, b"x-trailer: and another\r\n".to_vec()),
    };
    let mut proxied = ProxiedClient::new(n8n, every_attempt(plan));
    let broken = proxied.check(SUMMARY, 0..6);
    let said: Vec<_> = broken.errors.iter().map(|(_, said)| said.as_str()).collect();
    assert_eq!(said.len(), 6);
    assert!(said[..4].iter().all(|said| said.contains("message head is too large")), "{said:?}");
    assert_eq!((named(said[4]), named(said[5])), (Some(0), Some(length)), "{said:?}");
    took_little_memory(&proxied.client);
}

/// An execution with one long string in the middle.
const EXECUTION: [&str; 2] = [
    r#"{"id":"42","status":"success","data":{"resultData":{"runData":{"A":[{"startTime":1,"executionTime":1,"executionStatus":"success","data":{"main":[[{"json":{"text":""#,
    r#""}}]]}}]}}}}"#,
];

/// Megabytes of one byte between two texts, compressed to about a thousandth.
fn bomb(before: &str, megabytes: usize, byte: u8, after: &str) -> Arc<[u8]> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let megabyte = vec![byte; 1_000_000];
    encoder.write_all(before.as_bytes()).unwrap();
    for _ in 0..megabytes {
        encoder.write_all(&megabyte).unwrap();
    }
    encoder.write_all(after.as_bytes()).unwrap();
    let packed = encoder.finish().unwrap();
    assert!(packed.len() < megabytes * 2_000, "{} bytes are no bomb", packed.len());
    packed.into()
}

/// Bodies of execution 42, by the zeros in front of its id: none for a small one, one for a string of this many
/// megabytes, two for as much white space before it, three for as many zeros, four for the first half of the string.
fn bombs(megabytes: usize) -> Server {
    let [before, after] = EXECUTION;
    let small = before.to_owned() + "x" + after;
    let bombs = [bomb(before, megabytes, b'x', after), bomb("", megabytes, b' ', &small), bomb("", megabytes, 0, "")];
    Server::start(move |request| match request.path.rsplit('/').next() {
        Some("42") => Reply::json(200, small.clone()),
        Some("042") => gzip(Arc::clone(&bombs[0])),
        Some("0042") => gzip(Arc::clone(&bombs[1])),
        Some("00042") => gzip(Arc::clone(&bombs[2])),
        _ => gzip(Arc::clone(&bombs[0])).cut_after(bombs[0].len() as u64 / 2),
    })
}

#[test]
#[ignore = "long"]
fn a_gigabyte_in_a_megabyte_is_read_in_little_memory() {
    read_in_little_memory(1000);
}

fn read_in_little_memory(megabytes: usize) {
    let n8n = bombs(megabytes);
    let mut client = McpClient::start(&n8n.url());
    let mut summary = |id: &str| client.call("get_execution", json!({ "id": id }));
    let small = summary("42").unwrap();
    assert_eq!(summary("042").unwrap(), small);
    assert_eq!(named(&summary("00042").unwrap_err()), Some(0));
    let cut = summary("000042").unwrap_err();
    assert!(cut.contains("broke off at byte "), "{cut}");
    let mut node = |id: &str| client.call("get_execution_by_node", json!({"id": id, "nodeName": "A"})).unwrap();
    assert_eq!(node("0042"), node("42"));
    took_little_memory(&client);
}

#[test]
#[ignore = "long"]
fn a_string_of_a_gigabyte_is_shown_in_little_memory() {
    let n8n = bombs(1000);
    let mut client = McpClient::start(&n8n.url());
    let node = client.call("get_execution_by_node", json!({"id": "042", "nodeName": "A"})).unwrap();
    assert!(node.contains("xxx…[+99") && node.contains(" chars]"), "{node}");
    took_little_memory(&client);
}

/// The error of `get_execution` if n8n redirects from path to path, and the number of requests.
fn sent_around(next: impl Fn(&str) -> String + Send + Sync + 'static) -> (String, usize) {
    let n8n = Server::start(move |request| Reply::json(302, "").header("Location", &next(&request.path)));
    let said = McpClient::start(&n8n.url()).call("get_execution", json!({"id": "1"})).unwrap_err();
    let requests = n8n.requests();
    assert!(requests.len() > 1 && requests.iter().all(|request| request.header("x-n8n-api-key") == Some(KEY)));
    (said, requests.len())
}

#[test]
fn endless_redirects_are_given_up() {
    let begun = Instant::now();
    let there_and_back = |path: &str| if path.ends_with("/there") { "/back".to_owned() } else { "/there".to_owned() };
    let one_of_a_thousand = |path: &str| {
        let hop: u64 = path.rsplit('/').next().unwrap().parse().unwrap();
        format!("/hop/{}", hop + 1)
    };
    for (said, requests) in [sent_around(str::to_owned), sent_around(there_and_back), sent_around(one_of_a_thousand)] {
        assert!(said.contains("too many redirects"), "{said}");
        assert!(requests <= 30, "{requests} requests");
    }
    assert!(begun.elapsed() < Duration::from_secs(30));
}

#[test]
fn the_key_is_never_sent_to_another_host_after_several_redirects() {
    let other = Server::start(|_| Reply::json(200, fixtures::execution("b_http_500")));
    let away = other.url();
    let n8n = Server::start(move |request| {
        let here = request.path.starts_with("/api/");
        let next = if here { "/hop".to_owned() } else { format!("{away}{}?token=secret", request.path) };
        Reply::json(307, "").header("Location", &next)
    });
    let said = McpClient::start(&n8n.url()).call("get_execution", json!({"id": "1"})).unwrap_err();
    assert!(said.contains("must not follow") && !said.contains("secret"), "{said}");
    assert_eq!(n8n.requests().len(), 2);
    assert!(other.requests().is_empty());
}

/// Megabytes of responses.
mod slow {
    use super::*;

    #[test]
    #[ignore = "slow: 8 s"]
    fn endless_interim_responses_are_no_first_byte() {
        let plan = every_attempt(|_| Fault::Flood(0, b"HTTP/1.1 100 Continue\r\n\r\n".to_vec()));
        let mut proxied = ProxiedClient::with(n8n(Framing::Length), &["--first-byte-timeout", "3"], plan);
        let broken = proxied.check(SUMMARY, 0..1);
        assert!(broken.errors[0].1.contains("within 3.0 s"), "{:?}", broken.errors);
        took_little_memory(&proxied.client);
    }

    #[test]
    #[ignore = "slow: 7 s"]
    fn megabytes_in_kilobytes_are_read_in_little_memory() {
        read_in_little_memory(200);
    }
}
