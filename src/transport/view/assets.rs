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

static FILES: [(&str, &[u8]); 43] = files![
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
    "index.html",
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

struct Asset {
    name: &'static str,
    media_type: &'static str,
    text: &'static [u8],
    compressed: Bytes,
    tag: String,
}

static ASSETS: LazyLock<Vec<Asset>> =
    LazyLock::new(|| FILES.iter().map(|(name, text)| Asset::new(name, text)).collect());

impl Asset {
    fn new(name: &'static str, text: &'static [u8]) -> Self {
        let media_type = match name.rsplit_once('.').map(|(_, extension)| extension) {
            Some("html") => "text/html; charset=utf-8",
            Some("js") => "text/javascript; charset=utf-8",
            Some("css") => "text/css; charset=utf-8",
            _ => "image/svg+xml",
        };
        let hash = digest::digest(&digest::SHA256, text);
        let tag: String = hash.as_ref().iter().take(12).map(|byte| format!("{byte:02x}")).collect();
        // Weak, because the compressed form has the same tag.
        Self { name, media_type, text, compressed: compress(text).into(), tag: format!("W/\"{tag}\"") }
    }
}

pub(super) fn compress(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    // Writing to memory cannot fail.
    let _ = encoder.write_all(text);
    encoder.finish().unwrap_or_default()
}

/// The response with a file: compressed for a browser that accepts it, and empty for one that already has it.
pub(super) fn respond(name: &str, headers: &HeaderMap) -> Response {
    let Some(asset) = ASSETS.iter().find(|asset| asset.name == name) else {
        return (StatusCode::NOT_FOUND, "The page has no such file.").into_response();
    };
    let has = |name: HeaderName, wanted: &str| {
        let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
        values.flat_map(|values| values.split(',')).any(|value| value.trim() == wanted)
    };
    let about = [(ETAG, asset.tag.as_str()), (CACHE_CONTROL, "no-cache"), (VARY, "accept-encoding")];
    if has(IF_NONE_MATCH, &asset.tag) {
        return (StatusCode::NOT_MODIFIED, about).into_response();
    }
    let content = [(CONTENT_TYPE, asset.media_type)];
    match has(ACCEPT_ENCODING, "gzip") {
        true => (about, content, [(CONTENT_ENCODING, "gzip")], asset.compressed.clone()).into_response(),
        false => (about, content, asset.text).into_response(),
    }
}

/// The text of a file; empty if there is no such file.
pub(super) fn text(name: &str) -> &'static str {
    let text = FILES.iter().find(|(other, _)| *other == name).map(|(_, text)| *text);
    text.and_then(|text| std::str::from_utf8(text).ok()).unwrap_or_default()
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
        assert_eq!(ASSETS.iter().map(|asset| asset.name).collect::<Vec<_>>(), names);
        let bytes: usize = ASSETS.iter().map(|asset| asset.compressed.len()).sum();
        assert!((1024..120 * 1024).contains(&bytes), "{bytes}");
    }

    #[test]
    fn a_browser_need_not_find_out_which_modules_there_are() {
        let index = ASSETS.iter().find(|asset| asset.name == "index.html").unwrap();
        let index = std::str::from_utf8(index.text).unwrap();
        for asset in ASSETS.iter().filter(|asset| asset.name.ends_with(".js")) {
            // The entry points: of the login, of the page itself, and of the page inside a client.
            let is_known = ["enter.js", "main.js", "app.js"].contains(&asset.name);
            let is_preloaded = index.contains(&format!("href=\"{}\"", asset.name));
            assert_eq!(is_preloaded, !is_known, "{}", asset.name);
        }
    }

    #[test]
    fn modules_import_only_each_other() {
        for asset in ASSETS.iter().filter(|asset| asset.name.ends_with(".js")) {
            let text = std::str::from_utf8(asset.text).unwrap();
            for line in text.lines().filter(|line| line.starts_with("import ")) {
                let from = line.rsplit_once("'./").and_then(|(_, name)| name.strip_suffix("';"));
                let from = from.unwrap_or_else(|| panic!("{}: {line}", asset.name));
                assert!(ASSETS.iter().any(|other| other.name == from), "{}: {line}", asset.name);
            }
        }
    }
}
