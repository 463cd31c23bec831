//! The standard error of a child: every line goes to the debug log, and the last lines to the log of its exit.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::ChildStderr;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::configured_secrets;
use super::program::Program;
use crate::secrets::{Redactor, redact};

/// How much is kept: the number of lines, and of bytes per line.
const TAIL_LINES: usize = 20;
const LINE_BYTES: usize = 1000;

/// How long the rest of standard error is read once the child has exited.
const READ_TIMEOUT: Duration = Duration::from_secs(1);

/// The last lines of standard error, without secrets.
#[derive(Clone, Default)]
pub(super) struct Tail {
    lines: Arc<Mutex<VecDeque<String>>>,
    /// Cancelled when standard error is read to its end.
    is_complete: CancellationToken,
}

impl Tail {
    /// Reads standard error to its end in the background, so that the child never blocks on it.
    pub(super) fn of(stderr: ChildStderr, program: &Program) -> Self {
        let (tail, redactor) = (Self::default(), configured_secrets::of_program(program));
        let reading = tail.clone();
        tokio::spawn(async move {
            read(stderr, &reading, redactor).await;
            reading.is_complete.cancel();
        });
        tail
    }

    /// Logs the lines of a child that has exited, once all are read.
    pub(super) fn log(&self, server: &str) {
        let (tail, server) = (self.clone(), server.to_owned());
        tokio::spawn(async move {
            // A remaining process may hold the pipe open.
            let _ = timeout(READ_TIMEOUT, tail.is_complete.cancelled()).await;
            let lines = tail.lines.lock().unwrap_or_else(PoisonError::into_inner);
            if !lines.is_empty() {
                let text = lines.iter().map(String::as_str).collect::<Vec<_>>().join("\n");
                tracing::warn!(server, "the end of its standard error:\n{text}");
            }
        });
    }

    fn push(&self, line: String) {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == TAIL_LINES {
            lines.pop_front();
        }
        lines.push_back(line);
    }
}

async fn read(stderr: ChildStderr, tail: &Tail, redactor: Redactor) {
    let mut stderr = BufReader::new(stderr);
    // A secret that begins in the kept part of a line has to be read to its end.
    let most = LINE_BYTES + redactor.longest();
    while let Ok(Some((line, is_whole))) = read_line(&mut stderr, most).await {
        let line = without_secrets(&String::from_utf8_lossy(&line), is_whole, &redactor);
        tracing::debug!("standard error of a server: {line}");
        tail.push(line);
        if !is_whole && skip_line(&mut stderr).await.is_err() {
            return;
        }
    }
}

/// A line, or its first `most` bytes, and whether it is the whole line; `None` at the end.
async fn read_line(reader: &mut (impl AsyncBufRead + Unpin), most: usize) -> io::Result<Option<(Vec<u8>, bool)>> {
    let mut line = Vec::new();
    let read = reader.take(most as u64).read_until(b'\n', &mut line).await?;
    let is_whole = read < most || line.ends_with(b"\n");
    Ok((read > 0).then_some((line, is_whole)))
}

/// Skips the rest of a line.
async fn skip_line(reader: &mut (impl AsyncBufRead + Unpin)) -> io::Result<()> {
    loop {
        let buffer = reader.fill_buf().await?;
        let end = memchr::memchr(b'\n', buffer);
        let (skipped, is_end) = (end.map_or(buffer.len(), |end| end + 1), end.is_some() || buffer.is_empty());
        reader.consume(skipped);
        if is_end {
            return Ok(());
        }
    }
}

/// The line without secrets. If it is cut, its end is removed, too, since it may be the beginning of a secret.
fn without_secrets(line: &str, is_whole: bool, redactor: &Redactor) -> String {
    let mut line = redactor.redact(line.trim_end()).into();
    redact::text(&mut line);
    let mut text = line.kept;
    if !is_whole {
        text.truncate(text.floor_char_boundary(text.len().saturating_sub(redactor.longest())));
    }
    if text.len() > LINE_BYTES || !is_whole {
        text.truncate(text.floor_char_boundary(LINE_BYTES));
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secrets::Secret;

    const SECRET: &str = "s3cret-Kq7Zr2Lm9Xw4";

    /// The kept lines of standard error.
    async fn kept(text: &str) -> Vec<String> {
        let redactor = Redactor::new([&Secret::new(SECRET)]);
        let (mut reader, mut lines) = (text.as_bytes(), Vec::new());
        while let Some((line, is_whole)) = read_line(&mut reader, LINE_BYTES + redactor.longest()).await.unwrap() {
            lines.push(without_secrets(&String::from_utf8_lossy(&line), is_whole, &redactor));
            if !is_whole {
                skip_line(&mut reader).await.unwrap();
            }
        }
        lines
    }

    #[tokio::test]
    async fn no_part_of_a_secret_is_kept_wherever_a_line_is_cut() {
        for padding in 900..1100 {
            for rest in ["", "é", "x", &"y".repeat(100)] {
                let lines = kept(&format!("{}{SECRET}{rest}\nnext\n", "é".repeat(padding / 2))).await;
                assert_eq!((lines.len(), lines[1].as_str()), (2, "next"));
                assert!(!lines[0].contains("s3") && !lines[0].contains("Xw4"), "{padding}: {}", lines[0]);
                assert!(lines[0].len() <= LINE_BYTES + "…".len());
            }
        }
    }

    #[tokio::test]
    async fn short_lines_are_kept_whole() {
        assert_eq!(kept("one\n\ntwo\r\nthree").await, ["one", "", "two", "three"]);
        assert_eq!(kept(&"z".repeat(1000)).await, ["z".repeat(1000)]);
        assert_eq!(kept("Authorization: Bearer other.t0ken\n").await, ["Authorization: [redacted]"]);
    }
}
