//! Repeated, inserted and corrupted bytes.

use serde_json::Value;

use super::proxy::Fault;
use super::{Framing, LIST, NODE, ProxiedClient, SUMMARY, WORKFLOW, Wire, every_attempt, n8n, named};

#[test]
fn a_repeated_chunk_is_noticed_if_it_breaks_the_json() {
    let n8n = n8n(Framing::Chunked(100));
    let wire = Wire::of(&n8n, SUMMARY);
    let chunks = wire.chunks();
    // A complete body that is valid JSON cannot be distinguished from the original.
    let leaves_no_json = |twice: &usize| {
        let times = |at| if at == *twice { 2 } else { 1 };
        let data = chunks.iter().enumerate().map(|(at, chunk)| wire.bytes[chunk.data.clone()].repeat(times(at)));
        serde_json::from_slice::<Value>(&data.collect::<Vec<_>>().concat()).is_err()
    };
    // The first empty chunk ends the body.
    let end = chunks.len() - 1;
    let positions: Vec<_> = (0..end).filter(leaves_no_json).chain([end]).collect();
    let frames: Vec<_> = chunks.iter().map(|chunk| chunk.frame.start as u64..chunk.frame.end as u64).collect();
    let mut proxied = ProxiedClient::new(n8n, every_attempt(move |position| Fault::Repeat(frames[position].clone())));
    for tool in [SUMMARY, NODE] {
        let broken = proxied.check(tool, positions.iter().copied());
        assert!(broken.right > 0 && broken.errors.len() > end / 2, "{} of {end} are errors", broken.errors.len());
        assert!(broken.errors.iter().all(|(_, said)| named(said).is_some()), "{:?}", broken.errors);
    }
}

#[test]
fn a_repeated_part_of_a_compressed_body_is_always_noticed() {
    let n8n = n8n(Framing::GzipUntilClose);
    let wire = Wire::of(&n8n, SUMMARY);
    let mut proxied =
        ProxiedClient::new(n8n, every_attempt(|position| Fault::Repeat(position as u64..position as u64 + 64)));
    let broken = proxied.check(SUMMARY, (wire.head..wire.bytes.len()).step_by(16));
    assert_eq!(broken.right, 0);
    assert!(broken.errors.iter().all(|(_, said)| named(said).is_some()), "{:?}", broken.errors);
}

#[test]
fn garbage_after_a_body_is_ignored_or_named() {
    for sent in [Framing::Length, Framing::Chunked(100), Framing::Gzip, Framing::UntilClose, Framing::GzipUntilClose] {
        let n8n = n8n(sent);
        let length = Wire::of(&n8n, SUMMARY).length();
        let mut proxied = ProxiedClient::new(n8n, every_attempt(|_| Fault::Insert(u64::MAX, b"garbage".to_vec())));
        let broken = proxied.check(SUMMARY, [0]);
        match sent {
            Framing::Length | Framing::Chunked(_) | Framing::Gzip => {
                assert_eq!(broken.right, 1, "the end of the body was known")
            }
            Framing::UntilClose => assert_eq!(named(&broken.errors[0].1), Some(length)),
            Framing::GzipUntilClose => assert!(named(&broken.errors[0].1).is_some()),
        }
    }
}

#[test]
fn garbage_between_chunks_is_named_by_its_position() {
    let n8n = n8n(Framing::Chunked(100));
    let wire = Wire::of(&n8n, SUMMARY);
    let mut proxied =
        ProxiedClient::new(n8n, every_attempt(|position| Fault::Insert(position as u64, b"garbage\r\n".to_vec())));
    let broken = proxied.check(SUMMARY, wire.chunks().iter().map(|chunk| chunk.frame.start));
    assert_eq!(broken.right, 0);
    for (position, said) in &broken.errors {
        assert_eq!(named(said), Some(wire.offset(*position)), "garbage at {position}: {said}");
    }
}

#[test]
fn a_wrong_length_is_always_noticed() {
    const ODD: usize = 100_000;
    let n8n = n8n(Framing::Length);
    let length = Wire::of(&n8n, SUMMARY).length();
    let wrong = ["-1", "many", "1, 2", "99999999999999999999"];
    let plan = every_attempt(move |position| {
        let value =
            wrong.get(position.wrapping_sub(ODD)).map_or_else(|| position.to_string(), |wrong| (*wrong).to_owned());
        Fault::Head(Box::new(move |head: &str| {
            let right = format!("content-length: {length}\r\n");
            assert!(head.contains(&right), "{head}");
            head.replace(&right, &format!("content-length: {value}\r\n"))
        }))
    });
    let mut proxied = ProxiedClient::new(n8n, plan);
    let too_short = proxied.check(SUMMARY, (0..length).step_by(37));
    assert_eq!(too_short.right, 0);
    for (position, said) in &too_short.errors {
        assert_eq!(named(said), Some(*position), "a length of {position}: {said}");
    }
    assert_eq!(proxied.check(SUMMARY, [length]).right, 1);
    let too_long = proxied.check(SUMMARY, [length + 1, length * 2, length * 50]);
    assert_eq!(too_long.errors.len(), 3);
    for (position, said) in &too_long.errors {
        assert!(said.contains(&format!("broke off at byte {length} of {position}")), "{said}");
    }
    assert_eq!(proxied.check(SUMMARY, ODD..ODD + wrong.len()).errors.len(), wrong.len());
}

#[test]
fn announced_chunks_that_are_missing_are_an_error() {
    let n8n = n8n(Framing::Length);
    let chunked = |head: &str| head.replacen("\r\n", "\r\ntransfer-encoding: chunked\r\n", 1);
    let broken = ProxiedClient::new(n8n, every_attempt(move |_| Fault::Head(Box::new(chunked)))).check(SUMMARY, [0]);
    assert!(broken.errors[0].1.contains("broke off at byte 0"), "{:?}", broken.errors);
}

#[test]
fn garbage_after_a_compressed_body_is_named_by_its_position() {
    let n8n = n8n(Framing::GzipUntilClose);
    let length = Wire::of(&n8n, SUMMARY).length();
    let mut proxied = ProxiedClient::new(n8n, every_attempt(|_| Fault::Insert(u64::MAX, b"garbage".to_vec())));
    let said = &proxied.check(SUMMARY, [0]).errors[0].1;
    // Compressed bodies are expanded a kilobyte at a time.
    let byte = named(said).unwrap();
    assert!(byte + 1024 > length && byte <= length, "after byte {length}: {said}");
}

#[test]
fn an_invalid_byte_is_named_in_a_list() {
    let n8n = n8n(Framing::UntilClose);
    let wire = Wire::of(&n8n, LIST);
    let mut proxied = ProxiedClient::new(n8n, every_attempt(|position| Fault::Replace(position as u64, vec![0xff])));
    let broken = proxied.check(LIST, (wire.head..wire.bytes.len()).step_by(7));
    assert_eq!(broken.right, 0);
    for (position, said) in &broken.errors {
        let offset = wire.offset(*position);
        assert!(named(said).is_some_and(|byte| byte.abs_diff(offset) < 8), "byte {offset}: {said}");
    }
}

/// Faults at many positions.
mod slow {
    use super::*;

    #[test]
    #[ignore = "slow: 8 s"]
    fn a_flipped_bit_in_a_compressed_body_never_causes_a_wrong_answer() {
        let n8n = n8n(Framing::Gzip);
        let wire = Wire::of(&n8n, SUMMARY);
        let bytes = wire.bytes.clone();
        let plan = every_attempt(move |position| {
            Fault::Replace(position as u64, vec![bytes[position] ^ (1 << (position % 8))])
        });
        let broken = ProxiedClient::new(n8n, plan).check(SUMMARY, 0..wire.bytes.len());
        // Some bits do not matter, such as the time in the header of a compressed body.
        assert!(broken.right > 0 && broken.right < wire.bytes.len() / 10, "{} are right", broken.right);
    }

    #[test]
    #[ignore = "slow: 8 s"]
    fn an_invalid_byte_is_named_anywhere() {
        for tool in [SUMMARY, WORKFLOW] {
            let n8n = n8n(Framing::UntilClose);
            let wire = Wire::of(&n8n, tool);
            let mut proxied =
                ProxiedClient::new(n8n, every_attempt(|position| Fault::Replace(position as u64, vec![0xff])));
            let broken = proxied.check(tool, wire.head..wire.bytes.len());
            assert_eq!(broken.right, 0);
            for (position, said) in &broken.errors {
                let (byte, offset) = (named(said).unwrap_or(usize::MAX), wire.offset(*position));
                // For a character of several bytes, its first byte is named.
                assert!(byte <= offset && byte + 3 >= offset, "byte {offset}: {said}");
            }
        }
    }
}
