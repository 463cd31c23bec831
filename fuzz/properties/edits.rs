//! Scripts of edits: their result equals that of a naive reference, and everything else keeps its bytes.

#![allow(clippy::explicit_auto_deref, reason = "without the star, the type of what is picked is not inferred")]

use std::fmt::Write as _;

use n8n_lens::workflow::edit::{self, ConnectionRequest, NewNode, Operation, Patch};
use n8n_lens::workflow::{Document, Error, Written};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::edits_reference::{Reference, Touch, Way, is_plain, value_of};
use super::entropy::Entropy;
use super::mutation;
use super::tree::Tree;

/// The most operations of a script.
const OPERATIONS: usize = 8;

/// Makes a workflow and a script of edits from the bytes.
pub fn check(data: &[u8]) {
    let mut entropy = Entropy::new(data);
    let text = workflow(&mut entropy);
    if Document::parse(text.as_bytes()).is_ok() {
        check_workflow(&text, &mut entropy);
    }
}

/// Makes a script of edits of a workflow.
pub fn check_workflow(text: &str, entropy: &mut Entropy<'_>) {
    let Some(start) = open(text) else {
        return;
    };
    match entropy.below(8) {
        0 => assert_set_again(text, &start, entropy),
        1 => assert_set_back(text, &start, entropy),
        2 => assert_added_and_removed(text, &start, entropy),
        3 => assert_renamed_back(text, &start, entropy),
        _ => {}
    }
    let operations = script(&start, entropy);
    if let Some(difference) = difference(text, &operations) {
        let (operations, difference) = smallest(text, operations, difference);
        panic!("{operations:?}\n{difference}\n{text}");
    }
}

/// The reference of a text.
fn open(text: &str) -> Option<Reference> {
    let mut reference = Reference::open(text)?;
    let connections = Level::member(text, "connections").map(serde_json::from_str::<Value>);
    reference.has_odd_connections = connections.is_some_and(|read| read.is_err());
    Some(reference)
}

/// The fewest of the operations that still differ.
fn smallest(text: &str, mut operations: Vec<Operation>, mut found: String) -> (Vec<Operation>, String) {
    let mut at = 0;
    while at < operations.len() {
        let mut fewer = operations.clone();
        fewer.remove(at);
        match difference(text, &fewer) {
            Some(difference) => (operations, found) = (fewer, difference),
            None => at += 1,
        }
    }
    (operations, found)
}

/// The text after these operations.
fn edited(text: &str, operations: &[Operation]) -> Result<String, Error> {
    let before = Written::parse(text.to_owned())?;
    edit::edited(&before, |editor| editor.apply_all(operations, &|_| None)).map(|(_, after)| after.text)
}

/// The same; `None` if they were refused.
fn apply(text: &str, operations: &[Operation]) -> Option<String> {
    edited(text, operations).ok()
}

/// How our edits differ from those of the reference.
fn difference(text: &str, operations: &[Operation]) -> Option<String> {
    let mut reference = open(text)?;
    let is_possible = operations.iter().all(|operation| reference.apply(operation).is_some());
    let ours = match edited(text, operations) {
        Ok(ours) => ours,
        Err(error @ Error::NotJson { .. }) => return Some(format!("The result: {error}")),
        Err(error) if is_possible && !reference.is_unclear => return Some(format!("It is refused: {error}")),
        Err(_) => return None,
    };
    if reference.is_unclear {
        return value_of(&ours).is_none().then(|| format!("It is no JSON: {ours}"));
    }
    if !is_possible {
        return Some(format!("It is not refused:\n{ours}"));
    }
    let Some(made) = open(&ours) else {
        return Some(format!("It is no workflow: {ours}"));
    };
    difference_of_values(&reference, made).or_else(|| difference_of_bytes(&reference, text, &ours))
}

fn difference_of_values(reference: &Reference, made: Reference) -> Option<String> {
    let compare = |what: &str, expected: &Value, made: &Value, is_sure: bool| {
        let is_same = same(expected, made, is_sure);
        (!is_same).then(|| format!("{what}\nexpected {expected}\ngot      {made}"))
    };
    let top = |members: &Map<String, Value>| {
        // Absent connections may be written as an empty object.
        let is_left_out = |name: &str, value: &Value| {
            name == "nodes" || (name == "connections" && (value.is_null() || *value == json!({})))
        };
        let members = members.iter().filter(|(name, value)| !is_left_out(name, value));
        Value::Object(members.map(|(name, value)| (name.clone(), value.clone())).collect())
    };
    if reference.nodes.len() != made.nodes.len() {
        return Some(format!("{} nodes instead of {}", made.nodes.len(), reference.nodes.len()));
    }
    let nodes = reference.nodes.iter().zip(made.nodes).find_map(|(expected, mut made)| {
        made.value.retain(|name, _| !expected.open.contains(&name.as_str()));
        let is_sure = !reference.is_unsure_of_texts;
        compare("node", &expected.value.clone().into(), &made.value.into(), is_sure)
    });
    nodes.or_else(|| compare("workflow", &top(&reference.top), &top(&made.top), true))
}

/// Whether two values are the same; if the reference is unsure of texts, any texts with code may differ.
fn same(one: &Value, other: &Value, is_sure: bool) -> bool {
    match (one, other) {
        (Value::String(one), Value::String(other)) if !is_sure && one.contains('$') && other.contains('$') => true,
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other, is_sure))
        }
        (Value::Object(one), Value::Object(other)) => {
            let has = |name: &String, value| other.get(name).is_some_and(|other| same(value, other, is_sure));
            one.len() == other.len() && one.iter().all(|(name, value)| has(name, value))
        }
        _ => one == other,
    }
}

/// A level of a JSON text.
enum Level<'t> {
    List(Vec<&'t str>),
    Record(Vec<(String, &'t str)>),
    Other,
}

impl<'t> Level<'t> {
    fn of(text: &'t str) -> Self {
        if let Ok(elements) = serde_json::from_str::<Vec<&RawValue>>(text) {
            return Self::List(elements.into_iter().map(RawValue::get).collect());
        }
        serde_json::from_str(text).map_or(Self::Other, |Members(members)| Self::Record(members))
    }

    fn record(text: &'t str) -> Vec<(String, &'t str)> {
        if let Self::Record(members) = Self::of(text) { members } else { Vec::new() }
    }

    /// The member with this name; if there are several, the last one counts.
    fn member(text: &'t str, name: &str) -> Option<&'t str> {
        Self::record(text).into_iter().rev().find(|(known, _)| known == name).map(|(_, value)| value)
    }
}

/// All members in order, including duplicates.
struct Members<'t>(Vec<(String, &'t str)>);

impl<'de> serde::Deserialize<'de> for Members<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some((name, value)) = map.next_entry::<&RawValue, &RawValue>()? {
                    let shown = value_of(name.get()).and_then(|name| name.as_str().map(str::to_owned));
                    members.push((shown.unwrap_or_default(), value.get()));
                }
                Ok(Members(members))
            }
        }
        from.deserialize_map(Visitor)
    }
}

fn difference_of_bytes(reference: &Reference, before: &str, after: &str) -> Option<String> {
    let around = |text: &str| (text.len() - text.trim_start().len(), text.len() - text.trim_end().len());
    if around(before) != around(after) {
        return Some(format!("other white space around it: {after:?}"));
    }
    let mut touches: Vec<_> = reference.touched.iter().cloned().map(Touch::At).collect();
    touches.push(Touch::At(vec!["nodes".to_owned()]));
    let top = untouched(before, after, &[], &touches, reference.has_renamed);
    let nodes = |text| match Level::member(text, "nodes").map(Level::of) {
        Some(Level::List(nodes)) => nodes,
        _ => Vec::new(),
    };
    let (old, new) = (nodes(before), nodes(after));
    let nodes = reference.nodes.iter().zip(new).find_map(|(node, new)| {
        let old = old.get(node.origin?)?;
        if node.touches.is_empty() {
            return (*old != new).then(|| format!("an untouched node\nwas {old}\nis  {new}"));
        }
        untouched(old, new, &[], &node.touches, reference.has_renamed)
    });
    top.or(nodes).or_else(|| difference_of_sources(before, after))
}

/// Everything outside the path of a touch has the same bytes.
fn untouched(before: &str, after: &str, here: &[String], touches: &[Touch], has_renamed: bool) -> Option<String> {
    let is_at = |way: &Way| here.starts_with(way);
    let is_below = |way: &Way| way.starts_with(here);
    let mut lost_elements = false;
    let mut is_on_the_way = false;
    for touch in touches {
        match touch {
            Touch::At(way) if is_at(way) => return None,
            Touch::Elements(way) if way == here => lost_elements = true,
            // Its indices may have changed.
            Touch::Elements(way) if is_at(way) => return None,
            Touch::At(way) | Touch::Elements(way) => is_on_the_way |= is_below(way),
        }
    }
    if !lost_elements && !is_on_the_way {
        return (before != after).then(|| format!("untouched {here:?}\nwas {before}\nis  {after}"));
    }
    let deeper = |step: &str| here.iter().cloned().chain([step.to_owned()]).collect::<Way>();
    let is_touched = |way: &Way| {
        let on_the_way = |touch: &Touch| match touch {
            Touch::At(touched) | Touch::Elements(touched) => touched.starts_with(way) || way.starts_with(touched),
        };
        touches.iter().any(on_the_way)
    };
    match (Level::of(before), Level::of(after)) {
        (Level::List(_), Level::List(_)) if lost_elements && is_on_the_way => None,
        (Level::List(old), Level::List(new)) if lost_elements => {
            let mut old = old.iter();
            let odd = new.iter().find(|new| !old.any(|old| old == *new))?;
            Some(format!("an element that was not there: {odd}"))
        }
        (Level::List(old), Level::List(new)) => old
            .iter()
            .zip(new)
            .enumerate()
            .find_map(|(at, (old, new))| untouched(old, new, &deeper(&at.to_string()), touches, has_renamed)),
        (Level::Record(old), Level::Record(new)) => {
            let others = |members: &[(String, &str)]| {
                let is_hidden =
                    |at: usize, name: &str| has_renamed && members[at + 1..].iter().any(|(other, _)| other == name);
                let members = members.iter().enumerate();
                let members = members.filter(|(at, (name, _))| !is_touched(&deeper(name)) && !is_hidden(*at, name));
                members.map(|(_, (name, value))| (name.clone(), (*value).to_owned())).collect::<Vec<_>>()
            };
            let (old_others, new_others) = (others(&old), others(&new));
            if old_others != new_others {
                return Some(format!("untouched members of {here:?}\nwere {old_others:?}\nare  {new_others:?}"));
            }
            old.iter().filter(|(name, _)| is_touched(&deeper(name))).find_map(|(name, _)| {
                let (old, new) = (Level::member(before, name)?, Level::member(after, name)?);
                untouched(old, new, &deeper(name), touches, has_renamed)
            })
        }
        // It was created.
        _ => None,
    }
}

/// The parts of a source that did not change have the same bytes.
fn difference_of_sources(before: &str, after: &str) -> Option<String> {
    let sources = |text| Level::member(text, "connections").map(Level::record).unwrap_or_default();
    let (old, new) = (sources(before), sources(after));
    let is_once = |name: &str| old.iter().filter(|(known, _)| known == name).count() == 1;
    new.iter().find_map(|(name, new)| {
        let (_, old) = old.iter().find(|(known, _)| known == name && is_once(name))?;
        let is_other = value_of(old) == value_of(new) && old != new;
        is_other.then(|| format!("connections of an untouched source\nwere {old}\nare  {new}"))
    })
}

/// Setting an existing value again changes no byte.
fn assert_set_again(text: &str, start: &Reference, entropy: &mut Entropy<'_>) {
    let mut operations = Vec::new();
    for _ in 0..1 + entropy.below(4) {
        operations.extend(same_again(start, entropy));
    }
    operations.retain(|operation| {
        let mut reference = start.clone();
        reference.apply(operation).is_some()
            && !reference.is_unclear
            && reference.top == start.top
            && reference.nodes.iter().zip(&start.nodes).all(|(after, before)| after.value == before.value)
    });
    // A member that hides another may hold something that a value cannot, and then an equal value cannot be recognized.
    if hides(text) && serde_json::from_str::<Value>(text).is_err() {
        return;
    }
    let made = apply(text, &operations);
    assert!(made.as_deref() == Some(text), "setting what is there: {operations:?}\n{text}\nbecomes {made:?}");
}

/// Whether an object has two members with the same name.
fn hides(text: &str) -> bool {
    match Level::of(text) {
        Level::List(elements) => elements.into_iter().any(hides),
        Level::Record(members) => members
            .iter()
            .enumerate()
            .any(|(at, (name, value))| hides(value) || members[..at].iter().any(|(other, _)| other == name)),
        Level::Other => false,
    }
}

fn same_again(start: &Reference, entropy: &mut Entropy<'_>) -> Option<Operation> {
    let node = entropy.below(start.nodes.len());
    let node_name = name_of(start, node, entropy)?;
    let members = &start.nodes[node].value;
    match entropy.below(7) {
        0 => {
            let settings = members.iter().filter(|(name, value)| *name != "parameters" && is_plain(value));
            let settings: Vec<_> = settings.map(|(name, value)| (name.clone(), value.clone())).collect();
            let settings = (!settings.is_empty()).then(|| entropy.pick(&settings).clone()).into_iter().collect();
            Some(Operation::SetNodeSettings { node_name, settings })
        }
        1 => {
            let parameters = members.get("parameters")?.as_object()?;
            let parameters = parameters.iter().filter(|(_, value)| is_plain(value));
            let parameters = parameters.map(|(name, value)| (name.clone(), value.clone())).collect();
            Some(Operation::UpdateNodeParameters { node_name, parameters, replace: entropy.one_in(2) })
        }
        2 => {
            let settings = start.top.get("settings")?.as_object()?;
            let settings = settings.iter().filter(|(_, value)| is_plain(value));
            let settings = settings.map(|(name, value)| (name.clone(), value.clone())).collect();
            Some(Operation::SetWorkflowSettings { settings })
        }
        3 => {
            let text = |name: &str| start.top.get(name).filter(|value| is_plain(value))?.as_str().map(str::to_owned);
            Some(Operation::SetWorkflowMetadata { name: text("name"), description: text("description") })
        }
        4 => Some(Operation::AddConnection(connection(start, entropy)?)),
        _ => {
            let (way, value) = place(members.get("parameters")?, entropy)?;
            let path = path_of(&way, entropy);
            is_plain(&value).then_some(Operation::SetNodeParameter { node_name, path, value })
        }
    }
}

/// Setting another value and then the old one changes no byte.
fn assert_set_back(text: &str, start: &Reference, entropy: &mut Entropy<'_>) {
    if start.nodes.is_empty() {
        return;
    }
    let node = entropy.below(start.nodes.len());
    let Some(node_name) = name_of(start, node, entropy) else { return };
    if start.find_index(&node_name) != Some(node) {
        return;
    }
    let Some(parameters) = start.nodes[node].value.get("parameters") else { return };
    let Some((way, value)) = place(parameters, entropy) else { return };
    let json = value.to_string();
    let written = raw_at(text, node, &way).filter(|written| *written == json);
    if written.is_none() || !is_plain(&value) || value.as_object().is_some_and(|members| !members.is_empty()) {
        return;
    }
    // The layout of a list depends on its surroundings.
    if value.as_array().is_some_and(|elements| !elements.is_empty()) {
        return;
    }
    let path = path_of(&way, entropy);
    let set = |value| Operation::SetNodeParameter { node_name: node_name.clone(), path: path.clone(), value };
    let operations = [set(any(entropy, 2)), set(value)];
    let mut reference = start.clone();
    if reference.apply(&operations[0]).is_none() || reference.is_unclear {
        return;
    }
    let Some(between) = apply(text, &operations[..1]) else {
        panic!("it cannot be set: {operations:?}\n{text}");
    };
    let again = apply(&between, &operations[1..]);
    assert!(again.as_deref() == Some(text), "there and back: {operations:?}\n{text}\nbecomes {again:?}");
    let made = apply(text, &operations);
    assert!(made.as_deref() == Some(text), "there and back at once: {operations:?}\n{text}\nbecomes {made:?}");
}

/// The raw text at a place in a node's parameters.
fn raw_at<'t>(text: &'t str, node: usize, way: &Way) -> Option<&'t str> {
    let Level::List(nodes) = Level::of(Level::member(text, "nodes")?) else { return None };
    let mut raw = Level::member(nodes.get(node)?, "parameters")?;
    for step in way {
        raw = match Level::of(raw) {
            Level::List(elements) => elements.get(step.parse::<usize>().ok()?)?,
            _ => Level::member(raw, step)?,
        };
    }
    Some(raw)
}

/// Adding a node and removing it changes no byte.
fn assert_added_and_removed(text: &str, start: &Reference, entropy: &mut Entropy<'_>) {
    const NAME: &str = "A new one, of all";
    let node = NewNode { name: Some(NAME.to_owned()), ..new_node(entropy) };
    let add = Operation::AddNode { node, after: None, source_output: None };
    let remove = Operation::RemoveNode { node_name: NAME.to_owned(), reconnect: entropy.one_in(3) };
    let mut reference = start.clone();
    if start.find_index(NAME).is_some() || reference.apply(&add).is_none() || has_link_of(start, NAME) {
        return;
    }
    // The contract does not say what remains of a list that held only white space, and allows `connections` to be refused.
    let has_blank = Level::member(text, "nodes").is_some_and(|nodes| nodes != "[]") && start.nodes.is_empty();
    if has_blank || reference.apply(&remove).is_none() || reference.is_unclear {
        return;
    }
    let operations = [add, remove];
    let Some(between) = apply(text, &operations[..1]) else {
        panic!("it cannot be added: {operations:?}\n{text}");
    };
    for (what, made) in [("", apply(&between, &operations[1..])), (" at once", apply(text, &operations))] {
        assert!(made.as_deref() == Some(text), "added and removed{what}: {operations:?}\n{text}\nbecomes {made:?}");
    }
}

fn has_link_of(start: &Reference, name: &str) -> bool {
    start.top.get("connections").is_some_and(|connections| connections.to_string().contains(name))
}

/// Renaming there and back does not change the value.
fn assert_renamed_back(text: &str, start: &Reference, entropy: &mut Entropy<'_>) {
    let fresh = *entropy.pick(&["Another name", "q\"uo'te", "a.b/c~d", "漢 $& ${x}", "x}}y", "back\\slash`"]);
    let node = entropy.below(start.nodes.len());
    let Some(Value::String(name)) = start.nodes.get(node).and_then(|node| node.value.get("name")) else { return };
    let there = Operation::RenameNode { old_name: name.clone(), new_name: fresh.to_owned() };
    let back = Operation::RenameNode { old_name: fresh.to_owned(), new_name: name.clone() };
    let (mut reference, written) = (start.clone(), value_of(text));
    let is_possible = !written.as_ref().is_some_and(|value| value.to_string().contains(&super::tree::inside(fresh)))
        && reference.apply(&there).is_some()
        && !reference.is_unclear
        && reference.apply(&back).is_some();
    if !is_possible || text.contains("\\\\") {
        return;
    }
    for made in [
        apply(text, std::slice::from_ref(&there)).and_then(|text| apply(&text, std::slice::from_ref(&back))),
        apply(text, &[there.clone(), back.clone()]),
    ] {
        let value = made.as_deref().and_then(value_of);
        assert!(value == written, "renamed there and back: {there:?}\n{text}\nbecomes {made:?}");
    }
}

// A workflow.

/// Names of nodes.
const NAMES: [&str; 14] =
    ["A", "B", "C", "Get all", "Loop", "If", "Sw", "", "a.b/c~d", "q\"uo'te", "漢字", "id1", "Ghost", "x}}y"];

/// Names of parameters.
const KEYS: [&str; 16] =
    ["a", "b", "url", "list", "a.b", "a/b", "a~b", "q\"", "", "0", "-", "x y", "漢", "parameters", "a[0]", "~1"];

const TYPES: [&str; 8] = [
    "my.node",
    "my.node",
    "n8n-nodes-base.stickyNote",
    "n8n-nodes-base.if",
    "n8n-nodes-base.splitInBatches",
    "n8n-nodes-base.switch",
    "n8n-nodes-base.noOp",
    "my.other",
];

/// Values that a file can have.
const SCALARS: [&str; 22] = [
    "1",
    "1.50",
    "1e400",
    "-0",
    "0.1",
    "12345678901234567890123",
    "null",
    "true",
    "false",
    "\"\"",
    "\"text\"",
    "\"half \\ud83d of it\"",
    "\"\\u0041\\/\\n\"",
    "\"aaa bb aaa\"",
    "\"= {{ 1 }}\"",
    "\"={{ $('A').item.json.x }}\"",
    "\"={{ $node[\\\"B\\\"].json }} and {{ $('Get all').item.json.x }}\"",
    "\"={{ $('A').item.json.x }} {{ $('B').item.json.x }}\"",
    "\"$('A') is no code\"",
    "\"\\ud83d\\ude00\"",
    "[]",
    "{}",
];

/// The text of a workflow.
fn workflow(entropy: &mut Entropy<'_>) -> String {
    let kind = entropy.below(8);
    if kind == 7 {
        let choices: Vec<u8> = (0..40).map(|_| entropy.byte()).collect();
        return String::from_utf8(mutation::workflow(&choices)).expect("it is a text");
    }
    let tree = if kind == 6 { mutation::real_workflow(entropy) } else { odd(entropy) };
    let layout = entropy.below(7);
    let mut text = String::new();
    let mut white = White { layout, entropy };
    white.around(&mut text);
    write(&tree, 0, &mut white, &mut text);
    white.around(&mut text);
    text
}

fn raw(json: &str) -> Tree {
    Tree::Raw(json.to_owned())
}

fn quoted(text: &str) -> Tree {
    Tree::Raw(Value::from(text).to_string())
}

fn member(name: &str, value: Tree) -> (String, Tree) {
    (super::tree::inside(name), value)
}

/// A workflow that n8n would not write.
fn odd(entropy: &mut Entropy<'_>) -> Tree {
    let count = entropy.below(6);
    let names: Vec<&str> =
        (0..count).map(|at| if entropy.one_in(3) { *entropy.pick(&NAMES) } else { NAMES[at] }).collect();
    let nodes = names.iter().enumerate().map(|(at, name)| odd_node(at, name, entropy)).collect();
    let mut members = vec![member("name", quoted("W")), member("nodes", Tree::List(nodes))];
    if !entropy.one_in(8) {
        members.push(member("connections", odd_connections(&names, entropy)));
    }
    if !entropy.one_in(4) {
        members.push(member("settings", odd_settings(entropy)));
    }
    if entropy.one_in(3) {
        let pinned = (0..1 + entropy.below(3)).map(|_| member(*entropy.pick(&NAMES), odd_value(entropy, 2))).collect();
        members.push(member("pinData", Tree::Record(pinned)));
    }
    if entropy.one_in(3) {
        members.push(member("x-own", odd_value(entropy, 2)));
    }
    if entropy.one_in(5) {
        members.push(member("description", raw("\"d\"")));
    }
    shuffle(&mut members, entropy);
    Tree::Record(members)
}

fn odd_settings(entropy: &mut Entropy<'_>) -> Tree {
    let keys = ["executionOrder", "timezone", "x.y"];
    Tree::Record((0..entropy.below(4)).map(|_| member(*entropy.pick(&keys), odd_value(entropy, 1))).collect())
}

fn shuffle(members: &mut [(String, Tree)], entropy: &mut Entropy<'_>) {
    for last in (1..members.len()).rev() {
        members.swap(last, entropy.below(last + 1));
    }
}

fn odd_node(at: usize, name: &str, entropy: &mut Entropy<'_>) -> Tree {
    let mut members = Vec::new();
    if !entropy.one_in(8) {
        members.push(member("id", quoted(&format!("id{}", if entropy.one_in(8) { 0 } else { at }))));
    }
    if !entropy.one_in(9) {
        members.push(member("name", quoted(name)));
    }
    members.push(member("type", quoted(*entropy.pick(&TYPES))));
    members.push(member("typeVersion", raw(*entropy.pick(&["3", "3", "1", "2.2", "1.0"]))));
    if !entropy.one_in(8) {
        members.push(member("parameters", odd_record(entropy, 3)));
    }
    if !entropy.one_in(4) {
        members.push(member("position", raw("[0, 20.50]")));
    }
    if entropy.one_in(4) {
        members.push(member("onError", raw("\"continueErrorOutput\"")));
    }
    if entropy.one_in(4) {
        members.push(member("notes", odd_value(entropy, 0)));
    }
    if entropy.one_in(4) {
        members.push(member("credentials", raw("{\"api\": {\"id\": \"1\", \"name\" :\"n\"}, \"b\": 1.50}")));
    }
    if entropy.one_in(2) {
        shuffle(&mut members, entropy);
    }
    Tree::Record(members)
}

fn odd_record(entropy: &mut Entropy<'_>, depth: usize) -> Tree {
    let mut members: Vec<_> =
        (0..entropy.below(5)).map(|_| member(*entropy.pick(&KEYS), odd_value(entropy, depth))).collect();
    if !entropy.one_in(12) {
        let mut names: Vec<String> = Vec::new();
        members.retain(|(name, _)| {
            !names.contains(name) && {
                names.push(name.clone());
                true
            }
        });
    }
    Tree::Record(members)
}

fn odd_value(entropy: &mut Entropy<'_>, depth: usize) -> Tree {
    match entropy.below(6) {
        0 | 1 if depth > 0 => odd_record(entropy, depth - 1),
        2 if depth > 0 => Tree::List((0..entropy.below(4)).map(|_| odd_value(entropy, depth - 1)).collect()),
        _ => raw(*entropy.pick(&SCALARS)),
    }
}

fn odd_connections(names: &[&str], entropy: &mut Entropy<'_>) -> Tree {
    if entropy.one_in(12) {
        return raw(*entropy.pick(&["null", "{}"]));
    }
    let mut known: Vec<&str> = names.to_vec();
    known.push("Ghost");
    let mut sources: Vec<(String, Tree)> = Vec::new();
    for _ in 0..entropy.below(5) {
        let source = member(*entropy.pick(&known), odd_outputs(&known, entropy));
        if !sources.iter().any(|(name, _)| *name == source.0) {
            sources.push(source);
        }
    }
    Tree::Record(sources)
}

fn odd_outputs(known: &[&str], entropy: &mut Entropy<'_>) -> Tree {
    if entropy.one_in(12) {
        return raw(*entropy.pick(&["null", "{}", "{\"main\": null}", "{\"main\": [ ]}"]));
    }
    let kind = if entropy.one_in(6) { "ai_tool" } else { "main" };
    let outputs = (0..entropy.below(4)).map(|_| match entropy.below(8) {
        0 => raw("null"),
        1 => raw("[]"),
        _ => Tree::List((0..entropy.below(3)).map(|_| odd_target(kind, known, entropy)).collect()),
    });
    Tree::Record(vec![member(kind, Tree::List(outputs.collect()))])
}

fn odd_target(kind: &str, known: &[&str], entropy: &mut Entropy<'_>) -> Tree {
    let mut members = vec![member("node", quoted(*entropy.pick(known)))];
    if !entropy.one_in(8) {
        members.push(member("type", quoted(kind)));
    }
    if !entropy.one_in(8) {
        members.push(member("index", raw(if entropy.one_in(5) { "1" } else { "0" })));
    }
    if entropy.one_in(8) {
        members.push(member("own", raw("1.50")));
    }
    Tree::Record(members)
}

/// White space between the parts of a text.
struct White<'c, 'e> {
    layout: usize,
    entropy: &'c mut Entropy<'e>,
}

impl White<'_, '_> {
    fn around(&mut self, to: &mut String) {
        if self.entropy.one_in(4) {
            to.push_str(*self.entropy.pick(&["\n", " ", "\r\n", "\t\n"]));
        }
    }

    /// Before an element or a closing bracket.
    fn line(&mut self, depth: usize, to: &mut String) {
        let (line, indent) = match self.layout {
            0 | 6 => return,
            1 => ("\n", "  "),
            2 => ("\n", "\t"),
            3 => ("\r\n", "    "),
            4 => (" ", ""),
            _ => (*self.entropy.pick(&["", "\n", " ", "\r\n\t", "\t"]), *self.entropy.pick(&["", " ", "\t"])),
        };
        to.push_str(line);
        to.push_str(&indent.repeat(depth));
    }

    fn colon(&mut self, to: &mut String) {
        to.push_str(match self.layout {
            0 => ":",
            5 => *self.entropy.pick(&[":", ": ", " : ", ":\n"]),
            _ => ": ",
        });
    }
}

fn write(tree: &Tree, depth: usize, white: &mut White<'_, '_>, to: &mut String) {
    let (open, close, parts) = match tree {
        Tree::Raw(text) => return to.push_str(text),
        Tree::List(elements) => ('[', ']', elements.iter().map(|element| (None, element)).collect::<Vec<_>>()),
        Tree::Record(members) => ('{', '}', members.iter().map(|(name, value)| (Some(name), value)).collect()),
    };
    to.push(open);
    for (at, (name, part)) in parts.iter().enumerate() {
        if at > 0 {
            to.push_str(if white.layout == 6 { ", " } else { "," });
        }
        white.line(depth + 1, to);
        if let Some(name) = name {
            let _ = write!(to, "\"{name}\"");
            white.colon(to);
        }
        write(part, depth + 1, white, to);
    }
    if !parts.is_empty() || white.layout == 5 {
        white.line(depth, to);
    }
    to.push(close);
}

// A script.

/// Operations that mostly fit the workflow that the previous ones leave.
fn script(start: &Reference, entropy: &mut Entropy<'_>) -> Vec<Operation> {
    let mut state = start.clone();
    let mut operations = Vec::new();
    for _ in 0..1 + entropy.below(OPERATIONS) {
        let operation = operation(&state, entropy);
        let mut next = state.clone();
        match next.apply(&operation) {
            Some(()) => state = next,
            // A refused operation is often left out, so that the others are reached.
            None if !entropy.one_in(6) => continue,
            None => {}
        }
        operations.push(operation);
    }
    operations
}

/// A node by its name or its id, or none.
fn some_node(state: &Reference, entropy: &mut Entropy<'_>) -> String {
    if state.nodes.is_empty() || entropy.one_in(16) {
        return (*entropy.pick(&["Ghost", "", "nobody", "id9"])).to_owned();
    }
    let at = entropy.below(state.nodes.len());
    name_of(state, at, entropy).unwrap_or_default()
}

fn name_of(state: &Reference, at: usize, entropy: &mut Entropy<'_>) -> Option<String> {
    let node = state.nodes.get(at)?;
    let text = |member| node.value.get(member).filter(|value| is_plain(value))?.as_str().map(str::to_owned);
    // The id of a new node is not known.
    let id = text("id").filter(|_| node.origin.is_some());
    if entropy.one_in(4) { id.or_else(|| text("name")) } else { text("name").or(id) }
}

/// A place in a value, with the value there.
fn place(value: &Value, entropy: &mut Entropy<'_>) -> Option<(Way, Value)> {
    let mut way = Way::new();
    let mut here = value;
    loop {
        if !way.is_empty() && entropy.one_in(4) {
            break;
        }
        match here {
            Value::Object(members) if !members.is_empty() => {
                let (name, member) = members.iter().nth(entropy.below(members.len()))?;
                way.push(name.clone());
                here = member;
            }
            Value::Array(elements) if !elements.is_empty() => {
                let at = entropy.below(elements.len());
                way.push(at.to_string());
                here = &elements[at];
            }
            _ => break,
        }
    }
    (!way.is_empty()).then(|| (way, here.clone()))
}

/// A path in one of the notations.
fn path_of(way: &Way, entropy: &mut Entropy<'_>) -> String {
    let is_word =
        |step: &String| !step.is_empty() && step.chars().all(|char| char.is_ascii_alphabetic() || char == ' ');
    let is_index = |step: &String| !step.is_empty() && step.bytes().all(|byte| byte.is_ascii_digit());
    let is_written = way.first().is_some_and(is_word)
        && way[0] != "parameters"
        && way.iter().all(|step| is_word(step) || is_index(step));
    if !is_written || entropy.one_in(2) {
        return way.iter().map(|step| format!("/{}", step.replace('~', "~0").replace('/', "~1"))).collect();
    }
    let mut path = if entropy.one_in(4) { "parameters.".to_owned() } else { String::new() };
    for (at, step) in way.iter().enumerate() {
        let _ = match step {
            index if is_index(index) => write!(path, "[{index}]"),
            name if at > 0 => write!(path, ".{name}"),
            name => write!(path, "{name}"),
        };
    }
    path
}

/// A path in the parameters of a node: existing or not.
fn some_path(state: &Reference, node: &str, entropy: &mut Entropy<'_>) -> String {
    if entropy.one_in(24) {
        return (*entropy.pick(&["/a~2", "a..b", "a[x]", "a[0", "[0]", "/a~", "a.", ".a"])).to_owned();
    }
    let parameters = state.find_index(node).and_then(|at| state.nodes[at].value.get("parameters"));
    let (mut way, value) = parameters.and_then(|parameters| place(parameters, entropy)).unwrap_or_default();
    if way.is_empty() || entropy.one_in(4) {
        let steps = ["0", "1", "01", "9", "-"];
        let is_list = !way.is_empty() && value.is_array();
        way.push(if is_list { *entropy.pick(&steps) } else { *entropy.pick(&KEYS) }.to_owned());
        if entropy.one_in(4) {
            way.push((*entropy.pick(&KEYS)).to_owned());
        }
    } else if entropy.one_in(6)
        && let Some(last) = way.last_mut()
    {
        *last = (*entropy.pick(&KEYS)).to_owned();
    }
    path_of(&way, entropy)
}

/// A value that an operation can hold.
fn any(entropy: &mut Entropy<'_>, depth: usize) -> Value {
    let value = match entropy.below(10) {
        0 | 1 if depth > 0 => any_record(entropy, depth - 1).into(),
        2 if depth > 0 => (0..entropy.below(4)).map(|_| any(entropy, depth - 1)).collect::<Vec<_>>().into(),
        _ => value_of(*entropy.pick(&SCALARS)).unwrap_or_default(),
    };
    if is_plain(&value) { value } else { json!("odd \u{0} \" \\ 漢") }
}

fn any_record(entropy: &mut Entropy<'_>, depth: usize) -> Map<String, Value> {
    (0..entropy.below(4)).map(|_| ((*entropy.pick(&KEYS)).to_owned(), any(entropy, depth))).collect()
}

/// A merge of a value: some of its members, and others.
fn some_merge(value: Option<&Value>, entropy: &mut Entropy<'_>) -> Map<String, Value> {
    let mut merge = any_record(entropy, 2);
    for (name, member) in value.and_then(Value::as_object).into_iter().flatten() {
        if entropy.one_in(4) {
            let value = match entropy.below(3) {
                0 => Value::Null,
                1 => some_merge(Some(member), entropy).into(),
                _ => any(entropy, 2),
            };
            merge.insert(name.clone(), value);
        }
    }
    merge
}

fn settings(entropy: &mut Entropy<'_>) -> Map<String, Value> {
    let some = |entropy: &mut Entropy<'_>| match entropy.below(14) {
        0 => ("disabled", json!(true)),
        1 => ("onError", json!(*entropy.pick(&["continueErrorOutput", "stopWorkflow"]))),
        2 => ("retryOnFail", json!(false)),
        3 => ("maxTries", json!(1 + entropy.below(5))),
        4 => ("notes", json!("a \"note\"\n")),
        5 => ("position", json!([entropy.below(900), -20.5])),
        6 => ("typeVersion", json!(2.2)),
        7 => ("credentials", json!({"api": {"id": "2", "name": "x"}})),
        8 => ("webhookId", json!("w")),
        9 => (*entropy.pick(&["notes", "onError", "disabled", "credentials"]), Value::Null),
        10 => ("credentials", json!({"api": null, "c": {"id": "3"}})),
        11 => ("alwaysOutputData", json!(true)),
        12 if entropy.one_in(3) => ("color", json!(1)),
        13 if entropy.one_in(3) => ("onError", json!("explode")),
        _ => ("executeOnce", json!(true)),
    };
    (0..1 + entropy.below(3)).map(|_| some(entropy)).map(|(name, value)| (name.to_owned(), value)).collect()
}

fn new_node(entropy: &mut Entropy<'_>) -> NewNode {
    let settings = if entropy.one_in(3) {
        let mut settings = settings(entropy);
        settings.retain(|name, value| {
            !["position", "typeVersion"].contains(&name.as_str()) && value.get("api") != Some(&Value::Null)
        });
        settings
    } else {
        Map::new()
    };
    NewNode {
        node_type: (*entropy.pick(&TYPES)).to_owned(),
        version: entropy.one_in(2).then(|| *entropy.pick(&[1.0, 2.2, 3.0])),
        name: Some(some_name(entropy)),
        position: entropy.one_in(3).then_some((20.0, -0.5)),
        parameters: any_record(entropy, 2),
        settings,
    }
}

/// A name that a node can be given; some are taken or refused.
fn some_name(entropy: &mut Entropy<'_>) -> String {
    match entropy.below(8) {
        0 => (*entropy.pick(&NAMES)).to_owned(),
        1 => (*entropy.pick(&["constructor", "__proto__", "", "toString", "q\" \\", "${x} `$&`", "a'b"])).to_owned(),
        _ => format!("New {}", entropy.below(20)),
    }
}

/// Words of outputs and inputs.
const PORTS: [(&str, &str); 14] = [
    ("main", "main"),
    ("main", "main"),
    ("main:1", "main"),
    ("1", "main:1"),
    ("main:3", "0"),
    ("ai_tool", "ai_tool"),
    ("true", "main"),
    ("false", "main"),
    ("error", "main"),
    ("done", "main"),
    ("loop", "main:0"),
    ("maybe", "main"),
    ("main:1000", "main"),
    ("ai_tool", "ai_memory"),
];

/// An existing connection; occasionally one that does not exist.
fn connection(state: &Reference, entropy: &mut Entropy<'_>) -> Option<ConnectionRequest> {
    let sources = state.top.get("connections")?.as_object().filter(|sources| !sources.is_empty())?;
    let (source, kinds) = sources.iter().nth(entropy.below(sources.len()))?;
    let (kind, outputs) = kinds.as_object()?.iter().next()?;
    let outputs = outputs.as_array()?;
    let at = entropy.below(outputs.len());
    let targets = outputs.get(at)?.as_array()?;
    let target = targets.get(entropy.below(targets.len()))?;
    let into = target.get("type").and_then(Value::as_str).unwrap_or(kind);
    let input = target.get("index").and_then(Value::as_u64).unwrap_or(0);
    Some(ConnectionRequest {
        source: source.clone(),
        target: target.get("node")?.as_str()?.to_owned(),
        source_output: format!("{kind}:{at}"),
        target_input: format!("{into}:{input}"),
    })
}

fn operation(state: &Reference, entropy: &mut Entropy<'_>) -> Operation {
    let node_name = some_node(state, entropy);
    let parameters = state.find_index(&node_name).and_then(|at| state.nodes[at].value.get("parameters"));
    match entropy.below(14) {
        0 | 12 => {
            let path = some_path(state, &node_name, entropy);
            Operation::SetNodeParameter { node_name, path, value: any(entropy, 2) }
        }
        1 => {
            let path = some_path(state, &node_name, entropy);
            Operation::RemoveNodeParameter { node_name, path }
        }
        2 => {
            let parameters = some_merge(parameters, entropy);
            Operation::UpdateNodeParameters { node_name, parameters, replace: entropy.one_in(6) }
        }
        3 => {
            let patch = |entropy: &mut Entropy<'_>| Patch {
                find: (*entropy.pick(&["a", "bb", "aa", "text", "$('A')", "of", "", "x", "half "])).to_owned(),
                replace: (*entropy.pick(&["", "bb", "\"\\\n", "$1", "漢"])).to_owned(),
                replace_all: entropy.one_in(2),
            };
            let path = some_path(state, &node_name, entropy);
            let patches = (0..1 + entropy.below(3)).map(|_| patch(entropy)).collect();
            Operation::PatchNodeParameter { node_name, path, patches }
        }
        4 => Operation::SetNodeSettings { node_name, settings: settings(entropy) },
        5 => {
            let after = entropy.one_in(2).then_some(node_name);
            let source_output = (after.is_some() && entropy.one_in(2)).then(|| entropy.pick(&PORTS[..10]).0.to_owned());
            let source_output = source_output.filter(|word| !word.starts_with("ai_"));
            Operation::AddNode { node: new_node(entropy), after, source_output }
        }
        6 => Operation::RemoveNode { node_name, reconnect: entropy.one_in(2) },
        7 => {
            // Including names that other nodes had.
            let new_name = if entropy.one_in(2) { (*entropy.pick(&NAMES)).to_owned() } else { some_name(entropy) };
            Operation::RenameNode { old_name: node_name, new_name }
        }
        8 | 13 => {
            if entropy.one_in(4)
                && let Some(request) = connection(state, entropy)
            {
                return Operation::AddConnection(request);
            }
            let (output, input) = *entropy.pick(&PORTS);
            let (source_output, target_input) = (output.to_owned(), input.to_owned());
            let target = some_node(state, entropy);
            Operation::AddConnection(ConnectionRequest { source: node_name, target, source_output, target_input })
        }
        9 => match connection(state, entropy).filter(|_| !entropy.one_in(4)) {
            Some(ConnectionRequest { source, target, source_output, target_input }) => Operation::RemoveConnection {
                source,
                target: entropy.one_in(2).then_some(target),
                source_output: entropy.one_in(2).then_some(source_output),
                target_input: entropy.one_in(2).then_some(target_input),
            },
            None => {
                let (output, input) = *entropy.pick(&PORTS);
                let target = some_node(state, entropy);
                Operation::RemoveConnection {
                    source: node_name,
                    target: entropy.one_in(2).then_some(target),
                    source_output: entropy.one_in(2).then(|| output.to_owned()),
                    target_input: entropy.one_in(4).then(|| input.to_owned()),
                }
            }
        },
        10 => {
            let mut settings = some_merge(state.top.get("settings"), entropy);
            if entropy.one_in(3) {
                settings.insert("timezone".to_owned(), Value::Null);
            }
            Operation::SetWorkflowSettings { settings }
        }
        _ => {
            let long = "x".repeat(*entropy.pick(&[1, 128, 129]));
            Operation::SetWorkflowMetadata {
                name: entropy.one_in(2).then(|| (*entropy.pick(&["W", "W 2", "", &long])).to_owned()),
                description: entropy.one_in(2).then(|| (*entropy.pick(&["d", "", "\"\n"])).to_owned()),
            }
        }
    }
}
