//! A streamed body: pruned as it arrives, then read by a projection on a blocking thread.

use std::io::{self, Read};

use bytes::{Bytes, BytesMut};
use flate2::read::GzDecoder;
use reqwest::Response;
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderValue};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::client::{Client, cause};
use super::error::Error;
use super::gzip::Gunzip;
use super::identity::Identity;
use super::progress::{Progress, Stage};
use super::request::Request;
use crate::blocking::joined;
use crate::cache::Writer;
use crate::json::{Batch, Cursor, Fault, Projection, Pruner, SHOWN_PREFIX_BYTES, markup, shown_prefix};

/// Pruned batches in the channel. Few are enough, since each is small.
const PIPE_BATCHES: usize = 4;

/// Compressed bytes that are decompressed at once; the output is at most a thousand times as large.
const GZIP_SLICE: usize = 1024;

/// Compressed bytes that are searched for the beginning of a body.
const COMPRESSED_PREFIX: usize = 4096;

/// The body of a response.
pub(super) struct Body {
    response: Response,
    /// Bytes in total, if n8n announced them.
    total: Option<u64>,
    /// A chunk that arrived and was not read yet.
    first: Option<Bytes>,
}

impl From<Response> for Body {
    fn from(response: Response) -> Self {
        Self { total: response.content_length(), response, first: None }
    }
}

impl Body {
    fn is_gzip(&self) -> bool {
        self.response.headers().get(CONTENT_ENCODING).is_some_and(is_gzip)
    }
}

/// The pruned batches of a download, as an iterator for the blocking thread.
struct Incoming(mpsc::Receiver<Batch>);

impl Iterator for Incoming {
    type Item = io::Result<Batch>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.blocking_recv().map(Ok)
    }
}

/// How much of a body went to its reader.
enum Pumped {
    Whole,
    /// The reader wanted no more.
    InPart,
}

/// The filter, preceded by a decoder if the body is compressed.
enum Filter {
    Plain(Box<Pruner>),
    Gzip(Box<Gunzip>),
}

impl Filter {
    fn feed(&mut self, chunk: &[u8]) -> io::Result<Batch> {
        match self {
            Self::Plain(pruner) => pruner.feed(chunk).map_err(io::Error::other),
            Self::Gzip(gunzip) => gunzip.feed(chunk),
        }
    }

    /// The decoded bytes of a slice of `chunk` that was fed.
    fn decoded(&mut self, chunk: &Bytes, slice: &[u8]) -> Bytes {
        match self {
            Self::Plain(_) => chunk.slice_ref(slice),
            Self::Gzip(gunzip) => gunzip.copied(),
        }
    }

    /// The last batch, and decoded bytes that came with it.
    fn finish(self) -> io::Result<(Batch, Bytes)> {
        match self {
            Self::Plain(pruner) => Ok((pruner.finish().map_err(io::Error::other)?, Bytes::new())),
            Self::Gzip(gunzip) => gunzip.finish(),
        }
    }
}

impl Client {
    /// Waits until a body begins to arrive. n8n can have sent the head of a response long before.
    pub(super) async fn begin(&self, response: Response) -> Result<Body, Error> {
        let mut body = Body::from(response);
        body.first = self.chunk(&mut body, 0).await?;
        Ok(body)
    }

    /// Reads a body; the projection's reader runs on a blocking thread while the body arrives. If `id` is given, the
    /// body must be about it. `copy` receives the decoded body, and keeps it if it was whole.
    pub(super) async fn read_body<P: Projection>(
        &self,
        body: Body,
        id: Option<&str>,
        projection: &P,
        progress: &Progress,
        mut copy: Option<Writer>,
    ) -> Result<P::View, Error> {
        let body = self.check_type(body).await?;
        let (sender, receiver) = mpsc::channel(PIPE_BATCHES);
        let (pruner, projection) = (projection.pruner(), projection.clone());
        let reading = tokio::task::spawn_blocking(move || projection.read(Cursor::over(Incoming(receiver))));
        let pumped = self.pump(body, id.map(Identity::new), pruner, sender, progress, copy.as_mut()).await;
        if let Some(copy) = copy {
            copy.finish(matches!(pumped, Ok(Pumped::Whole))).await;
        }
        pumped?;
        joined(reading).await.ok_or(Error::Stopped)
    }

    /// Refuses a body that is not JSON by its content type, or by how it begins: proxies send pages as JSON, too.
    pub(super) async fn check_type(&self, mut body: Body) -> Result<Body, Error> {
        let first = self.prefix(&mut body).await?;
        let content_type = body.response.headers().get(CONTENT_TYPE);
        let content_type = content_type.map(|it| it.to_str().unwrap_or("an unknown content type"));
        let content_type = match (markup(&first), content_type) {
            (Some(markup), _) => markup.to_owned(),
            (None, Some(other)) if !other.contains("json") => {
                self.clean(other.split(';').next().unwrap_or(other).trim())
            }
            (None, _) => return Ok(body),
        };
        Err(Error::NotJson { content_type, beginning: self.clean(&shown_prefix(&first)) })
    }

    /// The first bytes of a body, decoded, however small the chunks are in which they arrive. They stay in the body.
    async fn prefix(&self, body: &mut Body) -> Result<Vec<u8>, Error> {
        let mut arrived = BytesMut::new();
        loop {
            let chunk = self.chunk(body, arrived.len() as u64).await?;
            let is_end = chunk.is_none();
            arrived.extend_from_slice(&chunk.unwrap_or_default());
            let first = match body.is_gzip() {
                true => decompressed(&arrived),
                false => arrived[..arrived.len().min(SHOWN_PREFIX_BYTES)].to_vec(),
            };
            if is_end || first.len() == SHOWN_PREFIX_BYTES || arrived.len() >= COMPRESSED_PREFIX {
                body.first = Some(arrived.freeze()).filter(|arrived| !arrived.is_empty());
                return Ok(first);
            }
        }
    }

    async fn pump(
        &self,
        mut body: Body,
        mut identity: Option<Identity>,
        pruner: Pruner,
        sender: mpsc::Sender<Batch>,
        progress: &Progress,
        mut copy: Option<&mut Writer>,
    ) -> Result<Pumped, Error> {
        let total = body.total;
        let allowance = self.allowance();
        allowance.map_or(Ok(()), |allowance| allowance.admit_length(total))?;
        let gzip = body.is_gzip();
        let mut filter = match gzip {
            true => Filter::Gzip(Box::new(Gunzip::new(pruner, copy.is_some()))),
            false => Filter::Plain(Box::new(pruner)),
        };
        let mut offset = 0;
        progress.set(Stage::Reading { bytes: 0, total });
        while let Some(chunk) = self.chunk(&mut body, offset).await? {
            allowance.map_or(Ok(()), |allowance| allowance.receive(chunk.len() as u64, offset))?;
            let mut at = offset;
            for slice in chunk.chunks(if gzip { GZIP_SLICE } else { usize::MAX }) {
                let batch = filter.feed(slice).map_err(|error| filter_error(error, at))?;
                at += slice.len() as u64;
                if let Some(copy) = &mut copy {
                    copy.feed(filter.decoded(&chunk, slice)).await;
                }
                if let Some(identity) = &mut identity {
                    identity.check(&batch.text)?;
                }
                // The projection stopped reading early; its view says why.
                if !batch.is_empty() && sender.send(batch).await.is_err() {
                    return Ok(Pumped::InPart);
                }
            }
            offset += chunk.len() as u64;
            progress.set(Stage::Reading { bytes: offset, total });
            if let Some(copy) = &mut copy {
                copy.report(offset, total);
            }
        }
        let (last, decoded) = filter.finish().map_err(|error| filter_error(error, offset))?;
        let _ = sender.send(last).await;
        if let Some(copy) = copy {
            copy.feed(decoded).await;
        }
        Ok(Pumped::Whole)
    }

    /// Sends a request and collects the whole body of the response, at most `max_bytes`.
    pub(super) async fn collect(
        &self,
        request: &Request<'_>,
        max_bytes: usize,
        progress: &Progress,
    ) -> Result<Vec<u8>, Error> {
        let slot = self.slots().small.enter(progress).await?;
        progress.set(Stage::Waiting { stored: None });
        let body = self.begin(self.send(request).await?).await?;
        let _slot = slot.read(progress).await?;
        let text = self.gather(self.check_type(body).await?, max_bytes).await?;
        request.id.map_or(Ok(()), |id| Identity::new(id).check(&text))?;
        Ok(text)
    }

    /// Collects a whole body, at most `max_bytes`.
    pub(super) async fn gather(&self, mut body: Body, max_bytes: usize) -> Result<Vec<u8>, Error> {
        let mut text = Vec::new();
        while let Some(chunk) = self.chunk(&mut body, text.len() as u64).await? {
            if text.len() + chunk.len() > max_bytes {
                let (offset, cause) = (text.len() as u64, format!("the response exceeds {max_bytes} bytes"));
                return Err(Error::BrokenOff { offset, total: body.total, cause });
            }
            text.extend_from_slice(&chunk);
        }
        Ok(text)
    }

    /// The next chunk of a body, after `offset` bytes; `None` at its end.
    pub(super) async fn chunk(&self, body: &mut Body, offset: u64) -> Result<Option<Bytes>, Error> {
        if let Some(first) = body.first.take() {
            return Ok(Some(first));
        }
        let (wait, total) = (self.settings().idle_timeout, body.total);
        match timeout(wait, body.response.chunk()).await {
            Ok(Ok(chunk)) => Ok(chunk),
            Ok(Err(error)) => Err(Error::BrokenOff { offset, total, cause: cause(&error) }),
            Err(_) => Err(Error::Idle { offset, after: wait }),
        }
    }
}

/// Matches both names of gzip (RFC 9110, 8.4.1.3), ignoring case.
fn is_gzip(encoding: &HeaderValue) -> bool {
    [&b"gzip"[..], b"x-gzip"].iter().any(|name| encoding.as_bytes().eq_ignore_ascii_case(name))
}

/// What has arrived of the start of a compressed body. The filter reports what is wrong with it.
fn decompressed(gzip: &[u8]) -> Vec<u8> {
    let (mut decoder, mut first) = (GzDecoder::new(gzip).take(SHOWN_PREFIX_BYTES as u64), Vec::new());
    let _ = decoder.read_to_end(&mut first);
    first
}

fn filter_error(error: io::Error, offset: u64) -> Error {
    match error.downcast::<Fault>() {
        Ok(fault) => Error::Fault(fault),
        Err(error) => Error::Gzip { offset, cause: error.to_string() },
    }
}
