//! The JSON parsing test suite (nst/JSONTestSuite, MIT): `y_` must be accepted, `n_` rejected.

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
    assert!(cases.len() > 300, "the suite is complete");
    cases
}

/// Reads what the filter keeps of `text`.
fn read(text: &[u8], keep: Keep) -> Result<(), ReadError> {
    let pruner = Pruner::new(keep, 0..u64::MAX);
    let mut cursor = Cursor::over(PrunedReader::new(text, pruner));
    cursor.excerpt(1 << 20)?;
    cursor.finish()
}

#[test]
fn shown_values_are_validated_as_the_suite_requires() {
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
fn skipped_values_never_fail_a_valid_body() {
    for (name, text) in cases().into_iter().filter(|(name, _)| name.starts_with("y_")) {
        for (keep, prefix, suffix) in [(Keep::Skip, "", ""), (Keep::EachMember(&Keep::Skip), "{\"a\":", "}")] {
            let text = [prefix.as_bytes(), &text, suffix.as_bytes()].concat();
            let read = read(&text, keep);
            assert!(read.is_ok(), "{name}: {read:?}");
        }
    }
}

#[test]
fn a_body_that_ends_inside_a_skipped_value_fails() {
    for (name, text) in
        cases().into_iter().filter(|(name, _)| name.starts_with("n_structure_un") || name.contains("open"))
    {
        let text = [b"{\"a\":[", text.as_slice()].concat();
        assert!(read(&text, Keep::Members(&[])).is_err(), "{name} was skipped as if it were whole");
    }
}
