//! House rules that the compiler does not check.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

/// Each room, and the rooms that it may depend on, directly or through other rooms.
const MAY_DEPEND_ON: [(&str, &str); 29] = [
    ("units", ""),
    ("blocking", ""),
    ("cause", ""),
    ("file_lock", "platform"),
    ("http_client", "tls"),
    ("named_locks", ""),
    ("platform", ""),
    ("postgres", "cause"),
    ("tls", ""),
    ("undo", ""),
    ("json", ""),
    ("json_rpc", "json"),
    ("node_outputs", "json"),
    ("node_parameters", "json"),
    ("secrets", "json"),
    ("cache", "platform"),
    ("n8n", "blocking cache cause file_lock http_client json named_locks platform secrets tls units"),
    ("store", "cause json platform postgres secrets tls units"),
    ("execution", "json node_outputs secrets"),
    ("workflow", "file_lock json node_outputs platform secrets"),
    (
        "export",
        "blocking cache cause execution file_lock http_client json n8n named_locks node_outputs platform postgres secrets store tls units",
    ),
    ("budget", "json"),
    ("toolkit", "budget json"),
    (
        "tools",
        "blocking budget cache cause execution file_lock http_client json n8n named_locks node_outputs node_parameters platform postgres secrets store tls toolkit undo units workflow",
    ),
    ("coordination", "budget cause json platform postgres secrets tls toolkit"),
    ("gateway", "http_client json json_rpc platform secrets tls"),
    (
        "config",
        "blocking budget cache cause coordination execution file_lock gateway http_client json json_rpc n8n named_locks node_outputs node_parameters platform postgres secrets store tls toolkit tools undo units workflow",
    ),
    (
        "transport",
        "blocking budget cache cause config coordination execution file_lock gateway http_client json json_rpc n8n named_locks node_outputs node_parameters platform postgres secrets store tls toolkit tools undo units workflow",
    ),
    (
        "cli",
        "blocking budget cache cause config coordination execution export file_lock gateway http_client json json_rpc n8n named_locks node_outputs node_parameters platform postgres secrets store tls toolkit tools transport undo units workflow",
    ),
];

/// The maximum length of files in `src`, and in `tests` and `benches`, in lines.
const MAX_SOURCE_LINES: usize = 500;
const MAX_TEST_LINES: usize = 800;

/// The files below a folder of the package, with their contents.
fn files(folder: &str, extensions: &[&str]) -> Vec<(PathBuf, String)> {
    fn walk(folder: &Path, extensions: &[&str], found: &mut Vec<(PathBuf, String)>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, extensions, found);
            } else if path.extension().is_some_and(|its| extensions.iter().any(|wanted| its == *wanted)) {
                found.push((path.clone(), std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    walk(&root.join(folder), extensions, &mut found);
    for (path, _) in &mut found {
        *path = path.strip_prefix(root).unwrap().to_owned();
    }
    found.sort();
    found
}

fn sources() -> Vec<(PathBuf, String)> {
    let found = files("src", &["rs"]);
    assert!(found.len() > 30);
    found
}

/// The module path of a source file: `["json"]` for `src/json/mod.rs`, `["json", "cut"]` for `src/json/cut.rs`.
fn module(path: &Path) -> Vec<&str> {
    let inside = path.strip_prefix("src").unwrap().with_extension("");
    let depth = inside.iter().filter(|part| *part != "mod").count();
    path.iter().skip(1).take(depth).map(|part| part.to_str().unwrap().trim_end_matches(".rs")).collect()
}

fn room(path: &Path) -> &str {
    module(path)[0]
}

/// The first names after `crate::`, and after as many `super::` as lead to the crate root.
fn names_below_the_crate(path: &Path, text: &str) -> BTreeSet<String> {
    let code: String = text.lines().map(|line| line.split("//").next().unwrap_or_default().to_owned() + "\n").collect();
    let up = "super::".repeat(module(path).len());
    let mut names = BTreeSet::new();
    for start in ["crate::", &up] {
        for (at, _) in code.match_indices(start) {
            // Not `$crate::` or `my_crate::`.
            let is_start = !code[..at].ends_with(|before: char| before.is_alphanumeric() || "_$:".contains(before));
            if is_start {
                names.extend(first_names(&code[at + start.len()..]));
            }
        }
    }
    names
}

/// The first name of a path, or of each path of a group in braces.
fn first_names(path: &str) -> Vec<String> {
    let name = |path: &str| path.chars().take_while(|char| char.is_alphanumeric() || *char == '_').collect();
    let Some(group) = path.strip_prefix('{') else { return vec![name(path)] };
    let (mut depth, mut names) = (0, vec![name(group.trim_start())]);
    for (at, char) in group.char_indices() {
        match char {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => names.push(name(group[at + 1..].trim_start())),
            _ => {}
        }
    }
    names
}

/// The imports of each room, each with a file that contains it.
fn imports() -> BTreeMap<String, BTreeMap<String, PathBuf>> {
    let mut rooms: BTreeMap<String, BTreeMap<String, PathBuf>> = BTreeMap::new();
    let sources = sources();
    let is_root = |path: &Path| ["lib", "main"].contains(&room(path));
    let all: BTreeSet<_> = sources.iter().filter(|(path, _)| !is_root(path)).map(|(path, _)| room(path)).collect();
    for (path, text) in sources.iter().filter(|(path, _)| !is_root(path)) {
        let imports = rooms.entry(room(path).to_owned()).or_default();
        for name in names_below_the_crate(path, text) {
            if name != room(path) && all.contains(name.as_str()) {
                imports.entry(name).or_insert_with(|| path.clone());
            }
        }
    }
    rooms
}

#[test]
fn rooms_depend_only_on_what_they_may() {
    let (imports, allowed) = (imports(), BTreeMap::from(MAY_DEPEND_ON));
    let listed: Vec<_> = allowed.keys().copied().collect();
    assert_eq!(imports.keys().map(String::as_str).collect::<Vec<_>>(), listed, "MAY_DEPEND_ON lists every room");
    for (room, allowed) in allowed {
        // Breadth first, for the shortest path to each room.
        let mut ways = VecDeque::from([(room, String::new())]);
        let mut seen = BTreeSet::new();
        while let Some((at, way)) = ways.pop_front() {
            for (next, file) in &imports[at] {
                let way = format!("{way}\n  {} imports {next}", file.display());
                let may = next != room && allowed.split_whitespace().any(|known| known == next);
                assert!(may, "{room} must not depend on {next}:{way}");
                if seen.insert(next) {
                    ways.push_back((next, way));
                }
            }
        }
    }
}

#[test]
fn imports_are_found_however_they_are_written() {
    let names = |path: &str, text: &str| -> Vec<String> {
        names_below_the_crate(Path::new(path), text).into_iter().filter(|name| !name.is_empty()).collect()
    };
    let text = "use crate::{budget, json::{Cursor, Pruner},\n    n8n};\nuse crate::units::megabytes; // crate::no\n\
                /// See [`crate::no`].\nfn f() { $crate::no(); crate::workflow::f() }";
    assert_eq!(names("src/tools/mod.rs", text), ["budget", "json", "n8n", "units", "workflow"]);
    assert_eq!(names("src/json/cut.rs", "use super::super::n8n::X; use super::name;"), ["n8n"]);
    assert_eq!(names("src/json/mod.rs", "use super::n8n::X;"), ["n8n"]);
    assert_eq!(names("src/units.rs", "use super::n8n::X;"), ["n8n"]);
}

#[test]
fn each_library_is_used_only_where_it_belongs() {
    // rmcp is a server in one room and a client in the other, which also needs an HTTP client; both know its ids.
    let homes_of: [(_, &[&str]); 11] = [
        ("rmcp::", &["transport", "gateway", "json_rpc"]),
        ("axum::", &["transport"]),
        ("reqwest::", &["export", "http_client", "n8n", "gateway", "secrets"]),
        ("struson::", &["json"]),
        ("tiktoken_rs::", &["budget"]),
        ("comfy_table::", &["cli"]),
        ("boon::", &["gateway"]),
        ("prometheus_client::", &["gateway"]),
        ("rusqlite::", &["coordination", "store"]),
        ("tokio_postgres::", &["coordination", "postgres", "store"]),
        ("argon2::", &["coordination"]),
    ];
    let manifest = include_str!("../../Cargo.toml");
    for (library, _) in homes_of {
        let package = library.trim_end_matches("::").replace('_', "-");
        let is_dependency = |line: &str| line.split(['=', '.']).next().is_some_and(|name| name.trim() == package);
        assert!(manifest.lines().any(is_dependency), "{package} is no dependency; guard what took its place");
    }
    for (path, text) in sources() {
        for (library, homes) in homes_of {
            assert!(!text.contains(library) || homes.contains(&room(&path)), "{} knows {library}", path.display());
        }
    }
}

#[test]
fn files_stay_readable() {
    let tests = ["tests", "benches"].map(|folder| files(folder, &["rs", "sh", "py"])).concat();
    assert!(tests.len() > 50);
    for (found, max) in [(sources(), MAX_SOURCE_LINES), (tests, MAX_TEST_LINES)] {
        for (path, text) in found {
            let lines = text.lines().count();
            assert!(lines <= max, "{} has {lines} lines; split it, the limit is {max}", path.display());
        }
    }
    for (path, text) in sources() {
        for word in ["FIXME", "todo!", "unimplemented!", "dbg!"] {
            assert!(!text.contains(word), "{} holds {word}", path.display());
        }
    }
}

#[test]
fn test_binaries_share_code_through_support() {
    let borrowed = concat!("#[", "path = ");
    for (path, text) in ["tests", "benches"].map(|folder| files(folder, &["rs"])).concat() {
        for line in text.lines().filter(|line| line.contains(borrowed)) {
            let shared = ["/support/mod.rs\"]", "/fuzz/properties/mod.rs\"]"].iter().any(|end| line.ends_with(end));
            assert!(shared, "{} borrows a file: {line}; move it into tests/support", path.display());
        }
    }
}

#[test]
fn unsafe_code_is_in_one_file() {
    let unsafe_files: Vec<_> =
        sources().into_iter().filter(|(_, text)| text.contains("unsafe {")).map(|(path, _)| path).collect();
    assert!(unsafe_files.iter().all(|path| path.ends_with("json/block/simd.rs")), "{unsafe_files:?}");
}
