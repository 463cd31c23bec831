//! The body that the projections are measured on.

use std::io::{self, Read};

use n8n_lens::json::{Batch, Pruner};

use crate::support::generator::Shape;

/// A realistic body of 100 MB.
pub fn body() -> Vec<u8> {
    let mut text = Vec::new();
    Shape::realistic(100_000_000).read_to_end(&mut text).unwrap();
    text
}

/// The body as it arrives from the network: in chunks that are not copied.
pub fn chunks(body: &[u8], mut pruner: Pruner) -> impl Iterator<Item = io::Result<Batch>> {
    let mut chunks = body.chunks(128 * 1024);
    std::iter::from_fn(move || chunks.next().map(|chunk| pruner.feed(chunk).map_err(io::Error::other)))
}
