//! The properties that the fuzzers check, on the seeds, and on inputs that are derived from them: some in
//! every test run, all in CI.
//! The inputs are the same in each run; `cargo +nightly fuzz run filter fuzz/corpus/filter fuzz/seeds/filter` continues
//! from there.

use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::random::Random;

#[path = "../../fuzz/properties/mod.rs"]
pub(crate) mod checks;

/// A property that the fuzzers check.
struct Property {
    /// Its fuzz target, and the folder of its seeds.
    target: &'static str,
    check: fn(&[u8]),
    /// How many derived inputs `slow` checks, in addition to the seeds; the other tests check a twentieth of them.
    derived: u64,
}

const FILTER: Property = Property { target: "filter", check: checks::filter::check, derived: 2000 };
const CLIPPING: Property = Property { target: "clipping", check: checks::clipping::check, derived: 250 };
const SUMMARY: Property = Property { target: "summary", check: checks::projections::summary, derived: 120 };
const NODE: Property = Property { target: "node", check: checks::projections::node, derived: 70 };
const SEARCH: Property = Property { target: "search", check: checks::search::check, derived: 1500 };
const FIELDS: Property = Property { target: "fields", check: checks::fields::check, derived: 500 };
const DESCRIBE: Property = Property { target: "describe", check: checks::describe::check, derived: 900 };
const HTML: Property = Property { target: "html", check: checks::html::check, derived: 20_000 };
const TRACE: Property = Property { target: "trace", check: checks::trace::check, derived: 700 };
const LOOKUP: Property = Property { target: "lookup", check: checks::lookup::check, derived: 1500 };
const SETTINGS: Property = Property { target: "settings", check: checks::settings::check, derived: 1500 };
const WORKFLOW: Property = Property { target: "workflow", check: checks::workflow::check, derived: 1200 };
const EDITS: Property = Property { target: "edits", check: checks::edits::check, derived: 6000 };
const EXPRESSIONS: Property = Property { target: "expressions", check: checks::expressions::check, derived: 20_000 };
const IMPORT: Property = Property { target: "import", check: checks::import::check, derived: 80 };
const FLATTED: Property = Property { target: "flatted", check: checks::flatted::same_as_the_body, derived: 1500 };
const FLATTED_TEXT: Property = Property { target: "flatted_text", check: checks::flatted::any_text, derived: 3000 };
const TOKENS: Property = Property { target: "tokens", check: checks::tokens::check, derived: 2000 };
const STORED: Property = Property { target: "stored", check: checks::flatted::same_views, derived: 300 };

#[test]
fn the_filter() {
    FILTER.holds_for_some();
}

#[test]
fn clipping() {
    CLIPPING.holds_for_some();
}

#[test]
fn the_summary() {
    SUMMARY.holds_for_some();
}

#[test]
fn one_node() {
    NODE.holds_for_some();
}

#[test]
fn a_search() {
    SEARCH.holds_for_some();
}

#[test]
fn fields() {
    FIELDS.holds_for_some();
}

#[test]
fn a_description() {
    DESCRIBE.holds_for_some();
}

#[test]
fn the_text_of_a_page() {
    HTML.holds_for_some();
}

#[test]
fn a_trace() {
    TRACE.holds_for_some();
}

#[test]
fn a_look_up() {
    LOOKUP.holds_for_some();
}

#[test]
fn settings() {
    SETTINGS.holds_for_some();
}

#[test]
fn workflows() {
    WORKFLOW.holds_for_some();
}

#[test]
fn edits() {
    EDITS.holds_for_some();
}

#[test]
fn expressions() {
    EXPRESSIONS.holds_for_some();
}

#[test]
fn imports() {
    IMPORT.holds_for_some();
    checks::import::close();
}

#[test]
fn flatted_text_of_any_json() {
    FLATTED.holds_for_some();
}

#[test]
fn stored_executions() {
    STORED.holds_for_some();
}

#[test]
fn any_flatted_text() {
    FLATTED_TEXT.holds_for_some();
}

#[test]
fn tokens() {
    TOKENS.holds_for_some();
}

/// Otherwise a property would hold because nothing was compared.
#[test]
fn generated_executions_are_compared_with_the_references() {
    const INPUTS: u64 = 40;
    // What chooses an execution that no real body resembles.
    type Compares = fn(&[u8]) -> bool;
    let odd: [(Compares, &[u8]); 3] =
        [(checks::search::compares, &[7]), (checks::fields::compares, &[1, 7]), (checks::describe::compares, &[1, 7])];
    for (at, (compares, choices)) in odd.into_iter().enumerate() {
        let input = |number| {
            let mut inputs = Inputs(Random(number));
            let random = (choices.len()..4000).map(|_| inputs.byte());
            choices.iter().copied().chain(random).collect::<Vec<_>>()
        };
        let compared = (0..INPUTS).filter(|number| compares(&input(*number))).count() as u64;
        assert!(compared * 2 > INPUTS, "property {at} compares {compared} of {INPUTS} executions");
    }
}

impl Property {
    /// Checks it on its seeds, and on a twentieth of the derived inputs.
    fn holds_for_some(&self) {
        self.holds_for(0..self.derived / 20);
    }

    /// Checks it on its seeds, and on the derived inputs of these numbers.
    fn holds_for(&self, derived: Range<u64>) {
        let seeds = seeds(self.target);
        for (name, seed) in &seeds {
            hold_for(self.target, self.check, name, seed);
        }
        let seeds: Vec<_> = seeds.into_iter().map(|(_, seed)| seed).collect();
        for number in derived {
            // Each input can be reproduced on its own.
            let input = Inputs(Random(number)).input(&seeds);
            hold_for(self.target, self.check, &format!("input {number}"), &input);
        }
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

/// All derived inputs.
mod slow {
    use super::*;

    #[test]
    #[ignore = "slow"]
    fn the_filter() {
        FILTER.holds_for(0..FILTER.derived);
    }

    #[test]
    #[ignore = "slow"]
    fn clipping() {
        CLIPPING.holds_for(0..CLIPPING.derived);
    }

    #[test]
    #[ignore = "slow"]
    fn the_summary() {
        SUMMARY.holds_for(0..SUMMARY.derived);
    }

    #[test]
    #[ignore = "slow"]
    fn one_node() {
        NODE.holds_for(0..NODE.derived);
    }

    #[test]
    #[ignore = "slow"]
    fn a_search() {
        SEARCH.holds_for(0..SEARCH.derived);
    }

    #[test]
    #[ignore = "slow"]
    fn fields() {
        FIELDS.holds_for(0..FIELDS.derived);
    }

    #[test]
    #[ignore = "slow"]
    fn a_description() {
        DESCRIBE.holds_for(0..DESCRIBE.derived);
    }

    #[test]
    #[ignore = "slow"]
    fn the_text_of_a_page() {
        HTML.holds_for(0..HTML.derived);
    }

    #[test]
    #[ignore = "slow"]
    fn a_trace() {
        TRACE.holds_for(0..TRACE.derived);
    }

    #[test]
    #[ignore = "slow"]
    fn a_look_up() {
        LOOKUP.holds_for(0..LOOKUP.derived);
    }

    #[test]
    #[ignore = "slow"]
    fn settings() {
        SETTINGS.holds_for(0..SETTINGS.derived);
    }

    #[test]
    #[ignore = "slow"]
    fn workflows() {
        WORKFLOW.holds_for(0..WORKFLOW.derived);
    }

    #[test]
    #[ignore = "slow"]
    fn edits() {
        EDITS.holds_for(0..EDITS.derived);
    }

    #[test]
    #[ignore = "slow: seconds"]
    fn expressions() {
        EXPRESSIONS.holds_for(0..EXPRESSIONS.derived);
    }

    #[test]
    #[ignore = "slow"]
    fn imports() {
        IMPORT.holds_for(0..IMPORT.derived);
        checks::import::close();
    }

    #[test]
    #[ignore = "slow"]
    fn flatted_text_of_any_json() {
        FLATTED.holds_for(0..FLATTED.derived);
    }

    #[test]
    #[ignore = "slow"]
    fn stored_executions() {
        STORED.holds_for(0..STORED.derived);
    }

    #[test]
    #[ignore = "slow"]
    fn any_flatted_text() {
        FLATTED_TEXT.holds_for(0..FLATTED_TEXT.derived);
    }

    #[test]
    #[ignore = "slow"]
    fn tokens() {
        TOKENS.holds_for(0..TOKENS.derived);
    }
}
