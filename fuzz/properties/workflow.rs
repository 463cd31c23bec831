//! Workflow documents and the paths of their files: unchanged parts are kept, and only files in the folder are read.

use std::collections::BTreeMap;
use std::path::Path;

use n8n_lens::json::Extent;
use n8n_lens::workflow::document;
use n8n_lens::workflow::edit::{Changed, ConnectionRequest, NewNode, Operation, edited};
use n8n_lens::workflow::file::Files;
use n8n_lens::workflow::{Change, Document, Error, Layout, N8N_1, N8N_2, Written};
use serde_json::Value;
use serde_json::value::RawValue;

use super::entropy::Entropy;
use super::{is_json, mutation, shown, split, text};

/// The content of a file inside the folder, and of one outside.
const INSIDE: &str = "{\"name\":\"inside\"}";
const OUTSIDE: &str = "hunter2";

/// Reads the bytes as a document, or a mutated real workflow; or requests a file.
pub fn check(data: &[u8]) {
    let (mut choices, rest) = split(data);
    if choices.one_in(7) {
        return assert_inside(&mut Entropy::new(rest));
    }
    let text = text(&mut choices, rest, mutation::workflow);
    let Ok(document) = Document::parse(&text) else {
        return;
    };
    assert!(is_json(&text), "{}", shown(&text));
    assert_written(&document, &text);
    assert_laid_out(&document, &text);
    assert_tidied(&document);
    assert_edited(&document);
    assert_saved_again(&document);
}

/// A written document is read as the same document.
fn assert_written(document: &Document, text: &[u8]) {
    let written = document.text();
    let again = Document::parse(written.as_bytes()).expect("it can be read again");
    assert_eq!(again.text(), written);
    assert_eq!(again.check().is_ok(), document.check().is_ok());
    if let Ok(value) = serde_json::from_slice::<Value>(text) {
        let ours: Value = serde_json::from_str(&written).expect("it is JSON");
        assert!(ours == value, "{ours} instead of {value}");
    }
}

/// A layout does not change the value, and applying it twice is the same as once.
fn assert_laid_out(document: &Document, text: &[u8]) {
    /// A layout repeats the indentation of the second line; these limits keep the texts small.
    const INDENT: usize = 16;
    const DEPTH: usize = 32;
    let written = document.text();
    let second = text.split(|byte| *byte == b'\n').nth(1).unwrap_or_default();
    let indent = second.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    if indent > INDENT || Extent::of(written.as_bytes()).depth > DEPTH {
        return;
    }
    for layout in [Layout::of(text), Layout::default()] {
        let once = layout.apply(&written);
        assert!(is_json(once.as_bytes()), "{once}");
        assert_eq!(layout.apply(&once), once);
        let compact = Layout::of(b"{}");
        assert_eq!(compact.apply(&once), compact.apply(&written), "only white space changes");
    }
}

/// A workflow is still one when everything that n8n does not accept is removed.
fn assert_tidied(document: &Document) {
    let is_workflow = document.check().is_ok();
    for change in [Change::Create, Change::Replace] {
        let mut tidied = document.clone();
        tidied.tidy(change).expect("a document can be tidied");
        let once = tidied.text();
        assert_eq!(tidied.tidy(change).expect("it can be tidied again"), Vec::<String>::new());
        assert_eq!(tidied.text(), once);
        assert!(!is_workflow || tidied.check().is_ok(), "tidied: {once}");
        for accepted in [&N8N_2, &N8N_1] {
            tidied.narrow(accepted).expect("a document can be narrowed");
            assert!(!is_workflow || tidied.check().is_ok(), "narrowed: {once}");
        }
    }
}

/// A document that a caller reads and sends back keeps members unknown to n8n, byte for byte, whether the caller sends them or
/// leaves them out.
fn assert_saved_again(document: &Document) {
    let Ok(Value::Object(mut sent)) = serde_json::from_str(&document.text()) else {
        return;
    };
    let mut known = document.clone();
    known.tidy(Change::Replace).expect("a document can be tidied");
    let known: Value = serde_json::from_str(&known.text()).expect("it is JSON");
    for leaves_out in [false, true] {
        if leaves_out {
            sent.retain(|member, _| known.get(member).is_some());
        }
        let Ok(mut again) = Document::of(&sent) else {
            return;
        };
        again.keep_unknown_of(document);
        let (again, before) = (raw_members(&again), raw_members(document));
        for member in mutation::UNKNOWN_MEMBERS {
            assert_eq!(again.get(member), before.get(member), "{member}");
        }
    }
}

fn raw_members(document: &Document) -> BTreeMap<String, String> {
    let members: BTreeMap<String, Box<RawValue>> = serde_json::from_str(&document.text()).expect("it is an object");
    members.into_iter().map(|(member, value)| (member, value.get().to_owned())).collect()
}

/// An edit does exactly what it says, or nothing.
fn assert_edited(document: &Document) {
    if document.check().is_err() {
        return;
    }
    let apply = |text: &str, operations: &[Operation]| {
        let before = Written::parse(text.to_owned()).expect("it is a workflow");
        let made = edited(&before, |editor| editor.apply_all(operations, &|_| None));
        assert!(!matches!(made, Err(Error::NotJson { .. })), "{made:?}");
        let (changes, after) = made.ok()?;
        assert!(after.document.check().is_ok(), "{}", after.text);
        Some((changes, after.document))
    };
    let count = |document: &Document| document.nodes().expect("it has nodes").len();
    let name = || Some("A new one, of all".to_owned());
    let node = NewNode { node_type: "n8n-nodes-base.set".to_owned(), name: name(), ..NewNode::default() };
    let add = Operation::AddNode { node, after: None, source_output: None };
    let Some((changes, with_node)) = apply(&document.text(), std::slice::from_ref(&add)) else {
        return;
    };
    assert_eq!(count(&with_node), count(document) + 1);
    assert!(apply(&with_node.text(), &[add]).is_none(), "a name is taken once: {}", with_node.text());
    let id = changes.iter().find_map(Changed::added_id).expect("it has an id").to_owned();
    let nodes = with_node.nodes().expect("it has nodes");
    if let Some(source) = document::text(&nodes[0], "name").filter(|first| Some(first) != name().as_ref()) {
        let (source_output, target_input) = ("main:1".to_owned(), "main:1".to_owned());
        let link =
            Operation::AddConnection(ConnectionRequest { source, target: id.clone(), source_output, target_input });
        // Connections that serde_json cannot hold are unchanged.
        if let Some((_, linked)) = apply(&with_node.text(), std::slice::from_ref(&link)) {
            let (changes, again) = apply(&linked.text(), &[link]).expect("it is possible again");
            assert!(matches!(changes[..], [Changed::Connected { is_new: false, .. }]), "twice: {}", again.text());
            assert_eq!(again.text(), linked.text());
        }
    }
    let rename = Operation::RenameNode { old_name: id.clone(), new_name: "Another name, of all".to_owned() };
    if let Some((_, renamed)) = apply(&with_node.text(), &[rename]) {
        let nodes = renamed.nodes().expect("it has nodes");
        let last = nodes.last().expect("it has nodes");
        assert_eq!(document::text(last, "name").as_deref(), Some("Another name, of all"));
    }
    let remove = Operation::RemoveNode { node_name: id, reconnect: false };
    if let Some((_, removed)) = apply(&with_node.text(), &[remove]) {
        assert_eq!(count(&removed), count(document), "{}", removed.text());
    }
}

/// Whatever path is requested, only files inside the folder are read.
fn assert_inside(entropy: &mut Entropy<'_>) {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().join("root");
    create_files(folder.path(), &root).expect("files");
    let files = Files::below(&root).expect("a folder");
    let long = "x".repeat(300);
    let outside = folder.path().join("secret.json").display().to_string();
    let root = root.display().to_string();
    let parts = [
        "..",
        "workflow.json",
        ".",
        "",
        "folder",
        "secret.json",
        "up",
        "link",
        "self",
        "root",
        "no such",
        "\0",
        "ü\u{301}",
        " ",
        "~",
        "\\..\\",
        &long,
        &outside,
        &root,
    ];
    let path: Vec<&str> = (0..1 + entropy.below(6)).map(|_| *entropy.pick(&parts)).collect();
    let path = path.join("/");
    match files.read(&path) {
        Ok(text) => assert_eq!(String::from_utf8_lossy(&text), INSIDE, "{path:?}"),
        Err(error) => assert!(!error.to_string().contains(OUTSIDE), "{path:?}: {error}"),
    }
    if let Ok(found) = files.open_folder(Some(&path)) {
        let root = Path::new(&root).canonicalize().expect("it is there");
        assert!(found.path().starts_with(&root), "{path:?} is {}", found.path().display());
    }
}

/// Creates files inside the folder, one outside, and symbolic links to it.
fn create_files(outside: &Path, root: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(root.join("folder"))?;
    std::fs::write(root.join("workflow.json"), INSIDE)?;
    std::fs::write(root.join("folder").join("workflow.json"), INSIDE)?;
    std::fs::write(outside.join("secret.json"), OUTSIDE)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;
        symlink("../secret.json", root.join("link"))?;
        symlink("..", root.join("up"))?;
        symlink("self", root.join("self"))?;
    }
    Ok(())
}
