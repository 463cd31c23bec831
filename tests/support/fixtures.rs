//! Real execution bodies from `fixtures/executions`, exactly as n8n sent them.

use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use serde_json::Value;

/// The fixtures folder.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

/// The body of one execution, by file name without the extension.
pub fn execution(name: &str) -> Vec<u8> {
    let path = folder().join("executions").join(format!("{name}.json"));
    if path.exists() {
        return std::fs::read(path).unwrap();
    }
    let mut text = Vec::new();
    let file = std::fs::File::open(path.with_extension("json.gz")).unwrap();
    GzDecoder::new(file).read_to_end(&mut text).unwrap();
    text
}

/// The execution of 10 MB, which takes a test longer than all the others together.
pub const LARGE: &str = "i_mid_10mb";

/// The large execution, with its name.
pub fn large() -> Vec<(String, Vec<u8>)> {
    vec![(LARGE.to_owned(), execution(LARGE))]
}

/// The executions of any size, by name.
pub fn executions_of_any_size() -> Vec<(String, Vec<u8>)> {
    [executions(), large()].concat()
}

/// All executions but the large one, by name.
pub fn executions() -> Vec<(String, Vec<u8>)> {
    let root = folder().join("executions");
    let mut names = Vec::new();
    for folder in [root.clone(), root.join("v1")] {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                let name = path.strip_prefix(&root).unwrap().to_str().unwrap();
                names.push(name.trim_end_matches(".gz").trim_end_matches(".json").to_owned());
            }
        }
    }
    names.retain(|name| name != LARGE);
    names.sort();
    names.into_iter().map(|name| (name.clone(), execution(&name))).collect()
}

/// The executions with a planted cause, by name.
pub fn scenarios() -> Vec<(String, Vec<u8>)> {
    bodies("scenarios")
}

/// The executions of questions whose causes are no outliers, by name.
pub fn questions() -> Vec<(String, Vec<u8>)> {
    bodies("questions")
}

/// The executions with one wrong expression, or with none, by name.
pub fn expressions() -> Vec<(String, Vec<u8>)> {
    bodies("expressions")
}

/// The bodies in a folder of fixtures, by name.
fn bodies(inside: &str) -> Vec<(String, Vec<u8>)> {
    let root = folder().join(inside);
    let body = |path: PathBuf| {
        let name = path.file_name()?.to_str()?.strip_suffix(".json.gz")?.to_owned();
        let mut body = Vec::new();
        GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_end(&mut body).unwrap();
        Some((name, body))
    };
    let mut bodies: Vec<_> = std::fs::read_dir(root).unwrap().filter_map(|entry| body(entry.unwrap().path())).collect();
    bodies.sort();
    bodies
}

/// Parses a body. `serde_json` rejects lone surrogates, so they are replaced first.
pub fn parse(body: &[u8]) -> Value {
    let text = std::str::from_utf8(body).unwrap();
    let mut fixed = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        fixed.push_str(&rest[..at]);
        let escape = &rest[at..at + if rest[at + 1..].starts_with('u') { 6 } else { 2 }];
        rest = &rest[at + escape.len()..];
        match unit(escape) {
            Some(0xd800..0xdc00) if matches!(unit(rest.get(..6).unwrap_or("")), Some(0xdc00..0xe000)) => {
                fixed.push_str(escape);
                fixed.push_str(&rest[..6]);
                rest = &rest[6..];
            }
            Some(0xd800..0xe000) => fixed.push_str("\\ufffd"),
            _ => fixed.push_str(escape),
        }
    }
    fixed.push_str(rest);
    serde_json::from_str(&fixed).unwrap()
}

fn unit(escape: &str) -> Option<u32> {
    u32::from_str_radix(escape.strip_prefix("\\u")?, 16).ok()
}
