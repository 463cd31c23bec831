//! The cache as people see it.

use serde_json::Value;

use super::{Cached, stderr};

fn said(cached: &Cached, arguments: &[&str]) -> String {
    let output = cached.run(arguments);
    assert!(output.status.success(), "{}", stderr(&output));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_command_shows_the_size_and_the_entries_and_empties_the_cache() {
    let cached = Cached::new();
    assert!(said(&cached, &["cache"]).contains("0 executions, 0.0 MB of at most 2000 MB, each used for up to 24 h"));
    cached.summary();
    let shown = said(&cached, &["cache", "--cache-max", "500MB", "--cache-ttl", "7d"]);
    assert!(shown.contains("1 execution, 0.0 MB of at most 500 MB, each used for up to 7 d"), "{shown}");
    let name = cached.files("zst")[0].file_stem().unwrap().to_str().unwrap()[..12].to_owned();
    assert!(shown.contains(&name) && shown.contains("s ago"), "{shown}");
    assert!(!shown.contains("\\u001b") && !shown.contains('\u{1b}'), "{shown}");
    assert_eq!(said(&cached, &["cache", "clear"]), "Removed 1 execution (0.0 MB).\n");
    assert!(cached.files("zst").is_empty());
    assert!(said(&cached, &["cache"]).contains("0 executions"));
}

#[test]
fn the_command_says_which_folder_it_needs() {
    let cached = Cached::new();
    let output = cached.run(&["cache", "--cache", ""]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("--cache") && stderr(&output).contains("auto"), "{}", stderr(&output));
}

#[test]
fn auto_is_the_users_cache_folder() {
    let cached = Cached::new();
    let home = cached.root.path().join("home");
    let mut command = cached.command(&["summary", "42", "--cache", "auto"]);
    let output = command.env("HOME", &home).env("XDG_CACHE_HOME", home.join("caches")).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    if cfg!(target_os = "linux") {
        assert_eq!(super::files(&home.join("caches/n8n-lens"), "zst").len(), 1);
    }
}

#[test]
fn check_tells_about_the_cache() {
    let cached = Cached::new();
    cached.summary();
    let output = cached.run(&["check"]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(
        said.contains("ok: the cache holds 1 execution, 0.0 MB of at most 2000 MB, each used for up to 24 h."),
        "{said}"
    );
    let file = cached.root.path().join("file");
    std::fs::write(&file, "").unwrap();
    let output = cached.run(&["check", "--cache", file.to_str().unwrap()]);
    assert!(!output.status.success() && stderr(&output).contains("The cache cannot be used"), "{}", stderr(&output));
}

#[test]
fn offline_n8n_is_not_asked_and_the_answer_says_how_old_it_is() {
    let cached = Cached::new();
    let first = cached.summary();
    let requests = cached.n8n.requests().len();
    let offline = said(&cached, &["summary", "42", "--offline"]);
    assert_eq!(cached.n8n.requests().len(), requests);
    let (first, mut offline): (Value, Value) =
        (serde_json::from_str(&first).unwrap(), serde_json::from_str(&offline).unwrap());
    let marks = offline.as_object_mut().unwrap();
    assert_eq!(marks.remove("source").unwrap(), "cache");
    assert!(marks.remove("ageSeconds").unwrap().as_u64().unwrap() < 60);
    assert_eq!(first, offline);
    let output = cached.run(&["summary", "7", "--offline"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("Execution '7' is not in the cache"), "{}", stderr(&output));
    assert_eq!(cached.n8n.requests().len(), requests);
}

#[test]
fn offline_needs_a_cache() {
    let cached = Cached::new();
    let output = cached.run(&["summary", "42", "--cache", "", "--offline"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("--offline works only with --cache"), "{}", stderr(&output));
}

#[test]
fn the_mark_of_the_oldest_answer_takes_no_more_tokens_than_are_left_for_it() {
    let mark = n8n_lens::tools::executions::Origin::Cache { age: u64::from(u32::MAX) }.mark("{}".to_owned());
    assert!(n8n_lens::budget::count(&mark) <= n8n_lens::tools::executions::MARK_TOKENS, "{mark}");
}
