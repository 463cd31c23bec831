//! A proxy between the client and the in-process n8n that breaks responses on the wire. It counts the bytes that it
//! sends, starting with the status line. Only threads and std, and rustls for TLS.

use std::collections::HashMap;
use std::io::{self, Cursor, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// How often a blocked read or write checks whether the proxy was dropped.
const TICK: Duration = Duration::from_millis(20);
const PIECE: usize = 64 * 1024;
/// The maximum length of a request head.
const HEAD: usize = 16 * 1024;
const CLOSE: &[u8] = b"connection: close\r\n";

/// How a response is broken.
pub enum Fault {
    /// It is not broken.
    None,
    /// The connection closes after this many bytes; over TLS without `close_notify`.
    CutAfter(u64),
    /// The same with a TCP reset; without TLS only.
    ResetAfter(u64),
    /// Nothing is sent after this many bytes, and the connection stays open until the client leaves.
    StallAfter(u64),
    /// These bytes are repeated.
    Repeat(Range<u64>),
    /// These bytes are inserted before this position, or at the end.
    Insert(u64, Vec<u8>),
    /// These bytes replace as many bytes at this position.
    Replace(u64, Vec<u8>),
    /// A rewritten head, including the empty line.
    Head(Box<dyn FnOnce(&str) -> String + Send>),
    /// From this position on, these bytes are repeated until the client leaves.
    Flood(u64, Vec<u8>),
}

/// What a plan knows about a request.
pub struct ProxiedRequest {
    /// Path and query as sent; empty in a tunnel.
    pub target: String,
    /// How often the same target was requested before.
    pub attempt: usize,
}

/// Accepts connections for one request each until it is dropped; the drop ends all of them within a few ticks.
pub struct Proxy {
    scheme: String,
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

struct Shared {
    stopped: AtomicBool,
    kind: Kind,
    upstream: SocketAddr,
    plan: Box<dyn Fn(&ProxiedRequest) -> Fault + Send + Sync>,
    attempts: Mutex<HashMap<String, usize>>,
}

enum Kind {
    Http,
    Tls(Arc<ServerConfig>),
    Tunnel,
}

impl Proxy {
    /// Starts a proxy for the server at `upstream` (`http://127.0.0.1:PORT`), for requests without a body.
    pub fn start(upstream: &str, plan: impl Fn(&ProxiedRequest) -> Fault + Send + Sync + 'static) -> Self {
        Self::of(Kind::Http, "http", upstream, plan)
    }

    /// The same for TLS clients.
    pub fn start_tls(
        upstream: &str,
        config: Arc<ServerConfig>,
        plan: impl Fn(&ProxiedRequest) -> Fault + Send + Sync + 'static,
    ) -> Self {
        Self::of(Kind::Tls(config), "https", upstream, plan)
    }

    /// Passes bytes on in both directions, and breaks those from the server at `upstream`.
    pub fn tunnel(upstream: &str, plan: impl Fn(&ProxiedRequest) -> Fault + Send + Sync + 'static) -> Self {
        let (scheme, _) = upstream.split_once("://").expect("a URL");
        Self::of(Kind::Tunnel, scheme, upstream, plan)
    }

    fn of(
        kind: Kind,
        scheme: &str,
        upstream: &str,
        plan: impl Fn(&ProxiedRequest) -> Fault + Send + Sync + 'static,
    ) -> Self {
        let (_, upstream) = upstream.split_once("://").expect("a URL");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("its address");
        let shared = Arc::new(Shared {
            stopped: AtomicBool::new(false),
            kind,
            upstream: upstream.parse().expect("an address and a port"),
            plan: Box::new(plan),
            attempts: Mutex::default(),
        });
        let accepting = Arc::clone(&shared);
        let acceptor = thread::spawn(move || {
            for client in listener.incoming() {
                if accepting.stopped.load(SeqCst) {
                    break;
                }
                let Ok(client) = client else { continue };
                let shared = Arc::clone(&accepting);
                // Errors of connections that are gone do not matter.
                thread::spawn(move || drop(shared.serve(client)));
            }
        });
        Self { scheme: scheme.to_owned(), address, shared, acceptor: Some(acceptor) }
    }

    /// `http://127.0.0.1:PORT`, or with `https`.
    pub fn url(&self) -> String {
        format!("{}://{}", self.scheme, self.address)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.stopped.store(true, SeqCst);
        // The acceptor blocks in accept(): one last connection wakes it.
        if TcpStream::connect(self.address).is_ok() {
            let _ = self.acceptor.take().map(JoinHandle::join);
        }
    }
}

/// The unbroken response of the server at `upstream` to this path and query, as a proxy sends it.
pub fn wire(upstream: &str, target: &str) -> Vec<u8> {
    let proxy = Proxy::start(upstream, |_| Fault::None);
    let mut stream = TcpStream::connect(proxy.address).expect("the proxy listens");
    stream.write_all(format!("GET {target} HTTP/1.1\r\nhost: n8n\r\n\r\n").as_bytes()).expect("the proxy reads");
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).expect("the proxy answers");
    bytes
}

/// What happens to a connection after the response.
enum End {
    Close,
    Reset,
    Stay,
}

impl Shared {
    fn serve(self: &Arc<Self>, client: TcpStream) -> io::Result<()> {
        set_up(&client)?;
        match &self.kind {
            Kind::Http => self.serve_plainly(&client),
            Kind::Tls(config) => self.serve_over_tls(client, config),
            Kind::Tunnel => self.carry(&client),
        }
    }

    fn serve_plainly(&self, mut client: &TcpStream) -> io::Result<()> {
        let head = self.head_but_for_a_byte(client)?;
        let (fault, answer) = self.ask(&head)?;
        if !matches!(fault, Fault::ResetAfter(_)) {
            client.read_exact(&mut [0])?;
        }
        let end = Relay { shared: self, from: answer, to: client }.tamper(fault)?;
        self.end(client, &end);
        Ok(())
    }

    fn serve_over_tls(&self, client: TcpStream, config: &Arc<ServerConfig>) -> io::Result<()> {
        let session = ServerConnection::new(Arc::clone(config)).map_err(io::Error::other)?;
        let mut client = StreamOwned::new(session, client);
        let head = self.head_of(&mut client)?;
        let (fault, answer) = self.ask(&head)?;
        let cut = matches!(fault, Fault::CutAfter(_));
        let end = Relay { shared: self, from: answer, to: &mut client }.tamper(fault)?;
        if !cut {
            client.conn.send_close_notify();
        }
        self.patient(|| client.flush())?;
        self.end(&client.sock, &end);
        Ok(())
    }

    fn carry(self: &Arc<Self>, client: &TcpStream) -> io::Result<()> {
        let fault = (self.plan)(&self.proxied(String::new()));
        let upstream = self.connect()?;
        let (shared, from, to) = (Arc::clone(self), client.try_clone()?, upstream.try_clone()?);
        thread::spawn(move || {
            let _ = Relay { shared: &shared, from: Incoming::new(&shared, from), to: &to }.pass(u64::MAX);
            let _ = to.shutdown(Shutdown::Write);
        });
        let end = Relay { shared: self, from: Incoming::new(self, upstream.try_clone()?), to: client }.tamper(fault);
        if let Ok(end) = &end {
            self.end(client, end);
        }
        // The other direction still uses both sockets.
        let _ = (client.shutdown(Shutdown::Both), upstream.shutdown(Shutdown::Both));
        end.map(drop)
    }

    fn end(&self, client: &TcpStream, end: &End) {
        match end {
            End::Close => {}
            // A reset discards what the kernel has not delivered.
            End::Reset => thread::sleep(TICK * 2),
            End::Stay => self.hold(client),
        }
    }

    /// Keeps a connection open until the client leaves or the proxy is dropped.
    fn hold(&self, client: &TcpStream) {
        while !self.stopped.load(SeqCst) {
            match client.peek(&mut [0]) {
                Ok(0) => return,
                Ok(_) => thread::sleep(TICK),
                Err(error) if is_timeout(&error) => {}
                Err(_) => return,
            }
        }
    }

    /// Reads a request except for its last byte: closing a socket with unread input is how std can send a reset.
    fn head_but_for_a_byte(&self, mut client: &TcpStream) -> io::Result<Vec<u8>> {
        let mut seen = vec![0; HEAD];
        loop {
            let peeked = self.patient(|| client.peek(&mut seen))?;
            if peeked == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            if let Some(end) = end_of_head(&seen[..peeked]) {
                seen.truncate(end);
                client.read_exact(&mut seen[..end - 1])?;
                return Ok(seen);
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    fn head_of(&self, client: &mut impl Read) -> io::Result<Vec<u8>> {
        let (mut head, mut byte) = (Vec::new(), [0_u8]);
        while end_of_head(&head).is_none() {
            if self.patient(|| client.read(&mut byte))? == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            head.push(byte[0]);
        }
        Ok(head)
    }

    /// Forwards a request and its response, broken as planned. Both connections end afterwards.
    fn ask(&self, head: &[u8]) -> io::Result<(Fault, Incoming<'_>)> {
        let target = String::from_utf8_lossy(head).split(' ').nth(1).unwrap_or_default().to_owned();
        let fault = (self.plan)(&self.proxied(target));
        let upstream = self.connect()?;
        (&upstream).write_all(&[&head[..head.len() - 2], CLOSE, b"\r\n"].concat())?;
        let mut answer = Incoming::new(self, upstream);
        answer.read_head()?;
        Ok((fault, answer))
    }

    fn proxied(&self, target: String) -> ProxiedRequest {
        let mut attempts = self.attempts.lock().unwrap();
        let attempt = attempts.entry(target.clone()).or_default();
        let request = ProxiedRequest { target, attempt: *attempt };
        *attempt += 1;
        request
    }

    fn connect(&self) -> io::Result<TcpStream> {
        let upstream = TcpStream::connect(self.upstream)?;
        set_up(&upstream)?;
        Ok(upstream)
    }

    /// Retries after timeouts until the proxy is dropped.
    fn patient<T>(&self, mut act: impl FnMut() -> io::Result<T>) -> io::Result<T> {
        loop {
            match act() {
                Err(error) if is_timeout(&error) && !self.stopped.load(SeqCst) => {}
                done => return done,
            }
        }
    }
}

fn set_up(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(TICK))?;
    stream.set_write_timeout(Some(TICK))
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

fn end_of_head(bytes: &[u8]) -> Option<usize> {
    bytes.windows(4).position(|end| end == b"\r\n\r\n").map(|at| at + 4)
}

/// Incoming bytes.
struct Incoming<'a> {
    shared: &'a Shared,
    socket: TcpStream,
    /// Bytes that were read with the head.
    ahead: Cursor<Vec<u8>>,
    head: usize,
}

impl<'a> Incoming<'a> {
    fn new(shared: &'a Shared, socket: TcpStream) -> Self {
        Self { shared, socket, ahead: Cursor::default(), head: 0 }
    }

    /// Reads the head of a response, and adds a header that announces the end of the connection.
    fn read_head(&mut self) -> io::Result<()> {
        let (mut ahead, mut piece) = (Vec::new(), vec![0; PIECE]);
        while end_of_head(&ahead).is_none() {
            match self.shared.patient(|| (&self.socket).read(&mut piece))? {
                0 => break,
                read => ahead.extend_from_slice(&piece[..read]),
            }
        }
        let end = end_of_head(&ahead);
        self.head = end.unwrap_or(ahead.len());
        let says_so = String::from_utf8_lossy(&ahead[..self.head]).contains("connection: ");
        if let Some(end) = end.filter(|_| !says_so) {
            ahead = [&ahead[..end - 2], CLOSE, &ahead[end - 2..]].concat();
            self.head += CLOSE.len();
        }
        self.ahead = Cursor::new(ahead);
        Ok(())
    }
}

impl Read for Incoming<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.ahead.read(buffer)? {
            0 => self.shared.patient(|| (&self.socket).read(buffer)),
            read => Ok(read),
        }
    }
}

/// Copies bytes from one side to the other.
struct Relay<'a, W> {
    shared: &'a Shared,
    from: Incoming<'a>,
    to: W,
}

impl<W: Write> Relay<'_, W> {
    fn tamper(&mut self, fault: Fault) -> io::Result<End> {
        match fault {
            Fault::None => self.pass(u64::MAX)?,
            Fault::CutAfter(bytes) => self.pass(bytes)?,
            Fault::ResetAfter(bytes) => {
                self.pass(bytes)?;
                return Ok(End::Reset);
            }
            Fault::StallAfter(bytes) => {
                self.pass(bytes)?;
                return Ok(End::Stay);
            }
            Fault::Repeat(range) => {
                self.pass(range.start)?;
                let twice = self.take(range.end - range.start)?;
                self.insert(&twice.repeat(2))?;
            }
            Fault::Insert(at, bytes) => {
                self.pass(at)?;
                self.insert(&bytes)?;
            }
            Fault::Replace(at, bytes) => {
                self.pass(at)?;
                self.take(bytes.len() as u64)?;
                self.insert(&bytes)?;
            }
            Fault::Head(rewrite) => {
                let head = self.take(self.from.head as u64)?;
                self.insert(rewrite(&String::from_utf8_lossy(&head)).as_bytes())?;
            }
            Fault::Flood(at, bytes) => {
                self.pass(at)?;
                let many = bytes.repeat(PIECE / bytes.len() + 1);
                loop {
                    self.write(&many)?;
                }
            }
        }
        Ok(End::Close)
    }

    /// Passes on this many bytes, or the rest.
    fn pass(&mut self, bytes: u64) -> io::Result<()> {
        let (mut left, mut piece) = (bytes, vec![0; PIECE]);
        while left > 0 {
            let most = left.min(PIECE as u64) as usize;
            let read = self.from.read(&mut piece[..most])?;
            if read == 0 {
                break;
            }
            self.write(&piece[..read])?;
            left -= read as u64;
        }
        Ok(())
    }

    fn take(&mut self, bytes: u64) -> io::Result<Vec<u8>> {
        let mut taken = Vec::new();
        (&mut self.from).take(bytes).read_to_end(&mut taken)?;
        Ok(taken)
    }

    /// Sends these bytes, then the rest.
    fn insert(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write(bytes)?;
        self.pass(u64::MAX)
    }

    fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let written = self.shared.patient(|| self.to.write(bytes))?;
            bytes = &bytes[written..];
        }
        Ok(())
    }
}
