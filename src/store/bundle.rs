//! A bundle, in which n8n's storage mode `filesystem` keeps the data of one execution:
//! `{"data":"<text>","workflowData":…,"workflowVersionId":…,"version":1}`, without white space
//! (`packages/@n8n/blob-storage/src/json-store.ts`).
//!
//! The text is JSON itself, so the only escapes in the string are `\"` and `\\`. One pass over the file counts them, which
//! finds out how long the text is and where each part of it begins; after that any part can be read.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::value::RawValue;
use wide::u8x16;

use super::error::{BUNDLE, Error};
use super::session::{Contents, MAX_WORKFLOW_BYTES};
use crate::json::{ReadAt, count, escaped};

/// Before the text.
const BEGINNING: &[u8] = br#"{"data":""#;

/// After the text. In the text, each quote has a backslash before it.
const END_OF_TEXT: &[u8] = br#"]","workflowData":"#;

/// The version of bundles that is known.
const VERSION: &str = "1";

/// The unit in which the text is indexed and read, bytes of the file.
const CHUNK: usize = 64 * 1024;

/// How many bytes are searched for escapes together.
const BLOCK: usize = 64;

/// How many bytes are moved together.
const WORD: usize = 8;

/// How much of the end of a file is searched first for the workflow, bytes.
const TAIL: u64 = 256 * 1024;

/// Where the bundle of an execution is below a storage folder.
pub(super) fn path(storage: &Path, workflow_id: &str, id: &str) -> Option<PathBuf> {
    // An id from the database is a file name here.
    let is_name = |name: &str| !name.is_empty() && !name.contains(['/', '\\', '\0']) && name != "." && name != "..";
    let is_path = is_name(workflow_id) && is_name(id);
    let path = ["workflows", workflow_id, "executions", id, "execution_data", "bundle.json"];
    is_path.then(|| storage.join(path.iter().collect::<PathBuf>()))
}

/// The workflow's id and the execution's id in the path of a bundle, if n8n wrote it there.
pub(super) fn ids(path: &Path) -> Option<(String, String)> {
    let parts: Vec<_> = path.iter().rev().take(6).map(|part| part.to_str().unwrap_or_default()).collect();
    match parts[..] {
        ["bundle.json", "execution_data", id, "executions", workflow_id, "workflows"] => {
            Some((workflow_id.to_owned(), id.to_owned()))
        }
        _ => None,
    }
}

/// Reads the first of these files that exists.
///
/// # Errors
/// None exists, one may not be read, or it is not a bundle; `id` is for the message.
pub(super) fn open(files: &[PathBuf], id: &str) -> Result<Contents<'static>, Error> {
    contents(first(files, id)?)
}

/// Reads only the workflow, from the end of the first of these files that exists.
///
/// # Errors
/// As [`open`], except that the data is not looked at.
pub(super) fn workflow(files: &[PathBuf], id: &str) -> Result<Vec<u8>, Error> {
    let (_, tail) = ends(&mut first(files, id)?)?;
    Ok(tail.workflow_data.get().as_bytes().to_vec())
}

fn first(files: &[PathBuf], id: &str) -> Result<File, Error> {
    for file in files {
        match File::open(file) {
            Ok(file) => return Ok(file),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(Error::reading(BUNDLE)(error)),
        }
    }
    Err(Error::NoBundle(id.to_owned()))
}

/// What follows the text, as an object of its own.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tail {
    workflow_data: Box<RawValue>,
    version: Box<RawValue>,
}

fn contents(mut file: File) -> Result<Contents<'static>, Error> {
    let (end, tail) = ends(&mut file)?;
    let text = BundleText::index(file, BEGINNING.len() as u64, end)?;
    Ok(Contents { workflow: tail.workflow_data.get().as_bytes().to_vec(), data: Box::new(text) })
}

/// Checks what comes before the text; returns where the text ends, and what comes after it.
fn ends(file: &mut File) -> Result<(u64, Tail), Error> {
    let broken = |what: &str| Error::BrokenBundle(what.to_owned());
    let mut beginning = [0; BEGINNING.len()];
    match file.read_at(0, &mut beginning) {
        Ok(()) if beginning == BEGINNING => {}
        Ok(()) => return Err(broken("it does not begin with the data")),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Err(broken("it is too short")),
        Err(error) => return Err(error.into()),
    }
    let (end, tail) = tail(file)?.ok_or_else(|| broken("its end is missing"))?;
    match tail.version.get() {
        VERSION => Ok((end, tail)),
        version => Err(Error::BundleVersion(version.chars().take(20).collect())),
    }
}

/// Where the text ends, and what comes after it.
fn tail(file: &mut File) -> Result<Option<(u64, Tail)>, Error> {
    let length = ReadAt::len(file);
    let mut bytes = TAIL;
    loop {
        let from = length.saturating_sub(bytes);
        let mut text = vec![0; (length - from) as usize];
        file.read_at(from, &mut text)?;
        // A workflow can contain what looks like the end of the text, but what follows it is not one object then.
        for at in memchr::memmem::find_iter(&text, END_OF_TEXT) {
            // After the bracket, the quote and the comma.
            let object = [b"{", &text[at + 3..]].concat();
            if let Ok(tail) = serde_json::from_slice(&object) {
                return Ok(Some((from + at as u64 + 1, tail)));
            }
        }
        if from == 0 || bytes > MAX_WORKFLOW_BYTES {
            return Ok(None);
        }
        bytes *= 4;
    }
}

/// The text of a bundle, without its escapes.
struct BundleText {
    file: File,
    begin: u64,
    end: u64,
    length: u64,
    /// Where each chunk of the file begins in the text.
    chunks: Vec<Chunk>,
    /// The chunk that was read last.
    cached: Option<(usize, Vec<u8>)>,
    raw: Vec<u8>,
}

/// Where a chunk of the file begins.
#[derive(Clone, Copy)]
struct Chunk {
    /// In the text.
    position: u64,
    /// Whether its first byte is the second one of an escape.
    in_escape: bool,
}

impl BundleText {
    /// Counts the escapes between two places in the file.
    fn index(file: File, begin: u64, end: u64) -> Result<Self, Error> {
        let mut text = Self { file, begin, end, length: 0, chunks: Vec::new(), cached: None, raw: vec![0; CHUNK] };
        let mut next = Chunk { position: 0, in_escape: false };
        for at in 0..(end - begin).div_ceil(CHUNK as u64) as usize {
            text.chunks.push(next);
            let raw = text.load(at)?;
            next = after(&text.raw[..raw], next).ok_or_else(|| {
                Error::BrokenBundle(format!("unexpected escape after byte {}", begin + (at * CHUNK) as u64))
            })?;
        }
        text.length = next.position;
        Ok(text)
    }

    /// Reads a chunk of the file into `raw`; returns its length.
    fn load(&mut self, at: usize) -> io::Result<usize> {
        let from = self.begin + (at * CHUNK) as u64;
        let bytes = (self.end - from).min(CHUNK as u64) as usize;
        self.file.read_at(from, &mut self.raw[..bytes])?;
        Ok(bytes)
    }

    /// A chunk of the text, without escapes.
    fn chunk(&mut self, at: usize) -> io::Result<&[u8]> {
        let text = match self.cached.take() {
            Some((cached, text)) if cached == at => text,
            cached => {
                let mut text = cached.map(|(_, text)| text).unwrap_or_default();
                let bytes = self.load(at)?;
                unescape(&self.raw[..bytes], self.chunks[at].in_escape, &mut text);
                text
            }
        };
        Ok(&self.cached.insert((at, text)).1)
    }
}

/// Where the chunk after this one begins; `None` if an escape is neither `\"` nor `\\`.
fn after(raw: &[u8], chunk: Chunk) -> Option<Chunk> {
    let rest = &raw[usize::from(chunk.in_escape)..];
    let ending = rest.iter().rev().take_while(|byte| **byte == b'\\').count();
    let in_escape = ending % 2 == 1;
    // Each quote has one backslash; the others come in pairs.
    let (backslashes, quotes) =
        (count(rest, |byte| byte == b'\\') - u64::from(in_escape), count(rest, |byte| byte == b'"'));
    let pairs = backslashes.checked_sub(quotes).filter(|rest| rest % 2 == 0)? / 2;
    let escapes = quotes + pairs + u64::from(in_escape);
    Some(Chunk { position: chunk.position + raw.len() as u64 - escapes, in_escape })
}

/// Replaces `text` with `raw` without the backslashes that escape.
///
/// There is an escape every few bytes, so bytes are moved a word at a time, and without a branch for each escape.
fn unescape(raw: &[u8], in_escape: bool, text: &mut Vec<u8>) {
    text.clear();
    text.resize(raw.len(), 0);
    let (mut length, mut carry) = (0, u64::from(in_escape));
    let (blocks, rest) = raw.as_chunks::<BLOCK>();
    for block in blocks {
        let backslashes = backslashes(block);
        let escapes = backslashes & !escaped(backslashes, &mut carry);
        for (word, escapes) in block.as_chunks::<WORD>().0.iter().zip(escapes.to_le_bytes()) {
            let escapes = &ESCAPES[usize::from(escapes)];
            let word = without(u64::from_le_bytes(*word), escapes.bytes);
            // What follows the word in the text overwrites the rest of it.
            text[length..length + WORD].copy_from_slice(&word.to_le_bytes());
            length += WORD - escapes.count;
        }
    }
    let mut in_escape = carry == 1;
    for byte in rest {
        let escapes = *byte == b'\\' && !in_escape;
        text[length] = *byte;
        length += usize::from(!escapes);
        in_escape = escapes;
    }
    text.truncate(length);
}

/// Which bytes are backslashes, the first one in the lowest bit.
fn backslashes(block: &[u8; BLOCK]) -> u64 {
    const LANES: usize = 16;
    let (parts, _) = block.as_chunks::<LANES>();
    let in_part = |part: &[u8; LANES]| u64::from(u8x16::new(*part).simd_eq(u8x16::splat(b'\\')).to_bitmask());
    parts.iter().rev().fold(0, |mask, part| mask << LANES | in_part(part))
}

/// The escapes among the bytes of a word.
#[derive(Clone, Copy)]
struct Escapes {
    /// The lowest bit of each byte that is one.
    bytes: u64,
    count: usize,
}

/// By the bits of a mask, of which the lowest stands for the first byte.
static ESCAPES: [Escapes; 256] = escapes();

const fn escapes() -> [Escapes; 256] {
    let mut all = [Escapes { bytes: 0, count: 0 }; 256];
    let mut mask = 0;
    while mask < all.len() {
        let mut bit = 0;
        while bit < WORD {
            if mask >> bit & 1 == 1 {
                all[mask].bytes |= 1 << (8 * bit);
                all[mask].count += 1;
            }
            bit += 1;
        }
        mask += 1;
    }
    all
}

/// The word without these bytes; what is after them moves up.
fn without(mut word: u64, mut bytes: u64) -> u64 {
    // Two of eight bytes are usual; four are the most, since no escape follows another one.
    for _ in 0..2 {
        (word, bytes) = without_first(word, bytes);
    }
    while bytes != 0 {
        (word, bytes) = without_first(word, bytes);
    }
    word
}

/// Takes the first of these bytes out of the word, if there is one; returns the others, too.
fn without_first(word: u64, bytes: u64) -> (u64, u64) {
    let before = (bytes & bytes.wrapping_neg()).wrapping_sub(1);
    ((word & before) | (word >> 8 & !before), (bytes & bytes.wrapping_sub(1)) >> 8)
}

impl ReadAt for BundleText {
    fn len(&self) -> u64 {
        self.length
    }

    fn read_at(&mut self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
        if position.saturating_add(buffer.len() as u64) > self.length {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        let mut at = self.chunks.partition_point(|chunk| chunk.position <= position).saturating_sub(1);
        let mut filled = 0;
        while filled < buffer.len() {
            let skip = (position + filled as u64 - self.chunks[at].position) as usize;
            let chunk = self.chunk(at)?;
            let bytes = (chunk.len() - skip.min(chunk.len())).min(buffer.len() - filled);
            buffer[filled..filled + bytes].copy_from_slice(&chunk[skip..skip + bytes]);
            filled += bytes;
            at += 1;
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use std::io::Write;

    use super::*;

    /// A text with escapes around the borders of the chunks.
    fn text() -> String {
        let mut text = "[\"".to_owned();
        for at in 0..40_000 {
            text.push_str(&["a", "\\\\", "\\\"", "\",\"", "é", "\\\\\\\""][at * 7 % 6].repeat(at % 5));
        }
        text + "\"]"
    }

    #[test]
    fn a_text_is_read_at_any_position() {
        let text = text();
        let mut file = tempfile::tempfile().unwrap();
        let escaped = serde_json::to_string(&text).unwrap();
        let workflow = r#"{"name":"]\",\"workflowData\":","a":["[x]"],"b":"]","workflowData":{}}"#;
        write!(file, r#"{{"data":{escaped},"workflowData":{workflow},"workflowVersionId":null,"version":1}}"#).unwrap();
        let mut contents = contents(file).unwrap();
        assert_eq!((contents.workflow, contents.data.len()), (workflow.as_bytes().to_vec(), text.len() as u64));
        for from in (0..text.len()).step_by(4_099) {
            for bytes in [1, 7, 70_000] {
                let mut buffer = vec![0; bytes.min(text.len() - from)];
                contents.data.read_at(from as u64, &mut buffer).unwrap();
                assert!(buffer == text.as_bytes()[from..from + buffer.len()], "{bytes} bytes from {from}");
            }
        }
    }
}
