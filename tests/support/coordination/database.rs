//! The databases of the tests: a SQLite file each, or a database each on the PostgreSQL server of the test's process.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex};
use std::time::Duration;

use n8n_lens::coordination::store::DatabaseLocation;
use tempfile::TempDir;

/// The kind of database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Sqlite,
    Postgres,
}

/// The database of one test.
pub struct Database {
    pub kind: Kind,
    /// The value for `--db`.
    pub argument: String,
    /// The folder of the SQLite file, and of other files of the test.
    pub folder: TempDir,
}

/// The PostgreSQL server of this process, which is started when it is first used.
static SERVER: LazyLock<Option<Server>> = LazyLock::new(Server::start);

/// `postgres.sh`: it stops the server and removes its files when this process ends.
struct Server {
    port: u16,
    folder: PathBuf,
    script: Mutex<Script>,
    /// It ends when the pipe to it is closed.
    _process: Child,
}

struct Script {
    requests: ChildStdin,
    replies: BufReader<ChildStdout>,
}

impl Kind {
    /// The kinds that tests can use.
    pub fn installed() -> Vec<Self> {
        if postgres_is_installed() {
            return vec![Self::Sqlite, Self::Postgres];
        }
        eprintln!("=== PostgreSQL IS NOT INSTALLED: IT IS NOT TESTED ===");
        vec![Self::Sqlite]
    }
}

pub fn postgres_is_installed() -> bool {
    SERVER.is_some()
}

/// The folder with all files of PostgreSQL.
pub fn server_folder() -> &'static Path {
    &server().folder
}

/// Stops PostgreSQL without a shutdown, and restarts it.
pub fn restart_postgres_immediately() {
    while_postgres_is_away(|| ());
}

/// Stops PostgreSQL without a shutdown, runs `work`, and restarts PostgreSQL.
pub fn while_postgres_is_away(work: impl FnOnce()) {
    let mut script = server().script.lock().unwrap();
    assert_eq!(script.request("kill"), "away");
    work();
    assert_eq!(script.request("start"), "ready");
}

fn server() -> &'static Server {
    SERVER.as_ref().expect("PostgreSQL to be installed")
}

impl Server {
    /// `None` if PostgreSQL is not installed.
    fn start() -> Option<Self> {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let folder = tempfile::tempdir().unwrap().keep();
        let log = folder.join("script.log");
        let mut process = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/coordination/postgres.sh"))
            .args([folder.as_os_str(), port.to_string().as_ref()])
            // Tests kill processes, not the machine, so nothing needs to be flushed to disk. A benchmark does.
            .args(cfg!(test).then_some("fsync=off"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(File::create(&log).unwrap())
            .spawn()
            .unwrap();
        let (requests, replies) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
        let mut script = Script { requests, replies: BufReader::new(replies) };
        if script.next() == "ready" {
            return Some(Self { port, folder, script: Mutex::new(script), _process: process });
        }
        let said = std::fs::read_to_string(log).unwrap_or_default();
        assert_eq!(process.wait().unwrap().code(), Some(3), "PostgreSQL is installed, but does not start: {said}");
        None
    }
}

impl Script {
    fn request(&mut self, request: &str) -> String {
        writeln!(self.requests, "{request}").unwrap();
        self.next()
    }

    fn next(&mut self) -> String {
        let mut line = String::new();
        self.replies.read_line(&mut line).unwrap();
        line.trim().to_owned()
    }
}

impl Database {
    /// An empty database.
    pub fn new(kind: Kind) -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let folder = tempfile::tempdir().unwrap();
        let argument = match kind {
            Kind::Sqlite => folder.path().join("pm.db").to_str().unwrap().to_owned(),
            Kind::Postgres => {
                let name = format!("test_{}", NUMBER.fetch_add(1, Ordering::Relaxed));
                let port = server().port;
                with_server(&format!("postgres://lens@127.0.0.1:{port}/postgres"), |client| {
                    client.batch_execute(&format!("CREATE DATABASE {name}")).unwrap();
                });
                format!("postgres://lens@127.0.0.1:{port}/{name}")
            }
        };
        Self { kind, argument, folder }
    }

    pub fn location(&self) -> DatabaseLocation {
        DatabaseLocation::parse(&self.argument).unwrap()
    }

    /// The integers that a query returns, one per row, bypassing the code under test.
    pub fn numbers(&self, query: &str) -> Vec<i64> {
        match self.kind {
            Kind::Sqlite => read_file(&self.argument, query),
            Kind::Postgres => read_server(&self.argument, query),
        }
    }

    /// The texts that a query returns.
    pub fn texts(&self, query: &str) -> Vec<String> {
        match self.kind {
            Kind::Sqlite => read_file(&self.argument, query),
            Kind::Postgres => read_server(&self.argument, query),
        }
    }

    /// Runs a statement, bypassing the code under test.
    pub fn run(&self, statement: &str) {
        self.connect().run(statement);
    }

    /// A separate connection.
    pub fn connect(&self) -> Connection {
        match self.kind {
            Kind::Sqlite => {
                let connection = rusqlite::Connection::open(&self.argument).unwrap();
                connection.pragma_update(None, "journal_mode", "WAL").unwrap();
                connection.busy_timeout(Duration::from_secs(10)).unwrap();
                Connection::File(connection)
            }
            Kind::Postgres => {
                Connection::Server(Box::new(postgres::Client::connect(&self.argument, postgres::NoTls).unwrap()))
            }
        }
    }

    /// The single integer that a query returns.
    pub fn number(&self, query: &str) -> i64 {
        self.numbers(query)[0]
    }
}

/// A separate connection; not for use inside a runtime.
pub enum Connection {
    File(rusqlite::Connection),
    Server(Box<postgres::Client>),
}

impl Connection {
    pub fn number(&mut self, query: &str) -> i64 {
        match self {
            Self::File(connection) => connection.query_row(query, [], |row| row.get(0)).unwrap(),
            Self::Server(client) => client.query_one(query, &[]).unwrap().get(0),
        }
    }

    pub fn run(&mut self, statement: &str) {
        match self {
            Self::File(connection) => connection.execute_batch(statement).unwrap(),
            Self::Server(client) => client.batch_execute(statement).unwrap(),
        }
    }
}

fn read_file<T: rusqlite::types::FromSql>(file: &str, query: &str) -> Vec<T> {
    let connection = rusqlite::Connection::open(file).unwrap();
    connection.busy_timeout(Duration::from_secs(10)).unwrap();
    let mut statement = connection.prepare(query).unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

fn read_server<T: Send + for<'a> postgres::types::FromSql<'a>>(url: &str, query: &str) -> Vec<T> {
    with_server(url, |client| client.query(query, &[]).unwrap().iter().map(|row| row.get(0)).collect())
}

/// Runs on a separate thread: the client contains a runtime, which cannot be started inside another one.
fn with_server<T: Send>(url: &str, ask: impl FnOnce(&mut postgres::Client) -> T + Send) -> T {
    let asking = || ask(&mut postgres::Client::connect(url, postgres::NoTls).unwrap());
    std::thread::scope(|scope| scope.spawn(asking).join().unwrap())
}
