//! Edits of a workflow, done naively: the whole document is a `serde_json::Value`. It follows the contract of the operations
//! and not the code that it checks.

use n8n_lens::workflow::edit::{ConnectionRequest, NewNode, Operation, Patch};
use serde_json::{Map, Value, json};

/// Names that n8n refuses.
const RESTRICTED: [&str; 7] =
    ["hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString", "valueOf", "constructor"];

/// Half a surrogate pair is this character plus an offset, because a Rust text cannot hold one.
const HALVES: u32 = 0x10_f000;

/// Precedes a number that `f64` cannot hold.
const NUMBER: char = '\u{10fffd}';

/// The most characters of the name of a workflow.
const NAME_CHARS: usize = 128;

/// The most outputs of a node whose outputs are not known.
const OUTPUTS: usize = 1000;

/// A path from a node to something in it.
pub type Way = Vec<String>;

/// The effect of operations on something that the document had.
#[derive(Clone, Debug, PartialEq)]
pub enum Touch {
    /// It was set, removed or changed.
    At(Way),
    /// Elements of a list were removed, so that later ones have other indices.
    Elements(Way),
}

/// A node of the document.
#[derive(Clone, Debug)]
pub struct Node {
    pub value: Map<String, Value>,
    /// Its index in the text, if it is not new.
    pub origin: Option<usize>,
    pub touches: Vec<Touch>,
    /// Members of a new node that the reference does not choose.
    pub open: Vec<&'static str>,
}

/// A workflow that is being edited.
#[derive(Clone, Debug)]
pub struct Reference {
    /// All members but the nodes.
    pub top: Map<String, Value>,
    pub nodes: Vec<Node>,
    /// Members of the workflow, and members of those, that were touched.
    pub touched: Vec<Way>,
    /// Whether a text names a renamed node in another way than the simple ones.
    pub is_unsure_of_texts: bool,
    /// The contract does not say what happens: only that it is all or nothing.
    pub is_unclear: bool,
    /// Whether a node was renamed: texts in hidden duplicate members may change, too.
    pub has_renamed: bool,
    /// Whether the connections hold something that a Rust text cannot, even in hidden duplicate members.
    pub has_odd_connections: bool,
}

/// One connection: source, output, target, input.
#[derive(Clone, Debug, PartialEq)]
struct Link {
    from: String,
    output: (String, usize),
    to: String,
    input: (String, usize),
}

/// A JSON text as a value; halves of surrogate pairs and numbers of any size stay distinct. `None` if it is not JSON, or too deep.
pub fn value_of(text: &str) -> Option<Value> {
    let bytes = text.as_bytes();
    let (mut to, mut at) = (String::with_capacity(text.len()), 0);
    let mut is_in_string = false;
    while at < bytes.len() {
        let start = at;
        match bytes[at] {
            b'"' => {
                is_in_string = !is_in_string;
                at += 1;
            }
            b'\\' if is_in_string => {
                let unit = |at: usize| {
                    let hex = text.get(at..at + 6)?.strip_prefix("\\u")?;
                    u32::from_str_radix(hex, 16).ok()
                };
                match (unit(at), unit(at + 6)) {
                    (Some(0xd800..0xdc00), Some(0xdc00..0xe000)) => at += 12,
                    (Some(half @ 0xd800..0xe000), _) => {
                        to.push(char::from_u32(HALVES + half - 0xd800)?);
                        at += 6;
                        continue;
                    }
                    (Some(_), _) => at += 6,
                    _ => at += 2,
                }
            }
            b'-' | b'0'..=b'9' if !is_in_string => {
                let is_number = |byte: &u8| matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9');
                at += bytes[at..].iter().take_while(|byte| is_number(byte)).count();
                let number = &text[start..at];
                serde_json::from_str::<serde::de::IgnoredAny>(number).ok()?;
                if number.parse::<f64>().ok()?.is_infinite() {
                    to.push_str(&format!("\"{NUMBER}{number}\""));
                    continue;
                }
            }
            _ => at += text[at..].chars().next()?.len_utf8(),
        }
        to.push_str(text.get(start..at)?);
    }
    serde_json::from_str(&to).ok()
}

/// Whether an operation can hold this value.
pub fn is_plain(value: &Value) -> bool {
    match value {
        Value::String(text) => !text.chars().any(|char| u32::from(char) >= HALVES),
        Value::Array(elements) => elements.iter().all(is_plain),
        Value::Object(members) => !has_odd_name(value) && members.values().all(is_plain),
        _ => true,
    }
}

fn has_odd_name(value: &Value) -> bool {
    match value {
        Value::Array(elements) => elements.iter().any(has_odd_name),
        Value::Object(members) => members
            .iter()
            .any(|(name, member)| name.chars().any(|char| u32::from(char) >= HALVES) || has_odd_name(member)),
        _ => false,
    }
}

/// The steps of a path.
fn way(path: &str) -> Option<Way> {
    if let Some(pointer) = path.strip_prefix('/') {
        return pointer.split('/').map(unescaped).collect();
    }
    let mut rest = path.strip_prefix("parameters.").unwrap_or(path);
    let mut way = Vec::new();
    loop {
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        if end == 0 {
            return None;
        }
        way.push(rest[..end].to_owned());
        rest = &rest[end..];
        while let Some(inside) = rest.strip_prefix('[') {
            let (step, after) = match inside.chars().next()? {
                quote @ ('"' | '\'') => inside[1..].split_once(&format!("{quote}]"))?,
                _ => inside.split_once(']').filter(|(index, _)| index.bytes().all(|byte| byte.is_ascii_digit()))?,
            };
            way.push(step.to_owned());
            rest = after;
        }
        match rest.strip_prefix('.') {
            Some(after) => rest = after,
            None if rest.is_empty() => return Some(way),
            None => return None,
        }
    }
}

/// Whether no new parameter may have this name, since it looks like a part of a path: `l[0]`, `$`, `#/a`, `.a`.
fn is_of_another_notation(name: &str) -> bool {
    let ends = [name.chars().next(), name.chars().next_back()];
    let is_padded = ends.iter().any(|end| end.is_none_or(char::is_whitespace));
    let inside = name.strip_suffix(']').map(|name| name.split('[').skip(1).last().unwrap_or_default());
    let is_index = inside.is_some_and(|text| !text.is_empty() && text.chars().all(|char| char.is_ascii_digit()));
    let is_quoted = inside.is_some_and(|text| {
        let quotes = |char: Option<char>| matches!(char, Some('"' | '\''));
        text.len() > 1 && quotes(text.chars().next()) && quotes(text.chars().next_back())
    });
    is_padded || is_index || is_quoted || name.starts_with('.') || ["$", "#"].contains(&name) || name.starts_with("#/")
}

fn unescaped(step: &str) -> Option<String> {
    let mut parts = step.split('~');
    let mut name = parts.next()?.to_owned();
    for part in parts {
        name.push(if part.starts_with('0') {
            '~'
        } else if part.starts_with('1') {
            '/'
        } else {
            return None;
        });
        name.push_str(&part[1..]);
    }
    Some(name)
}

/// The index of an element of a list of this length.
fn index(step: &str, length: usize) -> Option<usize> {
    let is_canonical = step == "0" || !step.starts_with('0');
    let is_number = is_canonical && step.bytes().all(|byte| byte.is_ascii_digit());
    step.parse().ok().filter(|index| is_number && *index < length)
}

/// Whether a step is an index, or appends.
fn is_of_list(step: &str) -> bool {
    step == "-" || step.bytes().all(|byte| byte.is_ascii_digit())
}

fn step_into<'v>(value: &'v mut Value, step: &str) -> Option<&'v mut Value> {
    match value {
        Value::Object(members) => members.get_mut(step),
        Value::Array(elements) => index(step, elements.len()).map(|at| &mut elements[at]),
        _ => None,
    }
}

fn text<'v>(members: &'v Map<String, Value>, member: &str) -> Option<&'v str> {
    members.get(member)?.as_str()
}

fn below_parameters(way: &[String]) -> Way {
    std::iter::once("parameters".to_owned()).chain(way.iter().cloned()).collect()
}

impl Reference {
    /// Opens a workflow; `None` if a value cannot hold it.
    pub fn open(text: &str) -> Option<Self> {
        let Value::Object(mut top) = value_of(text)? else { return None };
        let Value::Array(nodes) = top.get_mut("nodes")?.take() else { return None };
        let node = |(at, value)| match value {
            Value::Object(value) => Some(Node { value, origin: Some(at), touches: Vec::new(), open: Vec::new() }),
            _ => None,
        };
        let nodes = nodes.into_iter().enumerate().map(node).collect::<Option<_>>()?;
        Some(Self {
            top,
            nodes,
            touched: Vec::new(),
            is_unsure_of_texts: false,
            is_unclear: false,
            has_renamed: false,
            has_odd_connections: false,
        })
    }

    /// Performs one operation; `None` if it must be refused, and then this must be discarded.
    pub fn apply(&mut self, operation: &Operation) -> Option<()> {
        match operation {
            Operation::SetNodeParameter { node_name, path, value } => self.set(node_name, path, value),
            Operation::RemoveNodeParameter { node_name, path } => self.remove(node_name, path),
            Operation::UpdateNodeParameters { node_name, parameters, replace } => {
                self.update(node_name, parameters, *replace)
            }
            Operation::PatchNodeParameter { node_name, path, patches } => self.patch(node_name, path, patches),
            Operation::SetNodeSettings { node_name, settings } => self.set_settings(node_name, settings),
            Operation::AddNode { node, after, source_output } => {
                self.add_node(node, after.as_deref(), source_output.as_deref())
            }
            Operation::RemoveNode { node_name, reconnect } => self.remove_node(node_name, *reconnect),
            Operation::RenameNode { old_name, new_name } => self.rename(old_name, new_name),
            Operation::AddConnection(request) => self.connect(request),
            Operation::RemoveConnection { source, target, source_output, target_input } => {
                self.disconnect(source, target.as_deref(), source_output.as_deref(), target_input.as_deref())
            }
            Operation::SetWorkflowSettings { settings } => self.set_workflow_settings(settings),
            Operation::SetWorkflowMetadata { name, description } => {
                self.set_metadata(name.as_deref(), description.as_deref())
            }
            Operation::RestoreVersion { .. } => None,
        }
    }

    /// A node by name, else by id.
    fn find(&self, wanted: &str) -> Option<usize> {
        let by = |member| self.nodes.iter().position(|node| text(&node.value, member) == Some(wanted));
        self.called(wanted).next().or_else(|| by("name")).or_else(|| by("id"))
    }

    /// The nodes, not the sticky notes, with this name.
    fn called<'a>(&'a self, name: &'a str) -> impl Iterator<Item = usize> + 'a {
        let nodes = self.nodes.iter().enumerate();
        let is_note = |node: &Node| text(&node.value, "type") == Some("n8n-nodes-base.stickyNote");
        let named = nodes.filter(move |(_, node)| text(&node.value, "name") == Some(name) && !is_note(node));
        named.map(|(at, _)| at)
    }

    /// The same for a change of the node itself: a name that several have says none.
    fn find_only(&self, wanted: &str) -> Option<usize> {
        let at = self.find(wanted)?;
        let is_named = text(&self.nodes[at].value, "name") == Some(wanted);
        (!is_named || self.called(wanted).all(|other| other == at)).then_some(at)
    }

    /// Whether connections and expressions mean another node with this name.
    fn means_another(&self, name: &str, at: usize) -> bool {
        self.called(name).any(|other| other != at)
    }

    /// A path in the parameters of a node.
    fn way(&mut self, path: &str, at: usize) -> Option<Way> {
        let way = way(path);
        // The contract does not say what a malformed path means, or one into parameters that are not an object.
        let parameters = self.nodes[at].value.get("parameters");
        let is_from_the_node = path.trim_start_matches('/').starts_with("parameters");
        self.is_unclear |= is_from_the_node && parameters.is_some_and(|all| all.get("parameters").is_some());
        self.is_unclear |= path.starts_with("/parameters/");
        self.is_unclear |= way.is_none() || parameters.is_some_and(|value| !value.is_object() && !value.is_null());
        way
    }

    /// The index of a node by name, else by id.
    pub fn find_index(&self, wanted: &str) -> Option<usize> {
        self.find(wanted)
    }

    fn set(&mut self, node: &str, path: &str, value: &Value) -> Option<()> {
        let at = self.find_only(node)?;
        let way = self.way(path, at)?;
        let node = &mut self.nodes[at];
        let mut place = node.value.entry("parameters").or_insert(Value::Null);
        let (last, before) = way.split_last()?;
        if way == ["parameters"] && place.get("parameters").is_none() {
            return None;
        }
        let mut is_missing = false;
        for step in before {
            // An index or `-` below nothing may mean a list.
            self.is_unclear |= is_missing && is_of_list(step);
            place = made(place, |value| !value.is_null(), json!({}));
            self.is_unclear |= step == "-" && place.is_array();
            if let Value::Object(members) = place {
                if !members.contains_key(step) && is_of_another_notation(step) {
                    return None;
                }
                members.entry(step.clone()).or_insert(Value::Null);
            }
            place = step_into(place, step)?;
            is_missing = place.is_null();
        }
        place = made(place, |value| !value.is_null(), json!({}));
        self.is_unclear |= is_missing && is_of_list(last);
        match place {
            Value::Object(members) if !members.contains_key(last) && is_of_another_notation(last) => return None,
            Value::Object(members) => drop(members.insert(last.clone(), value.clone())),
            Value::Array(elements) if last == "-" => elements.push(value.clone()),
            list => *step_into(list, last)? = value.clone(),
        }
        node.touches.push(Touch::At(below_parameters(&way)));
        Some(())
    }

    fn remove(&mut self, node: &str, path: &str) -> Option<()> {
        let at = self.find_only(node)?;
        let way = self.way(path, at)?;
        let node = &mut self.nodes[at];
        let mut place = node.value.get_mut("parameters")?;
        let (last, before) = way.split_last()?;
        for step in before {
            place = step_into(place, step)?;
        }
        match place {
            Value::Object(members) => {
                members.shift_remove(last)?;
                node.touches.push(Touch::At(below_parameters(&way)));
            }
            Value::Array(elements) => {
                elements.remove(index(last, elements.len())?);
                node.touches.push(Touch::Elements(below_parameters(before)));
            }
            _ => return None,
        }
        Some(())
    }

    fn update(&mut self, node: &str, parameters: &Map<String, Value>, replace: bool) -> Option<()> {
        let at = self.find_only(node)?;
        if parameters.is_empty() && !replace {
            return None;
        }
        let node = &mut self.nodes[at];
        if replace {
            node.value.insert("parameters".to_owned(), parameters.clone().into());
            node.touches.push(Touch::At(below_parameters(&[])));
            return Some(());
        }
        let target = node.value.entry("parameters").or_insert(Value::Null);
        self.is_unclear |= !target.is_object() && !target.is_null();
        merge(target, &parameters.clone().into(), below_parameters(&[]), &mut node.touches);
        Some(())
    }

    fn patch(&mut self, node: &str, path: &str, patches: &[Patch]) -> Option<()> {
        let at = self.find_only(node)?;
        let way = self.way(path, at)?;
        let node = &mut self.nodes[at];
        let mut place = node.value.get_mut("parameters")?;
        for step in &way {
            place = step_into(place, step)?;
        }
        let Value::String(text) = place else { return None };
        for Patch { find, replace, replace_all } in patches {
            if find.is_empty() {
                return None;
            }
            let starts =
                (0..text.len()).filter(|at| text.is_char_boundary(*at) && text[*at..].starts_with(find.as_str()));
            match starts.count() {
                0 => return None,
                1 => {}
                _ if *replace_all => {}
                _ => return None,
            }
            *text = text.split(find.as_str()).collect::<Vec<_>>().join(replace);
        }
        node.touches.push(Touch::At(below_parameters(&way)));
        Some(())
    }

    fn set_settings(&mut self, node: &str, settings: &Map<String, Value>) -> Option<()> {
        let at = self.find_only(node)?;
        let node = &mut self.nodes[at];
        if settings.is_empty() {
            return None;
        }
        node.open.retain(|open| !settings.contains_key(*open));
        for (name, value) in settings {
            if !is_setting(name, value) {
                return None;
            }
            match (name.as_str(), value) {
                (_, Value::Null) => drop(node.value.shift_remove(name)),
                ("credentials", Value::Object(new)) => {
                    // Each credential is one value.
                    let all = made(node.value.entry(name.clone()).or_insert(Value::Null), Value::is_object, json!({}));
                    for (kind, credential) in new {
                        node.touches.push(Touch::At(vec![name.clone(), kind.clone()]));
                        match credential {
                            Value::Null => drop(all.as_object_mut()?.shift_remove(kind)),
                            credential => drop(all.as_object_mut()?.insert(kind.clone(), credential.clone())),
                        }
                    }
                    if *all == json!({}) {
                        node.value.shift_remove(name);
                        node.touches.push(Touch::At(vec![name.clone()]));
                    }
                    continue;
                }
                (_, value) => drop(node.value.insert(name.clone(), value.clone())),
            }
            node.touches.push(Touch::At(vec![name.clone()]));
        }
        Some(())
    }

    fn add_node(&mut self, new: &NewNode, after: Option<&str>, output: Option<&str>) -> Option<()> {
        let source = match after {
            Some(after) => {
                let at = self.find(after)?;
                Some((self.named(at)?, self.output(at, output.unwrap_or("main"))?))
            }
            // There is no output without a node.
            None if output.is_some() => return None,
            None => None,
        };
        // The contract does not say how many outputs a Switch without rules has.
        self.is_unclear |= after.is_some() && new.node_type == "n8n-nodes-base.switch";
        let name = new.name.clone()?;
        self.check_new_name(&name, None)?;
        let mut value = Map::new();
        value.insert("parameters".to_owned(), new.parameters.clone().into());
        value.insert("name".to_owned(), name.clone().into());
        value.insert("type".to_owned(), new.node_type.clone().into());
        let mut open = vec!["id"];
        match new.version {
            Some(version) => drop(value.insert("typeVersion".to_owned(), number(version))),
            None => open.push("typeVersion"),
        }
        match new.position {
            Some((x, y)) => drop(value.insert("position".to_owned(), json!([number(x), number(y)]))),
            None => open.push("position"),
        }
        for (name, setting) in &new.settings {
            if !is_setting(name, setting) {
                return None;
            }
            if !setting.is_null() {
                value.insert(name.clone(), setting.clone());
            }
        }
        if !new.settings.contains_key("webhookId") {
            open.push("webhookId");
        }
        self.nodes.push(Node { value, origin: None, touches: Vec::new(), open });
        let Some((source, output)) = source else { return Some(()) };
        let fed = self.remove_links(|link| link.from == source && link.output == output);
        // Its main output feeds no input of another type.
        self.is_unclear |= fed.iter().any(|link| link.input.0 != "main");
        let main = || ("main".to_owned(), 0);
        self.add_link(Link { from: source, output: output.clone(), to: name.clone(), input: main() });
        for link in fed {
            self.add_link(Link { from: name.clone(), output: main(), ..link });
        }
        Some(())
    }

    fn remove_node(&mut self, node: &str, reconnect: bool) -> Option<()> {
        let at = self.find_only(node)?;
        let name = text(&self.nodes[at].value, "name").map(str::to_owned);
        let is_alone = name.as_ref().is_some_and(|name| !self.means_another(name, at));
        self.nodes.remove(at);
        let Some(name) = name.filter(|_| is_alone) else { return Some(()) };
        self.check_connections();
        let links = self.links();
        let fed: Vec<_> = links.iter().filter(|link| link.from == name && link.to != name).cloned().collect();
        let feeding: Vec<_> = links.iter().filter(|link| link.to == name && link.from != name).cloned().collect();
        if reconnect {
            self.is_unclear |= fed.iter().chain(&feeding).any(|link| link.output.0 != "main" || link.input.0 != "main");
            if fed.iter().any(|link| link.output != fed[0].output) {
                return None;
            }
        }
        self.remove_links(|link| link.from == name || link.to == name);
        if let Some(Value::Object(pinned)) = self.top.get_mut("pinData") {
            pinned.shift_remove(&name);
            self.touched.push(vec!["pinData".to_owned(), name.clone()]);
        }
        for from in feeding.iter().filter(|_| reconnect) {
            // No node is connected to itself.
            for to in fed.iter().filter(|to| to.to != from.from) {
                self.add_link(Link { to: to.to.clone(), input: to.input.clone(), ..from.clone() });
            }
        }
        Some(())
    }

    fn rename(&mut self, old: &str, new: &str) -> Option<()> {
        let at = self.find_only(old)?;
        let old = text(&self.nodes[at].value, "name").map(str::to_owned);
        self.check_new_name(new, Some(at))?;
        if old.as_deref() == Some(new) {
            return None;
        }
        let is_alone = old.as_ref().is_some_and(|old| !self.means_another(old, at));
        self.nodes[at].value.insert("name".to_owned(), new.into());
        self.nodes[at].touches.push(Touch::At(vec!["name".to_owned()]));
        let Some(old) = old.filter(|_| is_alone) else { return Some(()) };
        self.check_connections();
        self.has_renamed = true;
        if let Some(Value::Object(pinned)) = self.top.get_mut("pinData") {
            if pinned.contains_key(&old) && pinned.contains_key(new) {
                return None;
            }
            if let Some(items) = pinned.shift_remove(&old) {
                pinned.insert(new.to_owned(), items);
                self.touched.push(vec!["pinData".to_owned(), old.clone()]);
                self.touched.push(vec!["pinData".to_owned(), new.to_owned()]);
            }
        }
        if let Some(Value::Object(connections)) = self.top.get_mut("connections") {
            if connections.contains_key(&old) && connections.contains_key(new) {
                return None;
            }
            *connections = std::mem::take(connections)
                .into_iter()
                .map(|(name, outputs)| (if name == old { new.to_owned() } else { name }, outputs))
                .collect();
            let lists = connections.values_mut().filter_map(Value::as_object_mut).flat_map(Map::values_mut);
            let targets = lists.filter_map(Value::as_array_mut).flatten().filter_map(Value::as_array_mut).flatten();
            for target in targets.filter_map(Value::as_object_mut) {
                if text(target, "node") == Some(&old) {
                    target.insert("node".to_owned(), new.into());
                }
            }
            self.touched.push(vec!["connections".to_owned()]);
        }
        for node in &mut self.nodes {
            if let Some(parameters) = node.value.get_mut("parameters") {
                let is_sure = follow(parameters, &old, new, below_parameters(&[]), &mut node.touches);
                self.is_unsure_of_texts |= !is_sure;
            }
        }
        Some(())
    }

    /// Whether a node may get this name.
    fn check_new_name(&self, name: &str, except: Option<usize>) -> Option<()> {
        let is_taken = self
            .nodes
            .iter()
            .enumerate()
            .any(|(at, node)| Some(at) != except && text(&node.value, "name") == Some(name));
        let is_restricted = |restricted: &&str| restricted.eq_ignore_ascii_case(name);
        let is_refused = name.is_empty() || ["__proto__", "prototype"].iter().chain(&RESTRICTED).any(is_restricted);
        (!is_taken && !is_refused).then_some(())
    }

    /// The name of a node that is connected.
    fn named(&mut self, at: usize) -> Option<String> {
        let name = text(&self.nodes[at].value, "name")?.to_owned();
        self.is_unclear |= !is_plain(&name.as_str().into());
        Some(name)
    }

    fn connect(&mut self, request: &ConnectionRequest) -> Option<()> {
        let (from, to) = (self.find(&request.source)?, self.find(&request.target)?);
        let output = self.output(from, &request.source_output)?;
        let input = port(&request.target_input)?;
        if from == to || output.0 != input.0 {
            return None;
        }
        let link = Link { from: self.named(from)?, output, to: self.named(to)?, input };
        if link.from == link.to {
            return None;
        }
        self.add_link(link);
        Some(())
    }

    fn disconnect(&mut self, from: &str, to: Option<&str>, output: Option<&str>, input: Option<&str>) -> Option<()> {
        let (at, from) = self.end(from)?;
        let to = match to {
            Some(to) => Some(self.end(to)?.1),
            None => None,
        };
        let output = match (output, at) {
            (Some(word), Some(at)) => Some(self.output(at, word)?),
            (Some(word), None) => Some(port(word)?),
            (None, _) => None,
        };
        let input = match input {
            Some(word) => Some(port(word)?),
            None => None,
        };
        let removed = self.remove_links(|link| {
            link.from == from
                && to.as_ref().is_none_or(|to| link.to == *to)
                && output.as_ref().is_none_or(|output| link.output == *output)
                && input.as_ref().is_none_or(|input| link.input == *input)
        });
        (!removed.is_empty()).then_some(())
    }

    /// The end of a connection that is removed: a node, or what only connections name.
    fn end(&mut self, wanted: &str) -> Option<(Option<usize>, String)> {
        if let Some(at) = self.find(wanted) {
            return Some((Some(at), self.named(at)?));
        }
        self.check_connections();
        let is_named = self.links().iter().any(|link| [&link.from, &link.to].contains(&&wanted.to_owned()));
        is_named.then(|| (None, wanted.to_owned()))
    }

    /// An output, by the word of a caller.
    fn output(&mut self, at: usize, word: &str) -> Option<(String, usize)> {
        let node = &self.nodes[at].value;
        let (node_type, version) = (text(node, "type").unwrap_or_default(), node.get("typeVersion"));
        let named: &[&str] = match node_type {
            "n8n-nodes-base.if" => &["true", "false"],
            "n8n-nodes-base.splitInBatches" if version == Some(&json!(3)) => &["done", "loop"],
            "n8n-nodes-base.splitInBatches" | "n8n-nodes-base.switch" => {
                self.is_unclear = true;
                &[]
            }
            _ => &[],
        };
        let main = |index| Some(("main".to_owned(), index));
        if let Some(index) = named.iter().position(|name| *name == word) {
            return main(index);
        }
        if word == "error" {
            let has_one = text(node, "onError") == Some("continueErrorOutput");
            // Only the catalogue knows how many others there are.
            self.is_unclear |= named.is_empty();
            return if has_one { main(named.len().max(1)) } else { None };
        }
        let port = port(word)?;
        // A Webhook has an output for each of several methods.
        self.is_unclear |= node.get("parameters").is_some_and(|all| all.get("httpMethod").is_some_and(Value::is_array));
        // Only the catalogue knows what else a node of a known type has.
        self.is_unclear |=
            node_type.starts_with("n8n-nodes-base.") && (port.1 >= named.len().max(1) || port.0 != "main");
        Some(port)
    }

    fn set_workflow_settings(&mut self, settings: &Map<String, Value>) -> Option<()> {
        if settings.is_empty() {
            return None;
        }
        let is_missing = self.top.get("settings").is_none_or(Value::is_null);
        if is_missing && settings.values().all(Value::is_null) {
            return Some(());
        }
        // Each setting is one value.
        let target = made(self.top.entry("settings").or_insert(Value::Null), Value::is_object, json!({}));
        for (name, value) in settings {
            self.touched.push(vec!["settings".to_owned(), name.clone()]);
            match value {
                Value::Null => drop(target.as_object_mut()?.shift_remove(name)),
                value => drop(target.as_object_mut()?.insert(name.clone(), value.clone())),
            }
        }
        Some(())
    }

    fn set_metadata(&mut self, name: Option<&str>, description: Option<&str>) -> Option<()> {
        if name.is_some_and(|name| name.is_empty() || name.chars().count() > NAME_CHARS) {
            return None;
        }
        if name.is_none() && description.is_none() {
            return None;
        }
        for (member, value) in [("name", name), ("description", description)] {
            if let Some(value) = value {
                self.top.insert(member.to_owned(), value.into());
                self.touched.push(vec![member.to_owned()]);
            }
        }
        Some(())
    }

    /// Connections that are not an object, or that no Rust text can hold, may be refused.
    fn check_connections(&mut self) {
        self.is_unclear |= self.has_odd_connections;
        let connections = self.top.get("connections");
        self.is_unclear |= connections.is_some_and(|value| !is_plain(value) || !(value.is_object() || value.is_null()));
    }

    /// All connections, with their places.
    fn links(&self) -> Vec<Link> {
        let mut links = Vec::new();
        let Some(Value::Object(sources)) = self.top.get("connections") else { return links };
        for (from, kinds) in sources {
            for (kind, outputs) in kinds.as_object().into_iter().flatten() {
                for (index, targets) in outputs.as_array().into_iter().flatten().enumerate() {
                    let targets = targets.as_array().into_iter().flatten();
                    links.extend(targets.filter_map(|target| link(from, (kind, index), target)));
                }
            }
        }
        links
    }

    fn add_link(&mut self, link: Link) {
        self.check_connections();
        if self.links().contains(&link) {
            return;
        }
        let Link { from, output, to, input } = link;
        let connections = made(self.top.entry("connections").or_insert(Value::Null), Value::is_object, json!({}));
        let source = made(&mut connections[from.as_str()], Value::is_object, json!({}));
        let outputs = made(&mut source[output.0.as_str()], Value::is_array, json!([]));
        if let Value::Array(outputs) = outputs {
            while outputs.len() <= output.1 {
                outputs.push(json!([]));
            }
            if let Value::Array(targets) = made(&mut outputs[output.1], Value::is_array, json!([])) {
                targets.push(json!({"node": to, "type": input.0, "index": input.1}));
            }
        }
        self.touched.push(vec!["connections".to_owned()]);
    }

    /// Removes connections, and trailing empty outputs; returns the removed ones.
    fn remove_links(&mut self, is_meant: impl Fn(&Link) -> bool) -> Vec<Link> {
        self.check_connections();
        let mut all = Vec::new();
        let Some(Value::Object(sources)) = self.top.get_mut("connections") else { return all };
        let names: Vec<_> = sources.keys().cloned().collect();
        for from in names {
            let before = all.len();
            let Some(Value::Object(kinds)) = sources.get_mut(&from) else { continue };
            for kind in kinds.keys().cloned().collect::<Vec<_>>() {
                let Some(Value::Array(outputs)) = kinds.get_mut(&kind) else { continue };
                let mut emptied = Vec::new();
                for (index, targets) in outputs.iter_mut().enumerate() {
                    let Value::Array(targets) = targets else { continue };
                    let found = all.len();
                    targets.retain(|target| match link(&from, (&kind, index), target) {
                        Some(link) if is_meant(&link) => {
                            all.push(link);
                            false
                        }
                        _ => true,
                    });
                    if all.len() > found && targets.is_empty() {
                        emptied.push(index);
                    }
                }
                let has_emptied = !emptied.is_empty();
                while emptied.last().is_some_and(|last| last + 1 == outputs.len()) {
                    emptied.pop();
                    outputs.pop();
                }
                if has_emptied && outputs.is_empty() {
                    kinds.shift_remove(&kind);
                }
            }
            if all.len() > before && kinds.is_empty() {
                sources.shift_remove(&from);
            }
        }
        if !all.is_empty() {
            self.touched.push(vec!["connections".to_owned()]);
        }
        all
    }
}

/// A whole number is written as one.
fn number(number: f64) -> Value {
    if number.fract() == 0.0 && number.abs() < 1e15 { json!(number as i64) } else { json!(number) }
}

/// The value, or this one in its place if it is of another kind.
fn made(value: &mut Value, is_right: fn(&Value) -> bool, other: Value) -> &mut Value {
    if !is_right(value) {
        *value = other;
    }
    value
}

fn link(from: &str, (kind, index): (&str, usize), target: &Value) -> Option<Link> {
    let to = target["node"].as_str()?.to_owned();
    let into = target["type"].as_str().unwrap_or(kind).to_owned();
    let input = target["index"].as_u64().and_then(|index| usize::try_from(index).ok()).unwrap_or(0);
    Some(Link { from: from.to_owned(), output: (kind.to_owned(), index), to, input: (into, input) })
}

/// `main`, `main:1`, `1`, `ai_tool`, `ai_tool:0`
fn port(word: &str) -> Option<(String, usize)> {
    let (kind, index) = match word.split_once(':') {
        Some((kind, index)) => (kind, index.parse().ok()?),
        None => word.parse().map_or((word, 0), |index| ("main", index)),
    };
    let is_kind = kind == "main" || kind.starts_with("ai_");
    (is_kind && index < OUTPUTS).then(|| (kind.to_owned(), index))
}

/// RFC 7396.
fn merge(target: &mut Value, patch: &Value, way: Way, touches: &mut Vec<Touch>) {
    let Value::Object(patch) = patch else {
        *target = patch.clone();
        touches.push(Touch::At(way));
        return;
    };
    if !target.is_object() {
        *target = json!({});
        touches.push(Touch::At(way.clone()));
    }
    let Value::Object(members) = target else { return };
    for (name, value) in patch {
        let way: Way = way.iter().chain([name]).cloned().collect();
        if value.is_null() {
            members.shift_remove(name);
            touches.push(Touch::At(way));
        } else {
            if !members.contains_key(name) {
                touches.push(Touch::At(way.clone()));
            }
            merge(members.entry(name.clone()).or_insert(Value::Null), value, way, touches);
        }
    }
}

/// Whether a node can have this setting.
fn is_setting(name: &str, value: &Value) -> bool {
    let is_right = match name {
        "disabled" | "retryOnFail" | "alwaysOutputData" | "executeOnce" | "notesInFlow" => value.is_boolean(),
        "onError" => {
            let known = ["stopWorkflow", "continueRegularOutput", "continueErrorOutput"];
            value.as_str().is_some_and(|value| known.contains(&value))
        }
        "maxTries" | "waitBetweenTries" | "typeVersion" => value.is_number(),
        "notes" | "webhookId" => value.is_string(),
        "position" => value.as_array().is_some_and(|at| at.len() == 2 && at.iter().all(Value::is_number)),
        "credentials" => value.is_object(),
        _ => return false,
    };
    is_right || value.is_null()
}

/// Renames a node in texts; returns whether every reference to it could be read.
fn follow(value: &mut Value, old: &str, new: &str, way: Way, touches: &mut Vec<Touch>) -> bool {
    let deeper = |step: String| way.iter().cloned().chain([step]).collect::<Way>();
    match value {
        Value::String(text) => {
            let (renamed, is_sure) = followed(text, old, new);
            if renamed != *text || !is_sure {
                touches.push(Touch::At(way));
            }
            *text = renamed;
            is_sure
        }
        Value::Array(elements) => {
            let mut is_sure = true;
            for (at, element) in elements.iter_mut().enumerate() {
                is_sure &= follow(element, old, new, deeper(at.to_string()), touches);
            }
            is_sure
        }
        Value::Object(members) => {
            let mut is_sure = true;
            for (name, member) in members.iter_mut() {
                is_sure &= follow(member, old, new, deeper(name.clone()), touches);
            }
            is_sure
        }
        _ => true,
    }
}

/// The text with the new name, and whether it names the node only in the simple ways.
fn followed(text: &str, old: &str, new: &str) -> (String, bool) {
    let is_simple =
        |name: &str| !name.is_empty() && name.chars().all(|char| char.is_ascii_alphanumeric() || char == ' ');
    if !is_simple(old) || !is_simple(new) || !text.starts_with('=') {
        return (text.to_owned(), !text.contains('$'));
    }
    let mut renamed = text.to_owned();
    for (before, after) in [("{{ $('", "').item.json.x }}"), ("{{ $node[\"", "\"].json }}")] {
        renamed = renamed.replace(&format!("{before}{old}{after}"), &format!("{before}\0{after}"));
    }
    let is_sure = !renamed.contains(old) || !renamed.contains('$');
    (renamed.replace('\0', new), is_sure)
}
