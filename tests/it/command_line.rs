//! The command line, through the real binary.

use std::collections::HashMap;
use std::io::Write;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::mcp_client::KEY;
use crate::{fixtures, server};

fn lens(arguments: &[&str], settings: &[(&str, &str)], input: &[u8]) -> Output {
    let mut child = Command::new(crate::support::binary())
        .args(arguments)
        .env_clear()
        .envs(settings.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that fails early does not read its input.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

fn path(name: &str) -> String {
    fixtures::folder().join("executions").join(name).to_str().unwrap().to_owned()
}

fn json(output: &Output) -> Value {
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn complaint(output: &Output, code: i32) -> String {
    assert_eq!(output.status.code(), Some(code), "{}", String::from_utf8_lossy(&output.stdout));
    assert!(output.stdout.is_empty(), "errors go to standard error");
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn files_compressed_files_and_standard_input_read_alike() {
    let file = json(&lens(&["summary", &path("h_binary.json")], &[], b""));
    assert_eq!(file["data"]["id"], "58");
    assert_eq!(json(&lens(&["summary", "-"], &[], &fixtures::execution("h_binary"))), file);
    let compressed = json(&lens(&["summary", &path("i_mid_10mb.json.gz")], &[], b""));
    assert_eq!(compressed["data"]["statistics"]["totalItemsProcessed"], 9801);
    let piped = std::fs::read(path("i_mid_10mb.json.gz")).unwrap();
    assert_eq!(json(&lens(&["summary", "-"], &[], &piped)), compressed);
}

#[test]
fn a_node_of_a_file_can_be_shown_with_all_options() {
    let arguments =
        ["node", &path("e_loop_25.json"), "Work", "--run-index", "3", "--limit", "1", "--max-tokens", "1000", "--json"];
    let node = json(&lens(&arguments, &[], b""));
    assert_eq!(node["data"]["run"]["index"], 3);
    assert_eq!(node["data"]["input"]["items"][0]["json"]["i"], 3);
    let binary = lens(&["node", &path("v1/h_binary.json"), "Inline binary"], &[], b"");
    assert!(!String::from_utf8_lossy(&binary.stdout).contains("aGVsbG8gYmluYXJ5"), "base64 data is never shown");
    assert_eq!(json(&binary)["data"]["output"]["items"][0]["binary"]["pic"]["fileName"], "a.txt");
}

#[test]
fn ids_and_lists_are_requested_from_n8n() {
    let n8n = server::n8n(HashMap::from([("42".to_owned(), fixtures::execution("b_http_500"))]));
    let url = n8n.url();
    let settings = [("N8N_URL", url.as_str()), ("N8N_API_KEY", KEY)];
    assert_eq!(json(&lens(&["summary", "42"], &settings, b""))["data"]["id"], "42");
    assert_eq!(json(&lens(&["node", "42", "Webhook"], &settings, b""))["data"]["nodeName"], "Webhook");
    assert_eq!(json(&lens(&["list", "--limit", "5"], &settings, b""))["data"]["count"], 1);
    // The command line takes precedence over the environment; the URL can end in /api/v1 and a slash.
    let full = format!("{url}/api/v1/");
    let arguments = ["summary", "42", "--n8n-url", &full, "--api-key", KEY];
    assert_eq!(
        json(&lens(&arguments, &[("N8N_URL", "http://127.0.0.1:1"), ("N8N_API_KEY", "wrong")], b""))["data"]["id"],
        "42"
    );
    let missing = complaint(&lens(&["summary", "43"], &settings, b""), 1);
    assert_eq!(missing, "n8n-lens: Execution '43' not found.\n");
    let key_file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(key_file.path(), format!("{KEY}\n")).unwrap();
    let arguments = ["summary", "42", "--api-key-file", key_file.path().to_str().unwrap()];
    assert_eq!(json(&lens(&arguments, &settings[..1], b""))["data"]["id"], "42");
}

#[test]
fn a_missing_or_malformed_setting_is_one_sentence() {
    for arguments in [&[][..], &["summary", "42"], &["list"]] {
        let said = complaint(&lens(arguments, &[], b""), 2);
        assert!(said.starts_with("n8n-lens: N8N_URL is missing") && said.lines().count() == 1, "{said}");
    }
    let said = complaint(&lens(&["list"], &[("N8N_URL", "http://127.0.0.1:1")], b""), 2);
    assert!(said.contains("N8N_API_KEY is missing"), "{said}");
    for url in ["n8n.example.com", "ftp://n8n.example.com", "https://", "::"] {
        let said = complaint(&lens(&["list"], &[("N8N_URL", url), ("N8N_API_KEY", "k")], b""), 2);
        assert!(said.contains("https://n8n.example.com") && said.lines().count() == 1, "{said}");
    }
    for (url, complete) in [
        ("127.0.0.1:5678", "http://127.0.0.1:5678"),
        ("localhost:5678/api/v1", "http://localhost:5678"),
        ("[::1]:5678", "http://[::1]:5678"),
        ("10.0.0.7", "http://10.0.0.7"),
        ("n8n:5678", "http://n8n:5678"),
        ("n8n.example.com/base", "https://n8n.example.com"),
        ("user:planted@n8n.example.com:444", "https://n8n.example.com:444"),
    ] {
        let said = complaint(&lens(&["list"], &[("N8N_URL", url), ("N8N_API_KEY", "k")], b""), 2);
        assert_eq!(said, format!("n8n-lens: N8N_URL has no scheme: write {complete}.\n"));
    }
    let said = complaint(&lens(&["list"], &[("N8N_URL", "https://n8n.example.com"), ("N8N_API_KEY", "a\nb")], b""), 2);
    assert!(said.contains("characters that no API key or token has") && !said.contains("a\nb"), "{said}");
}

#[test]
fn unreadable_input_is_named() {
    assert!(complaint(&lens(&["summary", "no/such/file"], &[], b""), 1).contains("no/such/file cannot be read"));
    assert!(complaint(&lens(&["summary", "-"], &[], b"{\"id\":\"1\""), 1).contains("ends early at byte 9"));
    assert!(complaint(&lens(&["summary", "-"], &[], b"nonsense"), 1).contains("invalid number or literal"));
    assert!(
        complaint(&lens(&["node", &path("a_small_success.json"), "Cod"], &[], b""), 1).contains("Did you mean 'Code'?")
    );
    assert!(
        complaint(&lens(&["node", &path("a_small_success.json"), "Code", "--limit", "501"], &[], b""), 2)
            .contains("from 1 to 500")
    );
    complaint(&lens(&["frobnicate"], &[], b""), 2);
}

#[test]
fn secrets_in_items_are_masked_on_request() {
    let body = br#"{"id":"1","status":"success","data":{"resultData":{"runData":{"A":[{"data":{"main":[[{"json":{"headers":{"Authorization":"Bearer planted","x":1}}}]]}}]}}}}"#;
    let shown = lens(&["node", "-", "A"], &[], body);
    assert!(String::from_utf8_lossy(&shown.stdout).contains("planted"), "items are the user's data");
    let masked = lens(&["node", "-", "A", "--redact"], &[], body);
    assert!(!String::from_utf8_lossy(&masked.stdout).contains("planted"));
    assert_eq!(json(&masked)["data"]["output"]["items"][0]["json"]["headers"]["Authorization"], "[redacted]");
}

/// By the documented names, however their words are joined.
#[test]
fn documented_secrets_are_masked() {
    let docs = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/configuration.md")).unwrap();
    let section = docs.split("\n## What is masked\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| "));
    let names: Vec<_> = rows.flat_map(|row| row.split('`').skip(1).step_by(2)).collect();
    assert!(names.len() > 30, "{names:?}");
    let joined = |name: &str| [name.replace('_', ""), name.replace('_', "-"), name.to_uppercase()];
    let spellings = names.iter().flat_map(|name| [vec![(*name).to_owned()], joined(name).to_vec()].concat());
    let mut members: serde_json::Map<_, _> = spellings.map(|name| (name, "planted".into())).collect();
    members.extend([("privateKey".to_owned(), "planted".into()), ("tokens".to_owned(), 512.into())]);
    let item = serde_json::json!({"json": {"deep": [members]}});
    let body = format!(
        r#"{{"id":"1","status":"success","data":{{"resultData":{{"runData":{{"A":[{{"data":{{"main":[[{item}]]}}}}]}}}}}}}}"#
    );
    for arguments in [
        &["node", "-", "A", "--redact"][..],
        &["search", "-", "planted", "--redact"],
        &["fields", "-", "A", "--redact"],
    ] {
        let masked = lens(arguments, &[], body.as_bytes());
        let shown = json(&masked).to_string();
        assert!(!shown.replace("\"text\":\"planted\"", "").contains("planted"), "{shown}");
    }
    let masked = json(&lens(&["node", "-", "A", "--redact"], &[], body.as_bytes()));
    assert_eq!(masked["data"]["output"]["items"][0]["json"]["deep"][0]["tokens"], 512);
}

#[test]
fn secrets_in_errors_are_never_shown() {
    let body = br#"{"id":"1","status":"error","data":{"resumeToken":"planted","resultData":{"runData":{"A":[{"error":{"message":"m","node":{"credentials":"planted"},
        "description":{"authorization":"planted"},"messages":[{"X-API-Key":"planted"}],
        "context":{"request":{"rawHeaders":["Authorization","planted"],"sent":[{"name":"cookie","value":"planted"}],"headers":{"authorization":"planted","Cookie":["planted"],"accept":"*/*"}},"resumeUrl":"planted"}}}]}},"executionData":{"runtimeData":"planted"}}}"#;
    let shown = lens(&["node", "-", "A"], &[], body);
    assert!(!String::from_utf8_lossy(&shown.stdout).contains("planted"));
    assert_eq!(json(&shown)["data"]["error"]["context"]["request"]["headers"]["accept"], "*/*");
}

/// The peak resident memory in kB of a process that reads a body of this size and counts tokens.
#[cfg(target_os = "linux")]
fn peak_resident(bytes: u64, arguments: &[&str]) -> u64 {
    let mut body = crate::generator::Shape::realistic(bytes);
    let mut child = Command::new(crate::support::binary())
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::io::copy(&mut body, &mut stdin).unwrap();
    // Once it uses no more CPU time, it has read everything and waits for the end of the input.
    let pid = child.id();
    crate::wait::eventually("the process waits", || {
        let before = cpu_time(pid);
        std::thread::sleep(std::time::Duration::from_millis(200));
        cpu_time(pid) == before
    });
    let peak = crate::support::memory::peak_without_program(pid);
    drop(stdin);
    assert!(child.wait().unwrap().success());
    peak / 1024
}

/// The CPU time of a process, in ticks (proc(5)).
#[cfg(target_os = "linux")]
fn cpu_time(pid: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let words = stat.rsplit_once(')').unwrap().1.split_whitespace();
    words.skip(11).take(2).map(|ticks| ticks.parse::<u64>().unwrap()).sum()
}

#[test]
#[cfg(target_os = "linux")]
fn the_whole_process_stays_small() {
    stays_small(60_000_000);
}

#[test]
#[ignore = "long: 2 GB"]
#[cfg(target_os = "linux")]
fn the_whole_process_stays_small_for_a_gigabyte() {
    stays_small(1_000_000_000);
}

#[cfg(target_os = "linux")]
fn stays_small(bytes: u64) {
    for arguments in [&["summary", "-"][..], &["node", "-", "Step 018"]] {
        let small = peak_resident(10_000_000, arguments);
        let large = peak_resident(bytes, arguments);
        assert!(small < 15_000 && large < 15_000 && large < small + 8_000, "{arguments:?}: {small} kB, {large} kB");
    }
}

#[test]
fn a_page_that_was_saved_as_an_execution_is_called_html() {
    let page = b"\xef\xbb\xbf\n<!DOCTYPE html><title>Sign in</title>";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("execution.html");
    std::fs::write(&file, page).unwrap();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(page).unwrap();
    let gzip = gzip.finish().unwrap();
    let file = file.to_str().unwrap();
    for (execution, input) in [(file, &b""[..]), ("-", page), ("-", &gzip)] {
        for arguments in [&["summary", execution][..], &["node", execution, "A"], &["search", execution, "a"]] {
            let said = complaint(&lens(arguments, &[], input), 1);
            assert!(said.contains("is HTML instead of JSON, at byte 0") && said.contains("Sign in"), "{said}");
            assert!(said.contains("N8N_URL") && said.lines().count() == 1, "{said}");
        }
    }
    let xml = complaint(&lens(&["summary", "-"], &[], b"<?xml version=\"1.0\"?><html/>"), 1);
    assert!(xml.contains("XML instead of JSON"), "{xml}");
}

#[test]
fn broken_gzip_names_its_byte() {
    let mut body = std::fs::read(path("i_mid_10mb.json.gz")).unwrap();
    body.truncate(body.len() / 2);
    let cut = lens(&["summary", "-"], &[], &body);
    assert_eq!(cut.status.code(), Some(1));
    let said = String::from_utf8_lossy(&cut.stderr).into_owned();
    assert!(said.contains(&format!("the gzip data cannot be decompressed at byte {}", body.len())), "{said}");

    let mut body = std::fs::read(path("i_mid_10mb.json.gz")).unwrap();
    body[300_000..300_100].fill(0xff);
    let said = String::from_utf8_lossy(&lens(&["summary", "-"], &[], &body).stderr).into_owned();
    let at: usize = said.split("at byte ").nth(1).and_then(|rest| rest.split(':').next()).unwrap().parse().unwrap();
    assert!((300_000..body.len()).contains(&at), "{said}");
}
