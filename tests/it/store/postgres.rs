//! PostgreSQL as n8n's store. The tests share one server.

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, Once};

use postgres::{Client, NoTls};
use serde_json::{Value, json};

use super::{answer, complaint, execution, lens};
use crate::support::coordination::database::{Database, Kind, postgres_is_installed, server_folder};
use crate::support::n8n_store::{N8nFolder, POSTGRES_TABLES as TABLES, flatten_data, id, row};

/// A database of n8n on the server.
struct Postgres {
    database: Database,
}

impl Postgres {
    /// `None` where PostgreSQL is not installed.
    fn start() -> Option<Self> {
        static PREPARED: Once = Once::new();
        if !postgres_is_installed() {
            println!("skipped: PostgreSQL is not installed");
            return None;
        }
        PREPARED.call_once(prepare);
        let made = Self { database: Database::new(Kind::Postgres) };
        made.run(TABLES);
        Some(made)
    }

    fn url(&self) -> &str {
        &self.database.argument
    }

    /// The address for another user, and with more parameters.
    fn url_for(&self, user: &str, parameters: &str) -> String {
        format!("{}{parameters}", self.url().replace("//lens@", &format!("//{user}@")))
    }

    fn run(&self, statements: &str) {
        Client::connect(self.url(), NoTls).unwrap().batch_execute(statements).unwrap();
    }

    fn save(&self, body: &Value) {
        self.save_data(body, &flatten_data(body));
    }

    fn save_data(&self, body: &Value, data: &str) {
        self.save_texts(body, &body["workflowData"].to_string(), data);
    }

    fn save_texts(&self, body: &Value, workflow: &str, data: &str) {
        let mut client = Client::connect(self.url(), NoTls).unwrap();
        let row = Value::Object(row(body)).to_string();
        let insert = "SET timezone = 'UTC'; INSERT INTO execution_entity SELECT * FROM json_populate_record(NULL::execution_entity, $json$";
        client.batch_execute(&format!("{insert}{row}$json$)")).unwrap();
        let id = i32::try_from(id(body)).unwrap();
        let insert =
            r#"INSERT INTO execution_data ("executionId", "workflowData", data) VALUES ($1, $2::text::json, $3)"#;
        client.execute(insert, &[&id, &workflow, &data]).unwrap();
    }
}

/// Adds a user with a password, and TLS with a certificate of its own.
fn prepare() {
    let admin = Database::new(Kind::Postgres);
    let mut client = Client::connect(&admin.argument, NoTls).unwrap();
    client.batch_execute("CREATE ROLE locked LOGIN PASSWORD 'open:sesame'; CREATE ROLE reader LOGIN").unwrap();
    let data = server_folder().join("data");
    let rules = std::fs::read_to_string(data.join("pg_hba.conf")).unwrap();
    std::fs::write(data.join("pg_hba.conf"), format!("host all locked 127.0.0.1/32 scram-sha-256\n{rules}")).unwrap();
    let certificate = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned(), "localhost".to_owned()]).unwrap();
    for (name, text) in
        [("server.crt", certificate.cert.pem()), ("server.key", certificate.signing_key.serialize_pem())]
    {
        own(&data, name, &text);
    }
    client.batch_execute("ALTER SYSTEM SET ssl = on").unwrap();
    client.batch_execute("SELECT pg_reload_conf()").unwrap();
    // The server reads its settings a moment later.
    for _ in 0..100 {
        if client.query_one("SHOW ssl", &[]).unwrap().get::<_, String>(0) == "on" {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    panic!("PostgreSQL did not turn on TLS");
}

/// Writes a file that belongs to the server.
fn own(data: &std::path::Path, name: &str, text: &str) {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};

    let file = data.join(name);
    std::fs::write(&file, text).unwrap();
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
    let owner = std::fs::metadata(data).unwrap();
    chown(&file, Some(owner.uid()), Some(owner.gid())).unwrap();
}

/// An execution whose text is larger than the prefixes, with characters of several bytes.
fn large(id: u64) -> Value {
    let mut body = execution("b_http_500", id);
    let items: Vec<_> =
        (0..900).map(|at| json!({"json": {"at": at, "text": format!("{at}é😀{}", "ü".repeat(4_000))}})).collect();
    body["data"]["resultData"]["runData"]["HTTP Request"][0]["data"] = json!({"main": [items]});
    body
}

#[test]
fn answers_are_those_of_sqlite() {
    let Some(postgres) = Postgres::start() else { return };
    let sqlite = N8nFolder::wal();
    let names = ["b_http_500", "e_loop_25", "d_branches_merge", "j_320_nodes", "h_binary"];
    let mut bodies: Vec<_> = names.iter().enumerate().map(|(at, name)| execution(name, 10 + at as u64)).collect();
    bodies.push(large(20));
    for body in &bodies {
        postgres.save(body);
        sqlite.save(body);
    }
    let compare = |arguments: &[&str]| {
        let expected = answer(&mut lens(sqlite.path(), arguments));
        assert_eq!(answer(&mut lens(postgres.url(), arguments)), expected, "{arguments:?}");
    };
    for body in &bodies {
        let id = body["id"].as_str().unwrap();
        compare(&["summary", id]);
        for node in body["data"]["resultData"]["runData"].as_object().unwrap().keys().take(4) {
            compare(&["node", id, node, "--limit", "3"]);
        }
    }
    compare(&["node", "20", "HTTP Request", "--offset", "890", "--max-tokens", "3000"]);
    compare(&["list"]);
    compare(&["list", "--raw"]);
    compare(&["list", "--failing-node", "HTTP Request"]);
    compare(&["list", "--status", "error", "--started-after", "2020-01-01T00:00:00+02:00"]);
}

#[test]
fn auto_reads_the_variables_of_n8n() {
    let Some(postgres) = Postgres::start() else { return };
    postgres.run("CREATE SCHEMA n8n; SET search_path TO n8n; CREATE SCHEMA other");
    postgres.run(&format!("SET search_path TO n8n; {TABLES}"));
    let (address, name) = postgres.url().trim_start_matches("postgres://lens@").split_once('/').unwrap();
    let (host, port) = address.split_once(':').unwrap();
    let mut auto = lens("auto", &["list"]);
    auto.env("DB_TYPE", "postgresdb").env("DB_POSTGRESDB_HOST", host).env("DB_POSTGRESDB_PORT", port);
    auto.env("DB_POSTGRESDB_DATABASE", name).env("DB_POSTGRESDB_USER", "lens").env("DB_POSTGRESDB_SCHEMA", "n8n");
    assert_eq!(answer(&mut auto)["data"]["count"], 0);
    assert_eq!(answer(&mut lens(postgres.url_for("lens", "?schema=n8n"), &["list"]))["source"], "store");
    let said = complaint(&mut lens(postgres.url_for("lens", "?schema=other"), &["list"]));
    assert!(said.contains("The table execution_entity was not found") && said.contains("?schema="), "{said}");
}

#[test]
fn a_role_that_may_read_two_tables_is_enough() {
    let Some(postgres) = Postgres::start() else { return };
    postgres.save(&execution("b_http_500", 7));
    let reader = postgres.url_for("reader", "");
    let said = complaint(&mut lens(&reader, &["summary", "7"]));
    assert!(
        said.contains("PostgreSQL refuses access") && said.contains("GRANT SELECT ON execution_entity, execution_data"),
        "{said}"
    );
    postgres.run("GRANT SELECT ON execution_entity, execution_data TO reader");
    assert_eq!(answer(&mut lens(&reader, &["summary", "7"]))["data"]["status"], "error");
    let found = super::printed(&lens(&reader, &["check"]).output().unwrap());
    assert!(
        found.contains("ok: the store is PostgreSQL") && found.contains("unknown: the newest migration"),
        "{found}"
    );
    let found = super::printed(&lens(postgres.url(), &["check"]).output().unwrap());
    assert!(found.contains("newest migration: AddUsed") && found.contains("ok: 1 of the newest 1"), "{found}");
}

#[test]
fn passwords_come_from_variables_and_files_and_are_never_shown() {
    let Some(postgres) = Postgres::start() else { return };
    postgres.run("GRANT SELECT ON execution_entity, execution_data TO locked");
    let locked = postgres.url_for("locked", "");
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let file = folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        file
    };
    let pgpass = file("pgpass", "elsewhere:*:*:*:no\n127.0.0.1:*:*:locked:open\\:sesame\n");
    let with = |name: &str, value: &std::ffi::OsStr| {
        let mut command = lens(&locked, &["list"]);
        command.env(name, value);
        command
    };
    answer(&mut with("DB_POSTGRESDB_PASSWORD", "open:sesame".as_ref()));
    answer(&mut with("DB_POSTGRESDB_PASSWORD_FILE", file("password", "open:sesame\n").as_ref()));
    answer(&mut with("PGPASSWORD", "open:sesame".as_ref()));
    answer(&mut with("PGPASSFILE", pgpass.as_ref()));
    let wrong = complaint(with("PGPASSWORD", "hush-hush".as_ref()).env("LOG_LEVEL", "trace"));
    assert!(wrong.contains("refused to log in (wrong password)") && !wrong.contains("hush"), "{wrong}");
    let inside = locked.replace("locked@", "locked:hush-hush@");
    let wrong = complaint(lens(&inside, &["list"]).env("LOG_LEVEL", "trace"));
    assert!(wrong.contains("refused to log in (wrong password)") && !wrong.contains("hush"), "{wrong}");
    let missing = complaint(&mut lens(&locked, &["list"]));
    assert!(missing.contains("refused to log in (it asks for a password)"), "{missing}");
}

#[test]
fn a_server_that_does_not_answer_is_named_without_its_address() {
    let said = complaint(&mut lens("postgres://lens@127.0.0.1:1/n8n", &["summary", "7"]));
    assert!(said.contains("PostgreSQL cannot be reached") && !said.contains("127.0.0.1"), "{said}");
    let Some(postgres) = Postgres::start() else { return };
    let said = complaint(&mut lens(postgres.url().replace("/test_", "/gone_"), &["summary", "7"]));
    assert!(said.contains("there is no such database"), "{said}");
}

#[test]
fn tls_is_as_the_variables_say() {
    let Some(postgres) = Postgres::start() else { return };
    postgres.save(&execution("b_http_500", 7));
    let with = |variables: &[(&str, &str)]| {
        let mut command = lens(postgres.url(), &["summary", "7"]);
        command.envs(variables.iter().copied());
        command
    };
    let authority = server_folder().join("data/server.crt");
    let authority = authority.to_str().unwrap();
    answer(&mut with(&[("DB_POSTGRESDB_SSL_CA_FILE", authority)]));
    answer(&mut with(&[("DB_POSTGRESDB_SSL_REJECT_UNAUTHORIZED", "false")]));
    for variables in [vec![("DB_POSTGRESDB_SSL_ENABLED", "true")], vec![("DB_POSTGRESDB_SSL_CA", "not a certificate")]]
    {
        let said = complaint(&mut with(&variables));
        assert!(said.contains("The encrypted connection to PostgreSQL failed") && said.contains("_SSL_CA"), "{said}");
    }
    let said = complaint(&mut lens(postgres.url_for("lens", "?sslmode=require"), &["summary", "7"]));
    assert!(said.contains("The encrypted connection"), "{said}");
    // A server without encryption.
    let plain = Proxy::start(postgres.url(), usize::MAX, usize::MAX);
    plain.refuse_tls.store(1, Ordering::SeqCst);
    let mut command = lens(plain.url(postgres.url()), &["summary", "7"]);
    let said = complaint(command.env("DB_POSTGRESDB_SSL_ENABLED", "true"));
    assert!(said.contains("The encrypted connection") && said.contains("does not support TLS"), "{said}");
}

#[test]
fn a_statement_that_takes_too_long_is_named() {
    let Some(postgres) = Postgres::start() else { return };
    postgres.save(&execution("b_http_500", 7));
    let mut other = Client::connect(postgres.url(), NoTls).unwrap();
    let mut transaction = other.transaction().unwrap();
    transaction.batch_execute("LOCK TABLE execution_data IN ACCESS EXCLUSIVE MODE").unwrap();
    let url = postgres.url_for("lens", "?options=-c%20statement_timeout%3D300ms");
    let said = complaint(&mut lens(url, &["summary", "7"]));
    assert!(said.contains("longer than statement_timeout"), "{said}");
    let url = postgres.url_for("lens", "?options=-c%20lock_timeout%3D300ms");
    let said = complaint(&mut lens(url, &["summary", "7"]));
    assert!(said.contains("locked by another process"), "{said}");
}

#[test]
fn a_connection_that_is_lost_in_the_middle_is_tried_once_more() {
    let Some(postgres) = Postgres::start() else { return };
    postgres.save(&large(7));
    let expected = answer(&mut lens(postgres.url(), &["node", "7", "HTTP Request", "--offset", "800"]));
    for bytes in [600, 3_000, 100_000, 3_000_000] {
        let once = Proxy::start(postgres.url(), bytes, 1);
        let url = once.url(postgres.url());
        assert_eq!(answer(&mut lens(&url, &["node", "7", "HTTP Request", "--offset", "800"])), expected, "{bytes}");
        assert_eq!(once.connections.load(Ordering::SeqCst), 2, "{bytes}");
        let always = Proxy::start(postgres.url(), bytes, usize::MAX);
        let said = complaint(&mut lens(always.url(postgres.url()), &["node", "7", "HTTP Request", "--offset", "800"]));
        assert!(said.contains("The connection to PostgreSQL was lost") && said.contains("twice"), "{bytes}: {said}");
        assert_eq!(always.connections.load(Ordering::SeqCst), 2, "{bytes}");
    }
}

#[test]
fn an_execution_that_n8n_writes_meanwhile_is_one_snapshot() {
    let Some(postgres) = Postgres::start() else { return };
    postgres.save(&large(7));
    let expected = answer(&mut lens(postgres.url(), &["node", "7", "HTTP Request", "--offset", "880"]));
    let slow = Proxy::start(postgres.url(), usize::MAX, 0);
    // It is deleted once the text is on its way.
    slow.prune_at.store(100_000, Ordering::SeqCst);
    *slow.prune.lock().unwrap() = Some(postgres.url().to_owned());
    let read = answer(&mut lens(slow.url(postgres.url()), &["node", "7", "HTTP Request", "--offset", "880"]));
    assert_eq!(read, expected);
    let said = complaint(&mut lens(postgres.url(), &["summary", "7"]));
    assert!(said.contains("not found in n8n's store"), "{said}");
}

/// An execution with one large item that contains `note`.
fn noted(id: u64, note: &str) -> Value {
    let mut body = execution("b_http_500", id);
    let item = json!({"json": {"note": note, "total": id * 100, "filler": "x".repeat(200_000)}});
    body["data"]["resultData"]["runData"]["HTTP Request"][0]["data"] = json!({"main": [[item]]});
    body
}

/// Saves the same texts in both databases.
fn save_both(postgres: &Postgres, sqlite: &N8nFolder, body: &Value, workflow: &str, data: &str) {
    postgres.save_texts(body, workflow, data);
    let connection = sqlite.open();
    sqlite.save_row(&connection, body);
    sqlite.save_data(&connection, id(body), workflow, data);
}

#[test]
fn a_workflow_that_only_another_parser_reads_has_its_name() {
    let Some(postgres) = Postgres::start() else { return };
    let sqlite = N8nFolder::wal();
    let long = "x".repeat(300_000);
    let workflows = [
        r#"{"id":"w","name":"Orders \ud83d","nodes":[],"note":"\u0000"}"#.to_owned(),
        r#"{"active":true,"id":"\ud83d\"","name":"Say \"hi\" {","nodes":[{"name":"A","note":"\u0000 \ud83d"}]}"#
            .to_owned(),
        // Its name is not among the first members.
        r#"{"nodes":[{"name":"A","note":"\ud83d"}], "name" : "Late"}"#.to_owned(),
        format!(r#"{{"name":"{}","nodes":[]}}"#, "n".repeat(3_000)),
        format!(r#"{{"name":"Large","nodes":["{long}"]}}"#),
        r#"{"nodes":[{"name":"A"}],"settings":{}}"#.to_owned(),
    ];
    for (at, workflow) in workflows.iter().enumerate() {
        let mut body = execution("b_http_500", at as u64 + 1);
        body["workflowId"] = json!(format!("w{at}"));
        body["startedAt"] = json!(format!("2026-10-01T0{at}:00:00.000Z"));
        save_both(&postgres, &sqlite, &body, workflow, &flatten_data(&body));
    }
    for arguments in [
        &["list"][..],
        &["find", "--path", "webhookUrl"],
        &["failures", "--started-after", "2026-01-01T00:00:00Z"],
        &["trend", "w0", "--until", "2026-10-01T12:00:00Z"],
    ] {
        let expected = answer(&mut lens(sqlite.path(), arguments));
        assert_eq!(answer(&mut lens(postgres.url(), arguments)), expected, "{arguments:?}");
    }
    let listed = answer(&mut lens(postgres.url(), &["list"]));
    let names: Vec<_> =
        listed["data"]["executions"].as_array().unwrap().iter().map(|one| &one["workflowName"]).collect();
    assert!(names[5] == "Orders \u{fffd}" && names[4] == "Say \"hi\" {" && names[3] == "Late", "{names:?}");
}

#[test]
fn a_value_is_looked_for_on_the_server() {
    let Some(postgres) = Postgres::start() else { return };
    let sqlite = N8nFolder::wal();
    let mut bodies: Vec<_> = (1..=30).map(|id| noted(id, "nothing to \"see\"")).collect();
    bodies[3] = noted(4, "the Order 4711");
    bodies[7] = noted(8, "say \"order 4711\" \u{1f600}");
    bodies[11] = noted(12, "order 4711 is hidden");
    let snapshot = |body: &mut Value, redaction: Value| {
        body["data"]["executionData"]["runtimeData"] = json!({"version": 1, "redaction": redaction});
    };
    // Most have a policy that hides nothing, and are not sent for it.
    for body in &mut bodies[..10] {
        body["workflowData"]["settings"] = json!({"redactionPolicy": "none"});
        snapshot(body, json!({"version": 2, "production": false, "manual": false}));
    }
    // The second one is redacted without having it. A snapshot of the policy would count more than the workflow's.
    for body in &mut bodies[11..13] {
        body["data"]["executionData"]["runtimeData"] = json!({});
        body["workflowData"]["settings"] = json!({"redactionPolicy": "all"});
    }
    snapshot(&mut bodies[13], json!({"version": 2, "production": true, "manual": true}));
    // A version that is not known hides everything, whatever stands elsewhere.
    for (at, version) in [(14, 3), (15, 4), (16, 10)] {
        snapshot(&mut bodies[at], json!({"version": version, "production": false, "manual": false}));
        bodies[at]["data"]["resultData"]["runData"]["HTTP Request"][0]["data"]["main"][0][0]["json"]["decoy"] =
            json!({"version": 2, "production": false, "manual": false});
    }
    snapshot(&mut bodies[17], json!({"version": 1, "policy": "all"}));
    bodies[18]["data"]["resultData"]["runData"]["HTTP Request"][0]["usedDynamicCredentials"] = json!(true);
    for body in &bodies {
        postgres.save(body);
        sqlite.save(body);
    }
    // Another program escapes it differently.
    let spelled = flatten_data(&noted(31, "order 4711")).replace("order 4711", "\\u006frder 4711");
    save_both(&postgres, &sqlite, &noted(31, ""), &noted(31, "")["workflowData"].to_string(), &spelled);
    // Without data, damaged before the first run, and cut off after it.
    let whole = flatten_data(&noted(36, ""));
    for (id, text) in [
        (32, "[]"),
        (33, r#"[{"resultData":"1"},{"#),
        (34, r#"[{"version":7},{"startTime":1}]"#),
        (35, ""),
        (36, &whole[..whole.len() - 1000]),
        (37, &whole[..whole.len() - 1]),
    ] {
        save_both(&postgres, &sqlite, &noted(id, ""), &noted(id, "")["workflowData"].to_string(), text);
    }
    let cases: [&[&str]; 9] = [
        &["find", "order 4711"],
        &["find", "Order 4711"],
        &["find", "4711"],
        &["find", "say \"order"],
        &["find", "\u{1f600}"],
        &["find", "nowhere 4711"],
        &["find", "--path", "total", "--equals", "800"],
        &["find", "order", "--limit", "1"],
        &["find", "order 4711", "--limit", "2"],
    ];
    for arguments in cases {
        let expected = answer(&mut lens(sqlite.path(), arguments));
        assert_eq!(answer(&mut lens(postgres.url(), arguments)), expected, "{arguments:?}");
    }
    let found = answer(&mut lens(postgres.url(), &["find", "order 4711"]));
    let ids: Vec<_> = found["data"]["executions"].as_array().unwrap().iter().map(|one| one["id"].clone()).collect();
    assert_eq!(
        (ids, &found["data"]["notSearched"]),
        (vec![json!("31"), json!("8"), json!("4")], &json!({"redacted": 8, "noData": 1, "unreadable": 5}))
    );
    // The texts take 6 MB, and nothing of those without it is sent.
    let proxy = Proxy::start(postgres.url(), 2_000_000, usize::MAX);
    let through = proxy.url(postgres.url());
    let found = answer(&mut lens(&through, &["find", "nowhere 4711"]));
    assert_eq!(found["message"], "Found in none of 23 executions");
    // Without a part that has one case, each text is sent.
    let said = complaint(&mut lens(&through, &["find", "nowhere"]));
    assert!(said.contains("The connection to PostgreSQL was lost"), "{said}");
}

#[test]
fn groups_and_trends_are_those_of_sqlite() {
    let Some(postgres) = Postgres::start() else { return };
    let sqlite = N8nFolder::wal();
    for id in 1..=12 {
        let mut body = execution("b_http_500", id);
        body["startedAt"] = json!(format!("2026-10-01T{id:02}:00:00.000Z"));
        if id % 3 == 0 {
            (body["status"], body["data"]["resultData"]["error"]) = (json!("success"), Value::Null);
        }
        postgres.save(&body);
        sqlite.save(&body);
    }
    let workflow = execution("b_http_500", 1)["workflowId"].as_str().unwrap().to_owned();
    for arguments in [
        vec!["failures", "--started-after", "2026-01-01T00:00:00Z"],
        vec!["trend", &workflow, "--period", "1h", "--until", "2026-10-01T12:00:00Z"],
    ] {
        let expected = answer(&mut lens(sqlite.path(), &arguments));
        assert_eq!(answer(&mut lens(postgres.url(), &arguments)), expected, "{arguments:?}");
    }
}

/// Stands between us and the server; it can break connections after a given number of bytes of answers.
struct Proxy {
    port: u16,
    connections: &'static AtomicUsize,
    refuse_tls: &'static AtomicUsize,
    prune_at: &'static AtomicUsize,
    prune: &'static Mutex<Option<String>>,
}

impl Proxy {
    /// Breaks the first `times` connections after `bytes` bytes.
    fn start(url: &str, bytes: usize, times: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = url.split('@').nth(1).unwrap().split('/').next().unwrap().to_owned();
        let proxy = Self {
            port,
            connections: Box::leak(Box::default()),
            refuse_tls: Box::leak(Box::default()),
            prune_at: Box::leak(Box::default()),
            prune: Box::leak(Box::default()),
        };
        let Self { connections, refuse_tls, prune_at, prune, .. } = proxy;
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let mut client = client.unwrap();
                if refuse_tls.load(Ordering::SeqCst) > 0 {
                    let _ = client.read(&mut [0; 8]).and_then(|_| client.write_all(b"N"));
                    continue;
                }
                let number = connections.fetch_add(1, Ordering::SeqCst);
                let server = TcpStream::connect(&server).unwrap();
                let limit = if number < times { bytes } else { usize::MAX };
                let (from, to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                std::thread::spawn(move || forward(from, to, usize::MAX, &mut |_| ()));
                std::thread::spawn(move || {
                    forward(server, client, limit, &mut |sent| {
                        let at = prune_at.load(Ordering::SeqCst);
                        if at > 0
                            && sent > at
                            && let Some(url) = prune.lock().unwrap().take()
                        {
                            let mut n8n = Client::connect(&url, NoTls).unwrap();
                            n8n.batch_execute("DELETE FROM execution_data; DELETE FROM execution_entity").unwrap();
                        }
                    });
                });
            }
        });
        proxy
    }

    fn url(&self, url: &str) -> String {
        let name = url.rsplit('/').next().unwrap();
        format!("postgres://lens@127.0.0.1:{}/{name}", self.port)
    }
}

fn forward(mut from: TcpStream, mut to: TcpStream, limit: usize, each: &mut dyn FnMut(usize)) {
    let mut buffer = vec![0; 16 * 1024];
    let mut sent = 0;
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        let bytes = read.min(limit - sent);
        if to.write_all(&buffer[..bytes]).is_err() {
            break;
        }
        sent += bytes;
        each(sent);
        if sent >= limit {
            break;
        }
    }
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}

#[test]
fn an_export_is_that_of_sqlite() {
    let Some(database) = Postgres::start() else { return };
    let file = N8nFolder::wal();
    for (at, name) in ["b_http_500", "e_loop_25", "l_ai_agent", "k_odd_names", "l_crashed"].into_iter().enumerate() {
        let body = execution(name, at as u64 + 1);
        database.save(&body);
        file.save(&body);
    }
    for arguments in [["--rows", "executions"], ["--rows", "runs"], ["--rows", "items"], ["--format", "otlp"]] {
        let printed = |store: &OsStr| {
            let output = lens(store, &[&["export"], &arguments[..]].concat()).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8(output.stdout).unwrap()
        };
        let expected = printed(file.path().as_os_str());
        assert!(expected.lines().count() >= 5, "{expected}");
        assert_eq!(printed(OsStr::new(database.url())), expected, "{arguments:?}");
    }
}
