//! Renaming a node. Everything that refers to it is updated: connections, pinned data, expressions and code.

use std::collections::HashMap;

use serde_json::json;

use super::add::check_name;
use super::left::Left;
use super::level::Level;
use super::sought::{AsciiSet, Sought};
use super::string::RawString;
use super::{Changed, Editor, type_in};
use crate::json::{CUT_NAME_CHARS, quoted_name};
use crate::workflow::Error;
use crate::workflow::expression::{self, Syntax};

/// Parameters that are nested more deeply are not visited.
const MAX_DEPTH: usize = 100;

impl Editor<'_> {
    pub(super) fn rename(&mut self, node: &str, name: &str) -> Result<Vec<Changed>, Error> {
        let at = self.find_only(node)?;
        check_name(name)?;
        let had_name = self.heads[at].name.is_some();
        let from = self.name(at);
        if had_name && from == name {
            return Err(Error::Edit(format!("it is already called {}", quoted_name(name, CUT_NAME_CHARS))));
        }
        if self.names().any(|other| other == name) {
            let name = quoted_name(name, CUT_NAME_CHARS);
            return Err(Error::Edit(format!("there is already a node {name}; pass another name")));
        }
        self.note_adopted(name);
        let has_namesake = self.has_namesake(at);
        self.set_node_member(at, "name", Some(&json!(name)))?;
        if has_namesake {
            self.note_namesake(&from);
        }
        if !had_name || has_namesake {
            // Nothing refers to it.
            return Ok(vec![Changed::Renamed { from: node.to_owned(), to: name.to_owned(), followed: 0, nodes: 0 }]);
        }
        self.rename_connections(&from, name)?;
        self.rename_pinned(&from, name)?;
        self.note_static_data(&from);
        let (mut followed, mut nodes) = (0, 0);
        let sought = Sought::new(&from);
        let may_name = self.nodes_that_may_name(&sought);
        for at in &may_name {
            let in_node = self.rename_in(*at, &sought, name)?;
            followed += in_node;
            nodes += usize::from(in_node > 0);
        }
        self.left.push(Left::Renamed { name: from.clone(), nodes: may_name });
        Ok(vec![Changed::Renamed { from, to: name.to_owned(), followed, nodes }])
    }

    fn rename_pinned(&mut self, from: &str, to: &str) -> Result<(), Error> {
        if self.is_pinned(from) && self.is_pinned(to) {
            let name = quoted_name(to, CUT_NAME_CHARS);
            return Err(Error::Edit(format!("pinned data of a missing node {name} are left; pass another name")));
        }
        self.edit_member("pinData", |pinned| pinned.rename_member(from, to));
        Ok(())
    }

    fn rename_connections(&mut self, from: &str, to: &str) -> Result<(), Error> {
        let connections = self.connections()?;
        if connections.has_source(from) && connections.has_source(to) {
            let name = quoted_name(to, CUT_NAME_CHARS);
            return Err(Error::Edit(format!("connections of a missing node {name} are left; pass another name")));
        }
        connections.rename(from, to);
        match self.renamed.iter_mut().find(|(_, name)| name == from) {
            Some((_, name)) => to.clone_into(name),
            None => self.renamed.push((from.to_owned(), to.to_owned())),
        }
        Ok(())
    }

    /// n8n stores what a polling trigger has seen under the node's name (`packages/workflow/src/workflow.ts`,
    /// `getStaticData`); its editor does not rename that either.
    fn note_static_data(&mut self, from: &str) {
        let Some(text) = self.top.get("staticData") else { return };
        let kept = Level::open(text, self.top.inner()).and_then(|data| data.find(&format!("node:{from}")));
        if kept.is_some() {
            self.notes.push(format!(
                "What '{from}' has stored between executions (staticData) begins anew under the new name."
            ));
        }
    }

    /// The nodes that may hold a name.
    pub(super) fn nodes_that_may_name(&self, name: &Sought<'_>) -> Vec<usize> {
        (0..self.heads.len()).filter(|at| self.may_name(*at, name)).collect()
    }

    pub(super) fn may_name(&self, at: usize, name: &Sought<'_>) -> bool {
        let json = self.nodes.value(at);
        name.may_be_in(json, || *self.heads[at].escaped.get_or_init(|| AsciiSet::escaped_in(json)))
    }

    /// Renames in the parameters of a node; returns how many texts changed.
    fn rename_in(&mut self, at: usize, from: &Sought<'_>, to: &str) -> Result<usize, Error> {
        // Anything but an object is left unchanged.
        let node = self.node(at)?;
        if !node.get("parameters").is_some_and(|parameters| parameters.starts_with('{')) {
            return Ok(0);
        }
        let (node_type, version) = type_in(&node);
        let mut renames = Renames { node_type: &node_type, version, from, to, texts: 0 };
        self.edit_parameters(at, |level| {
            renames.level(level, "", 0);
            Ok(())
        })?;
        Ok(renames.texts)
    }
}

/// A renaming in progress in the parameters of a node.
struct Renames<'a> {
    node_type: &'a str,
    version: f64,
    from: &'a Sought<'a>,
    to: &'a str,
    /// How many texts changed.
    texts: usize,
}

impl Renames<'_> {
    /// `name` is the name of the member that the level is, or is in.
    fn level(&mut self, level: &mut Level<'_>, name: &str, depth: usize) {
        let names: Vec<_> = if level.is_object() { level.names().collect() } else { Vec::new() };
        // Of members with the same name, the last one counts.
        let last: HashMap<_, _> = names.iter().enumerate().map(|(at, name)| (name, at)).collect();
        for at in 0..level.len() {
            if names.get(at).is_some_and(|name| last.get(name) != Some(&at)) {
                continue;
            }
            let name = names.get(at).map_or(name, String::as_str);
            let json = level.value(at);
            if !self.from.may_be_in(json, || AsciiSet::escaped_in(json)) || depth > MAX_DEPTH {
                continue;
            }
            match self.text(level.value(at), name) {
                Some(text) => level.replace(at, text),
                // Anything but texts and containers contains no name.
                None => drop(level.inside(at, |inner| self.level(inner, name, depth + 1))),
            }
        }
    }

    fn text(&mut self, json: &str, name: &str) -> Option<String> {
        let string = RawString::read(json)?;
        let syntax = Syntax::of(self.node_type, self.version, name, &string.text)?;
        let edits = expression::rename(&string.text, syntax, self.from.name, self.to);
        if edits.is_empty() {
            return None;
        }
        self.texts += 1;
        Some(string.with(&edits))
    }
}
