//! `n8n-lens check --store`.

use serde_json::json;

use super::{execution, lens, printed};
use crate::server;
use crate::support::n8n_store::N8nFolder;

/// The output, and the exit code.
fn check(store: &N8nFolder) -> (String, Option<i32>, String) {
    let output = lens(store.path(), &["check"]).output().unwrap();
    (printed(&output), output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_store_is_described() {
    let store = N8nFolder::wal();
    for (name, id) in [("b_http_500", 7), ("a_small_success", 8), ("a_small_success", 9)] {
        store.save(&execution(name, id));
    }
    store.save_bundle(&execution("h_binary", 10));
    let (found, code, _) = check(&store);
    assert_eq!(code, Some(0), "{found}");
    for line in [
        "ok: the store is SQLite with a write-ahead log",
        "ok: n8n is not running: it was stopped cleanly",
        "ok: newest migration: AddUsedPrivateCredentials1784000000041",
        "ok: executions by status: success 3, error 1",
        "ok: executions by place (storedAt): db 3, fs 1",
        "ok: 4 of the newest 4 executions can be opened",
        "ok: 1 of 1 bundle among them can be reached",
    ] {
        assert!(found.lines().any(|found| found == line), "{line}\n{found}");
    }
    let n8n = store.open();
    store.save_with(&n8n, &execution("a_small_success", 11));
    assert!(check(&store).0.contains("ok: n8n is running: its database is open"), "{}", check(&store).0);
    let (old, ..) = check(&N8nFolder::rollback());
    assert!(
        old.contains("SQLite with a rollback journal") && old.contains("all in the database, as before n8n 2.8"),
        "{old}"
    );
}

#[test]
fn what_cannot_be_opened_is_named_with_its_reason() {
    let store = N8nFolder::wal();
    store.save(&execution("b_http_500", 7));
    let bundle = store.save_bundle(&execution("h_binary", 8));
    std::fs::remove_file(bundle).unwrap();
    for id in 9..12 {
        let mut body = execution("a_small_success", id);
        body["storedAt"] = json!(if id < 11 { "s3" } else { "az" });
        store.save_row(&store.open(), &body);
    }
    store.save_row(&store.open(), &execution("a_small_success", 12));
    let body = execution("a_small_success", 13);
    store.save_row(&store.open(), &body);
    store.save_data(&store.open(), 13, "{}", "gzip:base64:AAAA");
    let (found, code, said) = check(&store);
    assert_eq!(code, Some(1), "{found}");
    assert!(said.contains("5 things in the store cannot be read"), "{said}");
    for part in [
        "ok: 1 of the newest 7 executions can be opened",
        "problem: execution 13: its data begins with \"gzip:base64:\"",
        "problem: execution 12: Execution '12' has no data row",
        "problem: execution 11: The data of execution '11' is stored in azure",
        "problem: execution 10 (and 1 more): The data of execution '10' is stored in s3",
        "problem: execution 8: The file with the data of execution '8' (bundle.json) was not found",
    ] {
        assert!(found.contains(part), "{part}\n{found}");
    }
}

#[test]
fn the_api_is_checked_as_well_if_there_is_one() {
    let store = N8nFolder::wal();
    let n8n = server::n8n([].into());
    let mut command = lens(store.path(), &["check"]);
    let output = command.env("N8N_URL", n8n.url()).env("N8N_API_KEY", "test-key").output().unwrap();
    let found = printed(&output);
    assert!(found.contains("the store is SQLite") && found.contains("accepts the API key"), "{found}");
}

#[test]
fn a_store_that_cannot_be_opened_at_all_is_an_error() {
    let store = N8nFolder::wal();
    store.run("DROP TABLE execution_entity");
    let (found, code, said) = check(&store);
    assert_eq!(code, Some(1), "{found}");
    assert!(said.contains("The table execution_entity was not found"), "{said}");
}
