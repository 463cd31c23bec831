//! The files of the page, which are compiled in.

use std::io::Write;
use std::sync::LazyLock;

use axum::body::Bytes;
use axum::http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, HeaderName, IF_NONE_MATCH, VARY,
};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::write::GzEncoder;
use ring::digest;

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_bytes!(concat!("assets/", $name)))),*]
    };
}

static FILES: [(&str, &[u8]); 42] = files![
    "address.js",
    "api.js",
    "app.js",
    "cause.js",
    "compare.js",
    "copy.js",
    "dom.js",
    "enter.js",
    "execution.js",
    "facts.js",
    "failures.js",
    "fields.js",
    "find.js",
    "graph.js",
    "head.js",
    "home.js",
    "icon.svg",
    "items.js",
    "json.js",
    "keyboard.js",
    "list.js",
    "loading.js",
    "main.js",
    "node.js",
    "nodes.js",
    "now.js",
    "parameters.js",
    "prove.js",
    "ran.js",
    "route.js",
    "search.js",
    "status.js",
    "strip.js",
    "style.css",
    "tabs.js",
    "talk.js",
    "trace.js",
    "trends.js",
    "waterfall.js",
    "words.en.js",
    "words.ja.js",
    "words.js",
];

/// A file as it is sent.
pub(super) struct Asset {
    media_type: &'static str,
    text: Bytes,
    compressed: Bytes,
    tag: String,
}

impl Asset {
    pub(super) fn new(media_type: &'static str, text: impl Into<Bytes>) -> Self {
        let text = text.into();
        let hash = digest::digest(&digest::SHA256, &text);
        let tag: String = hash.as_ref().iter().take(12).map(|byte| format!("{byte:02x}")).collect();
        // Weak, because the compressed form has the same tag.
        Self { media_type, compressed: compress(&text).into(), text, tag: format!("W/\"{tag}\"") }
    }

    /// The response with it: compressed for a browser that accepts that, and empty for one that already has it.
    pub(super) fn respond(&self, headers: &HeaderMap) -> Response {
        let has = |name: HeaderName, wanted: &str| {
            let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
            values.flat_map(|values| values.split(',')).any(|value| value.trim() == wanted)
        };
        let about = [(ETAG, self.tag.as_str()), (CACHE_CONTROL, "no-cache"), (VARY, "accept-encoding")];
        if has(IF_NONE_MATCH, &self.tag) {
            return (StatusCode::NOT_MODIFIED, about).into_response();
        }
        let content = [(CONTENT_TYPE, self.media_type)];
        match has(ACCEPT_ENCODING, "gzip") {
            true => (about, content, [(CONTENT_ENCODING, "gzip")], self.compressed.clone()).into_response(),
            false => (about, content, self.text.clone()).into_response(),
        }
    }
}

/// The file with this name, if it is not a part of the page's document.
pub(super) fn find(name: &str) -> Option<&'static Asset> {
    static ENTER: LazyLock<Asset> = LazyLock::new(|| Asset::new("text/javascript; charset=utf-8", text("enter.js")));
    static ICON: LazyLock<Asset> = LazyLock::new(|| Asset::new("image/svg+xml", text("icon.svg")));
    match name {
        "enter.js" => Some(&*ENTER),
        "icon.svg" => Some(&*ICON),
        _ => None,
    }
}

pub(super) fn compress(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    // Writing to memory cannot fail.
    let _ = encoder.write_all(text);
    encoder.finish().unwrap_or_default()
}

/// The text of a file; empty if there is no such file.
pub(super) fn text(name: &str) -> &'static str {
    let text = FILES.iter().find(|(other, _)| *other == name).map(|(_, text)| *text);
    text.and_then(|text| std::str::from_utf8(text).ok()).unwrap_or_default()
}

/// The names of all files.
#[cfg(test)]
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_compiled_in_and_all_are_small() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/transport/view/assets");
        let mut names: Vec<_> =
            folder.read_dir().unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        assert_eq!(super::names().collect::<Vec<_>>(), names);
        let bytes: usize = FILES.iter().map(|(_, text)| compress(text).len()).sum();
        assert!((1024..120 * 1024).contains(&bytes), "{bytes}");
    }

    #[test]
    fn modules_import_only_each_other() {
        for name in super::names().filter(|name| name.ends_with(".js")) {
            for line in text(name).lines().filter(|line| line.starts_with("import ")) {
                let from = line.rsplit_once("'./").and_then(|(_, name)| name.strip_suffix("';"));
                let from = from.unwrap_or_else(|| panic!("{name}: {line}"));
                assert!(super::names().any(|other| other == from), "{name}: {line}");
            }
        }
    }
}
