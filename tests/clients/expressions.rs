//! n8n's own parsers against ours, on the published templates in the npm package n8n-mcp.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use n8n_lens::workflow::expression::{
    Origin, ParameterText, Reference, Step, Syntax, apply, mentions, parameter_texts, rename, scan,
};
use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};

use super::support::random::Random;
use super::{folder, installed, run};

#[path = "../../fuzz/properties/mod.rs"]
mod properties;
use properties::entropy::Entropy;

/// Node names that break a replacement of text by text.
const ODD_NAMES: [&str; 8] = ["it's", "a \"b\"", "a\\", "$&", "${x}", "a}}b", "`", "🎉"];

/// n8n's parsers, and n8n-mcp with its templates.
fn parsers() -> PathBuf {
    installed().join("parsers")
}

/// The published workflows.
fn templates() -> Vec<Value> {
    let file = parsers().join("node_modules/n8n-mcp/data/nodes.db");
    let database = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let mut rows = database.prepare("SELECT workflow_json_compressed FROM templates ORDER BY id").unwrap();
    let texts = rows.query_map([], |row| row.get::<_, String>(0)).unwrap();
    let workflow = |text: rusqlite::Result<String>| {
        let mut json = String::new();
        let bytes = BASE64_STANDARD.decode(text.unwrap().trim()).unwrap();
        flate2::read::GzDecoder::new(&bytes[..]).read_to_string(&mut json).unwrap();
        serde_json::from_str(&json).unwrap()
    };
    texts.map(workflow).collect()
}

/// The texts of a workflow that contain code.
fn codes(workflow: &Value) -> Vec<(Syntax, String)> {
    let of_node = |node: &Value| {
        let (node_type, version) = (node["type"].as_str().unwrap_or_default(), node["typeVersion"].as_f64());
        parameter_texts(node_type, version.unwrap_or(1.0), &node["parameters"].to_string())
    };
    let texts = workflow["nodes"].as_array().into_iter().flatten().flat_map(of_node);
    texts.filter_map(|ParameterText { syntax, text, .. }| Some((syntax?, text))).collect()
}

/// A reference as the script writes it.
fn shown(reference: &Reference) -> String {
    let (name, which) = match &reference.origin {
        Origin::Input(which) => ("", which),
        Origin::Node { name, which, .. } => (name.as_str(), which),
    };
    let step = |step: &Step| match step {
        Step::Name(name) => json!(name),
        Step::Index(index) => json!(index),
    };
    let path: Vec<_> = reference.path.iter().map(step).collect();
    format!("{name} {which:?} {}", json!([path, reference.takes_length]))
}

fn line(syntax: Syntax, text: &str) -> Value {
    let scanned = scan(text, syntax);
    let names = scanned.names.iter().filter(|name| !name.is_in_comment).map(|name| &name.name);
    // What lacks its `.json` is no reference for n8n.
    let references = scanned.references.iter().filter(|reference| reference.meant.is_none()).map(shown);
    json!({
        "syntax": format!("{syntax:?}"), "text": text,
        "fault": scanned.fault.as_ref().map(ToString::to_string), "faultAt": scanned.fault.as_ref().map(|fault| fault.at),
        "references": references.collect::<Vec<_>>(), "names": names.collect::<Vec<_>>(),
    })
}

/// Runs the script over these lines; returns its counts.
fn judge(mode: &str, lines: impl Iterator<Item = Value>) -> BTreeMap<String, u64> {
    let folder_of_lines = tempfile::tempdir().unwrap();
    let file = folder_of_lines.path().join("lines");
    let mut to = std::io::BufWriter::new(std::fs::File::create(&file).unwrap());
    lines.for_each(|line| writeln!(to, "{line}").unwrap());
    to.into_inner().unwrap();
    let counts = folder_of_lines.path().join("counts");
    node(mode, &file, &counts);
    serde_json::from_slice(&std::fs::read(counts).unwrap()).unwrap()
}

fn node(mode: &str, file: &Path, counts: &Path) {
    let mut command = Command::new("node");
    run(command.arg(folder().join("expressions.mjs")).arg(mode).arg(file).arg(counts).env("CLIENTS_DIR", parsers()));
}

#[test]
#[ignore = "installs n8n's parsers from npm"]
fn n8ns_parsers_and_ours_agree_on_published_expressions() {
    let counts = judge("check", templates().iter().flat_map(codes).map(|(syntax, text)| line(syntax, &text)));
    assert!(counts["expressions"] >= 24_000 && counts["codes"] >= 2_000, "{counts:?}");
    assert_eq!((counts["falseAlarms"], counts["others"]), (0, 0), "{counts:?}");
    assert!(counts["found"] * 69 >= counts["refused"] * 54, "{counts:?}");
}

/// The same with one character added, removed or changed, so that many are refused.
#[test]
#[ignore = "installs n8n's parsers from npm"]
fn slips_are_no_false_alarms() {
    const INSERTED: [&str; 24] = [
        " ", ".", "(", ")", "'", "\"", "`", "}", "{", "[", "]", ",", ";", ":", "?", "/", "+", "=", " a ", " 1 ", "\n",
        "=>", "\\", "!",
    ];
    let mut state = 1_u64;
    let mut below = move |end: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % end
    };
    let templates = templates();
    let texts =
        templates.iter().flat_map(codes).filter(|(syntax, text)| *syntax != Syntax::Template && text.len() < 3_000);
    let slipped = texts.map(move |(syntax, text)| {
        let first = if syntax == Syntax::Code { 0 } else { text.find("{{").map_or(1, |at| at + 2) };
        let at = text.floor_char_boundary(first + below(text.len() - first + 1));
        let next = text.ceil_char_boundary((at + below(2)).min(text.len()));
        line(syntax, &format!("{}{}{}", &text[..at], INSERTED[below(24)], &text[next..]))
    });
    let counts = judge("alarms", slipped);
    assert!(counts["refused"] > 5_000 && counts["found"] * 10 > counts["refused"] * 7, "{counts:?}");
    assert_eq!(counts["falseAlarms"], 0, "{counts:?}");
}

/// Scripts of one to eight edits of 300 published workflows: what they make of it is what a naive reference makes of it.
#[test]
#[ignore = "installs n8n's parsers from npm"]
fn edits_of_published_workflows_are_those_of_the_reference() {
    let mut random = Random(11);
    for workflow in templates().iter().step_by(7).take(300) {
        let text = if random.index(2) == 0 { workflow.to_string() } else { format!("{workflow:#}") };
        for _ in 0..3 {
            let bytes: Vec<u8> = (0..400).map(|_| random.index(256) as u8).collect();
            properties::edits::check_workflow(&text, &mut Entropy::new(&bytes));
        }
    }
}

/// Each node that 300 templates refer to, renamed to names that are hard to write.
#[test]
#[ignore = "installs n8n's parsers from npm"]
fn nothing_dangles_when_a_node_is_renamed() {
    let (mut renamed, mut nodes, mut workflows) = (Vec::new(), 0, 0);
    for workflow in templates() {
        let codes = codes(&workflow);
        let names = |text: &str, syntax| scan(text, syntax).names.into_iter().map(|name| name.name).collect::<Vec<_>>();
        let referenced: BTreeSet<_> = codes.iter().flat_map(|(syntax, text)| names(text, *syntax)).collect();
        workflows += usize::from(!referenced.is_empty());
        for (old, new) in referenced.iter().flat_map(|old| ODD_NAMES.map(|new| (old, new))) {
            nodes += 1;
            for (syntax, text) in &codes {
                let edits = rename(text, *syntax, old, new);
                if edits.is_empty() {
                    continue;
                }
                let edited = apply(text, &edits);
                let (before, after) = (scan(text, *syntax), scan(&edited, *syntax));
                let expected = before.names.iter().map(|name| if name.name == *old { new } else { name.name.as_str() });
                assert!(after.names.iter().map(|name| name.name.as_str()).eq(expected), "{edited}");
                assert_eq!(after.references.len(), before.references.len(), "{edited}");
                assert_eq!(mentions(&edited, *syntax, new), 0, "{edited}");
                if before.fault.is_none() {
                    renamed.push(line(*syntax, &edited));
                }
            }
        }
        if workflows == 300 {
            break;
        }
    }
    assert!(workflows == 300 && nodes > 5_000, "{workflows} {nodes}");
    let counts = judge("check", renamed.into_iter());
    assert_eq!((counts["refused"], counts["others"]), (0, 0), "{counts:?}");
}
