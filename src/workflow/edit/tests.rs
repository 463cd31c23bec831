//! Edits in which a naive reference implementation behaved differently.

use serde_json::{Value, json};

use super::{Operation, Written, edited};
use crate::workflow::expression::{Syntax, mentions};

/// The text after these operations.
fn after(text: &str, operations: Value) -> Result<String, String> {
    let operations: Vec<Operation> = serde_json::from_value(operations).unwrap();
    edited(&Written::parse(text.to_owned()).unwrap(), |editor| editor.apply_all(&operations, &|_| None))
        .map(|(_, after)| after.text)
        .map_err(|error| error.to_string())
}

#[test]
fn outputs_that_were_empty_stay() {
    let text = r#"{"nodes":[{"name":"A"},{"name":"B"}],"connections":{"A":{"main":[[],null,[{"node":"B"}]]}}}"#;
    let kept = text.replace(r#",[{"node":"B"}]"#, "");
    assert_eq!(after(text, json!([{"type": "removeConnection", "source": "A"}])).unwrap(), kept);
}

#[test]
fn a_connection_is_removed_from_the_input_that_is_named() {
    let to = |input: u8| format!(r#"{{"node":"B","type":"main","index":{input}}}"#);
    let text =
        |to: &str| format!(r#"{{"nodes":[{{"name":"A"}},{{"name":"B"}}],"connections":{{"A":{{"main":[[{to}]]}}}}}}"#);
    let remove = |input: &str| json!([{"type": "removeConnection", "source": "A", "targetInput": input}]);
    let both = text(&format!("{},{}", to(0), to(1)));
    assert_eq!(after(&both, remove("main:1")).unwrap(), text(&to(0)));
    assert!(after(&both, remove("main:2")).unwrap_err().contains("no such connection"));
    assert!(after(&both, remove("left")).unwrap_err().contains("depends on the node"));
}

#[test]
fn a_node_without_a_name_is_not_the_one_with_an_empty_name() {
    let text = r#"{"nodes":[{"id":"1"},{"name":""},{"name":"B"}],"connections":{"":{"main":[[{"node":"B"}]]}},"pinData":{"":[]}}"#;
    let connect = json!([{"type": "addConnection", "source": "1", "target": "B"}]);
    assert!(after(text, connect).unwrap_err().contains("has no name"));
    let removed = after(text, json!([{"type": "removeNode", "nodeName": "1"}])).unwrap();
    assert_eq!(removed, text.replace(r#"{"id":"1"},"#, ""));
    let renamed = after(text, json!([{"type": "renameNode", "oldName": "1", "newName": "C"}])).unwrap();
    assert_eq!(renamed, text.replace(r#""id":"1""#, r#""id":"1","name":"C""#));
}

/// Connections, pinned data and expressions mean a name, which a sticky note or another node can have, too.
#[test]
fn what_belongs_to_a_namesake_stays_with_it() {
    let note = r#"{"id":"note","name":"A","type":"n8n-nodes-base.stickyNote"},"#;
    let rest = r#"{"id":"a","name":"A","type":"n8n-nodes-base.set"},{"name":"C","type":"n8n-nodes-base.set","parameters":{"v":"={{ $('A').item.json.x }}"}}],"connections":{"A":{"main":[[{"node":"C"}]]}},"pinData":{"A":[]}}"#;
    let text = format!(r#"{{"nodes":[{note}{rest}"#);
    let without = after(&text, json!([{"type": "removeNode", "nodeName": "note"}])).unwrap();
    assert_eq!(without, text.replace(note, ""));
    let renamed = after(&text, json!([{"type": "renameNode", "oldName": "note", "newName": "N"}])).unwrap();
    assert_eq!(renamed, text.replace(r#""note","name":"A""#, r#""note","name":"N""#));
    // By its name, it is the node and not the note.
    let set = after(&text, json!([{"type": "setNodeParameter", "nodeName": "A", "path": "/p", "value": 1}])).unwrap();
    assert_eq!(set, text.replace(r#""n8n-nodes-base.set"},"#, r#""n8n-nodes-base.set","parameters":{"p":1}},"#));
    let moved = after(&text, json!([{"type": "renameNode", "oldName": "A", "newName": "B"}])).unwrap();
    let at_end = moved.strip_prefix(&format!(r#"{{"nodes":[{note}"#)).unwrap();
    assert_eq!(at_end, rest.replace(r#""A""#, r#""B""#).replace("'A'", "'B'"));
    // Of two nodes, the name says neither.
    let two = text.replace("stickyNote", "noOp");
    let refused = after(&two, json!([{"type": "removeNode", "nodeName": "A"}])).unwrap_err();
    assert_eq!(refused, "operation 1 (removeNode): 2 nodes are called 'A'; name one by its id: note, a");
    let repaired = after(&two, json!([{"type": "renameNode", "oldName": "note", "newName": "N"}])).unwrap();
    assert_eq!(repaired, two.replace(r#""note","name":"A""#, r#""note","name":"N""#));
}

#[test]
fn a_path_of_any_length_is_answered() {
    let text = r#"{"nodes":[{"name":"A","parameters":{}}],"connections":{}}"#;
    let set =
        |steps: usize| json!([{"type": "setNodeParameter", "nodeName": "A", "path": "/q".repeat(steps), "value": 5}]);
    assert!(after(text, set(100)).is_ok());
    assert!(after(text, set(100_000)).unwrap_err().contains("path has 100000 steps; pass one of at most 100"));
    let deep = format!(
        r#"{{"nodes":[{{"name":"A","parameters":{}1{}}}],"connections":{{}}}}"#,
        r#"{"a":"#.repeat(110),
        "}".repeat(110)
    );
    let patch = (0..110).fold(json!({"b": 2}), |inner, _| json!({ "a": inner }));
    let merged = after(&deep, json!([{"type": "updateNodeParameters", "nodeName": "A", "parameters": patch["a"]}]));
    assert_eq!(merged.unwrap(), deep.replace(r#""a":1}"#, r#""a":1,"b":2}"#));
}

#[test]
fn what_changes_nothing_is_refused_or_said() {
    let text = r#"{"nodes":[{"name":"A"}],"connections":{}}"#;
    for operation in [
        json!({"type": "setWorkflowSettings", "settings": {}}),
        json!({"type": "updateNodeParameters", "nodeName": "A", "parameters": {}}),
        json!({"type": "addNode", "node": {"type": "a.b", "name": "N"}, "sourceOutput": "main"}),
        json!({"type": "renameNode", "oldName": "A", "newName": "Constructor"}),
    ] {
        assert!(after(text, json!([operation])).is_err(), "{operation}");
    }
    assert_eq!(after(text, json!([{"type": "setWorkflowSettings", "settings": {"timezone": null}}])).unwrap(), text);
}

#[test]
fn names_can_be_exchanged_and_given_again() {
    let text = r#"{"nodes":[{"name":"A"},{"name":"B"},{"name":"C"}],"connections":{"A":{"main":[[{"node":"C","index":1}]]},"B":{"main":[[{"node":"C","index":2}]]}}}"#;
    let rename = |old: &str, new: &str| json!({"type": "renameNode", "oldName": old, "newName": new});
    let exchanged = after(text, json!([rename("A", "T"), rename("B", "A"), rename("T", "B")])).unwrap();
    assert_eq!(exchanged, text.replace("\"A\"", "\"T\"").replace("\"B\"", "\"A\"").replace("\"T\"", "\"B\""));
    let remove = json!({"type": "removeNode", "nodeName": "X"});
    for (gone, other, index) in [("A", "B", 2), ("B", "A", 1)] {
        let again = after(text, json!([rename(gone, "X"), remove, rename(other, "X")])).unwrap();
        let connections = format!(r#""connections":{{"X":{{"main":[[{{"node":"C","index":{index}}}]]}}}}}}"#);
        assert!(again.ends_with(&connections), "{again}");
    }
}

#[test]
fn a_new_node_takes_over_a_connection_to_nowhere() {
    let text = r#"{"nodes":[{"name":"A"}],"connections":{"A":{"main":[[{"node":"Gone"}]]}}}"#;
    let add = json!([{"type": "addNode", "node": {"name": "N", "type": "a.b"}, "after": "A"}]);
    let made: Value = serde_json::from_str(&after(text, add).unwrap()).unwrap();
    assert_eq!(made["connections"]["N"]["main"][0][0]["node"], "Gone");
}

#[test]
fn other_credentials_keep_their_bytes() {
    let text = r#"{"nodes":[{"name":"A","credentials":{"a":{"id":"\ud83d"}, "b" : 1e400}}]}"#;
    let set = |credentials: Value| json!([{"type": "setNodeSettings", "nodeName": "A", "settings": {"credentials": credentials}}]);
    let added = text.replace("1e400}", r#"1e400, "c" : {"id":"3"}}"#);
    assert_eq!(after(text, set(json!({"c": {"id": "3"}}))).unwrap(), added);
    assert_eq!(after(&added, set(json!({"c": null}))).unwrap(), text);
    assert_eq!(after(text, set(json!({"a": null, "b": null}))).unwrap(), r#"{"nodes":[{"name":"A"}]}"#);
}

#[test]
fn a_rename_leaves_parameters_that_are_no_object() {
    let text = r#"{"nodes":[{"name":"\u00e9"},{"name":"B","parameters":["é"]}]}"#;
    let renamed = after(text, json!([{"type": "renameNode", "oldName": "é", "newName": "C"}])).unwrap();
    assert_eq!(renamed, text.replace("\\u00e9", "C"));
}

#[test]
fn what_is_removed_does_not_bring_back_what_it_hid() {
    let text = r#"{"nodes":[{"name":"A","parameters":{"x":1,"y":2,"x":3}}],"settings":{"z":1,"z":2},"pinData":{"A":[1],"A":[2]}}"#;
    let operations = json!([
        {"type": "removeNodeParameter", "nodeName": "A", "path": "/x"},
        {"type": "setWorkflowSettings", "settings": {"z": null}},
        {"type": "renameNode", "oldName": "A", "newName": "B"},
        {"type": "removeNode", "nodeName": "B"},
    ]);
    let some = serde_json::from_value::<Vec<Value>>(operations).unwrap();
    let kept = r#"{"nodes":[{"name":"B","parameters":{"y":2}}],"settings":{},"pinData":{"B":[1],"B":[2]}}"#;
    assert_eq!(after(text, json!(some[..3])).unwrap(), kept);
    assert_eq!(after(text, json!(some)).unwrap(), r#"{"nodes":[],"settings":{},"pinData":{}}"#);
}

#[test]
fn what_occurs_once_does_not_overlap_itself() {
    let text = |value: &str| format!(r#"{{"nodes":[{{"name":"A","parameters":{{"v":"{value}"}}}}]}}"#);
    let patch = |find: &str, all: bool| json!([{"type": "patchNodeParameter", "nodeName": "A", "path": "/v", "patches": [{"find": find, "replace": "x", "replaceAll": all}]}]);
    for (value, find) in [("}}}", "}}"), ("ababa", "aba"), ("ééé", "éé")] {
        assert!(after(&text(value), patch(find, false)).unwrap_err().contains("occurs 2 times"), "{find}");
        let replaced = text(&value.replace(find, "x"));
        assert_eq!(after(&text(value), patch(find, true)).unwrap(), replaced, "{find}");
    }
    assert_eq!(after(&text("a}} }"), patch("}}", false)).unwrap(), text("ax }"));
}

#[test]
fn a_name_is_noted_however_it_is_escaped() {
    let all = ["Get user", "G\\u00e9t", "G\\\\x65t user", "\\u0047et user", "it\\\\'s", "\\\"", "é", "Gét"];
    for (name, written) in
        ["Get user", "Gét", "it's", "\"", "é"].into_iter().flat_map(|name| all.map(|text| (name, text)))
    {
        let value = format!(r#""={{{{ '{written}' }}}}""#);
        let text = format!(r#"{{"nodes":[{{"name":{}}},{{"name":"B","parameters":{{"v":{value}}}}}]}}"#, json!(name));
        let operations = json!([{"type": "renameNode", "oldName": name, "newName": "New"}]);
        let operations: Vec<Operation> = serde_json::from_value(operations).unwrap();
        let edit = edited(&Written::parse(text.clone()).unwrap(), |editor| {
            editor.apply_all(&operations, &|_| None)?;
            Ok(editor.notes().len())
        });
        let expression: String = serde_json::from_str(&value).unwrap();
        assert_eq!(edit.unwrap().0, mentions(&expression, Syntax::Expression, name), "{text}");
    }
}

#[test]
fn an_index_is_written_in_one_way() {
    let text = r#"{"nodes":[{"name":"A","parameters":{"l":[1,2]}}]}"#;
    let set = |path: &str| json!([{"type": "setNodeParameter", "nodeName": "A", "path": path, "value": 3}]);
    assert_eq!(after(text, set("/l/1")).unwrap(), text.replace('2', "3"));
    for path in ["/l/01", "/l/+1", "/l/00", "/l/2"] {
        assert!(after(text, set(path)).is_err(), "{path}");
    }
}

#[test]
fn connections_next_to_a_changed_one_keep_their_bytes() {
    let text = r#"{"nodes":[{"name":"A"},{"name":"B"},{"name":"C"}],"connections":{
        "A" : {"main":[ [{"node":"B",  "type":"main","index":0} ,{"node":"\u0043","type":"main","index":0,"note":1.0}] ]},
        "B":{ "main":[[{ "node":"C","type":"main","index":0 }],null] }}}"#;
    let renamed = after(text, json!([{"type": "renameNode", "oldName": "B", "newName": "Bee"}])).unwrap();
    assert_eq!(renamed, text.replace(r#""B""#, r#""Bee""#));
    let removed = after(text, json!([{"type": "removeConnection", "source": "A", "target": "B"}])).unwrap();
    assert_eq!(removed, text.replace(r#"[{"node":"B",  "type":"main","index":0} ,"#, "["));
    let added = after(text, json!([{"type": "addConnection", "source": "B", "target": "A"}])).unwrap();
    let to_a = r#"},{"node":"A","type":"main","index":0}],null"#;
    assert_eq!(added, text.replace("}],null", to_a));
    let gone = after(text, json!([{"type": "removeNode", "nodeName": "C"}])).unwrap();
    assert!(gone.contains(r#""A" : {"main":[ [{"node":"B",  "type":"main","index":0}] ]}"#), "{gone}");
}

#[test]
fn parameters_that_are_no_object_are_replaced() {
    let text = r#"{"nodes":[{"name":"A","parameters":[0, 0]}],"connections":{}}"#;
    let update = |replace: bool| {
        after(
            text,
            json!([{"type": "updateNodeParameters", "nodeName": "A", "parameters": {"x": 1}, "replace": replace}]),
        )
    };
    assert_eq!(update(true).unwrap(), text.replace("[0, 0]", r#"{"x":1}"#));
    assert!(update(false).unwrap_err().contains("not an object"));
}
