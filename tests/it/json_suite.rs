//! The JSON parsing test suite (nst/JSONTestSuite, MIT): `y_` must be accepted, `n_` refused.

use std::io::Read;

use n8n_lens::json::{Cursor, Keep, PrunedReader, Pruner, ReadError};

use crate::fixtures;

fn cases() -> Vec<(String, Vec<u8>)> {
    let file = std::fs::File::open(fixtures::folder().join("test_parsing.tar.gz")).unwrap();
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(file));
    let mut cases = Vec::new();
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let name = entry.path().unwrap().file_name().unwrap().to_str().unwrap().to_owned();
        let mut text = Vec::new();
        entry.read_to_end(&mut text).unwrap();
        if name.ends_with(".json") {
            cases.push((name, text));
        }
    }
    assert!(cases.len() > 300, "the suite is there");
    cases
}

/// Reads `text` through the filter, and all that is left of it.
fn read(text: &[u8], keep: Keep) -> Result<(), ReadError> {
    let pruner = Pruner::new(keep, 0..u64::MAX);
    let mut cursor = Cursor::over(PrunedReader::new(text, pruner));
    cursor.excerpt(1 << 20)?;
    cursor.finish()
}

#[test]
fn what_is_shown_is_judged_as_the_suite_says() {
    for (name, text) in cases() {
        let read = read(&text, Keep::Whole);
        match &name[..2] {
            "y_" => assert!(read.is_ok(), "{name}: {read:?}"),
            "n_" => assert!(read.is_err(), "{name} was shown"),
            _ => {}
        }
    }
}

#[test]
fn what_is_skipped_never_fails_a_valid_body() {
    for (name, text) in cases().into_iter().filter(|(name, _)| name.starts_with("y_")) {
        for (keep, prefix, suffix) in [(Keep::Skip, "", ""), (Keep::EachMember(&Keep::Skip), "{\"a\":", "}")] {
            let text = [prefix.as_bytes(), &text, suffix.as_bytes()].concat();
            let read = read(&text, keep);
            assert!(read.is_ok(), "{name}: {read:?}");
        }
    }
}

#[test]
fn a_body_that_ends_early_fails_even_where_it_is_skipped() {
    for (name, text) in
        cases().into_iter().filter(|(name, _)| name.starts_with("n_structure_un") || name.contains("open"))
    {
        let text = [b"{\"a\":[", text.as_slice()].concat();
        assert!(read(&text, Keep::Members(&[])).is_err(), "{name} was skipped as if it were whole");
    }
}
