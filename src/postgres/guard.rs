//! Refuses messages that are too large, before they are received: tokio-postgres collects each whole.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, TlsStream};

use super::Limits;

/// The type and the length of a message.
const HEADER_BYTES: usize = 5;

/// The type of a row.
const DATA_ROW: u8 = b'D';

/// The server sends more than the limits allow.
#[derive(Debug, thiserror::Error)]
#[error("the server sends more than was asked for")]
pub(super) struct TooLarge;

/// A stream of messages, after it was decrypted.
pub(super) struct Guarded<S> {
    stream: S,
    binding: fn(&S) -> ChannelBinding,
    replies: Replies,
}

impl<S> Guarded<S> {
    /// A stream that is not encrypted.
    pub(super) fn plain(stream: S, limits: Limits) -> Self {
        Self { stream, binding: |_| ChannelBinding::none(), replies: Replies::new(limits) }
    }

    /// A stream that is encrypted.
    pub(super) fn encrypted(stream: S, limits: Limits) -> Self
    where
        S: TlsStream,
    {
        Self { stream, binding: S::channel_binding, replies: Replies::new(limits) }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for Guarded<S> {
    fn channel_binding(&self) -> ChannelBinding {
        (self.binding)(&self.stream)
    }
}

/// Counts what is received.
struct Replies {
    limits: Limits,
    header: [u8; HEADER_BYTES],
    header_bytes: usize,
    /// Bytes left of the message.
    body: u64,
    /// The bytes of the reply so far.
    rows: u64,
    others: u64,
}

impl Replies {
    fn new(limits: Limits) -> Self {
        Self { limits, header: [0; HEADER_BYTES], header_bytes: 0, body: 0, rows: 0, others: 0 }
    }

    /// A request was sent: what follows is another reply.
    fn begin(&mut self) {
        (self.rows, self.others) = (0, 0);
    }

    /// Counts the next bytes from the server.
    fn feed(&mut self, mut bytes: &[u8]) -> Result<(), TooLarge> {
        while let Some((first, rest)) = bytes.split_first() {
            if self.body > 0 {
                let seen = usize::try_from(self.body).unwrap_or(usize::MAX).min(bytes.len());
                self.body -= seen as u64;
                bytes = &bytes[seen..];
                continue;
            }
            self.header[self.header_bytes] = *first;
            self.header_bytes = (self.header_bytes + 1) % HEADER_BYTES;
            bytes = rest;
            if self.header_bytes == 0 {
                self.begin_message()?;
            }
        }
        Ok(())
    }

    fn begin_message(&mut self) -> Result<(), TooLarge> {
        let [kind, length @ ..] = self.header;
        // The length counts itself.
        let length = u64::from(u32::from_be_bytes(length));
        self.body = length.saturating_sub(4);
        let (sum, most) = match kind {
            DATA_ROW => (&mut self.rows, self.limits.row_bytes),
            _ => (&mut self.others, self.limits.message_bytes),
        };
        *sum += length + 1;
        if length > self.limits.message_bytes || *sum > most { Err(TooLarge) } else { Ok(()) }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Guarded<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buffer))?;
        let received = buffer.filled().get(before..).unwrap_or_default();
        Poll::Ready(self.replies.feed(received).map_err(io::Error::other))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Guarded<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.replies.begin();
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use std::time::Duration;

    use super::*;

    fn message(kind: u8, length: u32) -> Vec<u8> {
        [&[kind], length.to_be_bytes().as_slice(), &vec![0; length.min(1000) as usize - 4]].concat()
    }

    fn limits(row_bytes: u64) -> Limits {
        Limits { login: Duration::ZERO, reply: Duration::ZERO, message_bytes: 100, row_bytes }
    }

    #[test]
    fn messages_and_replies_are_limited_however_they_arrive() {
        let limits = limits(300);
        let cases: [(&[(u8, u32)], bool); 7] = [
            (&[(b'R', 99), (DATA_ROW, 100), (DATA_ROW, 100)], true),
            (&[(DATA_ROW, 101)], false),
            (&[(DATA_ROW, 4), (b'T', u32::MAX)], false),
            (&[(DATA_ROW, i32::MAX as u32)], false),
            (&[(DATA_ROW, 100), (DATA_ROW, 100), (DATA_ROW, 100)], false),
            (&[(b'S', 50), (b'N', 50)], false),
            (&[(b'S', 4), (b'N', 4), (DATA_ROW, 4), (b'C', 20)], true),
        ];
        for (sent, fits) in cases {
            let bytes: Vec<_> = sent.iter().flat_map(|(kind, length)| message(*kind, *length)).collect();
            for size in [1, 3, 5, bytes.len()] {
                let mut replies = Replies::new(limits);
                let done = bytes.chunks(size).try_for_each(|chunk| replies.feed(chunk));
                assert_eq!(done.is_ok(), fits, "{sent:?} in pieces of {size}");
            }
        }
    }

    #[test]
    fn the_next_request_begins_a_reply() {
        let mut replies = Replies::new(limits(100));
        for _ in 0..3 {
            replies.begin();
            replies.feed(&message(DATA_ROW, 80)).unwrap();
        }
    }
}
