//! Edits of the parameters of a node. Only the objects and lists along the path to a value are opened.

use std::ops::Range;

use serde_json::{Map, Value, json};

use super::changed::Held;
use super::level::{Level, Style};
use super::path::{check_new_name, pointer, steps};
use super::string::RawString;
use super::{Changed, Editor, Patch};
use crate::json::{CUT_NAME_CHARS, quoted_name, shorten};
use crate::workflow::{Error, Layout};

/// The most names that a refusal lists.
const NAMES: usize = 20;

/// The most steps of a path: n8n's parameters are not nested more deeply.
const MAX_STEPS: usize = 100;

impl Editor<'_> {
    pub(super) fn set_parameter(&mut self, node: &str, path: &str, value: &Value) -> Result<Vec<Changed>, Error> {
        self.change_parameter(node, path, |names, level| set(level, names, value))
    }

    pub(super) fn remove_parameter(&mut self, node: &str, path: &str) -> Result<Vec<Changed>, Error> {
        let mut changes = self.change_parameter(node, path, |names, level| {
            at_end(level, names, &mut |level, at, name| match level.is_object() {
                true => level.remove_member(name),
                false => level.remove(at),
            })
        })?;
        for change in &mut changes {
            // In a list, the next element is in its place now.
            if let Changed::Value { after, .. } = change {
                *after = None;
            }
        }
        Ok(changes)
    }

    pub(super) fn patch_parameter(&mut self, node: &str, path: &str, patches: &[Patch]) -> Result<Vec<Changed>, Error> {
        if patches.is_empty() {
            return Err(Error::Edit("there is nothing to change; pass patches".to_owned()));
        }
        self.change_parameter(node, path, |names, level| {
            at_end(level, names, &mut |level, at, _| {
                let text = patches.iter().try_fold(level.value(at).to_owned(), |text, patch| patched(&text, patch))?;
                level.replace(at, text);
                Ok(())
            })?
        })
    }

    pub(super) fn update_parameters(
        &mut self,
        node: &str,
        new: &Map<String, Value>,
        replaces: bool,
    ) -> Result<Vec<Changed>, Error> {
        let at = self.find_only(node)?;
        if new.is_empty() && !replaces {
            return Err(Error::Edit("there is nothing to change; pass parameters".to_owned()));
        }
        let mut changes = Vec::new();
        let name = self.name(at);
        self.edit_object(at, replaces, |level| {
            let before = level.to_string();
            match replaces {
                true => replace(level, new),
                false => merge(level, new),
            }
            differences([&before, &level.to_string()], "", &mut |path, before, after| {
                changes.push(Changed::Value { node: Some(name.clone()), path, before, after });
            });
            Ok(())
        })?;
        Ok(changes)
    }

    /// Changes the parameter at a path. `change` receives the names along the path, and the parameters.
    fn change_parameter(
        &mut self,
        node: &str,
        path: &str,
        change: impl FnOnce(&[String], &mut Level<'_>) -> Result<(), Error>,
    ) -> Result<Vec<Changed>, Error> {
        let at = self.find_only(node)?;
        let mut names = steps(path)?;
        if names.len() > MAX_STEPS {
            return Err(Error::Edit(format!("path has {} steps; pass one of at most {MAX_STEPS}", names.len())));
        }
        let (mut before, mut after) = (None, None);
        self.edit_parameters(at, |level| {
            // n8n and its clients also write paths that start at the node.
            if names.len() > 1 && names[0] == "parameters" && level.find("parameters").is_none() {
                names.remove(0);
            }
            let is_all = names == ["parameters"] && level.find("parameters").is_none();
            if names.is_empty() || is_all {
                return Err(Error::Edit("path names no parameter; pass one such as /url".to_owned()));
            }
            before = held(level, &names, false);
            change(&names, level)?;
            after = held(level, &names, true);
            Ok(())
        })?;
        Ok(vec![Changed::Value { node: Some(self.name(at)), path: pointer(&names), before, after }])
    }

    /// Edits the parameters of a node, adding an object if it has none.
    pub(super) fn edit_parameters(
        &mut self,
        at: usize,
        edit: impl FnOnce(&mut Level<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.edit_object(at, false, edit)
    }

    /// The same; if it `replaces` them, also in place of parameters that are no object.
    fn edit_object(
        &mut self,
        at: usize,
        replaces: bool,
        edit: impl FnOnce(&mut Level<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.edit_node(at, |node| {
            let is_free = |text: &str| text == "null" || (replaces && !text.starts_with('{'));
            if node.get("parameters").is_none_or(is_free) {
                node.set_member("parameters", &json!({}));
            }
            let not_an_object = || Error::Edit("its parameters are not an object".to_owned());
            let found =
                node.find("parameters").filter(|at| node.value(*at).starts_with('{')).ok_or_else(not_an_object)?;
            node.inside(found, edit).ok_or_else(not_an_object)?
        })
    }
}

/// The index of the value that a name in a path refers to.
fn position(level: &Level<'_>, name: &str) -> Option<usize> {
    if level.is_object() {
        return level.find(name);
    }
    // RFC 6901 does not allow `+1` and `01`.
    let is_index = name == "0" || (!name.starts_with('0') && name.bytes().all(|byte| byte.is_ascii_digit()));
    name.parse().ok().filter(|at| is_index && *at < level.len())
}

/// The value at a path and its container; after an append, the list's last element.
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
        Some(at) => level.inside(at, |inner| set(inner, rest, value)).ok_or_else(|| not_a_container(name))??,
        None if level.is_object() => {
            check_new_name(name)?;
            level.push(Some(name), &nested(rest, value)?);
        }
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

/// The error for a path that continues below a scalar.
fn not_a_container(name: &str) -> Error {
    Error::Edit(format!("{} is neither an object nor a list; end the path there", quoted_name(name, CUT_NAME_CHARS)))
}

/// A value wrapped in new objects, or in a new list for `-`.
fn nested(names: &[String], value: &Value) -> Result<Value, Error> {
    let Some((name, rest)) = names.split_first() else { return Ok(value.clone()) };
    let value = nested(rest, value)?;
    if name == "-" {
        return Ok(json!([value]));
    }
    if name.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Error::Edit(format!("there is no list with an element {name}; - in its place makes one")));
    }
    check_new_name(name)?;
    Ok(json!({ name: value }))
}

/// Changes the value at the end of an existing path. `change` receives its container, its index there, and its name.
fn at_end<T>(
    level: &mut Level<'_>,
    names: &[String],
    change: &mut dyn FnMut(&mut Level<'_>, usize, &str) -> T,
) -> Result<T, Error> {
    let found = names.split_first().and_then(|(name, rest)| Some((name, rest, position(level, name)?)));
    let Some((name, rest, at)) = found else { return Err(missing(level, names)) };
    if rest.is_empty() {
        return Ok(change(level, at, name));
    }
    level.inside(at, |inner| at_end(inner, rest, change)).ok_or_else(|| not_a_container(name))?
}

/// The error for a path without a value; says what is there instead.
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

/// Keeps only these members. The text of an equal value is kept.
fn replace(level: &mut Level<'_>, new: &Map<String, Value>) {
    level.remove_others(new);
    new.iter().for_each(|(name, value)| level.set_member(name, value));
}

/// Merges as RFC 7396 does, except that the text of an equal value is kept.
fn merge(level: &mut Level<'_>, patch: &Map<String, Value>) {
    for (name, value) in patch {
        let object = level.find(name).filter(|at| level.value(*at).starts_with('{'));
        match (value, object) {
            (Value::Null, _) => level.remove_member(name),
            (Value::Object(members), Some(at)) => {
                level.inside(at, |inner| merge(inner, members));
            }
            (value, _) => level.set_member(name, &without_nulls(value)),
        }
    }
}

/// The members that are `null` are the ones that a merge removes.
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
pub(super) fn differences(
    [one, other]: [&str; 2],
    path: &str,
    found: &mut impl FnMut(String, Option<Held>, Option<Held>),
) {
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
    // `}}` occurs twice in `}}}`.
    let rest = found.first().and_then(|first| string.text.get(string.text.ceil_char_boundary(first.start + 1)..));
    let overlaps = found.len() == 1 && rest.is_some_and(|rest| rest.contains(&patch.find));
    match found.len() + usize::from(overlaps) {
        0 => {
            let spaced = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            let hint =
                if spaced(&string.text).contains(&spaced(&patch.find)) { ", only with other white space" } else { "" };
            Err(Error::Edit(format!(
                "{quoted} does not occur in this text{hint}; pass a part of it exactly as it is written"
            )))
        }
        1 => Ok(()),
        _ if patch.replace_all => Ok(()),
        times => Err(Error::Edit(format!(
            "{quoted} occurs {times} times; pass more of the text around it, or replaceAll: true"
        ))),
    }?;
    Ok(string.with(&found.into_iter().map(|range| (range, patch.replace.clone())).collect::<Vec<_>>()))
}
