//! npm's `flatted` in both directions: its output is read here, and it reads the output of the tests.

use std::path::Path;
use std::process::Command;

use n8n_lens::json::flatted::{Expansion, Flatted};
use n8n_lens::json::{Batch, Keep, Pruner};

use super::support::flatten::{Share, flatten};
use super::{folder, run};

/// The version in n8n 2.41.
const FLATTED: &str = "flatted@3.4.2";

/// The part of a text that the filter keeps, as it writes it.
fn pruned(json: &str) -> Vec<u8> {
    let mut pruner = Pruner::new(Keep::Whole, 0..0);
    let mut left = pruner.feed(json.as_bytes()).unwrap();
    left.append(pruner.finish().unwrap());
    left.text
}

fn expanded(flat: &str) -> Vec<u8> {
    let mut text = Flatted::new(Box::new(flat.as_bytes()));
    let mut left = Batch::default();
    for batch in Expansion::new(&mut text, Pruner::new(Keep::Whole, 0..0)) {
        left.append(batch.unwrap_or_else(|error| panic!("{error}: {flat}")));
    }
    left.text
}

/// Runs the script under the machine's Node.js.
fn node(mode: &str, file: &Path, clients: &Path) {
    run(Command::new("node").arg(folder().join("flatted.mjs")).arg(mode).arg(file).env("CLIENTS_DIR", clients));
}

#[test]
#[ignore = "installs flatted from npm"]
fn npms_flatted_and_ours_agree_on_ten_thousand_values() {
    let folder = tempfile::tempdir().unwrap();
    let install = ["install", "--save-exact", "--loglevel=error", "--no-audit", "--no-fund", FLATTED, "--prefix"];
    run(Command::new("npm").args(install).arg(folder.path()));
    let (theirs, ours) = (folder.path().join("theirs"), folder.path().join("ours"));
    node("write", &theirs, folder.path());
    let text = std::fs::read_to_string(theirs).unwrap();
    let lines: Vec<_> = text.lines().map(|line| line.split_once('\t').unwrap()).collect();
    assert_eq!(lines.len(), 10_000);
    for (flat, json) in &lines {
        let (ours, theirs) = (expanded(flat), pruned(json));
        assert!(ours == theirs, "{flat}: {} is not {json}", String::from_utf8_lossy(&ours));
    }
    let write = |(at, (_, json)): (usize, &(&str, &str))| {
        let share = if at % 2 == 0 { Share::Equal } else { Share::Nothing };
        format!("{}\t{json}", flatten(json, share))
    };
    std::fs::write(&ours, lines.iter().enumerate().map(write).collect::<Vec<_>>().join("\n")).unwrap();
    node("check", &ours, folder.path());
}
