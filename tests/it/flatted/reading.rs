//! How much of a stored text is read.

use std::fs::File;
use std::io;

use n8n_lens::execution::fields::FieldsProjection;
use n8n_lens::execution::node::NodeProjection;
use n8n_lens::execution::summary::SummaryProjection;
use n8n_lens::json::flatted::{Expansion, Flatted};
use n8n_lens::json::{Keep, Pruner, ReadAt};

use super::read_from;
use crate::flatten::{escape, unescape};
use crate::large_store::LargeStore;

/// A file that counts the bytes read from it.
struct Counting {
    file: File,
    read: u64,
    /// The end of the part that was read.
    reached: u64,
    /// Whether the reader announced that most of it will be read.
    expects_all: bool,
}

impl ReadAt for Counting {
    fn len(&self) -> u64 {
        ReadAt::len(&self.file)
    }

    fn read_at(&mut self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.read += buffer.len() as u64;
        self.reached = self.reached.max(position + buffer.len() as u64);
        self.file.read_at(position, buffer)
    }

    fn expect_all(&mut self) {
        assert_eq!(self.read, 0, "told too late");
        self.expects_all = true;
    }
}

#[test]
fn a_summary_reads_the_beginning_and_a_node_reads_the_text_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("data.flatted");
    let large = LargeStore { nodes: 6, items: 3000, text: 2000, shuffled: false };
    large.write_to(&file);
    let open = || Counting { file: File::open(&file).unwrap(), read: 0, reached: 0, expects_all: false };
    let stored = LargeStore::stored();

    let mut data = open();
    let summary = read_from(&SummaryProjection, &stored, &mut data, false).unwrap();
    assert_eq!(summary.nodes.iter().map(|node| node.items).collect::<Vec<_>>(), [3000; 6]);
    let len = data.len();
    assert!(!data.expects_all);
    // The items themselves come first, without their content.
    assert!(data.read * 8 < len && data.read < data.reached + 100, "{} bytes of {len}", data.read);

    for window in [0..50, 1500..1550, 2950..3000] {
        let node = LargeStore::node_name(4);
        let projection = NodeProjection { node, window, ..NodeProjection::default() };
        let mut data = open();
        let view = read_from(&projection, &stored, &mut data, false).unwrap().node.unwrap();
        assert_eq!(view.run.unwrap().outputs.lists[0].total, 3000);
        assert_eq!(view.inputs[0].list.as_ref().unwrap().total, 3000);
        assert!(data.expects_all);
        // It is scanned as far as the last item; chunks near the beginning are read again for the content.
        let again = data.read.saturating_sub(data.reached);
        assert!(again * 5 < len, "{} bytes of {len} up to {}", data.read, data.reached);
    }
}

#[test]
fn items_in_another_order_are_read_at_most_four_times() {
    // 13 MB fit into memory.
    read_shuffled(5_000, 4);
}

/// Reads items in another order than the stored one, reading the text at most `times` times.
fn read_shuffled(items: usize, times: u64) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("data.flatted");
    LargeStore { nodes: 3, items, text: 2_300, shuffled: true }.write_to(&file);
    let mut data = Counting { file: File::open(&file).unwrap(), read: 0, reached: 0, expects_all: false };
    read_from(&FieldsProjection::default(), &LargeStore::stored(), &mut data, false).unwrap();
    println!("{} bytes of {} were read", data.read, data.len());
    assert!(data.read <= times * data.len(), "{} bytes of {}", data.read, data.len());
}

/// A flatted text of several chunks, with escapes of all kinds on all their borders.
fn with_escapes(shift: usize) -> String {
    let pieces = ["a", "\\\\", "\\\"", "é", "\\\\\\\"", "\\n", "\\\\\\\\", "{[,"];
    let word = |at: usize| pieces[at * 7 % pieces.len()].repeat(at % 6);
    let strings: Vec<_> = (0..20_000).map(|at| format!("\"{}\"", word(at))).collect();
    let references: Vec<_> = (2..20_002).map(|at| format!("\"{at}\"")).collect();
    format!("[[\"1\",{}],\"{}\",{}]", references.join(","), "x".repeat(shift), strings.join(","))
}

/// The full value of a text, or its fault.
fn whole(mut flat: Flatted<'_>) -> Result<Vec<u8>, String> {
    let batches = Expansion::new(&mut flat, Pruner::new(Keep::Whole, 0..0));
    let texts: Result<Vec<_>, _> = batches.map(|batch| batch.map(|batch| batch.text)).collect();
    texts.map(|texts| texts.concat()).map_err(|error| error.to_string())
}

#[test]
fn a_text_in_a_json_string_is_read_like_the_text() {
    for shift in 0..9 {
        let text = with_escapes(shift);
        let escaped = escape(text.as_bytes());
        let expected = whole(Flatted::new(Box::new(text.as_bytes()))).unwrap();
        assert!(expected.len() > 150_000, "{} bytes", expected.len());
        assert!(whole(Flatted::escaped(Box::new(&escaped[..]))).unwrap() == expected, "{shift}");
    }
}

#[test]
fn a_text_in_a_json_string_that_is_damaged_at_the_border_of_a_chunk_is_read_like_the_text_or_refused() {
    damage_borders(&[131_072]);
}

/// Damages a text in a JSON string around these borders of chunks, in bytes.
fn damage_borders(borders: &[usize]) {
    let sound = escape(with_escapes(0).as_bytes());
    let (mut refused, mut read) = (0, 0);
    for border in borders {
        for at in border - 4..border + 4 {
            for damage in [&b"\\"[..], b"\"", b"\\\"", b"n", b",", b"[", b"}", b"\\\\\\", b""] {
                let damaged = [&sound[..at], damage, &sound[at + damage.len().min(1)..]].concat();
                let ours = whole(Flatted::escaped(Box::new(&damaged[..])));
                match unescape(&damaged) {
                    Some(text) => {
                        let expected = whole(Flatted::new(Box::new(&text[..])));
                        assert_eq!(ours.is_ok(), expected.is_ok(), "{ours:?}, {expected:?}");
                        assert!(ours.is_err() || ours == expected, "{damage:?} at {at}");
                        read += usize::from(ours.is_ok());
                    }
                    None => {
                        assert!(ours.is_err(), "{damage:?} at {at}");
                        refused += 1;
                    }
                }
            }
        }
    }
    assert!(refused > 10 && read > 5, "{refused} refused, {read} read");
}

#[test]
fn an_escape_that_a_flatted_text_cannot_have_is_named_with_its_place() {
    let sound = String::from_utf8(escape(with_escapes(0).as_bytes())).unwrap();
    let far = sound.len() / 2;
    let place = unescape(&sound.as_bytes()[..far]).map_or(far, |text| text.len());
    for (broken, fault) in [
        (sound.replacen(r#",\""#, r#",""#, 1), "invalid escape at byte 6"),
        (sound.replacen(r#",\""#, r#",\n"#, 1), "invalid escape at byte 6"),
        (format!(r"{}\t{}", &sound[..far], &sound[far..]), ""),
        // It spans two chunks, and the second one contains no other.
        (format!(r#"[\"{}\{}"#, "x".repeat(65_532), "n".repeat(70_000)), "invalid escape at byte 65534"),
    ] {
        let said = whole(Flatted::escaped(Box::new(broken.as_bytes()))).unwrap_err();
        let fault = if fault.is_empty() { format!("invalid escape at byte {place}") } else { fault.to_owned() };
        assert_eq!(said, fault);
    }
}

/// Large texts.
mod slow {
    use super::*;

    #[test]
    #[ignore = "slow: 5 s"]
    fn a_text_that_is_damaged_at_any_border_of_a_chunk_is_read_or_refused() {
        damage_borders(&[65_536, 131_072, 196_608]);
    }

    #[test]
    #[ignore = "slow: 4 s"]
    fn items_in_another_order_that_do_not_fit_are_read_at_most_forty_times() {
        // 26 MB.
        read_shuffled(10_000, 40);
    }
}
