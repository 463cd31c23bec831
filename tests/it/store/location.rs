//! Where a store is.

use std::path::Path;

use super::{answer, complaint, execution, lens};
use crate::support::n8n_store::N8nFolder;

/// n8n's folder with execution 7.
fn folder() -> N8nFolder {
    let store = N8nFolder::wal();
    store.save(&execution("b_http_500", 7));
    store
}

#[test]
fn a_folder_its_parent_and_the_file_are_the_same_store() {
    let store = folder();
    let expected = answer(&mut lens(store.path(), &["summary", "7"]));
    assert_eq!((&expected["source"], &expected["data"]["status"]), (&"store".into(), &"error".into()));
    let home = tempfile::tempdir().unwrap();
    std::fs::rename(store.path(), home.path().join(".n8n")).unwrap();
    for place in [home.path().to_owned(), home.path().join(".n8n"), home.path().join(".n8n/database.sqlite")] {
        assert_eq!(answer(&mut lens(&place, &["summary", "7"])), expected, "{}", place.display());
    }
    let mut with_home = lens("~/.n8n", &["summary", "7"]);
    assert_eq!(answer(with_home.env("HOME", home.path())), expected);
    let link = home.path().join("link.sqlite");
    #[cfg(unix)]
    std::os::unix::fs::symlink(home.path().join(".n8n/database.sqlite"), &link).unwrap();
    #[cfg(unix)]
    assert_eq!(answer(&mut lens(&link, &["summary", "7"])), expected);
}

#[test]
fn auto_reads_the_variables_of_n8n_and_their_files() {
    let store = folder();
    let home = tempfile::tempdir().unwrap();
    let n8n = home.path().join(".n8n");
    std::fs::rename(store.path(), &n8n).unwrap();
    let auto = |variables: &[(&str, &Path)]| {
        let mut command = lens("auto", &["summary", "7"]);
        command.envs(variables.iter().copied());
        command
    };
    answer(&mut auto(&[("HOME", home.path())]));
    answer(&mut auto(&[("HOME", Path::new("/nonexistent")), ("N8N_USER_FOLDER", home.path())]));
    std::fs::rename(n8n.join("database.sqlite"), n8n.join("other.db")).unwrap();
    let file = home.path().join("name");
    std::fs::write(&file, "\"other.db\"\n").unwrap();
    answer(&mut auto(&[("HOME", home.path()), ("DB_SQLITE_DATABASE_FILE", &file), ("DB_TYPE", Path::new("sqlite"))]));
    let said = complaint(&mut auto(&[("HOME", home.path())]));
    assert!(said.contains("cannot be opened") && said.contains("Check --store"), "{said}");
    let said = complaint(&mut auto(&[("DB_SQLITE_DATABASE_FILE", Path::new("/nonexistent"))]));
    assert!(said.contains("Check DB_SQLITE_DATABASE_FILE"), "{said}");
    for mysql in ["mysqldb", "mariadb"] {
        let said = complaint(&mut auto(&[("DB_TYPE", Path::new(mysql))]));
        assert!(said.contains("MySQL and MariaDB (n8n 1.x only) are not supported"), "{said}");
    }
    let said = complaint(&mut lens("mysql://root:hush@host/n8n", &["summary", "7"]));
    assert!(said.contains("not supported") && !said.contains("hush"), "{said}");
}

#[test]
fn tables_can_have_a_prefix() {
    let store = N8nFolder::prefixed("pre_");
    store.save(&execution("b_http_500", 7));
    let mut command = lens(store.path(), &["summary", "7"]);
    answer(command.env("DB_TABLE_PREFIX", "pre_"));
    let said = complaint(&mut lens(store.path(), &["summary", "7"]));
    assert!(said.contains("The table execution_entity was not found") && said.contains("DB_TABLE_PREFIX"), "{said}");
}

#[test]
fn a_place_that_is_no_store_is_refused_at_the_start() {
    let empty = tempfile::tempdir().unwrap();
    let said = complaint(&mut lens(empty.path(), &["summary", "7"]));
    assert!(said.contains("contains no database.sqlite") && said.contains("--store must name"), "{said}");
    let said = complaint(&mut lens(empty.path().join("gone"), &[]));
    assert!(said.contains("cannot be opened"), "{said}");
    let said = complaint(&mut lens("redis://user:hush@host", &[]));
    assert!(said.contains("unknown scheme") && !said.contains("hush"), "{said}");
    let said = complaint(&mut lens("postgres://user:hush@:port/x y", &[]));
    assert!(said.contains("not a valid PostgreSQL address") && !said.contains("hush"), "{said}");
    let store = folder();
    let said = complaint(lens(store.path(), &["summary", "7"]).arg("--spool-dir").arg(store.file()));
    assert!(said.contains("Check --spool-dir"), "{said}");
    let mut alone = std::process::Command::new(super::BINARY);
    let said = complaint(alone.args(["--deleted", "summary", "7"]).env_clear());
    assert!(said.contains("--deleted works only with --store"), "{said}");
}
