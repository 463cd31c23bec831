//! Where the command line reads an execution from.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::PathBuf;

use flate2::read::MultiGzDecoder;

use super::Error;
use crate::json::ReadAhead;

/// What `<ID|FILE|->` means.
pub(super) enum Source {
    Id,
    File(PathBuf),
    StandardInput,
}

impl Source {
    /// Digits are an id; a file of that name is `./1234`.
    pub(super) fn of(given: &str) -> Self {
        match given {
            "-" => Self::StandardInput,
            id if !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit()) => Self::Id,
            file => Self::File(file.into()),
        }
    }

    /// The body, expanded if it is gzip-compressed, and read ahead.
    pub(super) fn open(&self) -> Result<ReadAhead, Error> {
        match self {
            Self::File(path) => {
                let file = File::open(path).map_err(|error| {
                    Error::Input(format!(
                        "{} cannot be read: {error}. Give an execution's id (digits), a file, or - for standard input.",
                        path.display()
                    ))
                })?;
                expand(file)
            }
            Self::StandardInput => expand(std::io::stdin()),
            Self::Id => Err(Error::Input("An id is not a file.".to_owned())),
        }
    }
}

/// gzip is known by its first two bytes.
fn expand(mut body: impl Read + Send + 'static) -> Result<ReadAhead, Error> {
    const MAGIC: [u8; 2] = [0x1f, 0x8b];
    let mut first = Vec::new();
    let read = body.by_ref().take(MAGIC.len() as u64).read_to_end(&mut first);
    read.map_err(|error| Error::Input(format!("The body cannot be read: {error}.")))?;
    let is_gzip = first == MAGIC;
    let body = std::io::Cursor::new(first).chain(body);
    if is_gzip {
        return Ok(ReadAhead::new(MultiGzDecoder::new(BufReader::with_capacity(64 * 1024, body))));
    }
    Ok(ReadAhead::new(body))
}
