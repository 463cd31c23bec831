//! Texts that are broken, hostile, or in an unknown format.

use std::io;
use std::time::{Duration, Instant};

use n8n_lens::execution::Error;
use n8n_lens::execution::node::NodeProjection;
use n8n_lens::execution::summary::SummaryProjection;
use n8n_lens::json::flatted::{Expansion, Flatted};
use n8n_lens::json::{Cursor, FaultKind, Keep, Pruner, ReadAt, ReadError};
use proptest::prelude::*;

use super::{debug, lists, pairs, read, read_from};
use crate::fixtures;
use crate::flatten::{Share, Stored, stored};

fn with_data(data: &str) -> Stored {
    Stored {
        header: r#"{"id":"1","status":"success"}"#.to_owned(),
        data: data.to_owned(),
        workflow: r#"{"name":"w","nodes":[]}"#.to_owned(),
    }
}

fn error_of(stored: &Stored) -> String {
    read(&SummaryProjection, stored, false).unwrap_err().to_string()
}

#[test]
fn a_text_in_an_unknown_form_is_named_by_its_beginning() {
    let error = error_of(&with_data("gzip:base64:H4sIAAAAAAAAA6tWSkksSVSyUgr2DVXSUSpJLS4pVgEA"));
    assert!(error.contains("it begins with `gzip:base64:`"), "{error}");
    assert!(!error.contains("H4sI"), "no more of it is shown: {error}");
    assert!(error_of(&with_data("")).contains("it is empty"));
}

#[test]
fn run_data_of_an_unknown_version_is_named() {
    let error = error_of(&with_data(r#"[{"version":2,"resultData":"1"},{"runData":"2"},{}]"#));
    assert!(error.contains("of version 2;"), "{error}");
    for version in ["0", "1"] {
        let stored = with_data(&format!(r#"[{{"version":{version},"resultData":"1"}},{{"runData":"2"}},{{}}]"#));
        assert!(read(&SummaryProjection, &stored, false).is_ok());
    }
}

#[test]
fn broken_parts_are_named_with_their_place() {
    let cases = [
        (r#"[{"resultData":"1"},{"runData":{}}]"#, "unexpected '{' at byte 31"),
        (r#"[{"resultData":"1"},{"runData":"x"}]"#, "a string that is not an index at byte 31"),
        (r#"[{"resultData":"1"},{"runData":"2"}"#, "the JSON ends early at byte 35"),
        (r#"[{"resultData":"1"},{"runData":"2"}]]"#, "trailing data at byte 36"),
        (r#"[{"resultData":"1"},{"runData" "2"}]"#, "unexpected ' ' at byte 30"),
    ];
    for (data, fault) in cases {
        let error = error_of(&with_data(data));
        assert!(error.contains(fault), "{error}");
        assert!(error.contains("None of it is shown"), "{error}");
    }
    let sound = r#"[{"resultData":"1"}]"#;
    for workflow in ["", "{", "{},\"id\":\"2\"", "{}}"] {
        let error = error_of(&Stored { workflow: workflow.to_owned(), ..with_data(sound) });
        assert!(error.contains("The workflow of this execution in n8n's store is not JSON"), "{workflow:?}: {error}");
    }
    for header in ["", "[]", "{\"id\":}", "{}{}"] {
        let error = error_of(&Stored { header: header.to_owned(), ..with_data(sound) });
        assert!(error.contains("The columns of this execution"), "{header:?}: {error}");
    }
}

#[test]
fn a_cycle_ends_as_in_n8ns_responses() {
    let stored = with_data(
        r#"[{"resultData":"1"},{"runData":"2","error":"3"},{"A":"4"},{"message":"5","context":"3"},["6"],"loops",{"error":"3","data":"7"},{"main":"8"},["9"],["10"],{"json":"11"},{"self":"11","item":"10","list":"9","text":"5"}]"#,
    );
    let projection = NodeProjection { node: "A".to_owned(), window: 0..50, ..NodeProjection::default() };
    let shown = debug(read(&projection, &stored, false).unwrap());
    // `self` and `item` contain themselves, `list` as well: its item does.
    let item = r#"{\"json\":{\"self\":\"[Circular Reference]\",\"item\":\"[Circular Reference]\",\"list\":\"[Circular Reference]\",\"text\":\"loops\"}}"#;
    assert!(shown.contains(&item.replace('\\', "")) || shown.contains(item), "{shown}");
    assert!(debug(read(&SummaryProjection, &stored, false).unwrap()).contains("loops"));
}

/// Elements that each refer to the next one twice: 2^40 strings.
fn bomb() -> String {
    let doubling: Vec<_> = (1..=40).map(|at| format!(r#"{{"a":"{0}","b":"{0}"}}"#, at + 1)).collect();
    format!("[{{\"a\":\"1\"}},{},\"boom\"]", doubling.join(","))
}

#[test]
fn a_text_that_stands_for_terabytes_is_given_up() {
    let text = bomb();
    let mut flat = Flatted::new(Box::new(text.as_bytes())).with_max_work(4 * 1024 * 1024);
    let mut cursor = Cursor::over(Expansion::new(&mut flat, Pruner::new(Keep::Whole, 0..0)));
    match cursor.excerpt(1000).unwrap_err() {
        ReadError::Fault(fault) => assert_eq!(fault.kind, FaultKind::Expansion),
        error => panic!("{error}"),
    }
    // Elements that are not kept are not followed.
    let mut flat = Flatted::new(Box::new(text.as_bytes()));
    let mut cursor = Cursor::over(Expansion::new(&mut flat, Pruner::new(Keep::Members(&[]), 0..0)));
    cursor.skip().unwrap();
}

/// A source that is available for a few reads.
struct Cancelled<'a>(&'a [u8], usize);

impl ReadAt for Cancelled<'_> {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_at(&mut self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.1 = self.1.checked_sub(1).ok_or_else(|| io::Error::other(NotYet))?;
        self.0.read_at(position, buffer)
    }
}

#[test]
fn an_expansion_of_what_is_held_can_be_cancelled() {
    let text = pairs(40);
    let mut flat = Flatted::new(Box::new(Cancelled(text.as_bytes(), 3)));
    let last = Expansion::new(&mut flat, Pruner::new(Keep::Whole, 0..0)).last().unwrap();
    assert!(last.is_err_and(|error| error.to_string() == NotYet.to_string()));
}

#[test]
fn counting_what_many_nodes_share_is_bounded_too() {
    // 1,000 nodes share one list of 1,000 runs, all of them one run with 1,000 outputs, all of them one list of items.
    let many = |reference: &str| vec![format!("\"{reference}\""); 1000].join(",");
    let nodes: Vec<_> = (0..1000).map(|at| format!("\"n{at}\":\"3\"")).collect();
    let data = format!(
        r#"[{{"resultData":"1"}},{{"runData":"2"}},{{{}}},[{}],{{"data":"5"}},{{"main":"6"}},[{}],[{}],{{}}]"#,
        nodes.join(","),
        many("4"),
        many("7"),
        many("8")
    );
    let mut flat = Flatted::new(Box::new(data.as_bytes())).with_max_work(8 * 1024 * 1024);
    const KEEP: Keep = Keep::EachMember(&Keep::EachMember(&Keep::EachMember(&Keep::EachElement(&Keep::EachMember(
        &Keep::EachMember(&Keep::EachElement(&Keep::Count)),
    )))));
    let mut cursor = Cursor::over(Expansion::new(&mut flat, Pruner::new(KEEP, 0..0)));
    assert!(matches!(cursor.skip(), Err(ReadError::Fault(fault)) if fault.kind == FaultKind::Expansion));
}

/// A source that fails, or that takes long to cancel.
struct Failing<'a> {
    text: &'a [u8],
    from: u64,
}

impl ReadAt for Failing<'_> {
    fn len(&self) -> u64 {
        self.text.len() as u64
    }

    fn read_at(&mut self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
        if position + buffer.len() as u64 > self.from {
            return Err(io::Error::other(NotYet));
        }
        self.text.read_at(position, buffer)
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the connection was lost")]
struct NotYet;

#[test]
fn an_error_of_the_source_says_what_it_said() {
    let text = format!(r#"[{{"resultData":"1"}},{{"runData":"2","error":"3"}},{{}},"{}"]"#, "x".repeat(200_000));
    let stored = with_data("");
    for from in [0, 70_000] {
        let mut data = Failing { text: text.as_bytes(), from };
        let error = read_from(&SummaryProjection, &stored, &mut data, false).unwrap_err();
        match error {
            Error::Store(error) => assert_eq!(error.to_string(), NotYet.to_string(), "{from}"),
            error => panic!("{from}: {error:?}"),
        }
    }
}

#[test]
fn a_string_of_many_chunks_is_measured_without_being_held() {
    let text = format!(r#"[{{"resultData":"1"}},{{"runData":"2","error":"3"}},{{}},"{}"]"#, "é\\n".repeat(500_000));
    let begun = Instant::now();
    let summary = read(&SummaryProjection, &with_data(&text), false).unwrap();
    assert_eq!(summary.error.unwrap().message.unwrap().chars, 1_000_000);
    assert!(begun.elapsed() < Duration::from_secs(5));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn a_damaged_text_is_a_fault_or_says_the_same(at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<bool>()) {
        let body = fixtures::execution("d_branches_merge");
        let sound = stored(std::str::from_utf8(&body).unwrap(), Share::Nothing);
        let mut data = sound.data.clone().into_bytes();
        let at = at.index(data.len() - 1);
        if cut { data.truncate(at) } else { data[at] = byte }
        let projection = NodeProjection { node: "Merge".to_owned(), window: 0..50, ..NodeProjection::default() };
        let views = [
            read_from(&SummaryProjection, &sound, &mut &data[..], false).map(debug),
            read_from(&projection, &sound, &mut &data[..], false).map(debug),
        ];
        for view in views {
            // Whatever the damage, it is read or refused; a small text that ends early is always refused.
            let Err(error) = view else {
                prop_assert!(!cut, "cut after {}", at);
                continue;
            };
            let is_named = matches!(error, Error::StoredData(_) | Error::StoredForm(_) | Error::StoredVersion(_));
            prop_assert!(is_named, "{:?}", error);
        }
    }
}

/// Large expansions.
mod slow {
    use super::*;

    #[test]
    #[ignore = "slow: 26 s"]
    fn what_is_expanded_of_references_that_multiply_is_bounded() {
        let texts = [
            // 2 KB.
            pairs(40),
            lists(11, 30, "{}"),
            // 131 KB.
            lists(5, 40, &format!("\"{}\"", "lorem ipsum ".repeat(10_900))),
            // 461 KB.
            lists(170, 400, "\"x\""),
            lists(2, 4_000, &format!("[{}]", vec!["7"; 200_000].join(","))),
        ];
        for text in texts {
            let mut flat = Flatted::new(Box::new(text.as_bytes()));
            let (mut bytes, mut fault) = (0, None);
            for batch in Expansion::new(&mut flat, Pruner::new(Keep::Whole, 0..0)) {
                match batch {
                    Ok(batch) => bytes += batch.text.len(),
                    Err(error) => fault = Some(error.to_string()),
                }
            }
            assert!(fault.is_some_and(|fault| fault.starts_with("too expensive to expand")), "{text:.200}");
            assert!(flat.is_too_expensive());
            // Up to a gigabyte before.
            assert!(bytes < 150_000_000, "{bytes} bytes of {text:.200}");
        }
    }
}
