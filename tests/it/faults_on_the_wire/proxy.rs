//! A proxy between the client and the in-process n8n that breaks answers on the wire. The bytes it counts are those
//! that it sends, from the status line on. Threads and std only, and rustls where the client speaks TLS.

use std::collections::HashMap;
use std::io::{self, Cursor, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// How long a blocked read or write goes without looking whether the proxy was dropped.
const TICK: Duration = Duration::from_millis(20);
const PIECE: usize = 64 * 1024;
/// No client here sends a longer head.
const HEAD: usize = 16 * 1024;
const CLOSE: &[u8] = b"connection: close\r\n";

/// How an answer is broken.
pub enum Fault {
    /// Not at all.
    None,
    /// The connection closes after so many bytes; over TLS without a word (`close_notify`).
    CutAfter(u64),
    /// The same with a TCP reset, where nothing was encrypted.
    ResetAfter(u64),
    /// Nothing comes after so many bytes, and the connection stays until the client goes.
    StallAfter(u64),
    /// These bytes come twice.
    Repeat(Range<u64>),
    /// These bytes come before that one; behind the last one where there is no such byte.
    Insert(u64, Vec<u8>),
    /// These bytes come from that one on, instead of as many others.
    Replace(u64, Vec<u8>),
    /// Another head, empty line included.
    Head(Box<dyn FnOnce(&str) -> String + Send>),
    /// From that byte on come these ones, again and again until the client goes.
    Flood(u64, Vec<u8>),
}

/// One request, as far as a plan needs to know it.
pub struct Asked {
    /// Path and query as sent; nothing in a tunnel.
    pub target: String,
    /// How often the same was asked before.
    pub turn: usize,
}

/// Accepts connections until it is dropped; each is for one request. The drop ends all within a few ticks.
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
    plan: Box<dyn Fn(&Asked) -> Fault + Send + Sync>,
    turns: Mutex<HashMap<String, usize>>,
}

enum Kind {
    Http,
    Tls(Arc<ServerConfig>),
    Tunnel,
}

impl Proxy {
    /// Stands before the server at `upstream` (`http://127.0.0.1:PORT`). It answers requests without a body.
    pub fn start(upstream: &str, plan: impl Fn(&Asked) -> Fault + Send + Sync + 'static) -> Self {
        Self::of(Kind::Http, "http", upstream, plan)
    }

    /// The same for clients that speak TLS.
    pub fn start_tls(
        upstream: &str,
        config: Arc<ServerConfig>,
        plan: impl Fn(&Asked) -> Fault + Send + Sync + 'static,
    ) -> Self {
        Self::of(Kind::Tls(config), "https", upstream, plan)
    }

    /// Passes on whatever comes, in both directions, and breaks what the server at `upstream` says.
    pub fn tunnel(upstream: &str, plan: impl Fn(&Asked) -> Fault + Send + Sync + 'static) -> Self {
        let (scheme, _) = upstream.split_once("://").expect("a URL");
        Self::of(Kind::Tunnel, scheme, upstream, plan)
    }

    fn of(kind: Kind, scheme: &str, upstream: &str, plan: impl Fn(&Asked) -> Fault + Send + Sync + 'static) -> Self {
        let (_, upstream) = upstream.split_once("://").expect("a URL");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("its address");
        let shared = Arc::new(Shared {
            stopped: AtomicBool::new(false),
            kind,
            upstream: upstream.parse().expect("an address and a port"),
            plan: Box::new(plan),
            turns: Mutex::default(),
        });
        let accepting = Arc::clone(&shared);
        let acceptor = thread::spawn(move || {
            for client in listener.incoming() {
                if accepting.stopped.load(SeqCst) {
                    break;
                }
                let Ok(client) = client else { continue };
                let shared = Arc::clone(&accepting);
                // Whoever has gone need not be told.
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
        // The acceptor sits in accept(): one last connection wakes it.
        if TcpStream::connect(self.address).is_ok() {
            let _ = self.acceptor.take().map(JoinHandle::join);
        }
    }
}

/// What a proxy before the server at `upstream` sends for this path and query where it breaks nothing.
pub fn wire(upstream: &str, target: &str) -> Vec<u8> {
    let proxy = Proxy::start(upstream, |_| Fault::None);
    let mut stream = TcpStream::connect(proxy.address).expect("the proxy listens");
    stream.write_all(format!("GET {target} HTTP/1.1\r\nhost: n8n\r\n\r\n").as_bytes()).expect("it reads");
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).expect("it answers");
    bytes
}

/// What becomes of a connection after the answer.
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
        let fault = (self.plan)(&self.asked(String::new()));
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
        // The other direction still holds both.
        let _ = (client.shutdown(Shutdown::Both), upstream.shutdown(Shutdown::Both));
        end.map(drop)
    }

    fn end(&self, client: &TcpStream, end: &End) {
        match end {
            End::Close => {}
            // What the kernel has not delivered dies with the reset.
            End::Reset => thread::sleep(TICK * 2),
            End::Stay => self.hold(client),
        }
    }

    /// Keeps a connection until the client goes or the proxy is dropped.
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

    /// Reads a request but for its last byte: closing a socket with unread input is how std can send a reset.
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

    /// How the answer to a request is broken, and that answer. Both connections end with it.
    fn ask(&self, head: &[u8]) -> io::Result<(Fault, Incoming<'_>)> {
        let target = String::from_utf8_lossy(head).split(' ').nth(1).unwrap_or_default().to_owned();
        let fault = (self.plan)(&self.asked(target));
        let upstream = self.connect()?;
        (&upstream).write_all(&[&head[..head.len() - 2], CLOSE, b"\r\n"].concat())?;
        let mut answer = Incoming::new(self, upstream);
        answer.read_head()?;
        Ok((fault, answer))
    }

    fn asked(&self, target: String) -> Asked {
        let mut turns = self.turns.lock().unwrap();
        let turn = turns.entry(target.clone()).or_default();
        let asked = Asked { target, turn: *turn };
        *turn += 1;
        asked
    }

    fn connect(&self) -> io::Result<TcpStream> {
        let upstream = TcpStream::connect(self.upstream)?;
        set_up(&upstream)?;
        Ok(upstream)
    }

    /// Repeats what only timed out, until the proxy is dropped.
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

/// Bytes on their way.
struct Incoming<'a> {
    shared: &'a Shared,
    socket: TcpStream,
    /// What was read to see the whole head.
    ahead: Cursor<Vec<u8>>,
    head: usize,
}

impl<'a> Incoming<'a> {
    fn new(shared: &'a Shared, socket: TcpStream) -> Self {
        Self { shared, socket, ahead: Cursor::default(), head: 0 }
    }

    /// Reads the head of an answer, which is made to say that the connection ends if it `closes`.
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

/// From one side to the other.
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

    /// Passes on as many bytes, or those that are left.
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

    /// Sends these bytes, and then the rest.
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
