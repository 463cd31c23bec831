//! The databases of the tests: a SQLite file each, or a database each on one PostgreSQL server, which
//! `postgres.sh` runs while the tests run.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
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

/// The PostgreSQL server, while the tests run.
static SERVER: Mutex<Option<Server>> = Mutex::new(None);

struct Server {
    script: Child,
    port: u16,
    folder: TempDir,
    settings: Vec<String>,
}

/// Starts PostgreSQL with these settings, such as `fsync=off`; `false` if it is not installed.
pub fn start_postgres(settings: &[&str]) -> bool {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let server = Server::start(tempfile::tempdir().unwrap(), port, settings);
    let there = server.is_some();
    *SERVER.lock().unwrap() = server;
    there
}

/// Stops PostgreSQL.
pub fn stop_postgres() {
    if let Some(mut server) = SERVER.lock().unwrap().take() {
        server.stop();
    }
}

/// The folder with all files of PostgreSQL.
pub fn server_folder() -> PathBuf {
    SERVER.lock().unwrap().as_ref().unwrap().folder.path().to_owned()
}

/// Stops PostgreSQL without a shutdown, and restarts it.
pub fn restart_postgres_immediately() {
    while_postgres_is_away(|| ());
}

/// Stops PostgreSQL without a shutdown, runs `work`, and restarts PostgreSQL.
pub fn while_postgres_is_away(work: impl FnOnce()) {
    let mut server = SERVER.lock().unwrap();
    let Server { mut script, port, folder, settings } = server.take().unwrap();
    let data = folder.path().join("data");
    let head = std::fs::read_to_string(data.join("postmaster.pid")).unwrap();
    let pid = head.lines().next().unwrap().trim().to_owned();
    // SIGQUIT is `pg_ctl stop -m immediate`.
    assert!(Command::new("kill").args(["-QUIT", &pid]).status().unwrap().success());
    drop(script.stdin.take());
    script.wait().unwrap();
    work();
    *server = Some(Server::start(folder, port, &settings).expect("PostgreSQL to restart"));
}

impl Server {
    fn start(folder: TempDir, port: u16, settings: &[impl AsRef<str>]) -> Option<Self> {
        let settings: Vec<_> = settings.iter().map(|setting| setting.as_ref().to_owned()).collect();
        let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/support/coordination/postgres.sh");
        let log = folder.path().join("script.log");
        let mut script = Command::new(script)
            .arg(folder.path())
            .arg(port.to_string())
            .args(&settings)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(File::create(&log).unwrap())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(script.stdout.take().unwrap()).read_line(&mut line).unwrap();
        if line.starts_with("ready") {
            return Some(Self { script, port, folder, settings });
        }
        let ended = script.wait().unwrap();
        let said = std::fs::read_to_string(log).unwrap();
        assert_eq!(ended.code(), Some(3), "PostgreSQL is installed, but does not start: {said}");
        None
    }

    fn stop(&mut self) {
        drop(self.script.stdin.take());
        self.script.wait().unwrap();
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
                let port = SERVER.lock().unwrap().as_ref().unwrap().port;
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
