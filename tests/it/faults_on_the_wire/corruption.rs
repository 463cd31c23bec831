//! What comes twice, what does not belong there, and what is not what n8n sent.

use serde_json::Value;

use super::proxy::Fault;
use super::{LIST, Line, NODE, SUMMARY, Sent, WORKFLOW, Wire, every_try, n8n, named};

#[test]
fn a_chunk_that_comes_twice_is_noticed_wherever_it_leaves_no_json() {
    let n8n = n8n(Sent::Chunked(100));
    let wire = Wire::of(&n8n, SUMMARY);
    let chunks = wire.chunks();
    // What is whole and JSON is what n8n said, for anybody.
    let leaves_no_json = |twice: &usize| {
        let times = |at| if at == *twice { 2 } else { 1 };
        let data = chunks.iter().enumerate().map(|(at, chunk)| wire.bytes[chunk.data.clone()].repeat(times(at)));
        serde_json::from_slice::<Value>(&data.collect::<Vec<_>>().concat()).is_err()
    };
    // The empty chunk ends the body at its first time.
    let end = chunks.len() - 1;
    let places: Vec<_> = (0..end).filter(leaves_no_json).chain([end]).collect();
    let frames: Vec<_> = chunks.iter().map(|chunk| chunk.frame.start as u64..chunk.frame.end as u64).collect();
    let mut line = Line::new(n8n, every_try(move |place| Fault::Repeat(frames[place].clone())));
    for tool in [SUMMARY, NODE] {
        let broken = line.check(tool, places.iter().copied());
        assert!(broken.right > 0 && broken.errors.len() > end / 2, "{} of {end} are errors", broken.errors.len());
        assert!(broken.errors.iter().all(|(_, said)| named(said).is_some()), "{:?}", broken.errors);
    }
}

#[test]
fn a_stretch_of_a_compressed_body_that_comes_twice_is_always_noticed() {
    let n8n = n8n(Sent::GzipUntilClose);
    let wire = Wire::of(&n8n, SUMMARY);
    let mut line = Line::new(n8n, every_try(|place| Fault::Repeat(place as u64..place as u64 + 64)));
    let broken = line.check(SUMMARY, (wire.head..wire.bytes.len()).step_by(16));
    assert_eq!(broken.right, 0);
    assert!(broken.errors.iter().all(|(_, said)| named(said).is_some()), "{:?}", broken.errors);
}

#[test]
fn garbage_behind_a_body_is_left_out_or_named() {
    for sent in [Sent::Length, Sent::Chunked(100), Sent::Gzip, Sent::UntilClose, Sent::GzipUntilClose] {
        let n8n = n8n(sent);
        let length = Wire::of(&n8n, SUMMARY).length();
        let mut line = Line::new(n8n, every_try(|_| Fault::Insert(u64::MAX, b"garbage".to_vec())));
        let broken = line.check(SUMMARY, [0]);
        match sent {
            Sent::Length | Sent::Chunked(_) | Sent::Gzip => {
                assert_eq!(broken.right, 1, "the end of the body was known")
            }
            Sent::UntilClose => assert_eq!(named(&broken.errors[0].1), Some(length)),
            Sent::GzipUntilClose => assert!(named(&broken.errors[0].1).is_some()),
        }
    }
}

#[test]
fn garbage_between_chunks_is_named_by_the_byte_before_it() {
    let n8n = n8n(Sent::Chunked(100));
    let wire = Wire::of(&n8n, SUMMARY);
    let mut line = Line::new(n8n, every_try(|place| Fault::Insert(place as u64, b"garbage\r\n".to_vec())));
    let broken = line.check(SUMMARY, wire.chunks().iter().map(|chunk| chunk.frame.start));
    assert_eq!(broken.right, 0);
    for (place, said) in &broken.errors {
        assert_eq!(named(said), Some(wire.offset(*place)), "garbage at {place}: {said}");
    }
}

#[test]
fn a_byte_that_is_no_text_is_named_wherever_it_stands() {
    for tool in [SUMMARY, WORKFLOW] {
        let n8n = n8n(Sent::UntilClose);
        let wire = Wire::of(&n8n, tool);
        let mut line = Line::new(n8n, every_try(|place| Fault::Replace(place as u64, vec![0xff])));
        let broken = line.check(tool, wire.head..wire.bytes.len());
        assert_eq!(broken.right, 0);
        for (place, said) in &broken.errors {
            let (byte, offset) = (named(said).unwrap_or(usize::MAX), wire.offset(*place));
            // A character of several bytes is named by its first.
            assert!(byte <= offset && byte + 3 >= offset, "byte {offset}: {said}");
        }
    }
}

#[test]
fn a_bit_that_flips_in_a_compressed_answer_never_makes_a_wrong_one() {
    let n8n = n8n(Sent::Gzip);
    let wire = Wire::of(&n8n, SUMMARY);
    let bytes = wire.bytes.clone();
    let plan = every_try(move |place| Fault::Replace(place as u64, vec![bytes[place] ^ (1 << (place % 8))]));
    let broken = Line::new(n8n, plan).check(SUMMARY, 0..wire.bytes.len());
    // Some stand where nothing depends on them, as the time in the head of a compressed body.
    assert!(broken.right > 0 && broken.right < wire.bytes.len() / 10, "{} are right", broken.right);
}

#[test]
fn a_wrong_length_is_never_believed() {
    const ODD: usize = 100_000;
    let n8n = n8n(Sent::Length);
    let length = Wire::of(&n8n, SUMMARY).length();
    let wrong = ["-1", "many", "1, 2", "99999999999999999999"];
    let plan = every_try(move |place| {
        let value = wrong.get(place.wrapping_sub(ODD)).map_or_else(|| place.to_string(), |wrong| (*wrong).to_owned());
        Fault::Head(Box::new(move |head: &str| {
            let right = format!("content-length: {length}\r\n");
            assert!(head.contains(&right), "{head}");
            head.replace(&right, &format!("content-length: {value}\r\n"))
        }))
    });
    let mut line = Line::new(n8n, plan);
    let too_short = line.check(SUMMARY, (0..length).step_by(37));
    assert_eq!(too_short.right, 0);
    for (place, said) in &too_short.errors {
        assert_eq!(named(said), Some(*place), "a length of {place}: {said}");
    }
    assert_eq!(line.check(SUMMARY, [length]).right, 1);
    let too_long = line.check(SUMMARY, [length + 1, length * 2, length * 50]);
    assert_eq!(too_long.errors.len(), 3);
    for (place, said) in &too_long.errors {
        assert!(said.contains(&format!("broke off at byte {length} of {place}")), "{said}");
    }
    assert_eq!(line.check(SUMMARY, ODD..ODD + wrong.len()).errors.len(), wrong.len());
}

#[test]
fn chunks_that_are_announced_and_do_not_come_are_an_error() {
    let n8n = n8n(Sent::Length);
    let chunked = |head: &str| head.replacen("\r\n", "\r\ntransfer-encoding: chunked\r\n", 1);
    let broken = Line::new(n8n, every_try(move |_| Fault::Head(Box::new(chunked)))).check(SUMMARY, [0]);
    assert!(broken.errors[0].1.contains("broke off at byte 0"), "{:?}", broken.errors);
}

#[test]
fn garbage_behind_a_compressed_body_is_named_where_it_stands() {
    let n8n = n8n(Sent::GzipUntilClose);
    let length = Wire::of(&n8n, SUMMARY).length();
    let mut line = Line::new(n8n, every_try(|_| Fault::Insert(u64::MAX, b"garbage".to_vec())));
    let said = &line.check(SUMMARY, [0]).errors[0].1;
    // A compressed body is expanded a kilobyte at a time.
    let byte = named(said).unwrap();
    assert!(byte + 1024 > length && byte <= length, "behind byte {length}: {said}");
}

#[test]
fn a_byte_that_is_no_text_is_named_in_a_list_too() {
    let n8n = n8n(Sent::UntilClose);
    let wire = Wire::of(&n8n, LIST);
    let mut line = Line::new(n8n, every_try(|place| Fault::Replace(place as u64, vec![0xff])));
    let broken = line.check(LIST, (wire.head..wire.bytes.len()).step_by(7));
    assert_eq!(broken.right, 0);
    for (place, said) in &broken.errors {
        let offset = wire.offset(*place);
        assert!(named(said).is_some_and(|byte| byte.abs_diff(offset) < 8), "byte {offset}: {said}");
    }
}
