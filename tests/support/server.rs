//! An HTTP/1.1 server on loopback that plays n8n, well-behaved or broken at the byte level. Only threads and std.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Cursor, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use base64::{Engine, engine::general_purpose::STANDARD};
use flate2::{Compression, read::GzEncoder};
use serde_json::{Value, json, value::RawValue};

/// How often a blocked read or write checks whether the server was dropped.
const TICK: Duration = Duration::from_millis(20);
const PIECE: u64 = 64 * 1024;
const JSON: &str = "application/json; charset=utf-8";

/// Accepts connections until it is dropped; the drop ends every connection within a few ticks.
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    stopped: AtomicBool,
    requests: Mutex<Vec<Request>>,
    sent: AtomicU64,
    open: AtomicUsize,
    most_open: AtomicUsize,
}

impl Server {
    /// Starts on a free port; `handler` answers every request, on the connection's own thread.
    pub fn start(handler: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("its address");
        let (shared, handler) = (Arc::new(Shared::default()), Arc::new(handler));
        let accepting = Arc::clone(&shared);
        let acceptor = thread::spawn(move || {
            for stream in listener.incoming() {
                if accepting.stopped.load(SeqCst) {
                    break;
                }
                let Ok(stream) = stream else { continue };
                let (shared, handler) = (Arc::clone(&accepting), Arc::clone(&handler));
                thread::spawn(move || Connection { stream, shared }.serve(&*handler));
            }
        });
        Server { address, shared, acceptor: Some(acceptor) }
    }

    /// `http://127.0.0.1:PORT`
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Every request received so far, oldest first.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.requests.lock().unwrap().clone()
    }

    /// Body bytes written so far; kernel buffers accept several MB even if the client does not read.
    pub fn sent(&self) -> u64 {
        self.shared.sent.load(SeqCst)
    }

    /// Connections on which a reply is currently delayed, written or stalled.
    pub fn open(&self) -> usize {
        self.shared.open.load(SeqCst)
    }

    /// The highest value of `open` so far.
    pub fn most_open(&self) -> usize {
        self.shared.most_open.load(SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.stopped.store(true, SeqCst);
        // The acceptor blocks in accept(): one last connection wakes it, so that the port is closed when this returns.
        if TcpStream::connect(self.address).is_ok() {
            let _ = self.acceptor.take().map(JoinHandle::join);
        }
    }
}

/// A request as received: `path` as sent, without the query; `query` decoded; `headers` with lower-case names.
#[derive(Clone, Debug)]
pub struct Request {
    pub at: Instant,
    pub method: String,
    pub path: String,
    pub query: Vec<(String, String)>,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Request {
    /// The first header with this (lower-case) name.
    pub fn header(&self, name: &str) -> Option<&str> {
        find(&self.headers, name)
    }

    /// The first query parameter with this name.
    pub fn query(&self, name: &str) -> Option<&str> {
        find(&self.query, name)
    }

    fn parse(head: &[u8]) -> Request {
        let head = String::from_utf8_lossy(head);
        let mut lines = head.lines();
        let mut first = lines.next().unwrap_or_default().split(' ').map(str::to_owned);
        let method = first.next().unwrap_or_default();
        let target = first.next().unwrap_or_default();
        let (path, query) = target.split_once('?').unwrap_or((&target, ""));
        let parameters = query.split('&').filter(|part| !part.is_empty());
        let parameters = parameters.map(|part| part.split_once('=').unwrap_or((part, "")));
        let headers = lines.filter_map(|line| line.split_once(':'));
        Request {
            at: Instant::now(),
            method,
            path: path.to_owned(),
            query: parameters.map(|(key, value)| (percent_decode(key), percent_decode(value))).collect(),
            headers: headers.map(|(key, value)| (key.to_lowercase(), value.trim().to_owned())).collect(),
            body: Vec::new(),
        }
    }
}

fn find<'a>(pairs: &'a [(String, String)], name: &str) -> Option<&'a str> {
    pairs.iter().find(|(key, _)| key == name).map(|(_, value)| &**value)
}

fn percent_decode(text: &str) -> String {
    let (mut rest, mut bytes) = (text.as_bytes(), Vec::new());
    while let [first, after @ ..] = rest {
        let hex = after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        let (byte, length) = match (first, hex.and_then(|hex| u8::from_str_radix(hex, 16).ok())) {
            (b'%', Some(byte)) => (byte, 3),
            (b'+', _) => (b' ', 1),
            _ => (*first, 1),
        };
        bytes.push(byte);
        rest = &rest[length..];
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A response and how it goes wrong; body bytes are counted as sent (after `gzip`).
pub struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    body: Box<dyn Read + Send>,
    framing: Framing,
    delay: Duration,
    pace: Option<(u64, Duration)>,
    fault: Option<(u64, Fault)>,
}

#[derive(Clone, Copy, PartialEq)]
enum Framing {
    Length(u64),
    Chunked,
    UntilClose,
    Raw,
}

#[derive(Clone, Copy, PartialEq)]
enum Fault {
    Cut,
    Reset,
    Stall,
}

impl Reply {
    fn new(status: u16, content_type: &str, body: impl Read + Send + 'static, framing: Framing) -> Reply {
        let headers = vec![("content-type".to_owned(), content_type.to_owned())];
        Reply { status, headers, body: Box::new(body), framing, delay: Duration::ZERO, pace: None, fault: None }
    }

    /// A JSON body with its Content-Length.
    pub fn json(status: u16, text: impl Into<Vec<u8>>) -> Reply {
        Reply::bytes(status, JSON, text.into())
    }

    /// A body of any type with its Content-Length; an `Arc<[u8]>` is shared, not copied.
    pub fn bytes(status: u16, content_type: &str, body: impl Into<Arc<[u8]>>) -> Reply {
        let body = body.into();
        let length = body.len() as u64;
        Reply::new(status, content_type, Cursor::new(body), Framing::Length(length))
    }

    /// A chunked JSON body of unknown length; a read error cuts it off.
    pub fn stream(body: impl Read + Send + 'static) -> Reply {
        Reply::new(200, JSON, body, Framing::Chunked)
    }

    /// Raw bytes instead of an HTTP response; then the connection closes.
    pub fn raw(bytes: impl Into<Vec<u8>>) -> Reply {
        Reply::new(0, "", Cursor::new(bytes.into()), Framing::Raw)
    }

    /// Sets a header, replacing one with the same name.
    pub fn header(mut self, name: &str, value: &str) -> Reply {
        self.headers.retain(|(key, _)| !key.eq_ignore_ascii_case(name));
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Waits before sending the status line.
    pub fn delay_first_byte(self, delay: Duration) -> Reply {
        Reply { delay, ..self }
    }

    /// Sends the body in pieces of this many bytes, with a pause after each.
    pub fn pace(self, bytes: u64, pause: Duration) -> Reply {
        Reply { pace: Some((bytes, pause)), ..self }
    }

    /// Announces the complete body, but closes the connection after this many bytes.
    pub fn cut_after(self, bytes: u64) -> Reply {
        Reply { fault: Some((bytes, Fault::Cut)), ..self }
    }

    /// Like `cut_after`, but with a TCP reset (a plain close on systems that do not reset on unread input).
    pub fn reset_after(self, bytes: u64) -> Reply {
        Reply { fault: Some((bytes, Fault::Reset)), ..self }
    }

    /// Stops sending after this many bytes; keeps the connection until the client leaves or the server is dropped.
    pub fn stall_after(self, bytes: u64) -> Reply {
        Reply { fault: Some((bytes, Fault::Stall)), ..self }
    }

    /// Announces this length, right or wrong; a body of a different length ends with the connection.
    pub fn content_length(self, length: u64) -> Reply {
        Reply { framing: Framing::Length(length), ..self }
    }

    /// No length and no chunks: the body ends with the connection (so a cut looks like the end).
    pub fn until_close(self) -> Reply {
        Reply { framing: Framing::UntilClose, ..self }
    }

    /// Repeats these bytes forever after the body, chunked.
    pub fn endless(self, unit: &[u8]) -> Reply {
        assert!(!unit.is_empty(), "a unit to repeat");
        let body = Box::new(self.body.chain(Repeat(unit.to_vec(), 0)));
        Reply { body, framing: Framing::Chunked, ..self }
    }

    /// Repeats these bytes forever after raw bytes.
    pub fn endless_raw(self, unit: &[u8]) -> Reply {
        Reply { framing: Framing::Raw, ..self.endless(unit) }
    }

    /// Compresses the body (even an endless one) while it is sent, chunked as n8n does it.
    pub fn gzip(self) -> Reply {
        let body = Box::new(GzEncoder::new(self.body, Compression::fast()));
        Reply { body, framing: Framing::Chunked, ..self }.header("content-encoding", "gzip")
    }
}

struct Repeat(Vec<u8>, usize);

impl Read for Repeat {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut rest = &mut *buffer;
        while !rest.is_empty() {
            let copied = (&self.0[self.1..]).read(rest)?;
            self.1 = (self.1 + copied) % self.0.len();
            rest = &mut rest[copied..];
        }
        Ok(buffer.len())
    }
}

struct Connection {
    stream: TcpStream,
    shared: Arc<Shared>,
}

impl Connection {
    fn serve(&self, handler: &impl Fn(&Request) -> Reply) -> io::Result<()> {
        self.stream.set_nodelay(true)?;
        self.stream.set_read_timeout(Some(TICK))?;
        self.stream.set_write_timeout(Some(TICK))?;
        while let Some(request) = self.request()? {
            self.shared.requests.lock().unwrap().push(request.clone());
            let close = request.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
            let reply = handler(&request);
            let open = self.shared.open.fetch_add(1, SeqCst) + 1;
            self.shared.most_open.fetch_max(open, SeqCst);
            let reusable = self.reply(reply);
            self.shared.open.fetch_sub(1, SeqCst);
            if !reusable? || close {
                break;
            }
        }
        Ok(())
    }

    /// Reads a request except for its last byte: closing a socket with unread input is how std can send a reset.
    fn request(&self) -> io::Result<Option<Request>> {
        let mut buffer = vec![0; PIECE as usize];
        let head = loop {
            let peeked = self.patient(|| self.stream.peek(&mut buffer))?;
            if peeked == 0 {
                return Ok(None);
            }
            if let Some(end) = buffer[..peeked].windows(4).position(|end| end == b"\r\n\r\n") {
                break end + 4;
            }
            self.nap(Duration::from_millis(1))?;
        };
        let mut request = Request::parse(&buffer[..head]);
        let length = request.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
        let mut bytes = vec![0; head + length];
        let last = bytes.len() - 1;
        let mut filled = 0;
        while filled < last {
            match self.patient(|| (&self.stream).read(&mut bytes[filled..last]))? {
                0 => return Ok(None),
                read => filled += read,
            }
        }
        self.patient(|| self.stream.peek(&mut bytes[last..]))?;
        request.body = bytes.split_off(head);
        Ok(Some(request))
    }

    /// Returns whether the connection can be reused.
    fn reply(&self, mut reply: Reply) -> io::Result<bool> {
        if !matches!(reply.fault, Some((_, Fault::Reset))) {
            (&self.stream).read_exact(&mut [0])?;
        }
        self.pause(reply.delay)?;
        let mut head = format!("HTTP/1.1 {} n8n\r\n", reply.status);
        match reply.framing {
            Framing::Length(length) => head += &format!("content-length: {length}\r\n"),
            Framing::Chunked => head += "transfer-encoding: chunked\r\n",
            Framing::UntilClose | Framing::Raw => head += "connection: close\r\n",
        }
        for (name, value) in &reply.headers {
            head += &format!("{name}: {value}\r\n");
        }
        if reply.framing != Framing::Raw {
            self.write(format!("{head}\r\n").as_bytes())?;
        }
        let (piece, pause) = reply.pace.unwrap_or((PIECE, Duration::ZERO));
        let (mut total, mut data) = (0, vec![0; piece as usize]);
        loop {
            let left = match reply.fault {
                Some((after, fault)) if after <= total => return self.fail(fault).map(|()| false),
                Some((after, _)) => after - total,
                None => u64::MAX,
            };
            let read = reply.body.read(&mut data[..piece.min(left) as usize])?;
            if read == 0 {
                break;
            }
            match reply.framing {
                Framing::Chunked => {
                    self.write(&[format!("{read:x}\r\n").as_bytes(), &data[..read], b"\r\n"].concat())?
                }
                _ => self.write(&data[..read])?,
            }
            total += read as u64;
            self.shared.sent.fetch_add(read as u64, SeqCst);
            self.pause(pause)?;
        }
        if reply.framing == Framing::Chunked {
            self.write(b"0\r\n\r\n")?;
        }
        Ok([Framing::Chunked, Framing::Length(total)].contains(&reply.framing))
    }

    fn fail(&self, fault: Fault) -> io::Result<()> {
        match fault {
            Fault::Cut => Ok(()),
            Fault::Reset => self.pause(TICK * 2), // a reset discards what the kernel has not delivered
            Fault::Stall => self.pause(Duration::MAX),
        }
    }

    fn write(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let written = self.patient(|| (&self.stream).write(bytes))?;
            bytes = &bytes[written..];
        }
        Ok(())
    }

    /// Waits, but fails if the client has gone.
    fn pause(&self, time: Duration) -> io::Result<()> {
        let start = Instant::now();
        while let Some(left) = time.checked_sub(start.elapsed()).filter(|left| !left.is_zero()) {
            self.stream.set_read_timeout(Some(left.clamp(Duration::from_millis(1), TICK)))?;
            match self.stream.peek(&mut [0]) {
                Ok(0) => return Err(ErrorKind::BrokenPipe.into()),
                Ok(_) => self.nap(left.min(TICK))?,
                Err(error) => self.still_on(error)?,
            }
        }
        self.stream.set_read_timeout(Some(TICK))
    }

    /// Retries after timeouts until the server is dropped.
    fn patient(&self, mut act: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
        loop {
            match act() {
                Err(error) => self.still_on(error)?,
                done => return done,
            }
        }
    }

    fn nap(&self, time: Duration) -> io::Result<()> {
        thread::sleep(time);
        self.still_on(ErrorKind::WouldBlock.into())
    }

    fn still_on(&self, error: io::Error) -> io::Result<()> {
        let timeout = matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted);
        if timeout && !self.shared.stopped.load(SeqCst) { Ok(()) } else { Err(error) }
    }
}

/// A well-behaved n8n 2.41 (key `test-key`) with these bodies, by execution id.
pub fn n8n(executions: HashMap<String, Vec<u8>>) -> Server {
    Server::start(n8n_handler(executions))
}

/// The handler of `n8n`, for tests that answer some requests differently.
pub fn n8n_handler(executions: HashMap<String, Vec<u8>>) -> impl Fn(&Request) -> Reply + Send + Sync {
    let rows = executions.into_iter().map(|(id, body)| Row::new(id, body));
    let mut rows: Vec<Row> = rows.collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.id));
    move |request| {
        let reply = answer(&rows, request);
        let gzip = request.header("accept-encoding").is_some_and(|value| value.contains("gzip"));
        let small = matches!(reply.framing, Framing::Length(length) if length < 1024);
        if gzip && !small { reply.gzip() } else { reply }
    }
}

struct Row {
    id: u64,
    body: Arc<[u8]>,
    /// The members of the body except for [`HEAVY`], as JSON text in the body's order.
    meta: Vec<(String, String)>,
    workflow: String,
}

const HEAVY: [&str; 4] = ["data", "customData", "workflowData", "dataTooLargeToDisplay"];
const LISTED: &str = "id finished mode retryOf retrySuccessId status startedAt stoppedAt workflowId waitTill";

impl Row {
    fn new(id: String, body: Vec<u8>) -> Row {
        // A body that is not JSON is served unchanged; its metadata is `{}`, and the list omits it.
        let members: BTreeMap<String, &RawValue> = serde_json::from_slice(&body).unwrap_or_default();
        let workflow = members.get("workflowData").map_or("{}", |value| value.get()).to_owned();
        let mut members: Vec<_> = members.into_iter().map(|(key, value)| (key, value.get())).collect();
        members.retain(|(key, _)| !HEAVY.contains(&&**key));
        members.sort_by_key(|(_, value)| value.as_ptr());
        let meta = members.into_iter().map(|(key, value)| match &*key {
            "id" => (key, format!("\"{id}\"")),
            _ => (key, value.to_owned()),
        });
        Row { id: id.parse().expect("a number"), meta: meta.collect(), workflow, body: body.into() }
    }

    fn text(&self, key: &str) -> &str {
        find(&self.meta, key).map_or("", |value| value.trim_matches('"'))
    }

    /// An object with the wanted members, without its closing brace.
    fn object(&self, wanted: impl Fn(&str) -> bool) -> String {
        let members = self.meta.iter().filter(|(key, _)| wanted(key));
        let members: Vec<_> = members.map(|(key, value)| format!("\"{key}\":{value}")).collect();
        format!("{{{}", members.join(","))
    }
}

fn answer(rows: &[Row], request: &Request) -> Reply {
    let error = |status, message| Reply::json(status, json!({ "message": message }).to_string());
    let Some(path) = request.path.strip_prefix("/api/v1/") else {
        return error(404, "not found");
    };
    if request.header("x-n8n-api-key") != Some("test-key") {
        return error(401, "Unauthorized");
    }
    if request.method != "GET" {
        return error(405, &format!("{} method not allowed", request.method));
    }
    let is = |name| request.query(name) == Some("true");
    match path.split('/').collect::<Vec<_>>()[..] {
        ["executions"] => list(rows, request).unwrap_or_else(|message| error(400, message)),
        ["executions", id] => {
            let Ok(id) = id.parse::<u64>() else {
                return error(400, "request/params/executionId must be a positive integer");
            };
            let Some(row) = rows.iter().find(|row| row.id == id) else {
                return error(404, "Not Found");
            };
            let meta = row.object(|_| true);
            if !is("includeData") {
                return Reply::json(200, meta + "}");
            }
            let stored = row.text("jsonSizeBytes").parse().unwrap_or(0);
            if stored > 100 * 1024 * 1024 && !is("ignoreDataSizeLimit") {
                let data = r#""data":{"version":1,"resultData":{"runData":{}}},"customData":{}"#;
                let workflow = &row.workflow;
                let tail = format!(r#","workflowData":{workflow},"dataTooLargeToDisplay":true}}"#);
                return Reply::json(200, format!("{meta},{data}{tail}"));
            }
            Reply::bytes(200, JSON, Arc::clone(&row.body))
        }
        ["workflows", id] => match rows.iter().rfind(|row| row.text("workflowId") == id) {
            Some(row) => Reply::json(200, &*row.workflow),
            None => error(404, "Not Found"),
        },
        _ => error(404, "not found"),
    }
}

fn list(rows: &[Row], request: &Request) -> Result<Reply, &'static str> {
    let mut limit = request.query("limit").map_or(Some(100), |limit| limit.parse().ok()).ok_or("bad limit")?;
    let mut last = u64::MAX;
    if let Some(cursor) = request.query("cursor") {
        let bytes = STANDARD.decode(cursor).unwrap_or_default();
        let cursor: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let parts = cursor["lastId"].as_str().and_then(|id| id.parse().ok()).zip(cursor["limit"].as_u64());
        (last, limit) = parts.ok_or("An invalid cursor was provided")?;
    }
    let time = |text: &str| text.parse::<jiff::Timestamp>().ok();
    let bound = |name| request.query(name).map(|text| time(text).ok_or("bad date")).transpose();
    let (after, before) = (bound("startedAfter")?, bound("startedBefore")?);
    let mut rows = rows.iter().filter(|row| {
        let (status, started) = (row.text("status"), time(row.text("startedAt")));
        row.id < last
            && !row.meta.is_empty()
            && request.query("status").map_or(status != "running", |wanted| wanted == status)
            && request.query("workflowId").is_none_or(|wanted| wanted == row.text("workflowId"))
            && after.is_none_or(|after| started.is_some_and(|started| started >= after))
            && before.is_none_or(|before| started.is_some_and(|started| started <= before))
    });
    let limit = limit.min(250);
    let take = if limit == 0 { usize::MAX } else { limit as usize };
    let page: Vec<&Row> = rows.by_ref().take(take).collect();
    let cursor = rows.next().and(page.last()).map(|row| {
        let cursor = json!({ "lastId": row.id.to_string(), "limit": limit });
        format!("\"{}\"", STANDARD.encode(cursor.to_string()))
    });
    let items: Vec<String> =
        page.iter().map(|row| row.object(|key| LISTED.split(' ').any(|listed| listed == key)) + "}").collect();
    let cursor = cursor.unwrap_or_else(|| "null".to_owned());
    Ok(Reply::json(200, format!(r#"{{"data":[{}],"nextCursor":{cursor}}}"#, items.join(","))))
}
