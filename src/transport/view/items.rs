//! `GET /view/items`: the items of a node as a file.

use std::io::{self, Write};
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use futures::stream;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use tokio::sync::mpsc;

use super::Page;
use crate::n8n::Progress;
use crate::tools::view::PAGE;
use crate::tools::view::items::{self, ItemsFile, ItemsQuery};
use crate::transport::call::{Interrupted, bug, guarded};

/// Bytes that are sent at once.
const PIECE: usize = 64 * 1024;

/// Reads the items, and sends them while they are written. A client that disconnects ends both.
pub(super) async fn items(
    State(page): State<Arc<Page>>,
    headers: HeaderMap,
    query: Result<Query<ItemsQuery>, QueryRejection>,
) -> Response {
    if let Some(refusal) = page.refusal(&headers) {
        return refusal.into_response();
    }
    if !page.reads_items() {
        return (StatusCode::NOT_FOUND, "This server does not offer the items of a node.").into_response();
    }
    let Ok(Query(query)) = query else {
        return (StatusCode::BAD_REQUEST, "Follow a link of the page: it names execution, node and format.")
            .into_response();
    };
    // The future is also created inside: it may panic before its first await.
    let read = async { items::items(&query, &page.context, &Progress::default()).await };
    let file = match guarded(read, page.shutdown.cancelled()).await {
        Ok(Ok(file)) => file,
        Ok(Err(error)) => {
            return (StatusCode::UNPROCESSABLE_ENTITY, PAGE.tell(&error.to_string()).into_owned()).into_response();
        }
        Err(Interrupted::Bug) => return (StatusCode::INTERNAL_SERVER_ERROR, bug("The download")).into_response(),
        Err(Interrupted::Shutdown) => {
            return (StatusCode::SERVICE_UNAVAILABLE, "The server is shutting down.").into_response();
        }
    };
    let headers = [
        (CONTENT_TYPE, query.format.media_type().to_owned()),
        (CACHE_CONTROL, "no-store".to_owned()),
        (CONTENT_DISPOSITION, disposition(&query)),
    ];
    (headers, body(file)).into_response()
}

/// Names the file after the execution and the node.
fn disposition(query: &ItemsQuery) -> String {
    /// Characters of a name: file systems allow 255 bytes.
    const CHARS: usize = 60;
    let name: String = query.node.chars().take(CHARS).map(|c| if c.is_alphanumeric() { c } else { '-' }).collect();
    let name = format!("{}-{name}.{}", query.id, query.format.extension());
    let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' }).collect();
    format!("attachment; filename=\"{plain}\"; filename*=UTF-8''{}", utf8_percent_encode(&name, NON_ALPHANUMERIC))
}

/// The file while it is written. If that fails, the connection breaks, so that no browser mistakes it for complete.
fn body(file: ItemsFile) -> Body {
    let (sender, mut pieces) = mpsc::channel(4);
    tokio::task::spawn_blocking(move || {
        let mut to = Pieces { sender, piece: Vec::new() };
        let written = file.write(&mut to).and_then(|()| to.flush());
        if let Err(error) = written {
            // The client may be gone.
            let _ = to.sender.blocking_send(Err(error));
        }
    });
    Body::from_stream(stream::poll_fn(move |context| pieces.poll_recv(context)))
}

/// Sends everything written to it, piece by piece.
struct Pieces {
    sender: mpsc::Sender<io::Result<Bytes>>,
    piece: Vec<u8>,
}

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.piece.extend_from_slice(bytes);
        if self.piece.len() >= PIECE {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let piece = Bytes::from(std::mem::take(&mut self.piece));
        self.sender.blocking_send(Ok(piece)).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}
