//! The properties that the fuzzers check, in every test run: on the seeds, and on inputs that are derived from them.
//! The inputs are the same in each run; `cargo +nightly fuzz run filter fuzz/corpus/filter fuzz/seeds/filter` continues
//! from there.

use std::path::{Path, PathBuf};

use crate::random::Random;

#[path = "../../fuzz/properties/mod.rs"]
pub(crate) mod checks;

/// Derived inputs for each property, in addition to its seeds: as many as take about a second.
const FILTER: u64 = 2000;
const CLIPPING: u64 = 250;
const SUMMARY: u64 = 120;
const NODE: u64 = 70;
const SEARCH: u64 = 1500;
const FIELDS: u64 = 500;
const TRACE: u64 = 700;
const SETTINGS: u64 = 1500;
const WORKFLOW: u64 = 1200;
const IMPORT: u64 = 80;
const FLATTED: u64 = 1500;
const FLATTED_TEXT: u64 = 3000;
const TOKENS: u64 = 2000;
const STORED: u64 = 300;

#[test]
fn the_filter() {
    hold("filter", checks::filter::check, FILTER);
}

#[test]
fn clipping() {
    hold("clipping", checks::clipping::check, CLIPPING);
}

#[test]
fn the_summary() {
    hold("summary", checks::projections::summary, SUMMARY);
}

#[test]
fn one_node() {
    hold("node", checks::projections::node, NODE);
}

#[test]
fn a_search() {
    hold("search", checks::search::check, SEARCH);
}

#[test]
fn fields() {
    hold("fields", checks::fields::check, FIELDS);
}

#[test]
fn a_trace() {
    hold("trace", checks::trace::check, TRACE);
}

#[test]
fn settings() {
    hold("settings", checks::settings::check, SETTINGS);
}

#[test]
fn workflows() {
    hold("workflow", checks::workflow::check, WORKFLOW);
}

#[test]
fn imports() {
    hold("import", checks::import::check, IMPORT);
    checks::import::close();
}

#[test]
fn flatted_text_of_any_json() {
    hold("flatted", checks::flatted::same_as_the_body, FLATTED);
}

#[test]
fn stored_executions() {
    hold("stored", checks::flatted::same_views, STORED);
}

#[test]
fn any_flatted_text() {
    hold("flatted_text", checks::flatted::any_text, FLATTED_TEXT);
}

#[test]
fn tokens() {
    hold("tokens", checks::tokens::check, TOKENS);
}

/// Checks a property on its seeds, and on this many inputs that are derived from them.
fn hold(target: &str, property: fn(&[u8]), made: u64) {
    let seeds = seeds(target);
    for (name, seed) in &seeds {
        hold_for(target, property, name, seed);
    }
    let seeds: Vec<_> = seeds.into_iter().map(|(_, seed)| seed).collect();
    for number in 0..made {
        // Each input can be reproduced on its own.
        let input = Inputs(Random(number)).input(&seeds);
        hold_for(target, property, &format!("input {number}"), &input);
    }
}

/// Checks a property on one input; if it does not hold, the input is saved.
fn hold_for(target: &str, property: fn(&[u8]), name: &str, input: &[u8]) {
    if std::panic::catch_unwind(|| property(input)).is_err() {
        let file = std::env::temp_dir().join(format!("n8n-lens-{target}-{}", name.replace(' ', "-")));
        let kept = std::fs::write(&file, input).map_or_else(|error| error.to_string(), |()| file.display().to_string());
        panic!("{target} does not hold for {name}; it is in {kept}. Add it to fuzz/seeds/{target}.");
    }
}

fn seeds(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds").join(target);
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty(), "{target} has seeds");
    let seed = |file: PathBuf| (file.file_name().unwrap().display().to_string(), std::fs::read(file).unwrap());
    files.into_iter().map(seed).collect()
}

/// Derives inputs from seeds.
struct Inputs(Random);

impl Inputs {
    fn below(&mut self, limit: usize) -> usize {
        self.0.index(limit.max(1))
    }

    fn byte(&mut self) -> u8 {
        (self.0.number() >> 56) as u8
    }

    fn bytes(&mut self, most: usize) -> Vec<u8> {
        (0..self.below(most)).map(|_| self.byte()).collect()
    }

    /// A seed with a few changes, or random bytes.
    fn input(&mut self, seeds: &[Vec<u8>]) -> Vec<u8> {
        if self.below(6) == 0 {
            return self.bytes(200);
        }
        let mut input = seeds[self.below(seeds.len())].clone();
        for _ in 0..=self.below(8) {
            self.change(&mut input, seeds);
        }
        input
    }

    fn change(&mut self, input: &mut Vec<u8>, seeds: &[Vec<u8>]) {
        /// Fragments with a meaning in one of the formats.
        const PIECES: [&[u8]; 20] = [
            b"\"",
            b"\\",
            b"{",
            b"}",
            b"[",
            b"]",
            b",",
            b":",
            b"\\u",
            b"\\ud83d",
            b"null",
            b"1e999",
            b"\"a\":",
            b"${",
            b"\n  - ",
            b"\xff",
            b"\xe2\x82",
            b"\0",
            b"\xef\xbb\xbf",
            b"&a *a",
        ];
        /// The largest derived input, in bytes.
        const BYTES: usize = 8 * 1024;
        let at = self.below(input.len() + 1);
        let to = (at + self.below(16)).min(input.len());
        match self.below(7) {
            0 if at < input.len() => input[at] ^= 1 << self.below(8),
            1 if at < input.len() => input[at] = self.byte(),
            2 => drop(input.drain(at..to)),
            3 => drop(input.splice(at..at, self.bytes(16))),
            4 => drop(input.splice(at..to, PIECES[self.below(PIECES.len())].iter().copied())),
            5 => {
                let again = input[at..to].repeat(1 + self.below(80));
                drop(input.splice(at..at, again));
            }
            _ => {
                let other = &seeds[self.below(seeds.len())];
                let (from, len) = (self.below(other.len() + 1), self.below(200));
                drop(input.splice(at..at, other[from..].iter().take(len).copied()));
            }
        }
        input.truncate(BYTES);
    }
}
