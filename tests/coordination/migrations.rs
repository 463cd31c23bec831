//! New, old, newer and foreign databases.

use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use serde_json::json;

use crate::database::{Database, Kind};
use crate::instance::{admin, administer, binary};
use crate::on_each_database;

/// A database as created by the first release, with rows in every table.
const FIRST: &str = include_str!("../../fixtures/coordination/v1.sql");

#[test]
fn many_processes_can_migrate_at_once() {
    on_each_database(|kind| {
        let database = Database::new(kind);
        let start = |number: usize| {
            let id = format!("prj_{number}");
            let mut command = binary();
            command.args(["coordinate", "--db", &database.argument, "admin", "project", "add", "--id", &id]);
            command.args(["--name", "First", "--working-directory", "/"]);
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        };
        let first: Vec<_> = (0..8).map(start).collect();
        for process in first {
            let output = process.wait_with_output().unwrap();
            assert_eq!(String::from_utf8_lossy(&output.stderr), "");
            assert!(output.status.success());
        }
        assert_eq!(database.number("SELECT COUNT(*) FROM projects"), 8);
        assert_eq!(database.number("SELECT COUNT(*) FROM refinery_schema_history"), 2);
    });
}

#[test]
fn databases_of_older_releases_are_migrated() {
    on_each_database(|kind| {
        if kind == Kind::Postgres {
            return;
        }
        let database = Database::new(kind);
        database.run(FIRST);
        let projects = administer(&database, &["project", "list"]);
        assert_eq!(projects["projects"][0]["id"], "prj_old");
        assert_eq!(
            administer(&database, &["task", "list", "--project", "prj_old"])["tasks"][0]["status"],
            "in_progress"
        );
        assert_eq!(administer(&database, &["session", "list"]), json!({"sessions": []}));
        assert_eq!(database.number("SELECT COUNT(*) FROM events"), 16);
    });
}

#[test]
fn a_newer_database_is_not_touched() {
    on_each_database(|kind| {
        let database = Database::new(kind);
        administer(&database, &["project", "add", "--name", "First", "--working-directory", "/"]);
        database.run("INSERT INTO refinery_schema_history (version, name, applied_on, checksum) VALUES (99, 'future', '2030-01-01T00:00:00Z', '1')");
        let (code, output, errors) = admin(&database, &["project", "list"], "");
        assert_eq!((code, output.as_str()), (1, ""));
        assert!(errors.contains("newer n8n-lens"), "{errors}");
    });
}

#[test]
fn the_database_of_another_program_is_left_alone() {
    on_each_database(|kind| {
        if kind == Kind::Postgres {
            return;
        }
        let database = Database::new(kind);
        let permissions = || std::fs::metadata(&database.argument).unwrap().permissions().mode() & 0o777;
        rusqlite::Connection::open(&database.argument)
            .unwrap()
            .execute_batch("CREATE TABLE theirs (id INTEGER)")
            .unwrap();
        std::fs::set_permissions(&database.argument, std::fs::Permissions::from_mode(0o644)).unwrap();
        let before = std::fs::read(&database.argument).unwrap();
        let (code, output, errors) = admin(&database, &["project", "list"], "");
        assert_eq!((code, output.as_str()), (1, ""));
        assert!(errors.contains("another program"), "{errors}");
        assert_eq!(permissions(), 0o644);
        assert_eq!(std::fs::read(&database.argument).unwrap(), before);
        let files = std::fs::read_dir(database.folder.path()).unwrap().count();
        assert_eq!(files, 1, "no lock and no journal was created next to it");
    });
}

#[test]
fn a_file_that_is_not_a_database_is_not_touched() {
    on_each_database(|kind| {
        if kind == Kind::Postgres {
            return;
        }
        let database = Database::new(kind);
        std::fs::write(&database.argument, "a text that is longer than the header of a database\n".repeat(40)).unwrap();
        let before = std::fs::read(&database.argument).unwrap();
        let (code, output, errors) = admin(&database, &["project", "list"], "");
        assert_eq!((code, output.as_str()), (1, ""));
        assert!(errors.contains("not a database"), "{errors}");
        assert_eq!(std::fs::read(&database.argument).unwrap(), before);
    });
}
