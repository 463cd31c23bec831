//! Edits of the parameters of a node. Only the objects and lists on the way to a value are opened.

use std::ops::Range;

use serde_json::{Map, Value, json};

use super::changed::Held;
use super::level::{Level, Style, decoded};
use super::path::{parse, pointer};
use super::string::RawString;
use super::{Changed, Editor, Patch};
use crate::json::{CUT_NAME_CHARS, quoted_name, shorten};
use crate::workflow::{Error, Layout};

/// The most names that a refusal lists.
const NAMES: usize = 20;

/// Objects are not looked into further than this.
const MAX_DEPTH: usize = 100;

impl Editor<'_> {
    pub(super) fn set_parameter(&mut self, node: &str, path: &str, value: &Value) -> Result<Vec<Changed>, Error> {
        self.change_parameter(node, path, |before, names, level| {
            if before.as_deref().and_then(decoded::<Value>).as_ref() != Some(value) {
                set(level, names, value)?;
            }
            Ok(())
        })
    }

    pub(super) fn remove_parameter(&mut self, node: &str, path: &str) -> Result<Vec<Changed>, Error> {
        self.change_parameter(node, path, |_, names, level| remove(level, names))
    }

    pub(super) fn patch_parameter(&mut self, node: &str, path: &str, patches: &[Patch]) -> Result<Vec<Changed>, Error> {
        self.change_parameter(node, path, |before, names, level| {
            let mut text = before.ok_or_else(|| missing(level, names))?;
            for patch in patches {
                text = patched(&text, patch)?;
            }
            replace(level, names, text);
            Ok(())
        })
    }

    pub(super) fn update_parameters(
        &mut self,
        node: &str,
        new: &Map<String, Value>,
        replaces: bool,
    ) -> Result<Vec<Changed>, Error> {
        let at = self.find(node)?;
        let mut changes = Vec::new();
        let name = self.name(at);
        self.edit_parameters(at, |level| {
            let before = level.to_string();
            let names: Vec<_> = level.names().collect();
            for name in names.iter().filter(|name| replaces && !new.contains_key(*name)) {
                level.remove_member(name);
            }
            merge(level, new, !replaces, 0);
            differences([&before, &level.to_string()], "", &mut |path, before, after| {
                changes.push(Changed::Value { node: Some(name.clone()), path, before, after });
            });
            Ok(())
        })?;
        Ok(changes)
    }

    /// Changes the parameter at a path. `change` gets its JSON text, if there is one, the names on the way, and the parameters.
    fn change_parameter(
        &mut self,
        node: &str,
        path: &str,
        change: impl FnOnce(Option<String>, &[String], &mut Level<'_>) -> Result<(), Error>,
    ) -> Result<Vec<Changed>, Error> {
        let at = self.find(node)?;
        let mut names = parse(path);
        let (mut before, mut after) = (None, None);
        self.edit_parameters(at, |level| {
            // n8n and its clients also name the path from the node on.
            if names.len() > 1 && names[0] == "parameters" && level.find("parameters").is_none() {
                names.remove(0);
            }
            if names.is_empty() {
                return Err(Error::Edit("path names no parameter; pass one such as /url".to_owned()));
            }
            before = held(level, &names, false);
            change(get(level, &names), &names, level)?;
            after = held(level, &names, true);
            Ok(())
        })?;
        Ok(vec![Changed::Value { node: Some(self.name(at)), path: pointer(&names), before, after }])
    }

    /// Edits the parameters of a node, which get an object if they have none.
    pub(super) fn edit_parameters(
        &mut self,
        at: usize,
        edit: impl FnOnce(&mut Level<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut node = self.node(at)?;
        if node.get("parameters").is_none_or(|text| text == "null") {
            node.set_member("parameters", &json!({}));
        }
        let found = node.find("parameters").unwrap_or_default();
        let parameters = Level::open(node.value(found), node.inner()).filter(Level::is_object);
        let mut parameters = parameters.ok_or_else(|| Error::Edit("its parameters are not an object".to_owned()))?;
        edit(&mut parameters)?;
        let text = parameters.to_string();
        node.replace(found, text);
        let text = node.to_string();
        self.set_node(at, text);
        Ok(())
    }
}

/// Where the value is that a name on the way leads to.
fn position(level: &Level<'_>, name: &str) -> Option<usize> {
    if level.is_object() {
        return level.find(name);
    }
    // RFC 6901 has no `+1` and no `01`.
    let is_index = name == "0" || (!name.starts_with('0') && name.bytes().all(|byte| byte.is_ascii_digit()));
    name.parse().ok().filter(|at| is_index && *at < level.len())
}

/// The JSON text at a path.
fn get(level: &Level<'_>, names: &[String]) -> Option<String> {
    let (name, rest) = names.split_first()?;
    let text = level.value(position(level, name)?);
    if rest.is_empty() { Some(text.to_owned()) } else { get(&Level::open(text, level.inner())?, rest) }
}

/// The value at a path and what holds it; of a list that was appended to, its last element.
fn held(level: &Level<'_>, names: &[String], was_appended: bool) -> Option<Held> {
    let (name, rest) = names.split_first()?;
    let is_appended = was_appended && name == "-" && !level.is_object();
    let at = if is_appended { level.len().checked_sub(1)? } else { position(level, name)? };
    if rest.is_empty() {
        let name = if is_appended { at.to_string() } else { name.clone() };
        return Some(Held { container: level.to_string(), name });
    }
    held(&Level::open(level.value(at), level.inner())?, rest, was_appended)
}

fn set(level: &mut Level<'_>, names: &[String], value: &Value) -> Result<(), Error> {
    let Some((name, rest)) = names.split_first() else { return Ok(()) };
    match position(level, name) {
        Some(at) if rest.is_empty() || level.value(at) == "null" => level.set(at, &nested(rest, value)?),
        Some(at) => {
            let mut inner = inner(level, at, name)?;
            set(&mut inner, rest, value)?;
            let text = inner.to_string();
            level.replace(at, text);
        }
        None if level.is_object() => level.push(Some(name), &nested(rest, value)?),
        None if name == "-" => level.push(None, &nested(rest, value)?),
        None => {
            let elements = level.len();
            return Err(Error::Edit(format!(
                "there is no element {}: the list has {elements}; - appends one",
                quoted_name(name, CUT_NAME_CHARS)
            )));
        }
    }
    Ok(())
}

/// A level that a way leads over.
fn inner<'l>(level: &'l Level<'_>, at: usize, name: &str) -> Result<Level<'l>, Error> {
    let style: Style<'l> = level.inner();
    Level::open(level.value(at), style)
        .ok_or_else(|| Error::Edit(format!("{} is neither an object nor a list", quoted_name(name, CUT_NAME_CHARS))))
}

/// A value inside new objects; inside a new list for `-`.
fn nested(names: &[String], value: &Value) -> Result<Value, Error> {
    let Some((name, rest)) = names.split_first() else { return Ok(value.clone()) };
    let value = nested(rest, value)?;
    if name == "-" {
        return Ok(json!([value]));
    }
    if name.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Error::Edit(format!("there is no list that could have an element {name}; - makes one")));
    }
    Ok(json!({ name: value }))
}

/// Replaces the value at a path that exists with a JSON text.
fn replace(level: &mut Level<'_>, names: &[String], text: String) {
    let Some((name, rest)) = names.split_first() else { return };
    let Some(at) = position(level, name) else { return };
    if rest.is_empty() {
        return level.replace(at, text);
    }
    let Some(mut inner) = Level::open(level.value(at), level.inner()) else { return };
    replace(&mut inner, rest, text);
    let text = inner.to_string();
    level.replace(at, text);
}

fn remove(level: &mut Level<'_>, names: &[String]) -> Result<(), Error> {
    let Some((name, rest)) = names.split_first() else { return Ok(()) };
    let Some(at) = position(level, name) else { return Err(missing(level, names)) };
    if rest.is_empty() {
        if level.is_object() {
            level.remove_member(name)
        } else {
            level.remove(at)
        }
        return Ok(());
    }
    let mut inner = inner(level, at, name)?;
    remove(&mut inner, rest)?;
    let text = inner.to_string();
    level.replace(at, text);
    Ok(())
}

/// There is nothing at a path; says what is there instead.
fn missing(level: &Level<'_>, names: &[String]) -> Error {
    let Some((name, rest)) = names.split_first() else { return Error::Edit("path names no parameter".to_owned()) };
    let found = position(level, name).filter(|_| !rest.is_empty());
    if let Some(inner) = found.and_then(|at| Level::open(level.value(at), level.inner())) {
        return missing(&inner, rest);
    }
    let wanted = quoted_name(name, CUT_NAME_CHARS);
    if !level.is_object() {
        return Error::Edit(format!("there is no element {wanted}: the list has {}", level.len()));
    }
    let known: Vec<_> = level.names().take(NAMES).map(|name| quoted_name(&name, CUT_NAME_CHARS)).collect();
    let more = if level.len() > NAMES { ", …" } else { "" };
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") + more };
    Error::Edit(format!("there is no parameter {wanted}; there are: {known}"))
}

/// Merges as RFC 7396 does, except that a value that is the same stays as it is written.
fn merge(level: &mut Level<'_>, patch: &Map<String, Value>, removes: bool, depth: usize) {
    for (name, value) in patch {
        let found = level.find(name);
        match (value, found) {
            (Value::Null, _) if removes => level.remove_member(name),
            (Value::Object(members), Some(at)) if removes && depth < MAX_DEPTH => {
                match Level::open(level.value(at), level.inner()).filter(Level::is_object) {
                    Some(mut inner) => {
                        merge(&mut inner, members, removes, depth + 1);
                        let text = inner.to_string();
                        level.replace(at, text);
                    }
                    None => level.set(at, &without_nulls(value)),
                }
            }
            (value, Some(at)) if decoded::<Value>(level.value(at)).as_ref() == Some(value) => {}
            (value, _) if removes => level.set_member(name, &without_nulls(value)),
            (value, _) => level.set_member(name, value),
        }
    }
}

/// Members that are `null` are those that a merge removes.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let kept = members.iter().filter(|(_, value)| !value.is_null());
            kept.map(|(name, value)| (name.clone(), without_nulls(value))).collect::<Map<_, _>>().into()
        }
        value => value.clone(),
    }
}

/// The values that differ between two objects, with their paths.
fn differences([one, other]: [&str; 2], path: &str, found: &mut impl FnMut(String, Option<Held>, Option<Held>)) {
    let layout = Layout::default();
    let open = |text| Level::open(text, Style { layout: &layout, depth: 0 }).filter(Level::is_object);
    let (Some(before), Some(after)) = (open(one), open(other)) else { return };
    let mut names: Vec<_> = before.names().collect();
    names.extend(after.names().filter(|name| before.find(name).is_none()));
    for name in names {
        let path = format!("{path}{}", pointer(std::slice::from_ref(&name)));
        let held = |json: &str| Held { container: json.to_owned(), name: name.clone() };
        match (before.get(&name), after.get(&name)) {
            (one, other) if one == other => {}
            (Some(one), Some(other)) if open(one).is_some() && open(other).is_some() => {
                differences([one, other], &path, found);
            }
            (was, is) => found(path, was.map(|_| held(one)), is.map(|_| held(other))),
        }
    }
}

/// A text with a part replaced, as JSON.
fn patched(json: &str, patch: &Patch) -> Result<String, Error> {
    let not_text = || Error::Edit("this parameter is not a text; setNodeParameter sets it".to_owned());
    let string = RawString::read(json).ok_or_else(not_text)?;
    if patch.find.is_empty() {
        return Err(Error::Edit("find is empty; pass a part of the text".to_owned()));
    }
    let found: Vec<Range<usize>> =
        string.text.match_indices(&patch.find).map(|(at, part)| at..at + part.len()).collect();
    let quoted = quoted_name(&shorten(&patch.find, CUT_NAME_CHARS), CUT_NAME_CHARS);
    match found.len() {
        0 => {
            let spaced = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            let hint =
                if spaced(&string.text).contains(&spaced(&patch.find)) { ", only with other white space" } else { "" };
            Err(Error::Edit(format!("{quoted} does not occur in this text{hint}")))
        }
        1 => Ok(()),
        _ if patch.replace_all => Ok(()),
        times => Err(Error::Edit(format!(
            "{quoted} occurs {times} times; pass more of the text around it, or replaceAll: true"
        ))),
    }?;
    Ok(string.with(&found.into_iter().map(|range| (range, patch.replace.clone())).collect::<Vec<_>>()))
}
