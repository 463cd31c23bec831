//! Faults on the wire between n8n and us, through the real binary: whatever is cut, stalled, doubled or corrupted, the
//! answer is the right one or an error that names the byte, and never a wrong one.
//!
//! The id that is asked for tells the proxy where to break the answer. So many calls are under way at once, each with a
//! fault of its own; and since n8n puts the id into its answer, that of another call would be a wrong one, too.

use std::collections::VecDeque;
use std::io::{Cursor, Read, Write};
use std::ops::Range;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use rcgen::{CertificateParams, KeyPair, date_time_ymd};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use serde_json::{Value, json};
use tempfile::NamedTempFile;

use crate::fault_proxy::{self, Asked, Fault, Proxy};
use crate::fixtures;
use crate::generator::Shape;
use crate::mcp_client::{KEY, McpClient, text};
use crate::server::{Reply, Server};

/// Ids are above this one by the place of their fault.
const FIRST: usize = 700_000;

/// The place at which nothing is broken.
const WHOLE: usize = 200_000;

/// Calls under way at once: the pauses between their tries pass side by side.
const AT_ONCE: usize = 48;

/// Bytes in one chunk of a small body.
const CHUNK: u64 = 100;

/// What the process may take at most, kB.
const MEMORY: u64 = 100_000;

/// The name of the workflow.
const NAME: &str = "Lager \"注文\" 🎉";

fn id(place: usize) -> String {
    (FIRST + place).to_string()
}

/// The place that a target names, where something is to be broken.
fn place(target: &str) -> Option<usize> {
    let numbers =
        target.split(|letter: char| !letter.is_ascii_digit()).filter_map(|number| number.parse::<usize>().ok());
    numbers.filter_map(|number| number.checked_sub(FIRST)).find(|place| *place != WHOLE)
}

/// Breaks the answers at each place in its own way, however often they are asked for.
fn every_try(
    fault: impl Fn(usize) -> Fault + Send + Sync + 'static,
) -> impl Fn(&Asked) -> Fault + Send + Sync + 'static {
    move |asked: &Asked| place(&asked.target).map_or(Fault::None, &fault)
}

/// A call of a tool for an id, and what it asks of n8n.
#[derive(Clone, Copy)]
struct Tool {
    name: &'static str,
    /// With the id for `#`.
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
enum Sent {
    Length,
    Chunked,
    UntilClose,
    /// Chunked, as n8n does it.
    Gzip,
    GzipUntilClose,
}

impl Sent {
    fn reply(self, text: String) -> Reply {
        match self {
            Self::Length => Reply::json(200, text),
            Self::Chunked => Reply::stream(Cursor::new(text)).pace(CHUNK, Duration::ZERO),
            Self::UntilClose => Reply::json(200, text).until_close(),
            Self::Gzip => Reply::json(200, text).gzip(),
            Self::GzipUntilClose => Reply::json(200, text).gzip().until_close(),
        }
    }

    /// Another id would make other compressed bytes.
    fn keeps_id(self) -> bool {
        matches!(self, Self::Gzip | Self::GzipUntilClose)
    }
}

/// An n8n that has one execution, one workflow and one list, under whatever id they are asked for.
fn n8n(sent: Sent) -> Server {
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
            None if sent.keeps_id() => execution.clone(),
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

/// An unbroken answer, byte for byte as it leaves the proxy.
struct Wire {
    bytes: Vec<u8>,
    /// Bytes before the body.
    head: usize,
    chunked: bool,
}

/// One chunk of a body, by its places on the wire.
struct Chunk {
    frame: Range<usize>,
    data: Range<usize>,
}

impl Wire {
    fn of(n8n: &Server, tool: Tool) -> Self {
        Self::to(n8n, &tool.target.replace('#', &id(WHOLE)))
    }

    fn to(n8n: &Server, target: &str) -> Self {
        let bytes = fault_proxy::wire(&n8n.url(), target);
        let head = bytes.windows(4).position(|end| end == b"\r\n\r\n").unwrap() + 4;
        let chunked = String::from_utf8_lossy(&bytes[..head]).contains("transfer-encoding: chunked");
        Self { bytes, head, chunked }
    }

    /// Every place to cut the body at: before its first byte up to behind its last one.
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

    /// Bytes of the body before a place.
    fn offset(&self, place: usize) -> usize {
        if !self.chunked {
            return place - self.head;
        }
        self.chunks().iter().map(|chunk| chunk.data.end.min(place).saturating_sub(chunk.data.start)).sum()
    }

    /// Bytes of the body.
    fn length(&self) -> usize {
        self.offset(self.bytes.len())
    }
}

/// One process that asks an n8n through a proxy.
struct Line {
    client: McpClient,
    n8n: Server,
    _proxy: Proxy,
}

/// What became of the calls, none of which had a wrong answer.
struct Broken {
    right: usize,
    /// By their places.
    errors: Vec<(usize, String)>,
}

impl Line {
    fn new(n8n: Server, plan: impl Fn(&Asked) -> Fault + Send + Sync + 'static) -> Self {
        Self::with(n8n, &[], plan)
    }

    fn with(n8n: Server, arguments: &[&str], plan: impl Fn(&Asked) -> Fault + Send + Sync + 'static) -> Self {
        let proxy = Proxy::start(&n8n.url(), plan);
        let at_once = AT_ONCE.to_string();
        // What fails on purpose is not worth a line each.
        let quiet = ["--log-level", "error", "--max-downloads", at_once.as_str()];
        let arguments = [&quiet[..], arguments].concat();
        Self { client: McpClient::start_with(&proxy.url(), &arguments), n8n, _proxy: proxy }
    }

    /// The right answer.
    fn right(&mut self, tool: Tool) -> String {
        self.client.call(tool.name, (tool.arguments)(&id(WHOLE))).unwrap()
    }

    /// The answers for all these places, in their order.
    fn ask(&mut self, tool: Tool, places: &[usize]) -> Vec<Result<String, String>> {
        let (mut under_way, mut answers) = (VecDeque::new(), Vec::new());
        for place in places {
            if under_way.len() == AT_ONCE {
                answers.extend(under_way.pop_front().map(|call| text(&self.client.answer(call))));
            }
            let arguments = (tool.arguments)(&id(*place));
            under_way.push_back(self.client.send("tools/call", json!({"name": tool.name, "arguments": arguments})));
        }
        answers.extend(under_way.into_iter().map(|call| text(&self.client.answer(call))));
        answers
    }

    /// Each answer is right or an error, and the process goes on as if nothing had been.
    fn check(&mut self, tool: Tool, places: impl IntoIterator<Item = usize>) -> Broken {
        let right = self.right(tool);
        let places: Vec<_> = places.into_iter().collect();
        let mut broken = Broken { right: 0, errors: Vec::new() };
        for (place, answer) in places.iter().zip(self.ask(tool, &places)) {
            match answer {
                Ok(answer) => {
                    assert_eq!(answer, right.replace(&id(WHOLE), &id(*place)), "wrong at place {place}");
                    broken.right += 1;
                }
                Err(said) => {
                    assert!(!said.contains(KEY), "place {place}: {said}");
                    broken.errors.push((*place, said));
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

/// splitmix64: so many places within a range, the same ones each time.
fn random_places(mut seed: u64, many: usize, within: &Range<usize>) -> Vec<usize> {
    let mut roll = || {
        seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    };
    (0..many).map(|_| within.start + (roll() % within.len() as u64) as usize).collect()
}

/// The process never took more memory than it may, where the system knows.
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

/// Cuts the answer of n8n at every byte of its body, each time that it is asked for.
fn cut_at_every_byte(tool: Tool, sent: Sent) {
    let n8n = n8n(sent);
    let wire = Wire::of(&n8n, tool);
    let mut line = Line::new(n8n, every_try(|place| Fault::CutAfter(place as u64)));
    let broken = line.check(tool, wire.body());
    assert_eq!(broken.right, 1, "the one that is not cut");
    println!("{} after each of {} bytes", tool.name, broken.errors.len());
    for (place, said) in &broken.errors {
        assert_eq!(named(said), Some(wire.offset(*place)), "cut at {place}: {said}");
    }
}

#[test]
fn a_summary_of_a_body_of_known_length_that_is_cut_anywhere() {
    cut_at_every_byte(SUMMARY, Sent::Length);
}

#[test]
fn a_summary_of_a_chunked_body_that_is_cut_anywhere() {
    cut_at_every_byte(SUMMARY, Sent::Chunked);
}

#[test]
fn a_summary_of_a_body_of_unknown_length_that_is_cut_anywhere() {
    cut_at_every_byte(SUMMARY, Sent::UntilClose);
}

#[test]
fn a_summary_of_a_compressed_body_that_is_cut_anywhere() {
    cut_at_every_byte(SUMMARY, Sent::Gzip);
    cut_at_every_byte(SUMMARY, Sent::GzipUntilClose);
}

#[test]
fn a_node_of_a_body_of_unknown_length_that_is_cut_anywhere() {
    cut_at_every_byte(NODE, Sent::UntilClose);
}

#[test]
fn a_node_of_a_compressed_body_that_is_cut_anywhere() {
    cut_at_every_byte(NODE, Sent::GzipUntilClose);
}

#[test]
fn a_list_that_is_cut_anywhere() {
    cut_at_every_byte(LIST, Sent::Length);
    cut_at_every_byte(LIST, Sent::UntilClose);
}

#[test]
fn a_workflow_that_is_cut_anywhere() {
    cut_at_every_byte(WORKFLOW, Sent::Chunked);
    cut_at_every_byte(WORKFLOW, Sent::UntilClose);
}

#[test]
fn a_head_that_is_cut_is_no_answer() {
    let n8n = n8n(Sent::Length);
    let wire = Wire::of(&n8n, SUMMARY);
    let mut line = Line::new(n8n, every_try(|place| Fault::CutAfter(place as u64)));
    let broken = line.check(SUMMARY, 0..wire.head);
    assert_eq!(broken.errors.len(), wire.head);
    for (place, said) in &broken.errors {
        assert!(said.contains("could not be reached") && said.contains("3 times"), "cut at {place}: {said}");
    }
}

#[test]
fn the_name_of_a_workflow_in_a_list_is_whole_or_unknown_wherever_its_body_is_cut() {
    let n8n = n8n(Sent::UntilClose);
    let wire = Wire::of(&n8n, WORKFLOW);
    let tool = Tool { arguments: |id| json!({ "workflowId": id }), ..LIST };
    let mut line = Line::new(n8n, |asked| match place(&asked.target) {
        Some(place) if asked.target.contains("/workflows/") => Fault::CutAfter(place as u64),
        _ => Fault::None,
    });
    let right = line.right(tool);
    let name = json!(NAME).to_string();
    assert_eq!(right.matches(&name).count(), 2);
    let places: Vec<_> = wire.body().collect();
    let mut unknown = 0;
    for (place, answer) in places.iter().zip(line.ask(tool, &places)) {
        let (answer, right) = (answer.unwrap(), right.replace(&id(WHOLE), &id(*place)));
        if answer != right {
            assert_eq!(answer, right.replace(&name, "\"Unknown Workflow\""), "cut at {place}");
            unknown += 1;
        }
    }
    assert!(unknown > 0 && unknown < places.len(), "{unknown} of {} are unknown", places.len());
}

#[test]
fn a_body_that_is_cut_at_the_first_try_only_is_shown_whole() {
    let n8n = n8n(Sent::UntilClose);
    let wire = Wire::of(&n8n, SUMMARY);
    let mut line = Line::new(n8n, |asked| match place(&asked.target) {
        Some(place) if asked.turn == 0 => Fault::CutAfter(place as u64),
        _ => Fault::None,
    });
    let places: Vec<_> = wire.body().step_by(3).collect();
    let broken = line.check(SUMMARY, places.iter().copied());
    assert!(broken.errors.is_empty(), "asked for once more: {:?}", broken.errors);
    assert!(line.n8n.requests().len() > places.len() * 2, "nearly all were");
}

/// Cuts a body of 10 MB at random places, in turn one of known length, a chunked and one of unknown length. One in
/// fifty stays whole.
fn a_large_body_cut_at_random(many: usize) {
    let mut body = Vec::new();
    Shape::realistic(10_000_000).read_to_end(&mut body).unwrap();
    let n8n = large(&body);
    let wires: [_; 3] = std::array::from_fn(|sent| Wire::to(&n8n, &SUMMARY.target.replace('#', &id(sent))));
    let random = random_places(1, many, &(0..usize::MAX / 2));
    let cuts = random.iter().enumerate().map(|(place, random)| match (&wires[place % 3], place % 50) {
        (wire, 0) => wire.bytes.len(),
        (wire, _) => wire.head + random % (wire.bytes.len() - wire.head),
    });
    let cuts: Arc<[usize]> = cuts.collect();
    let planned = Arc::clone(&cuts);
    let mut line = Line::new(n8n, every_try(move |place| Fault::CutAfter(planned[place] as u64)));
    let broken = line.check(SUMMARY, 0..many);
    assert_eq!(broken.right, many.div_ceil(50), "those that are whole");
    for (place, said) in &broken.errors {
        let offset = wires[place % 3].offset(cuts[*place]);
        assert_eq!(named(said), Some(offset), "cut at {}: {said}", cuts[*place]);
    }
}

/// An n8n whose one execution is large; the remainder of its place says how it is sent.
fn large(body: &[u8]) -> Server {
    let rest: Arc<[u8]> = body.strip_prefix(b"{\"id\":\"59\"").unwrap().into();
    Server::start(move |request| {
        let id = request.path.rsplit('/').next().unwrap_or_default();
        let begun = format!("{{\"id\":\"{id}\"");
        let length = (begun.len() + rest.len()) as u64;
        let body = Reply::stream(Cursor::new(begun).chain(Cursor::new(Arc::clone(&rest))));
        match place(&request.path).unwrap_or(0) % 3 {
            0 => body.content_length(length),
            1 => body,
            _ => body.until_close(),
        }
    })
}

#[test]
fn a_large_body_that_is_cut_at_a_hundred_and_fifty_random_places() {
    a_large_body_cut_at_random(150);
}

#[test]
#[ignore = "long"]
fn a_large_body_that_is_cut_at_a_thousand_random_places() {
    a_large_body_cut_at_random(1000);
}

/// Cuts, corrupts and doubles a compressed body of 10 MB at random places, in turn. One in fifty stays whole.
fn a_large_compressed_body_broken_at_random(many: usize) {
    let packed: Arc<[u8]> = std::fs::read(fixtures::folder().join("executions/i_mid_10mb.json.gz")).unwrap().into();
    let sent = Arc::clone(&packed);
    let n8n = Server::start(move |_| gzip(Arc::clone(&sent)).until_close());
    let head = Wire::of(&n8n, SUMMARY).head;
    // What stands before the tenth byte may be anything.
    let places = random_places(2, many, &(10..packed.len()));
    let plan = every_try(move |place| {
        let at = (head + places[place]) as u64;
        match (place % 50, place % 3) {
            (0, _) => Fault::None,
            (_, 0) => Fault::CutAfter(at),
            (_, 1) => Fault::Replace(at, vec![packed[places[place]] ^ 0x10]),
            _ => Fault::Repeat(at..at + 1000),
        }
    });
    let broken = Line::new(n8n, plan).check(SUMMARY, 0..many);
    assert_eq!(broken.right, many.div_ceil(50), "those that are whole");
    assert!(broken.errors.iter().all(|(_, said)| named(said).is_some()), "{:?}", broken.errors);
}

fn gzip(packed: Arc<[u8]>) -> Reply {
    Reply::bytes(200, "application/json", packed).header("content-encoding", "gzip")
}

#[test]
fn a_large_compressed_body_that_is_broken_at_a_hundred_and_fifty_random_places() {
    a_large_compressed_body_broken_at_random(150);
}

#[test]
#[ignore = "long"]
fn a_large_compressed_body_that_is_broken_at_a_thousand_random_places() {
    a_large_compressed_body_broken_at_random(1000);
}

// Resets and stalls.

#[test]
fn a_connection_that_is_reset_anywhere() {
    let n8n = n8n(Sent::Length);
    let wire = Wire::of(&n8n, SUMMARY);
    let mut line = Line::new(n8n, every_try(|place| Fault::ResetAfter(place as u64)));
    let broken = line.check(SUMMARY, (wire.head..wire.bytes.len()).step_by(13));
    assert_eq!(broken.right, 0);
    for (place, said) in &broken.errors {
        // A reset overtakes what the client has not read yet.
        let told = named(said).map_or(said.contains("could not be reached"), |byte| byte <= wire.offset(*place));
        assert!(told, "reset at {place}: {said}");
    }
    assert!(broken.errors.iter().any(|(place, said)| named(said) == Some(wire.offset(*place))));
}

#[test]
fn a_connection_that_stalls_anywhere() {
    let n8n = n8n(Sent::Length);
    let wire = Wire::of(&n8n, SUMMARY);
    let timeouts = ["--first-byte-timeout", "3", "--idle-timeout", "3"];
    let mut line = Line::with(n8n, &timeouts, every_try(|place| Fault::StallAfter(place as u64)));
    let end = wire.bytes.len();
    let broken = line.check(SUMMARY, (0..end).step_by(end / 40).chain([wire.head, end]));
    assert_eq!(broken.right, 1, "nobody waits for more than the length");
    for (place, said) in &broken.errors {
        let tells = match place.checked_sub(wire.head) {
            None => "sent nothing within 3.0 s".to_owned(),
            Some(offset) => format!("after byte {offset} nothing came for 3.0 s"),
        };
        assert!(said.contains(&tells), "stalls at {place}: {said}");
    }
}

// What comes twice, and what does not belong there.

#[test]
fn a_chunk_that_comes_twice_is_noticed_wherever_it_leaves_no_json() {
    let n8n = n8n(Sent::Chunked);
    let wire = Wire::of(&n8n, SUMMARY);
    let chunks = wire.chunks();
    // What is whole and JSON is what n8n said, for anybody.
    let leaves_no_json = |twice: &usize| {
        let times = |at| if at == *twice { 2 } else { 1 };
        let data = chunks.iter().enumerate().map(|(at, chunk)| wire.bytes[chunk.data.clone()].repeat(times(at)));
        serde_json::from_slice::<Value>(&data.collect::<Vec<_>>().concat()).is_err()
    };
    // The empty chunk ends the body at its first time.
    let end = chunks.len() - 1;
    let places: Vec<_> = (0..end).filter(leaves_no_json).chain([end]).collect();
    let frames: Vec<_> = chunks.iter().map(|chunk| chunk.frame.start as u64..chunk.frame.end as u64).collect();
    let mut line = Line::new(n8n, every_try(move |place| Fault::Repeat(frames[place].clone())));
    for tool in [SUMMARY, NODE] {
        let broken = line.check(tool, places.iter().copied());
        assert!(broken.right > 0 && broken.errors.len() > end / 2, "{} of {end} are errors", broken.errors.len());
        assert!(broken.errors.iter().all(|(_, said)| named(said).is_some()), "{:?}", broken.errors);
    }
}

#[test]
fn a_stretch_of_a_compressed_body_that_comes_twice_is_always_noticed() {
    let n8n = n8n(Sent::GzipUntilClose);
    let wire = Wire::of(&n8n, SUMMARY);
    let mut line = Line::new(n8n, every_try(|place| Fault::Repeat(place as u64..place as u64 + 64)));
    let broken = line.check(SUMMARY, (wire.head..wire.bytes.len()).step_by(16));
    assert_eq!(broken.right, 0);
    assert!(broken.errors.iter().all(|(_, said)| named(said).is_some()), "{:?}", broken.errors);
}

#[test]
fn garbage_behind_a_body_is_left_out_or_named() {
    for sent in [Sent::Length, Sent::Chunked, Sent::Gzip, Sent::UntilClose, Sent::GzipUntilClose] {
        let n8n = n8n(sent);
        let length = Wire::of(&n8n, SUMMARY).length();
        let mut line = Line::new(n8n, every_try(|_| Fault::Insert(u64::MAX, b"garbage".to_vec())));
        let broken = line.check(SUMMARY, [0]);
        match sent {
            Sent::Length | Sent::Chunked | Sent::Gzip => assert_eq!(broken.right, 1, "the end of the body was known"),
            Sent::UntilClose => assert_eq!(named(&broken.errors[0].1), Some(length)),
            Sent::GzipUntilClose => assert!(named(&broken.errors[0].1).is_some()),
        }
    }
}

#[test]
fn garbage_between_chunks_is_named_by_the_byte_before_it() {
    let n8n = n8n(Sent::Chunked);
    let wire = Wire::of(&n8n, SUMMARY);
    let mut line = Line::new(n8n, every_try(|place| Fault::Insert(place as u64, b"garbage\r\n".to_vec())));
    let broken = line.check(SUMMARY, wire.chunks().iter().map(|chunk| chunk.frame.start));
    assert_eq!(broken.right, 0);
    for (place, said) in &broken.errors {
        assert_eq!(named(said), Some(wire.offset(*place)), "garbage at {place}: {said}");
    }
}

// Corruption.

#[test]
fn a_byte_that_is_no_text_is_named_wherever_it_stands() {
    for tool in [SUMMARY, WORKFLOW] {
        let n8n = n8n(Sent::UntilClose);
        let wire = Wire::of(&n8n, tool);
        let mut line = Line::new(n8n, every_try(|place| Fault::Replace(place as u64, vec![0xff])));
        let broken = line.check(tool, wire.head..wire.bytes.len());
        assert_eq!(broken.right, 0);
        for (place, said) in &broken.errors {
            let (byte, offset) = (named(said).unwrap_or(usize::MAX), wire.offset(*place));
            // A character of several bytes is named by its first.
            assert!(byte <= offset && byte + 3 >= offset, "byte {offset}: {said}");
        }
    }
}

#[test]
fn a_bit_that_flips_in_a_compressed_answer_never_makes_a_wrong_one() {
    let n8n = n8n(Sent::Gzip);
    let wire = Wire::of(&n8n, SUMMARY);
    let bytes = wire.bytes.clone();
    let plan = every_try(move |place| Fault::Replace(place as u64, vec![bytes[place] ^ (1 << (place % 8))]));
    let broken = Line::new(n8n, plan).check(SUMMARY, 0..wire.bytes.len());
    // Some stand where nothing depends on them, as the time in the head of a compressed body.
    assert!(broken.right > 0 && broken.right < wire.bytes.len() / 10, "{} are right", broken.right);
}

#[test]
fn a_wrong_length_is_never_believed() {
    const ODD: usize = 100_000;
    let n8n = n8n(Sent::Length);
    let length = Wire::of(&n8n, SUMMARY).length();
    let wrong = ["-1", "many", "1, 2", "99999999999999999999"];
    let plan = every_try(move |place| {
        let value = wrong.get(place.wrapping_sub(ODD)).map_or_else(|| place.to_string(), |wrong| (*wrong).to_owned());
        Fault::Head(Box::new(move |head: &str| {
            let right = format!("content-length: {length}\r\n");
            assert!(head.contains(&right), "{head}");
            head.replace(&right, &format!("content-length: {value}\r\n"))
        }))
    });
    let mut line = Line::new(n8n, plan);
    let too_short = line.check(SUMMARY, (0..length).step_by(37));
    assert_eq!(too_short.right, 0);
    for (place, said) in &too_short.errors {
        assert_eq!(named(said), Some(*place), "a length of {place}: {said}");
    }
    assert_eq!(line.check(SUMMARY, [length]).right, 1);
    let too_long = line.check(SUMMARY, [length + 1, length * 2, length * 50]);
    assert_eq!(too_long.errors.len(), 3);
    for (place, said) in &too_long.errors {
        assert!(said.contains(&format!("broke off at byte {length} of {place}")), "{said}");
    }
    assert_eq!(line.check(SUMMARY, ODD..ODD + wrong.len()).errors.len(), wrong.len());
}

#[test]
fn chunks_that_are_announced_and_do_not_come_are_an_error() {
    let n8n = n8n(Sent::Length);
    let chunked = |head: &str| head.replacen("\r\n", "\r\ntransfer-encoding: chunked\r\n", 1);
    let broken = Line::new(n8n, every_try(move |_| Fault::Head(Box::new(chunked)))).check(SUMMARY, [0]);
    assert!(broken.errors[0].1.contains("broke off at byte 0"), "{:?}", broken.errors);
}

// Floods.

#[test]
fn floods_of_headers_end_in_errors_and_in_little_memory() {
    let n8n = n8n(Sent::Chunked);
    let wire = Wire::of(&n8n, SUMMARY);
    let (head, trailers, length) = (wire.head as u64, wire.bytes.len() as u64 - 2, wire.length());
    let headers = wire.bytes.windows(2).position(|end| end == b"\r\n").unwrap() as u64 + 2;
    let with = |more: String| Fault::Head(Box::new(move |head: &str| head.replacen("\r\n", &format!("\r\n{more}"), 1)));
    let plan = every_try(move |place| match place {
        0 => with((0..10_000).map(|number| format!("x-flood-{number}: and another\r\n")).collect()),
        1 => with(format!("x-flood: {}\r\n", "a".repeat(10_000_000))),
        2 => Fault::Flood(headers, b"x-flood: and another\r\n".to_vec()),
        3 => Fault::Flood(headers, b"x-name-without-an-end-".to_vec()),
        4 => Fault::Flood(0, b"HTTP/1.1 100 Continue\r\n\r\n".to_vec()),
        // Behind the two digits of the first chunk's size, and where trailers may stand.
        5 => Fault::Flood(head + 2, b";extension=and-another".to_vec()),
        _ => Fault::Flood(trailers, b"x-trailer: and another\r\n".to_vec()),
    });
    let mut line = Line::with(n8n, &["--first-byte-timeout", "4"], plan);
    let broken = line.check(SUMMARY, 0..7);
    let said: Vec<_> = broken.errors.iter().map(|(_, said)| said.as_str()).collect();
    assert_eq!(said.len(), 7);
    assert!(said[..4].iter().all(|said| said.contains("message head is too large")), "{said:?}");
    assert!(said[4].contains("within 4.0 s"), "{}", said[4]);
    assert_eq!((named(said[5]), named(said[6])), (Some(0), Some(length)), "{said:?}");
    took_little_memory(&line.client);
}

/// An execution with one long string in the middle.
const EXECUTION: [&str; 2] = [
    r#"{"id":"42","status":"success","data":{"resultData":{"runData":{"A":[{"startTime":1,"executionTime":1,"executionStatus":"success","data":{"main":[[{"json":{"text":""#,
    r#""}}]]}}]}}}}"#,
];

/// A gigabyte of one byte between two texts, in about a megabyte.
fn bomb(before: &str, byte: u8, after: &str) -> Arc<[u8]> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let megabyte = vec![byte; 1_000_000];
    encoder.write_all(before.as_bytes()).unwrap();
    for _ in 0..1000 {
        encoder.write_all(&megabyte).unwrap();
    }
    encoder.write_all(after.as_bytes()).unwrap();
    let packed = encoder.finish().unwrap();
    assert!(packed.len() < 2_000_000, "{} bytes are no bomb", packed.len());
    packed.into()
}

/// Executions by their ids: 1 is small, 2 the same with a string of a gigabyte, 3 with a gigabyte of white space
/// before it, 4 a gigabyte of zeros, 5 the half of 2.
fn bombs() -> Server {
    let [before, after] = EXECUTION;
    let small = before.to_owned() + "x" + after;
    let bombs = [bomb(before, b'x', after), bomb("", b' ', &small), bomb("", 0, "")];
    Server::start(move |request| match request.path.rsplit('/').next() {
        Some("1") => Reply::json(200, small.clone()),
        Some("2") => gzip(Arc::clone(&bombs[0])),
        Some("3") => gzip(Arc::clone(&bombs[1])),
        Some("4") => gzip(Arc::clone(&bombs[2])),
        _ => gzip(Arc::clone(&bombs[0])).cut_after(bombs[0].len() as u64 / 2),
    })
}

#[test]
fn a_gigabyte_in_a_megabyte_is_read_in_little_memory() {
    let n8n = bombs();
    let mut client = McpClient::start(&n8n.url());
    let mut summary = |id: &str| client.call("get_execution", json!({ "id": id }));
    let small = summary("1").unwrap();
    assert_eq!(summary("2").unwrap(), small);
    assert_eq!(named(&summary("4").unwrap_err()), Some(0));
    let cut = summary("5").unwrap_err();
    assert!(cut.contains("broke off at byte "), "{cut}");
    let mut node = |id: &str| client.call("get_execution_by_node", json!({"id": id, "nodeName": "A"})).unwrap();
    assert_eq!(node("3"), node("1"));
    took_little_memory(&client);
}

#[test]
#[ignore = "long"]
fn a_string_of_a_gigabyte_is_shown_in_little_memory() {
    let n8n = bombs();
    let mut client = McpClient::start(&n8n.url());
    let node = client.call("get_execution_by_node", json!({"id": "2", "nodeName": "A"})).unwrap();
    assert!(node.contains("xxx…[+99") && node.contains(" chars]"), "{node}");
    took_little_memory(&client);
}

// Redirects.

/// What `get_execution` says where n8n sends it from path to path, and how often it was asked.
fn sent_around(next: impl Fn(&str) -> String + Send + Sync + 'static) -> (String, usize) {
    let n8n = Server::start(move |request| Reply::json(302, "").header("Location", &next(&request.path)));
    let said = McpClient::start(&n8n.url()).call("get_execution", json!({"id": "1"})).unwrap_err();
    let asked = n8n.requests();
    assert!(asked.len() > 1 && asked.iter().all(|request| request.header("x-n8n-api-key") == Some(KEY)));
    (said, asked.len())
}

#[test]
fn redirects_without_an_end_are_given_up_soon() {
    let begun = Instant::now();
    let there_and_back = |path: &str| if path.ends_with("/there") { "/back".to_owned() } else { "/there".to_owned() };
    let one_of_a_thousand = |path: &str| {
        let hop: u64 = path.rsplit('/').next().unwrap().parse().unwrap();
        format!("/hop/{}", hop + 1)
    };
    for (said, asked) in [sent_around(str::to_owned), sent_around(there_and_back), sent_around(one_of_a_thousand)] {
        assert!(said.contains("too many redirects"), "{said}");
        assert!(asked <= 30, "{asked} requests");
    }
    assert!(begun.elapsed() < Duration::from_secs(30));
}

#[test]
fn the_key_never_follows_to_another_host_however_long_the_way() {
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

// TLS: the command line, since it can be told whom to trust.

/// A certificate of its own authority, and its key.
struct Identity {
    config: Arc<ServerConfig>,
    certificate: NamedTempFile,
}

/// Good for one host, until a year.
fn identity(host: &str, until: i32) -> Identity {
    let mut parameters = CertificateParams::new(vec![host.to_owned()]).unwrap();
    parameters.not_before = date_time_ymd(2000, 1, 1);
    parameters.not_after = date_time_ymd(until, 1, 1);
    let key = KeyPair::generate().unwrap();
    let certificate = parameters.self_signed(&key).unwrap();
    let private = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_no_client_auth().with_single_cert(vec![certificate.der().clone()], private).unwrap();
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(certificate.pem().as_bytes()).unwrap();
    Identity { config: Arc::new(config), certificate: file }
}

const HOST: &str = "127.0.0.1";

/// What the summary of an execution is, for somebody who trusts one certificate.
fn summary(url: &str, trusted: &Path, id: &str) -> Result<String, String> {
    let output = Command::new(env!("CARGO_BIN_EXE_n8n-lens"))
        .args(["--log-level", "error", "summary", id])
        .env_clear()
        .envs([("N8N_URL", url), ("N8N_API_KEY", KEY)])
        .env("SSL_CERT_FILE", trusted)
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    if output.status.success() { Ok(text(output.stdout)) } else { Err(text(output.stderr)) }
}

#[test]
fn only_a_certificate_that_is_trusted_and_valid_and_of_this_host_is_taken() {
    let good = identity(HOST, 2090);
    let (stranger, expired, elsewhere) =
        (identity(HOST, 2090), identity(HOST, 2020), identity("n8n.example.com", 2090));
    for (served, trusted, taken) in
        [(&good, &good, true), (&good, &stranger, false), (&expired, &expired, false), (&elsewhere, &elsewhere, false)]
    {
        let n8n = n8n(Sent::Length);
        let proxy = Proxy::start_tls(&n8n.url(), Arc::clone(&served.config), |_| Fault::None);
        let answer = summary(&proxy.url(), trusted.certificate.path(), &id(0));
        assert_eq!(answer.is_ok(), taken, "{answer:?}");
        assert_eq!(n8n.requests().len(), usize::from(taken), "without a handshake nothing is asked");
        if let Err(said) = answer {
            assert!(said.contains("invalid peer certificate") && said.contains("3 times"), "{said}");
        }
    }
}

#[test]
fn a_port_that_speaks_no_tls_is_told() {
    let n8n = n8n(Sent::Length);
    let trusted = identity(HOST, 2090);
    // As n8n without TLS answers a hello, as something else does, and as nobody does.
    for answer in [&b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"[..], b"\x16\x03\x03\xff\xff", b""] {
        let plan = move |_: &Asked| match answer {
            b"" => Fault::CutAfter(0),
            _ => Fault::Insert(0, answer.to_vec()),
        };
        let proxy = Proxy::tunnel(&n8n.url(), plan);
        let url = proxy.url().replace("http://", "https://");
        let said = summary(&url, trusted.certificate.path(), &id(0)).unwrap_err();
        assert!(said.contains(&format!("n8n at {url} could not be reached")), "{said}");
        assert!(n8n.requests().is_empty());
    }
}

#[test]
fn a_connection_over_tls_that_is_cut_anywhere() {
    let n8n = n8n(Sent::Length);
    let identity = identity(HOST, 2090);
    let front = Proxy::start_tls(&n8n.url(), Arc::clone(&identity.config), |_| Fault::None);
    let ask = |url: &str| summary(url, identity.certificate.path(), &id(0));
    let right = ask(&front.url()).unwrap();
    let cut_after = &|bytes: u64| {
        let tunnel = Proxy::tunnel(&front.url(), move |_| Fault::CutAfter(bytes));
        ask(&tunnel.url())
    };
    // The handshake takes about a thousand bytes, the answer four thousand.
    let places: Vec<_> = (0..40).map(|step| step * 150).chain([1_000_000]).collect();
    let mut answers = Vec::new();
    for places in places.chunks(8) {
        thread::scope(|scope| {
            let calls: Vec<_> = places.iter().map(|&place| scope.spawn(move || cut_after(place))).collect();
            answers.extend(calls.into_iter().map(|call| call.join().unwrap()));
        });
    }
    let mut counts = [0; 3];
    for (place, answer) in places.iter().zip(answers) {
        match answer {
            Ok(answer) => {
                assert_eq!(answer, right, "wrong, cut after {place}");
                counts[0] += 1;
            }
            Err(said) if said.contains("broke off at byte ") => counts[1] += 1,
            Err(said) => {
                assert!(said.contains("could not be reached"), "cut after {place}: {said}");
                counts[2] += 1;
            }
        }
    }
    // The body may be one record, of which nothing is seen before its end.
    assert!(counts[0] > 0 && counts[2] > 0, "whole, cut in the body, cut before it: {counts:?}");
}

/// Place 1 is cut after a thousand bytes of the body, place 2 is whole but for the end of the encrypted connection.
fn without_a_farewell(sent: Sent) -> [Result<String, String>; 3] {
    let n8n = n8n(sent);
    let end = Wire::of(&n8n, SUMMARY).head as u64 + 1000;
    let identity = identity(HOST, 2090);
    let plan = every_try(move |place| Fault::CutAfter(if place == 1 { end } else { u64::MAX }));
    let front = Proxy::start_tls(&n8n.url(), Arc::clone(&identity.config), plan);
    [WHOLE, 1, 2].map(|place| summary(&front.url(), identity.certificate.path(), &id(place)))
}

#[test]
fn an_encrypted_body_without_a_length_needs_a_farewell_to_be_whole() {
    let length = Wire::of(&n8n(Sent::UntilClose), SUMMARY).length();
    let [whole, cut, silent] = without_a_farewell(Sent::UntilClose);
    assert!(whole.is_ok(), "{whole:?}");
    assert_eq!(cut.as_deref().map_err(|said| named(said)), Err(Some(1000)), "{cut:?}");
    assert_eq!(silent.as_deref().map_err(|said| named(said)), Err(Some(length)), "{silent:?}");
    let [whole, cut, silent] = without_a_farewell(Sent::Length);
    assert_eq!(silent.unwrap(), whole.unwrap().replace(&id(WHOLE), &id(2)), "the length says that it is whole");
    assert_eq!(cut.as_deref().map_err(|said| named(said)), Err(Some(1000)), "{cut:?}");
}

#[test]
fn the_key_never_follows_out_of_tls() {
    let plain = n8n(Sent::Length);
    let target = format!("{}/api/v1/executions/1", plain.url());
    let n8n = Server::start(move |_| Reply::json(302, "").header("Location", &target));
    let identity = identity(HOST, 2090);
    let front = Proxy::start_tls(&n8n.url(), Arc::clone(&identity.config), |_| Fault::None);
    let said = summary(&front.url(), identity.certificate.path(), "1").unwrap_err();
    assert!(said.contains("must not follow"), "{said}");
    assert!(plain.requests().is_empty() && n8n.requests().len() == 1);
}

#[test]
#[ignore = "long"]
fn a_handshake_that_stalls_is_given_up() {
    let n8n = n8n(Sent::Length);
    let identity = identity(HOST, 2090);
    let front = Proxy::start_tls(&n8n.url(), Arc::clone(&identity.config), |_| Fault::None);
    let tunnel = Proxy::tunnel(&front.url(), |_| Fault::StallAfter(100));
    let begun = Instant::now();
    let said = summary(&tunnel.url(), identity.certificate.path(), &id(0)).unwrap_err();
    assert!(said.contains("could not be reached"), "{said}");
    assert!(begun.elapsed() < Duration::from_secs(60));
}

// What an error says, and how long it takes.

#[test]
fn garbage_behind_a_compressed_body_is_named_where_it_stands() {
    let n8n = n8n(Sent::GzipUntilClose);
    let length = Wire::of(&n8n, SUMMARY).length();
    let mut line = Line::new(n8n, every_try(|_| Fault::Insert(u64::MAX, b"garbage".to_vec())));
    let said = &line.check(SUMMARY, [0]).errors[0].1;
    // A compressed body is expanded a kilobyte at a time.
    let byte = named(said).unwrap();
    assert!(byte + 1024 > length && byte <= length, "behind byte {length}: {said}");
}

#[test]
fn a_byte_that_is_no_text_is_named_in_a_list_too() {
    let n8n = n8n(Sent::UntilClose);
    let wire = Wire::of(&n8n, LIST);
    let mut line = Line::new(n8n, every_try(|place| Fault::Replace(place as u64, vec![0xff])));
    let broken = line.check(LIST, (wire.head..wire.bytes.len()).step_by(7));
    assert_eq!(broken.right, 0);
    for (place, said) in &broken.errors {
        let offset = wire.offset(*place);
        assert!(named(said).is_some_and(|byte| byte.abs_diff(offset) < 8), "byte {offset}: {said}");
    }
}

#[test]
fn what_broke_off_is_told_without_the_url_of_a_library() {
    let [_, cut, _] = without_a_farewell(Sent::UntilClose);
    let said = cut.unwrap_err();
    assert!(said.contains("broke off at byte 1000") && !said.contains("://"), "{said}");
}

#[test]
fn an_error_that_trickles_is_not_waited_for() {
    let n8n = Server::start(|_| Reply::json(400, " ".repeat(16_000)).pace(1, Duration::from_millis(100)));
    let mut client = McpClient::start(&n8n.url());
    let call = client.send("tools/call", json!({"name": "get_execution", "arguments": {"id": "1"}}));
    let answer = client.find(Duration::from_secs(20), |message| message["id"] == call);
    assert!(text(&answer.expect("an answer in time")).unwrap_err().contains("400"));
}

#[test]
fn a_size_that_stalls_does_not_hold_up_its_execution() {
    let n8n = Server::start(|request| match request.query("includeData") {
        None => Reply::json(200, r#"{"id":"42","jsonSizeBytes":1000}"#).stall_after(5),
        Some(_) => Reply::json(200, fixtures::execution("b_http_500")),
    });
    let mut client = McpClient::start(&n8n.url());
    let call = client.begin("get_execution", json!({"id": "42"}));
    let answer = client.find(Duration::from_secs(20), |message| message["id"] == call);
    assert!(text(&answer.expect("an answer in time")).is_ok());
}
