//! Bundles on disk: the storage mode `filesystem`.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{answer, complaint, execution, lens};
use crate::support::n8n_store::{N8nFolder, bundle_path, write_bundle};

/// n8n's folder with execution 7 in a bundle, and the bundle's file.
fn store() -> (N8nFolder, std::path::PathBuf) {
    let store = N8nFolder::wal();
    let file = store.save_bundle(&execution("b_http_500", 7));
    (store, file)
}

#[test]
fn bundles_are_found_in_each_folder_that_n8n_uses() {
    let (store, file) = store();
    let expected = answer(&mut lens(store.path(), &["summary", "7"]));
    assert_eq!((&expected["source"], &expected["data"]["status"]), (&json!("store"), &json!("error")));
    assert_eq!(
        answer(&mut lens(store.path(), &["list"]))["data"]["executions"][0]["workflowName"],
        expected["data"]["workflowName"]
    );
    std::fs::rename(store.path().join("storage"), store.path().join("binaryData")).unwrap();
    assert!(!file.exists());
    assert_eq!(answer(&mut lens(store.path(), &["summary", "7"])), expected);
    let elsewhere = tempfile::tempdir().unwrap();
    std::fs::rename(store.path().join("binaryData"), elsewhere.path().join("kept")).unwrap();
    let said = complaint(&mut lens(store.path(), &["summary", "7"]));
    assert!(said.contains("(bundle.json) was not found") && said.contains("N8N_STORAGE_PATH"), "{said}");
    let mut command = lens(store.path(), &["summary", "7"]);
    assert_eq!(answer(command.env("N8N_STORAGE_PATH", elsewhere.path().join("kept"))), expected);
}

#[test]
fn one_bundle_is_a_store() {
    let (store, file) = store();
    let expected = answer(&mut lens(store.path(), &["summary", "7"]));
    let read = answer(&mut lens(&file, &["summary", "7"]));
    for member in ["id", "workflowId", "workflowName", "availableNodes", "error"] {
        assert_eq!(read["data"][member], expected["data"][member], "{member}");
    }
    let said = complaint(&mut lens(&file, &["summary", "8"]));
    assert!(said.contains("Execution '8' not found"), "{said}");
    assert_eq!(answer(&mut lens(&file, &["list"]))["data"]["executions"][0]["id"], "7");
    let found = answer(&mut lens(&file, &["list", "--failing-node", "HTTP Request"]));
    assert_eq!(found["data"]["executions"][0]["failingNode"], "HTTP Request");
    // Elsewhere, its path does not show which execution it is.
    let copy = store.path().join("bundle.json");
    std::fs::copy(&file, &copy).unwrap();
    assert_eq!(
        answer(&mut lens(&copy, &["summary", "123"]))["data"]["availableNodes"],
        expected["data"]["availableNodes"]
    );
    let found = answer(&mut lens(&copy, &["find", "--path", "nowhere"]));
    assert_eq!(found["message"], "Found in none of 1 execution");
    let found = answer(&mut lens(&copy, &["find", "--path", "webhookUrl"]));
    let one = &found["data"]["executions"][0];
    let again = answer(&mut lens(&copy, &["search", one["id"].as_str().unwrap(), "--path", "webhookUrl"]));
    assert_eq!(
        (&one["workflowName"], &one["hits"]),
        (&expected["data"]["workflowName"], &again["data"]["total"]),
        "{found}"
    );
}

#[test]
fn a_bundle_names_its_workflow_in_questions_about_many() {
    let (store, _) = store();
    let name = &answer(&mut lens(store.path(), &["summary", "7"]))["data"]["workflowName"];
    let find = answer(&mut lens(store.path(), &["find", "--path", "webhookUrl"]));
    let failures = answer(&mut lens(store.path(), &["failures", "--started-after", "2020-01-01T00:00:00Z"]));
    let named = [&find["data"]["executions"][0]["workflowName"], &failures["data"]["groups"][0]["workflow"]];
    assert!(name.is_string() && named == [name, name], "{find} {failures}");
}

#[test]
fn a_bundle_of_another_version_is_named() {
    let (store, file) = store();
    let bundle = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, bundle.replace("\"version\":1}", "\"version\":2}")).unwrap();
    let said = complaint(&mut lens(store.path(), &["summary", "7"]));
    assert!(said.contains("has version 2") && said.contains("Update n8n-lens"), "{said}");
}

#[test]
fn a_bundle_cut_anywhere_is_not_shown() {
    let (store, file) = store();
    let bundle = std::fs::read(&file).unwrap();
    let places = (0..bundle.len()).step_by(bundle.len() / 12).chain([1, 9, bundle.len() - 2, bundle.len() - 1]);
    for bytes in places {
        std::fs::write(&file, &bundle[..bytes]).unwrap();
        let said = complaint(&mut lens(store.path(), &["summary", "7"]));
        assert!(said.contains("(bundle.json) is cut off, damaged"), "{bytes} bytes: {said}");
    }
}

#[test]
fn a_bundle_is_never_looked_for_outside_of_the_storage_folder() {
    let store = N8nFolder::wal();
    let mut body = execution("b_http_500", 7);
    body["storedAt"] = json!("fs");
    write_bundle(&bundle_path(store.path(), &body), &body);
    body["workflowId"] = json!("../../workflows/x");
    store.save_row(&store.open(), &body);
    let said = complaint(&mut lens(store.path(), &["summary", "7"]));
    assert!(said.contains("(bundle.json) was not found"), "{said}");
}

#[test]
fn a_workflow_may_look_like_the_end_of_the_data() {
    let (store, file) = store();
    let mut body = execution("b_http_500", 7);
    body["workflowData"]["pinData"] = json!({"a": "]", "workflowData": {}, "version": 7});
    body["workflowData"]["long"] = Value::from("y".repeat(700_000));
    write_bundle(Path::new(&file), &body);
    let read = answer(&mut lens(store.path(), &["summary", "7"]));
    assert_eq!(read["data"]["workflowName"], body["workflowData"]["name"]);
}

/// Large bundles.
mod slow {
    use super::*;

    #[test]
    #[ignore = "slow: 7 s"]
    fn a_workflow_full_of_what_looks_like_the_end_of_the_data_is_read_at_once() {
        let (store, file) = store();
        let mut body = execution("b_http_500", 7);
        let members = vec![json!({"a": "]", "workflowData": 1}); 600_000];
        body["workflowData"]["pinData"] = json!({"HTTP Request": members});
        write_bundle(Path::new(&file), &body);
        assert!(std::fs::metadata(&file).unwrap().len() > 15_000_000);
        for question in [&["summary", "7"][..], &["list"], &["node", "7", "HTTP Request"]] {
            let begun = Instant::now();
            answer(&mut lens(store.path(), question));
            // It took 36 s when each place was tried, in a release build.
            assert!(begun.elapsed() < Duration::from_secs(10), "{question:?}: {:?}", begun.elapsed());
        }
    }
}
