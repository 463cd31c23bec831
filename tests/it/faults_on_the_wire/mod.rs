//! Faults on the wire between n8n and n8n-lens, through the real binary: whatever is cut, stalled, repeated or
//! corrupted, the answer is either right or an error that names the byte, but never wrong.
//!
//! The proxy learns from the requested id where to break the response. That way, many calls run at once, each with its own
//! fault; and since n8n's responses contain the id, the answer to another call would be noticed.

/// Repeated, inserted and changed bytes.
mod corruption;
/// Floods and redirects.
mod floods;
/// A proxy that breaks responses on the wire.
mod proxy;
/// TLS.
mod tls;

use std::collections::VecDeque;
use std::io::{Cursor, Read};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use flate2::read::DeflateEncoder;
use flate2::{Compression, Crc};
use serde_json::{Value, json};

use self::proxy::{Fault, ProxiedRequest, Proxy};
use crate::fixtures;
use crate::generator::Shape;
use crate::mcp_client::{KEY, McpClient, text};
use crate::random::Random;
use crate::server::{Reply, Server};

/// An id is this number plus the position of its fault.
const FIRST: usize = 700_000;

/// The position without a fault.
const WHOLE: usize = 200_000;

/// Concurrent calls, so that the pauses before their retries overlap.
const AT_ONCE: usize = 64;

/// The memory limit of the process, in kB.
const MEMORY: u64 = 100_000;

/// The name of the workflow.
const NAME: &str = "Lager \"注文\" 🎉";

fn id(position: usize) -> String {
    (FIRST + position).to_string()
}

/// The position of the fault that a target names.
fn position(target: &str) -> Option<usize> {
    let numbers =
        target.split(|letter: char| !letter.is_ascii_digit()).filter_map(|number| number.parse::<usize>().ok());
    numbers.filter_map(|number| number.checked_sub(FIRST)).find(|position| *position != WHOLE)
}

/// Breaks the response to each position in its own way, on every attempt.
fn every_attempt(
    fault: impl Fn(usize) -> Fault + Send + Sync + 'static,
) -> impl Fn(&ProxiedRequest) -> Fault + Send + Sync + 'static {
    move |request: &ProxiedRequest| position(&request.target).map_or(Fault::None, &fault)
}

/// A tool call for an id, and its request to n8n.
#[derive(Clone, Copy)]
struct Tool {
    name: &'static str,
    /// With `#` for the id.
    target: &'static str,
    arguments: fn(&str) -> Value,
}

const SUMMARY: Tool =
    Tool { name: "get_execution", target: "/api/v1/executions/#", arguments: |id| json!({ "id": id }) };

const NODE: Tool = Tool {
    name: "get_execution_by_node",
    target: SUMMARY.target,
    arguments: |id| json!({"id": id, "nodeName": "After pin"}),
};

const LIST: Tool = Tool {
    name: "list_executions",
    target: "/api/v1/executions?workflowId=#",
    arguments: |id| json!({"workflowId": id, "raw": true}),
};

const WORKFLOW: Tool =
    Tool { name: "get_workflow", target: "/api/v1/workflows/#", arguments: |id| json!({"id": id, "raw": true}) };

/// How n8n, or a proxy before it, sends a body.
#[derive(Clone, Copy)]
enum Framing {
    Length,
    /// In chunks of this many bytes.
    Chunked(u64),
    UntilClose,
    /// Compressed and chunked, as n8n does it.
    Gzip,
    GzipUntilClose,
}

impl Framing {
    fn reply(self, text: String) -> Reply {
        match self {
            Self::Length => Reply::json(200, text),
            Self::Chunked(bytes) => Reply::stream(Cursor::new(text)).pace(bytes, Duration::ZERO),
            Self::UntilClose => Reply::json(200, text).until_close(),
            Self::Gzip => Compressed::of(&text).reply(&id(WHOLE)),
            Self::GzipUntilClose => Compressed::of(&text).reply(&id(WHOLE)).until_close(),
        }
    }
}

/// A compressed body, whose beginning is stored uncompressed: with another id of the same length, it is as long.
struct Compressed {
    begin: String,
    rest: Vec<u8>,
    crc: Crc,
}

impl Compressed {
    fn of(text: &str) -> Self {
        let (begin, rest) = text.split_at(100);
        let mut packed = Vec::new();
        DeflateEncoder::new(rest.as_bytes(), Compression::fast()).read_to_end(&mut packed).unwrap();
        let mut crc = Crc::new();
        crc.update(rest.as_bytes());
        Self { begin: begin.to_owned(), rest: packed, crc }
    }

    fn bytes(&self, id: &str) -> Vec<u8> {
        let begin = self.begin.replace(&self::id(WHOLE), id);
        let (length, mut crc) = (begin.len() as u16, Crc::new());
        crc.update(begin.as_bytes());
        crc.combine(&self.crc);
        let mut bytes = b"\x1f\x8b\x08\0\0\0\0\0\0\xff\0".to_vec();
        bytes.extend([length, !length].map(u16::to_le_bytes).concat());
        bytes.extend(begin.bytes().chain(self.rest.iter().copied()));
        bytes.extend([crc.sum(), crc.amount()].map(u32::to_le_bytes).concat());
        bytes
    }

    fn reply(&self, id: &str) -> Reply {
        Reply::stream(Cursor::new(self.bytes(id))).header("content-encoding", "gzip")
    }
}

/// An n8n with one execution, one workflow and one list, under every id.
fn n8n(sent: Framing) -> Server {
    let execution = String::from_utf8(fixtures::execution("l_pinned_manual")).unwrap();
    let mut workflow = fixtures::parse(execution.as_bytes())["workflowData"].take();
    for (member, value) in [("id", json!("#id#")), ("name", json!(NAME)), ("active", json!(false)), ("tags", json!([]))]
    {
        workflow[member] = value;
    }
    let workflow = workflow.to_string();
    Server::start(move |request| {
        let id = request.path.rsplit('/').next().unwrap_or_default();
        let text = match request.query("workflowId") {
            Some(workflow) => list(workflow),
            None if request.path.contains("/workflows/") => workflow.replace("#id#", id),
            None => execution.replacen("\"id\":\"65\"", &format!("\"id\":\"{id}\""), 1),
        };
        sent.reply(text)
    })
}

fn list(workflow: &str) -> String {
    let row = |id: &str, status: &str| {
        json!({
            "id": id, "finished": true, "mode": "webhook", "status": status, "startedAt": "2026-11-21T02:04:45.473Z",
            "stoppedAt": "2026-11-21T02:04:45.549Z", "workflowId": workflow, "waitTill": null
        })
    };
    json!({"data": [row("69", "error"), row("68", "success")], "nextCursor": null}).to_string()
}

/// An unbroken response, byte for byte as the proxy sends it.
struct Wire {
    bytes: Vec<u8>,
    /// Bytes before the body.
    head: usize,
    chunked: bool,
}

/// One chunk of a body, by its positions on the wire.
struct Chunk {
    frame: Range<usize>,
    data: Range<usize>,
}

impl Wire {
    fn of(n8n: &Server, tool: Tool) -> Self {
        Self::to(n8n, &tool.target.replace('#', &id(WHOLE)))
    }

    fn to(n8n: &Server, target: &str) -> Self {
        let bytes = proxy::wire(&n8n.url(), target);
        let head = bytes.windows(4).position(|end| end == b"\r\n\r\n").unwrap() + 4;
        let chunked = String::from_utf8_lossy(&bytes[..head]).contains("transfer-encoding: chunked");
        Self { bytes, head, chunked }
    }

    /// Every position to cut the body at, from before its first byte to after its last one.
    fn body(&self) -> Range<usize> {
        self.head..self.bytes.len() + 1
    }

    /// The last chunk is the empty one that ends the body.
    fn chunks(&self) -> Vec<Chunk> {
        let (mut chunks, mut start) = (Vec::new(), self.head);
        while start < self.bytes.len() {
            let line = self.bytes[start..].windows(2).position(|end| end == b"\r\n").unwrap();
            let size = std::str::from_utf8(&self.bytes[start..start + line]).unwrap();
            let data = start + line + 2..start + line + 2 + usize::from_str_radix(size, 16).unwrap();
            let frame = start..data.end + 2;
            start = frame.end;
            chunks.push(Chunk { frame, data });
        }
        chunks
    }

    /// Bytes of the body before a position.
    fn offset(&self, position: usize) -> usize {
        if !self.chunked {
            return position - self.head;
        }
        self.chunks().iter().map(|chunk| chunk.data.end.min(position).saturating_sub(chunk.data.start)).sum()
    }

    /// Bytes of the body.
    fn length(&self) -> usize {
        self.offset(self.bytes.len())
    }
}

/// A process that sends its requests to n8n through a proxy.
struct ProxiedClient {
    client: McpClient,
    n8n: Server,
    _proxy: Proxy,
}

/// The results of calls, none of which is wrong.
struct Results {
    right: usize,
    /// By their positions.
    errors: Vec<(usize, String)>,
}

impl ProxiedClient {
    fn new(n8n: Server, plan: impl Fn(&ProxiedRequest) -> Fault + Send + Sync + 'static) -> Self {
        Self::with(n8n, &[], plan)
    }

    fn with(n8n: Server, arguments: &[&str], plan: impl Fn(&ProxiedRequest) -> Fault + Send + Sync + 'static) -> Self {
        let proxy = Proxy::start(&n8n.url(), plan);
        let at_once = AT_ONCE.to_string();
        // Intended faults need no log line.
        let quiet = ["--log-level", "error", "--max-downloads", at_once.as_str()];
        let arguments = [&quiet[..], arguments].concat();
        Self { client: McpClient::start_with(&proxy.url(), &arguments), n8n, _proxy: proxy }
    }

    /// The right answer.
    fn right(&mut self, tool: Tool) -> String {
        self.client.call(tool.name, (tool.arguments)(&id(WHOLE))).unwrap()
    }

    /// The answers for all positions, in order.
    fn ask(&mut self, tool: Tool, positions: &[usize]) -> Vec<Result<String, String>> {
        let (mut under_way, mut answers) = (VecDeque::new(), Vec::new());
        for position in positions {
            if under_way.len() == AT_ONCE {
                answers.extend(under_way.pop_front().map(|call| text(&self.client.answer(call))));
            }
            let arguments = (tool.arguments)(&id(*position));
            under_way.push_back(self.client.send("tools/call", json!({"name": tool.name, "arguments": arguments})));
        }
        answers.extend(under_way.into_iter().map(|call| text(&self.client.answer(call))));
        answers
    }

    /// Checks that each answer is right or an error, and that the process works as before.
    fn check(&mut self, tool: Tool, positions: impl IntoIterator<Item = usize>) -> Results {
        let right = self.right(tool);
        let positions: Vec<_> = positions.into_iter().collect();
        let mut broken = Results { right: 0, errors: Vec::new() };
        for (position, answer) in positions.iter().zip(self.ask(tool, &positions)) {
            match answer {
                Ok(answer) => {
                    assert_eq!(answer, right.replace(&id(WHOLE), &id(*position)), "wrong at position {position}");
                    broken.right += 1;
                }
                Err(said) => {
                    assert!(!said.contains(KEY), "position {position}: {said}");
                    broken.errors.push((*position, said));
                }
            }
        }
        assert_eq!(self.right(tool), right, "the next call is answered");
        broken
    }
}

/// The byte that an error names.
fn named(said: &str) -> Option<usize> {
    let (_, rest) = said.split_once(" byte ")?;
    rest.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
}

/// Random positions in a range.
fn random_positions(seed: u64, many: usize, within: &Range<usize>) -> Vec<usize> {
    let mut random = Random(seed);
    (0..many).map(|_| within.start + random.index(within.len())).collect()
}

/// Checks the peak memory of the process, if the system reports it.
fn took_little_memory(client: &McpClient) {
    if !cfg!(target_os = "linux") {
        return;
    }
    let status = std::fs::read_to_string(format!("/proc/{}/status", client.pid())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak < MEMORY, "{peak} kB");
}

// Cuts.

/// Cuts n8n's response at one byte in `step` of the body, and at its last one, on every attempt.
fn cut_at_one_byte_in(step: usize, tool: Tool, sent: Framing) {
    let n8n = n8n(sent);
    let wire = Wire::of(&n8n, tool);
    let mut proxied = ProxiedClient::new(n8n, every_attempt(|position| Fault::CutAfter(position as u64)));
    let end = wire.bytes.len();
    let broken = proxied.check(tool, (wire.head..end).step_by(step).chain([end]));
    assert_eq!(broken.right, 1, "the one that is not cut");
    println!("{} after each of {} bytes", tool.name, broken.errors.len());
    for (position, said) in &broken.errors {
        assert_eq!(named(said), Some(wire.offset(*position)), "cut at {position}: {said}");
    }
}

#[test]
fn a_body_that_is_cut_is_an_error_that_names_the_byte() {
    for sent in [Framing::Length, Framing::Chunked(500), Framing::UntilClose, Framing::Gzip, Framing::GzipUntilClose] {
        cut_at_one_byte_in(101, SUMMARY, sent);
        cut_at_one_byte_in(101, NODE, sent);
    }
    cut_at_one_byte_in(31, LIST, Framing::UntilClose);
    cut_at_one_byte_in(101, WORKFLOW, Framing::UntilClose);
}

#[test]
fn a_body_that_is_cut_on_the_first_attempt_is_requested_again() {
    let n8n = n8n(Framing::UntilClose);
    let wire = Wire::of(&n8n, SUMMARY);
    let mut proxied = ProxiedClient::new(n8n, |request| match position(&request.target) {
        Some(position) if request.attempt == 0 => Fault::CutAfter(position as u64),
        _ => Fault::None,
    });
    let positions: Vec<_> = wire.body().step_by(3).collect();
    let broken = proxied.check(SUMMARY, positions.iter().copied());
    assert!(broken.errors.is_empty(), "requested once more: {:?}", broken.errors);
    assert!(proxied.n8n.requests().len() > positions.len() * 2, "nearly all were requested again");
}

/// Cuts a body of 10 MB at random positions, alternating between known length, chunks and unknown length. One in
/// fifty is not cut.
fn a_large_body_cut_at_random(many: usize) {
    let mut body = Vec::new();
    Shape::realistic(10_000_000).read_to_end(&mut body).unwrap();
    let n8n = large(&body);
    let wires: [_; 3] = std::array::from_fn(|sent| Wire::to(&n8n, &SUMMARY.target.replace('#', &id(sent))));
    let random = random_positions(1, many, &(0..usize::MAX / 2));
    let cuts = random.iter().enumerate().map(|(position, random)| match (&wires[position % 3], position % 50) {
        (wire, 0) => wire.bytes.len(),
        (wire, _) => wire.head + random % (wire.bytes.len() - wire.head),
    });
    let cuts: Arc<[usize]> = cuts.collect();
    let planned = Arc::clone(&cuts);
    let mut proxied = ProxiedClient::new(n8n, every_attempt(move |position| Fault::CutAfter(planned[position] as u64)));
    let broken = proxied.check(SUMMARY, 0..many);
    assert_eq!(broken.right, many.div_ceil(50), "the unbroken ones");
    for (position, said) in &broken.errors {
        let offset = wires[position % 3].offset(cuts[*position]);
        assert_eq!(named(said), Some(offset), "cut at {}: {said}", cuts[*position]);
    }
}

/// An n8n with one large execution; the position modulo three determines how it is sent.
fn large(body: &[u8]) -> Server {
    let rest: Arc<[u8]> = body.strip_prefix(b"{\"id\":\"59\"").unwrap().into();
    Server::start(move |request| {
        let id = request.path.rsplit('/').next().unwrap_or_default();
        let begun = format!("{{\"id\":\"{id}\"");
        let length = (begun.len() + rest.len()) as u64;
        let body = Reply::stream(Cursor::new(begun).chain(Cursor::new(Arc::clone(&rest))));
        match position(&request.path).unwrap_or(0) % 3 {
            0 => body.content_length(length),
            1 => body,
            _ => body.until_close(),
        }
    })
}

#[test]
#[ignore = "long"]
fn a_large_body_that_is_cut_at_1000_random_positions() {
    a_large_body_cut_at_random(1000);
}

/// Cuts, corrupts or repeats parts of a compressed body of 10 MB at random positions. One in fifty is not broken.
fn a_large_compressed_body_broken_at_random(many: usize) {
    let text = String::from_utf8(fixtures::execution("i_mid_10mb")).unwrap();
    let sent = Compressed::of(&text.replacen("\"id\":\"59\"", &format!("\"id\":\"{}\"", id(WHOLE)), 1));
    let packed = sent.bytes(&id(WHOLE));
    let n8n = Server::start(move |request| {
        let id = request.path.rsplit('/').next().unwrap_or_default();
        sent.reply(id).until_close()
    });
    let head = Wire::of(&n8n, SUMMARY).head;
    // The first ten bytes can be anything.
    let positions = random_positions(2, many, &(10..packed.len()));
    let plan = every_attempt(move |position| {
        let at = (head + positions[position]) as u64;
        match (position % 50, position % 3) {
            (0, _) => Fault::None,
            (_, 0) => Fault::CutAfter(at),
            (_, 1) => Fault::Replace(at, vec![packed[positions[position]] ^ 0x10]),
            _ => Fault::Repeat(at..at + 1000),
        }
    });
    let broken = ProxiedClient::new(n8n, plan).check(SUMMARY, 0..many);
    assert_eq!(broken.right, many.div_ceil(50), "the unbroken ones");
    assert!(broken.errors.iter().all(|(_, said)| named(said).is_some()), "{:?}", broken.errors);
}

fn gzip(packed: Arc<[u8]>) -> Reply {
    Reply::bytes(200, "application/json", packed).header("content-encoding", "gzip")
}

#[test]
#[ignore = "long"]
fn a_large_compressed_body_that_is_broken_at_1000_random_positions() {
    a_large_compressed_body_broken_at_random(1000);
}

// Resets and stalls.

#[test]
fn a_connection_that_is_reset_anywhere() {
    let n8n = n8n(Framing::Length);
    let wire = Wire::of(&n8n, SUMMARY);
    let mut proxied = ProxiedClient::new(n8n, every_attempt(|position| Fault::ResetAfter(position as u64)));
    let broken = proxied.check(SUMMARY, (wire.head..wire.bytes.len()).step_by(13));
    assert_eq!(broken.right, 0);
    for (position, said) in &broken.errors {
        // A reset discards what the client has not read yet.
        let names_the_place =
            named(said).map_or(said.contains("could not be reached"), |byte| byte <= wire.offset(*position));
        assert!(names_the_place, "reset at {position}: {said}");
    }
    assert!(broken.errors.iter().any(|(position, said)| named(said) == Some(wire.offset(*position))));
}

#[test]
fn a_connection_that_stalls_anywhere() {
    let n8n = n8n(Framing::Length);
    let wire = Wire::of(&n8n, SUMMARY);
    let timeouts = ["--first-byte-timeout", "3", "--idle-timeout", "3"];
    let mut proxied = ProxiedClient::with(n8n, &timeouts, every_attempt(|position| Fault::StallAfter(position as u64)));
    let end = wire.bytes.len();
    let broken = proxied.check(SUMMARY, (0..end).step_by(end / 40).chain([wire.head, end]));
    assert_eq!(broken.right, 1, "the client does not wait for more than the length");
    for (position, said) in &broken.errors {
        let tells = match position.checked_sub(wire.head) {
            None => "sent nothing within 3.0 s".to_owned(),
            Some(offset) => format!("nothing arrived for 3.0 s after byte {offset}."),
        };
        assert!(said.contains(&tells), "stalls at {position}: {said}");
    }
}

// Slow errors and metadata.

#[test]
#[ignore = "long: an error has ten seconds"]
fn a_trickling_error_is_not_read_to_its_end() {
    let n8n = Server::start(|_| Reply::json(400, " ".repeat(16_000)).pace(1, Duration::from_millis(100)));
    let mut client = McpClient::start(&n8n.url());
    let call = client.send("tools/call", json!({"name": "get_execution", "arguments": {"id": "1"}}));
    let answer = client.find(Duration::from_secs(20), |message| message["id"] == call);
    assert!(text(&answer.expect("an answer in time")).unwrap_err().contains("400"));
}

#[test]
fn stalled_metadata_does_not_delay_the_execution() {
    let n8n = Server::start(|request| match request.query("includeData") {
        None => Reply::json(200, r#"{"id":"42","jsonSizeBytes":1000}"#).stall_after(5),
        Some(_) => Reply::json(200, fixtures::execution("b_http_500")),
    });
    let mut client = McpClient::start(&n8n.url());
    let call = client.begin("get_execution", json!({"id": "42"}));
    let answer = client.find(Duration::from_secs(20), |message| message["id"] == call);
    assert!(text(&answer.expect("an answer in time")).is_ok());
}

/// Cuts at every byte, and large bodies.
mod slow {
    use super::*;

    #[test]
    #[ignore = "slow: 17 s"]
    fn a_summary_of_a_body_of_known_length_that_is_cut_anywhere() {
        cut_at_one_byte_in(1, SUMMARY, Framing::Length);
    }

    #[test]
    #[ignore = "slow: 16 s"]
    fn a_summary_of_a_chunked_body_that_is_cut_anywhere() {
        cut_at_one_byte_in(1, SUMMARY, Framing::Chunked(500));
    }

    #[test]
    #[ignore = "slow: 15 s"]
    fn a_summary_of_a_body_of_unknown_length_that_is_cut_anywhere() {
        cut_at_one_byte_in(1, SUMMARY, Framing::UntilClose);
    }

    #[test]
    #[ignore = "slow: 12 s"]
    fn a_summary_of_a_compressed_body_that_is_cut_anywhere() {
        cut_at_one_byte_in(1, SUMMARY, Framing::Gzip);
        cut_at_one_byte_in(1, SUMMARY, Framing::GzipUntilClose);
    }

    #[test]
    #[ignore = "slow: 13 s"]
    fn a_node_of_a_body_of_unknown_length_that_is_cut_anywhere() {
        cut_at_one_byte_in(1, NODE, Framing::UntilClose);
    }

    #[test]
    #[ignore = "slow: 5 s"]
    fn a_node_of_a_compressed_body_that_is_cut_anywhere() {
        cut_at_one_byte_in(1, NODE, Framing::GzipUntilClose);
    }

    #[test]
    #[ignore = "slow: 2 s"]
    fn a_list_that_is_cut_anywhere() {
        cut_at_one_byte_in(1, LIST, Framing::Length);
        cut_at_one_byte_in(1, LIST, Framing::UntilClose);
    }

    #[test]
    #[ignore = "slow: 7 s"]
    fn a_workflow_that_is_cut_anywhere() {
        cut_at_one_byte_in(1, WORKFLOW, Framing::Chunked(500));
        cut_at_one_byte_in(1, WORKFLOW, Framing::UntilClose);
    }

    #[test]
    #[ignore = "slow: 4 s"]
    fn a_cut_head_is_a_failed_connection() {
        let n8n = n8n(Framing::Length);
        let wire = Wire::of(&n8n, SUMMARY);
        let mut proxied = ProxiedClient::new(n8n, every_attempt(|position| Fault::CutAfter(position as u64)));
        let broken = proxied.check(SUMMARY, 0..wire.head);
        assert_eq!(broken.errors.len(), wire.head);
        for (position, said) in &broken.errors {
            assert!(said.contains("could not be reached") && said.contains("3 times"), "cut at {position}: {said}");
        }
    }

    #[test]
    #[ignore = "slow: 6 s"]
    fn a_workflow_name_in_a_list_is_complete_or_unknown_wherever_it_is_cut() {
        let n8n = n8n(Framing::UntilClose);
        let wire = Wire::of(&n8n, WORKFLOW);
        let tool = Tool { arguments: |id| json!({ "workflowId": id }), ..LIST };
        let mut proxied = ProxiedClient::new(n8n, |request| match position(&request.target) {
            Some(position) if request.target.contains("/workflows/") => Fault::CutAfter(position as u64),
            _ => Fault::None,
        });
        let right = proxied.right(tool);
        let name = json!(NAME).to_string();
        assert_eq!(right.matches(&name).count(), 2);
        let positions: Vec<_> = wire.body().collect();
        let mut unknown = 0;
        for (position, answer) in positions.iter().zip(proxied.ask(tool, &positions)) {
            let (answer, right) = (answer.unwrap(), right.replace(&id(WHOLE), &id(*position)));
            if answer != right {
                assert_eq!(answer, right.replace(&name, "\"Unknown Workflow\""), "cut at {position}");
                unknown += 1;
            }
        }
        assert!(unknown > 0 && unknown < positions.len(), "{unknown} of {} are unknown", positions.len());
    }

    #[test]
    #[ignore = "slow: 19 s"]
    fn a_large_body_that_is_cut_at_150_random_positions() {
        a_large_body_cut_at_random(150);
    }

    #[test]
    #[ignore = "slow: 13 s"]
    fn a_large_compressed_body_that_is_broken_at_150_random_positions() {
        a_large_compressed_body_broken_at_random(150);
    }
}
