//! The files of an SQLite database are deleted or replaced while processes have it open: nothing that was
//! acknowledged is lost, and the error says what to do.

use std::fs::rename;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::database::{Database, Kind};
use crate::harness::people;
use crate::instance::{Instance, administer, administer_with};
use crate::on_each_database;
use crate::races::serve;

/// The error that calls and the health check return.
const REPLACED: &str = "The database file was deleted or replaced while this process had it open, so nothing can be read \
                        or stored. Put the file back, or restart this process to use the file that is there now.";

fn imported(kind: Kind) -> Database {
    let database = Database::new(kind);
    administer_with(&database, &["import", "-"], &people(1, 1).to_string());
    database
}

/// The path of the database, of its log of changes (`-wal`) or of that log's index (`-shm`).
fn file(database: &Database, suffix: &str) -> PathBuf {
    format!("{}{suffix}", database.argument).into()
}

fn note(text: &str) -> Value {
    json!({"task_id": "tsk_0_0", "progress": text})
}

#[test]
fn a_deleted_or_replaced_file_is_noticed() {
    on_each_database(|kind| {
        if kind == Kind::Postgres {
            return;
        }
        for lost in [["", "-wal", "-shm"].as_slice(), &[""], &["-wal"], &["-shm"]] {
            for is_replaced in [false, true] {
                let database = imported(kind);
                let mut instance = Instance::start(&database);
                assert_eq!(instance.call("save_context", note("stored"))["success"], true);
                for suffix in lost {
                    let path = file(&database, suffix);
                    let copy = path.with_extension("copy");
                    std::fs::copy(&path, &copy).unwrap();
                    std::fs::remove_file(&path).unwrap();
                    if is_replaced {
                        rename(copy, path).unwrap();
                    }
                }
                let refused = json!({"success": false, "error": REPLACED});
                assert_eq!(instance.call("save_context", note("lost")), refused, "{lost:?}");
                assert_eq!(instance.call("get_task", json!({"task_id": "tsk_0_0"})), refused, "{lost:?}");
                let health = instance.call("health_check", json!({}));
                assert_eq!((&health["status"], &health["error"]), (&json!("error"), &json!(REPLACED)), "{lost:?}");
            }
        }
    });
}

#[test]
fn health_reports_a_deleted_file() {
    on_each_database(|kind| {
        if kind == Kind::Postgres {
            return;
        }
        let database = imported(kind);
        let issued = administer(&database, &["token", "issue", "--scope", "admin"]);
        let bearer = format!("Bearer {}", issued["token"].as_str().unwrap());
        let server = serve(&database, &[]);
        let health = || {
            let answer = server.send("GET", "/health", &[], "");
            (answer.status, answer.message())
        };
        assert_eq!(health().0, 200);
        let (path, elsewhere) = (file(&database, ""), file(&database, ".moved"));
        rename(&path, &elsewhere).unwrap();
        let (status, answer) = health();
        assert_eq!((status, &answer["status"], &answer["error"]), (503, &json!("error"), &json!(REPLACED)));
        let call = json!({"name": "list_agents", "arguments": {}});
        let refused = server.request("tools/call", call, &[("authorization", &bearer)]);
        assert_eq!((refused.status, &refused.message()["error"]["message"]), (503, &json!(REPLACED)));
        rename(&elsewhere, &path).unwrap();
        assert_eq!(health().0, 200, "it recovers when the file is put back");
    });
}

#[test]
fn a_link_to_the_database_is_followed() {
    on_each_database(|kind| {
        if kind == Kind::Postgres {
            return;
        }
        let database = imported(kind);
        let links = tempfile::tempdir().unwrap();
        let path = links.path().join("agents.db");
        let point_to = |target: &Database| {
            let _ = std::fs::remove_file(&path);
            std::os::unix::fs::symlink(&target.argument, &path).unwrap();
        };
        point_to(&database);
        let link = Database { kind, argument: path.to_str().unwrap().to_owned(), folder: links };
        let mut instance = Instance::start(&link);
        assert_eq!(instance.call("save_context", note("stored"))["success"], true);
        // Both names are those of one database, with one lock.
        assert_eq!(Instance::start(&database).call("save_context", note("too"))["success"], true);
        assert_eq!(
            std::fs::read_dir(link.folder.path()).unwrap().count(),
            1,
            "the other files are next to the database"
        );
        let other = imported(kind);
        point_to(&other);
        assert_eq!(instance.call("save_context", note("lost")), json!({"success": false, "error": REPLACED}));
        point_to(&database);
        assert_eq!(instance.call("save_context", note("again"))["success"], true);
        assert_eq!(database.number("SELECT COUNT(*) FROM contexts"), 3);
    });
}

#[test]
fn damage_is_reported_without_details() {
    on_each_database(|kind| {
        const PAGE_SIZE: usize = 4096;
        if kind == Kind::Postgres {
            return;
        }
        let database = imported(kind);
        let issued = administer(&database, &["token", "issue", "--scope", "admin"]);
        let bearer = format!("Bearer {}", issued["token"].as_str().unwrap());
        let copy = file(&database, ".copy");
        administer(&database, &["backup", copy.to_str().unwrap()]);
        let mut bytes = std::fs::read(&copy).unwrap();
        let token = issued["id"].as_str().unwrap().as_bytes();
        for page in bytes.chunks_mut(PAGE_SIZE).skip(1) {
            if page.windows(token.len()).any(|text| text == token) {
                page[..100].fill(0x13);
            }
        }
        std::fs::write(&copy, bytes).unwrap();
        let damaged =
            Database { kind, argument: copy.to_str().unwrap().to_owned(), folder: tempfile::tempdir().unwrap() };
        let server = serve(&damaged, &[]);
        let call = json!({"name": "list_tasks", "arguments": {}});
        let refused = server.request("tools/call", call, &[("authorization", &bearer)]);
        let said = "The database is damaged. An administrator must restore a backup.";
        let error = refused.message();
        assert_eq!((refused.status, &error["error"]["message"]), (503, &json!(said)), "{error}");
    });
}

/// Two processes write while the database is moved away and another one takes its place.
#[test]
fn what_was_acknowledged_is_in_the_file_that_was_moved() {
    on_each_database(|kind| {
        if kind == Kind::Postgres {
            return;
        }
        for round in 0..5 {
            let database = imported(kind);
            let backup = file(&database, ".backup");
            administer(&database, &["backup", backup.to_str().unwrap()]);
            let stop = AtomicBool::new(false);
            let write = |number: usize| {
                let (database, stop) = (&database, &stop);
                let mut instance = Instance::start(database);
                move || {
                    let (mut acknowledged, mut refused) = (Vec::new(), 0);
                    while !stop.load(Ordering::SeqCst) {
                        let text = format!("{number} {}", acknowledged.len());
                        let answer = instance.call("save_context", note(&text));
                        if answer["success"] == true {
                            assert_eq!(refused, 0, "it was acknowledged after the file was replaced");
                            acknowledged.push(text);
                        } else {
                            assert_eq!(answer["error"], REPLACED);
                            refused += 1;
                        }
                    }
                    assert!(refused > 0, "the other file was not noticed");
                    acknowledged
                }
            };
            let writers = [0, 1].map(write);
            let acknowledged: Vec<_> = std::thread::scope(|scope| {
                let writing = writers.map(|writer| scope.spawn(writer));
                std::thread::sleep(Duration::from_millis(150 + round * 37));
                for suffix in ["", "-wal", "-shm"] {
                    rename(file(&database, suffix), file(&database, &format!(".moved{suffix}"))).unwrap();
                }
                rename(&backup, &database.argument).unwrap();
                std::thread::sleep(Duration::from_millis(100));
                stop.store(true, Ordering::SeqCst);
                writing.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
            });
            assert!(!acknowledged.is_empty());
            let moved = Database {
                kind,
                argument: file(&database, ".moved").to_str().unwrap().to_owned(),
                folder: tempfile::tempdir().unwrap(),
            };
            let stored = moved.texts("SELECT progress FROM contexts");
            let lost: Vec<_> = acknowledged.iter().filter(|text| !stored.contains(text)).collect();
            assert!(lost.is_empty(), "{lost:?} of {} were lost", acknowledged.len());
            assert_eq!(database.number("SELECT COUNT(*) FROM contexts"), 0, "nothing was written to the other file");
            assert_eq!(administer(&moved, &["doctor"]), json!({"ok": true, "problems": []}));
        }
    });
}
