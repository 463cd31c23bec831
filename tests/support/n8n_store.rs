//! n8n's own store, made by the tests as n8n makes it: a database with executions as flatted text, and bundles.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use serde_json::{Map, Value, json};

use super::flatten::{Share, flatten};

/// The tables of n8n 2.41 that have to do with executions, without their prefix.
const TABLES: &str = r#"
    CREATE TABLE "{}migrations" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "timestamp" bigint NOT NULL,
        "name" varchar NOT NULL);
    INSERT INTO "{}migrations" ("timestamp", "name") VALUES (1784000000041, 'AddUsedPrivateCredentials1784000000041');
    CREATE TABLE "{}execution_entity" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "workflowId" varchar(36) NOT NULL,
        "finished" boolean NOT NULL, "mode" varchar NOT NULL, "retryOf" varchar, "retrySuccessId" varchar,
        "startedAt" datetime, "stoppedAt" datetime, "waitTill" datetime, "status" varchar NOT NULL,
        "deletedAt" datetime(3), "createdAt" datetime(3), "storedAt" varchar(2) NOT NULL DEFAULT 'db',
        "tracingContext" text, "jsonSizeBytes" BIGINT NOT NULL DEFAULT 0, "workflowVersionId" VARCHAR(36) DEFAULT NULL);
    CREATE TABLE "{}execution_data" ("executionId" int PRIMARY KEY NOT NULL, "workflowData" text NOT NULL,
        "data" text NOT NULL, "workflowVersionId" VARCHAR(36));"#;

/// The tables of n8n 1.x: no place, no size, no version.
const OLD_TABLES: &str = r#"
    CREATE TABLE "{}migrations" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "timestamp" bigint NOT NULL,
        "name" varchar NOT NULL);
    CREATE TABLE "{}execution_entity" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "workflowId" varchar(36) NOT NULL,
        "finished" boolean NOT NULL, "mode" varchar NOT NULL, "retryOf" varchar, "retrySuccessId" varchar,
        "startedAt" datetime NOT NULL, "stoppedAt" datetime, "waitTill" datetime, "status" varchar,
        "deletedAt" datetime(3));
    CREATE TABLE "{}execution_data" ("executionId" int PRIMARY KEY NOT NULL, "workflowData" text NOT NULL,
        "data" text NOT NULL);"#;

/// The same for n8n 2.41 on PostgreSQL.
pub const POSTGRES_TABLES: &str = r#"
    CREATE TABLE migrations (id serial PRIMARY KEY, timestamp bigint NOT NULL, name varchar NOT NULL);
    INSERT INTO migrations (timestamp, name) VALUES (1784000000041, 'AddUsedPrivateCredentials1784000000041');
    CREATE TABLE execution_entity (id serial PRIMARY KEY, "workflowId" varchar(36) NOT NULL, finished boolean NOT NULL,
        mode varchar NOT NULL, "retryOf" varchar, "retrySuccessId" varchar, "startedAt" timestamptz(3),
        "stoppedAt" timestamptz(3), "waitTill" timestamptz(3), status varchar NOT NULL, "deletedAt" timestamptz(3),
        "createdAt" timestamptz(3), "storedAt" varchar(2) NOT NULL DEFAULT 'db', "jsonSizeBytes" bigint NOT NULL DEFAULT 0,
        "workflowVersionId" varchar(36));
    CREATE TABLE execution_data ("executionId" integer PRIMARY KEY, "workflowData" json NOT NULL, data text NOT NULL,
        "workflowVersionId" varchar(36));"#;

/// n8n's folder, with a database.
pub struct N8nFolder {
    pub folder: tempfile::TempDir,
    journal: &'static str,
    prefix: &'static str,
    is_old: bool,
}

/// The pause between two commits of n8n.
const PAUSE: Duration = Duration::from_millis(5);

impl N8nFolder {
    /// With a write-ahead log, as in n8n 2.x. No process has the database open.
    pub fn wal() -> Self {
        Self::with("WAL", "", false)
    }

    /// With a rollback journal, as in n8n 1.x.
    pub fn rollback() -> Self {
        Self::with("DELETE", "", true)
    }

    /// Makes small commits, as n8n does, one every 5 ms; returns how long they took, the shortest first.
    pub fn commits(&self, is_over: &AtomicBool) -> Vec<Duration> {
        let n8n = self.open();
        let mut times = Vec::new();
        while !is_over.load(Ordering::Relaxed) {
            let begun = Instant::now();
            n8n.execute_batch("UPDATE execution_entity SET waitTill = NULL WHERE id = 900").unwrap();
            times.push(begun.elapsed());
            std::thread::sleep(PAUSE);
        }
        times.sort();
        times
    }

    /// With a prefix on the names of tables.
    pub fn prefixed(prefix: &'static str) -> Self {
        Self::with("WAL", prefix, false)
    }

    fn with(journal: &'static str, prefix: &'static str, is_old: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let made = Self { folder, journal, prefix, is_old };
        let tables = if is_old { OLD_TABLES } else { TABLES };
        made.open().execute_batch(&tables.replace("{}", prefix)).unwrap();
        made
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn file(&self) -> PathBuf {
        self.path().join("database.sqlite")
    }

    /// A connection like n8n's.
    pub fn open(&self) -> Connection {
        let connection = Connection::open(self.file()).unwrap();
        connection.pragma_update(None, "journal_mode", self.journal).unwrap();
        connection.busy_timeout(std::time::Duration::from_secs(1)).unwrap();
        connection
    }

    /// Saves an execution from the body of n8n's API.
    pub fn save(&self, body: &Value) {
        self.save_with(&self.open(), body);
    }

    pub fn save_with(&self, connection: &Connection, body: &Value) {
        self.save_row(connection, body);
        let (workflow, data) = (body["workflowData"].to_string(), flatten_data(body));
        self.save_data(connection, id(body), &workflow, &data);
    }

    /// Saves the data of an execution.
    pub fn save_data(&self, connection: &Connection, id: i64, workflow: &str, data: &str) {
        let insert = format!(
            r#"INSERT INTO "{}execution_data" ("executionId", "workflowData", "data") VALUES (?1, ?2, ?3)"#,
            self.prefix
        );
        connection.execute(&insert, (id, workflow, data)).unwrap();
    }

    /// Saves the row of an execution without its data.
    pub fn save_row(&self, connection: &Connection, body: &Value) {
        let members = row(body);
        let members = members.iter().filter(|(name, _)| {
            !self.is_old || !["createdAt", "storedAt", "jsonSizeBytes", "workflowVersionId"].contains(&name.as_str())
        });
        let (names, values): (Vec<_>, Vec<_>) = members.map(|(name, value)| (format!("\"{name}\""), value)).unzip();
        let places: Vec<_> = (1..=names.len()).map(|at| format!("?{at}")).collect();
        let insert = format!(
            r#"INSERT INTO "{}execution_entity" ({}) VALUES ({})"#,
            self.prefix,
            names.join(", "),
            places.join(", ")
        );
        connection.execute(&insert, rusqlite::params_from_iter(values.into_iter().map(sql_value))).unwrap();
    }

    /// Runs a statement.
    pub fn run(&self, statement: &str) {
        self.open().execute_batch(statement).unwrap();
    }

    /// Writes the bundle of an execution, and its row.
    pub fn save_bundle(&self, body: &Value) -> PathBuf {
        let mut row = body.clone();
        row["storedAt"] = json!("fs");
        self.save_row(&self.open(), &row);
        let file = bundle_path(&self.path().join("storage"), body);
        write_bundle(&file, body);
        file
    }

    /// Every file in the folder, with its length and content, to see that nothing has changed.
    pub fn snapshot(&self) -> Vec<(String, u64, Vec<u8>)> {
        let mut files: Vec<_> = std::fs::read_dir(self.path())
            .unwrap()
            .map(|entry| entry.unwrap())
            .filter(|entry| entry.file_type().unwrap().is_file())
            .map(|entry| {
                let bytes = std::fs::read(entry.path()).unwrap();
                (entry.file_name().into_string().unwrap(), bytes.len() as u64, bytes)
            })
            .collect();
        files.sort();
        files
    }
}

/// The id of an execution.
pub fn id(body: &Value) -> i64 {
    body["id"].as_str().unwrap().parse().unwrap()
}

/// Where n8n keeps the bundle of an execution.
pub fn bundle_path(storage: &Path, body: &Value) -> PathBuf {
    let (workflow, id) = (body["workflowId"].as_str().unwrap(), body["id"].as_str().unwrap());
    storage.join(format!("workflows/{workflow}/executions/{id}/execution_data/bundle.json"))
}

/// Writes a bundle as n8n does.
pub fn write_bundle(file: &Path, body: &Value) {
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    let bundle = json!({"data": flatten_data(body), "workflowData": body["workflowData"],
        "workflowVersionId": body["workflowVersionId"], "version": 1});
    std::fs::write(file, bundle.to_string()).unwrap();
}

/// The members of `execution_entity`, as stored in the database.
pub fn row(body: &Value) -> Map<String, Value> {
    const COLUMNS: [&str; 15] = [
        "id",
        "workflowId",
        "finished",
        "mode",
        "retryOf",
        "retrySuccessId",
        "startedAt",
        "stoppedAt",
        "waitTill",
        "status",
        "deletedAt",
        "createdAt",
        "storedAt",
        "jsonSizeBytes",
        "workflowVersionId",
    ];
    let mut row = Map::new();
    for name in COLUMNS {
        let value = match (name, &body[name]) {
            ("storedAt", Value::Null) => json!("db"),
            ("jsonSizeBytes", Value::Null) => json!(0),
            ("id", _) => json!(id(body)),
            (name, Value::String(date)) if name.ends_with("At") || name == "waitTill" => {
                json!(date.replace('T', " ").trim_end_matches('Z'))
            }
            (_, value) => value.clone(),
        };
        row.insert(name.to_owned(), value);
    }
    row
}

fn sql_value(value: &Value) -> rusqlite::types::Value {
    match value {
        Value::Null => rusqlite::types::Value::Null,
        Value::Bool(is_on) => i64::from(*is_on).into(),
        Value::Number(number) => number.as_i64().unwrap().into(),
        Value::String(text) => text.clone().into(),
        other => panic!("{other}"),
    }
}

/// The run data of a body, as n8n stores it.
pub fn flatten_data(body: &Value) -> String {
    if body["data"].is_null() { "[]".to_owned() } else { flatten(&body["data"].to_string(), Share::Nothing) }
}
