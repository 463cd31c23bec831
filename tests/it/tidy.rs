//! The rules of the house that a compiler does not know.

use std::path::{Path, PathBuf};

/// The rooms in the direction of the flow: each may import from those before it, and from itself.
const FLOW: [&str; 14] = [
    "units",
    "json",
    "secrets",
    "n8n",
    "execution",
    "workflow",
    "budget",
    "toolkit",
    "tools",
    "coordination",
    "gateway",
    "config",
    "transport",
    "cli",
];

/// Rooms beside each other that must not know one another.
const STRANGERS: [(&str, &str); 21] = [
    ("coordination", "tools"),
    ("toolkit", "n8n"),
    ("toolkit", "execution"),
    ("toolkit", "workflow"),
    ("gateway", "toolkit"),
    ("execution", "n8n"),
    ("workflow", "n8n"),
    ("workflow", "execution"),
    ("budget", "execution"),
    ("budget", "workflow"),
    ("budget", "n8n"),
    ("gateway", "n8n"),
    ("gateway", "execution"),
    ("gateway", "workflow"),
    ("gateway", "budget"),
    ("gateway", "tools"),
    ("coordination", "n8n"),
    ("coordination", "execution"),
    ("coordination", "workflow"),
    ("gateway", "coordination"),
    ("coordination", "json"),
];

/// Lines of a file, tests aside.
const LONGEST: usize = 500;

fn sources() -> Vec<(PathBuf, String)> {
    fn walk(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                found.push((path.clone(), std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    let mut found = Vec::new();
    walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
    assert!(found.len() > 30);
    found
}

fn room(path: &Path) -> String {
    let inside = path.strip_prefix(Path::new(env!("CARGO_MANIFEST_DIR")).join("src")).unwrap();
    inside.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs").to_owned()
}

#[test]
fn imports_run_in_the_direction_of_the_flow() {
    for (path, text) in sources() {
        let room = room(&path);
        let Some(place) = FLOW.iter().position(|name| *name == room) else { continue };
        for (at, other) in FLOW.iter().enumerate() {
            let imports = text.contains(&format!("crate::{other}::")) || text.contains(&format!("crate::{other};"));
            let strangers = STRANGERS.contains(&(room.as_str(), other));
            assert!(!imports || (at <= place && !strangers), "{} imports {other}", path.display());
        }
    }
}

#[test]
fn each_library_is_known_where_it_belongs() {
    // rmcp is a server in one room and a client in the other, which also needs an HTTP client for it.
    let doors: [(_, &[&str]); 11] = [
        ("rmcp::", &["transport", "gateway"]),
        ("axum::", &["transport"]),
        ("reqwest::", &["n8n", "gateway", "secrets"]),
        ("struson::", &["json"]),
        ("tiktoken_rs::", &["budget"]),
        ("comfy_table::", &["cli"]),
        ("jsonschema::", &["gateway"]),
        ("prometheus_client::", &["gateway"]),
        ("rusqlite::", &["coordination"]),
        ("postgres::", &["coordination"]),
        ("argon2::", &["coordination"]),
    ];
    for (path, text) in sources() {
        for (library, homes) in doors {
            assert!(
                !text.contains(library) || homes.contains(&room(&path).as_str()),
                "{} knows {library}",
                path.display()
            );
        }
    }
}

#[test]
fn files_stay_readable() {
    for (path, text) in sources() {
        let lines = text.lines().count();
        assert!(lines <= LONGEST, "{} has {lines} lines", path.display());
        for word in ["FIXME", "todo!", "unimplemented!", "dbg!"] {
            assert!(!text.contains(word), "{} holds {word}", path.display());
        }
    }
}

#[test]
fn unsafe_stands_in_one_file() {
    let unsafe_files: Vec<_> =
        sources().into_iter().filter(|(_, text)| text.contains("unsafe {")).map(|(path, _)| path).collect();
    assert!(unsafe_files.iter().all(|path| path.ends_with("json/block.rs")), "{unsafe_files:?}");
}
