//! An n8n that breaks a tenth of its replies, and records concurrent requests.

use std::collections::{HashMap, HashSet};
use std::io::{self, Cursor, Read};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;

use super::{LARGE, LIMIT, NOTICED, SEED};
use crate::fixtures;
use crate::generator::Shape;
use crate::random::Random;
use crate::server::{Reply, Request, Server};
use crate::workflow_store::{Flavour, WorkflowStore};

/// How a reply is broken.
#[derive(Clone, Copy)]
enum Fault {
    Cut,
    Reset,
    Failing,
    Stall,
    Slow,
}

const FAULTS: [Fault; 5] = [Fault::Cut, Fault::Reset, Fault::Failing, Fault::Stall, Fault::Slow];

/// An n8n that breaks a tenth of its replies while `rough` is set, and records concurrent requests.
pub struct N8n {
    pub rough: AtomicBool,
    executions: HashMap<String, Arc<[u8]>>,
    workflows: HashMap<String, Arc<[u8]>>,
    execution_list: Arc<[u8]>,
    workflow_list: Arc<[u8]>,
    replies: AtomicU64,
    pub faults: [AtomicU64; FAULTS.len()],
    /// The slow executions that were requested.
    asked: Mutex<HashSet<String>>,
    readings: Arc<Mutex<Vec<Reading>>>,
}

impl N8n {
    pub fn start(large: u64) -> (Arc<Self>, Server) {
        let n8n = Arc::new(Self::new(large));
        let answering = n8n.clone();
        let server = Server::start(move |request| answering.reply(request));
        (n8n, server)
    }

    fn new(bytes: u64) -> Self {
        let store = WorkflowStore::new(Flavour::V2);
        let mut executions: HashMap<String, Arc<[u8]>> = HashMap::new();
        let small = |name: &str| name != "a_small_success.nodata";
        for (_, body) in fixtures::executions().into_iter().filter(|(name, _)| small(name)) {
            let execution = fixtures::parse(&body);
            if execution["workflowData"].is_object() {
                store.put(execution["workflowData"].clone());
            }
            executions.insert(execution["id"].as_str().unwrap().to_owned(), body.into());
        }
        let mut large = Vec::new();
        Shape::realistic(bytes).read_to_end(&mut large).unwrap();
        executions.insert(LARGE.to_owned(), large.into());
        let workflows: Vec<_> = store.ids().into_iter().map(|id| (store.get(&id).unwrap(), id)).collect();
        let list: Vec<_> = workflows.iter().map(|(workflow, _)| workflow).collect();
        Self {
            rough: AtomicBool::new(false),
            executions,
            execution_list: std::fs::read(fixtures::folder().join("api/list_limit5.json")).unwrap().into(),
            workflow_list: json!({"data": list, "nextCursor": null}).to_string().into_bytes().into(),
            workflows: workflows.into_iter().map(|(whole, id)| (id, whole.to_string().into_bytes().into())).collect(),
            replies: AtomicU64::new(0),
            faults: Default::default(),
            asked: Mutex::default(),
            readings: Arc::default(),
        }
    }

    /// All requests are counted except those for the names of workflows, whose bodies are not read to the end.
    fn reply(&self, request: &Request) -> Reply {
        let rest = request.path.strip_prefix("/api/v1/").unwrap_or_default();
        let pinned = request.query("excludePinnedData").is_none();
        match rest.split_once('/').unwrap_or((rest, "")) {
            ("executions", "") => self.send(&self.execution_list),
            ("executions", id) if request.query("includeData").is_none() => {
                Reply::json(200, json!({"id": id, "jsonSizeBytes": 1000}).to_string())
            }
            ("executions", id) => match self.executions.get(id) {
                // In pieces, so that some clients leave before it has been sent.
                Some(body) if id == LARGE => self.send(body).pace(body.len() as u64 / 8 + 1, Duration::from_millis(60)),
                Some(body) => self.send(body),
                None => self.send_slowly(id),
            },
            ("workflows", "") => self.send(&self.workflow_list),
            ("workflows", id) => match self.workflows.get(id) {
                // A request for the name only. A fault would not fail the list, but change it.
                Some(body) if pinned => Reply::bytes(200, "application/json", body.clone()),
                Some(body) => self.send(body),
                None => Reply::json(404, r#"{"message":"Not Found"}"#),
            },
            _ => Reply::json(404, r#"{"message":"not found"}"#),
        }
    }

    fn send(&self, body: &Arc<[u8]>) -> Reply {
        let length = body.len() as u64;
        let Some((fault, at)) = self.fault() else {
            return self.body(body, length);
        };
        let at = at % (length - 1) + 1;
        match fault {
            Fault::Cut => self.body(body, at).cut_after(at),
            Fault::Reset => self.body(body, at).reset_after(at),
            Fault::Failing => Reply::json(500, r#"{"message":"Internal server error"}"#),
            Fault::Stall => self.body(body, at).stall_after(at),
            Fault::Slow => self.body(body, length).pace(length / 8 + 1, Duration::from_millis(40)),
        }
    }

    fn send_slowly(&self, id: &str) -> Reply {
        self.asked.lock().unwrap().insert(id.to_owned());
        let large = &self.executions[LARGE];
        let rest = large.strip_prefix(format!("{{\"id\":\"{LARGE}\"").as_bytes()).unwrap();
        let body = [format!("{{\"id\":\"{id}\"").as_bytes(), rest].concat().into();
        self.body(&body, body.len() as u64).pace(body.len() as u64 / 10, Duration::from_millis(40))
    }

    fn body(&self, body: &Arc<[u8]>, sent: u64) -> Reply {
        let readings = self.readings.clone();
        let coming = Coming { body: Cursor::new(body.clone()), left: sent, from: Instant::now(), to: None, readings };
        // n8n takes some time to build a body, so that downloads overlap.
        Reply::stream(coming).content_length(body.len() as u64).delay_first_byte(Duration::from_millis(5))
    }

    /// The fault of the next reply, with a random number, if it has one.
    fn fault(&self) -> Option<(Fault, u64)> {
        let mut random = Random(SEED.wrapping_add(self.replies.fetch_add(1, SeqCst)));
        if !random.one_in(10) || !self.rough.load(SeqCst) {
            return None;
        }
        let fault = random.index(FAULTS.len());
        self.faults[fault].fetch_add(1, SeqCst);
        Some((FAULTS[fault], random.number()))
    }

    pub fn was_asked_for(&self, id: &str) -> bool {
        self.asked.lock().unwrap().contains(id)
    }

    pub fn take_readings(&self) -> Vec<Reading> {
        std::mem::take(&mut self.readings.lock().unwrap())
    }
}

/// When a request was under way.
pub struct Reading {
    from: Instant,
    to: Instant,
    /// Whether everything was sent that should have been.
    pub whole: bool,
}

/// A body that is being sent. It counts from its request to its last byte; the client cannot be done before.
struct Coming {
    body: Cursor<Arc<[u8]>>,
    left: u64,
    from: Instant,
    to: Option<Instant>,
    readings: Arc<Mutex<Vec<Reading>>>,
}

impl Read for Coming {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.body.read(buffer)?;
        self.left = self.left.saturating_sub(read as u64);
        if self.left == 0 && self.to.is_none() {
            self.to = Some(Instant::now());
        }
        Ok(read)
    }
}

impl Drop for Coming {
    fn drop(&mut self) {
        // The client left some time ago.
        let gone = Instant::now().checked_sub(NOTICED).unwrap_or(self.from).max(self.from);
        let reading = Reading { from: self.from, to: self.to.unwrap_or(gone), whole: self.to.is_some() };
        self.readings.lock().unwrap().push(reading);
    }
}

/// The maximum number of concurrent requests, and how long the limit was exceeded.
pub fn crowd(readings: &[Reading]) -> (i64, Duration) {
    // Ends sort before starts at the same time.
    let mut steps: Vec<_> = readings.iter().flat_map(|reading| [(reading.from, 1), (reading.to, -1)]).collect();
    steps.sort();
    let (mut open, mut most, mut above) = (0_i64, 0_i64, Duration::ZERO);
    let mut last = steps.first().map_or_else(Instant::now, |(at, _)| *at);
    for (at, step) in steps {
        if open > LIMIT {
            above += at - last;
        }
        open += step;
        most = most.max(open);
        last = at;
    }
    (most, above)
}
