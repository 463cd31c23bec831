//! Edits of a node's members other than its parameters, and of a workflow's members other than its nodes.

use serde_json::{Map, Value, json};

use super::changed::Held;
use super::{Changed, Editor, NodeTypes, type_in};
use crate::json::{CUT_NAME_CHARS, quoted_name};
use crate::workflow::Error;
use crate::workflow::catalogue::NodeType;
use crate::workflow::document::NAME_CHARS;

/// The members of a node other than its parameters, and their values (`INode` in `packages/workflow/src/interfaces.ts`).
pub(super) const NODE_SETTINGS: [(&str, Takes); 13] = [
    ("disabled", Takes::Flag),
    ("onError", Takes::Word(&["stopWorkflow", "continueRegularOutput", "continueErrorOutput"])),
    ("retryOnFail", Takes::Flag),
    ("maxTries", Takes::Number),
    ("waitBetweenTries", Takes::Number),
    ("alwaysOutputData", Takes::Flag),
    ("executeOnce", Takes::Flag),
    ("notes", Takes::Text),
    ("notesInFlow", Takes::Flag),
    ("position", Takes::Point),
    ("typeVersion", Takes::Number),
    ("credentials", Takes::Object),
    ("webhookId", Takes::Text),
];

/// Which values a setting takes.
pub(super) enum Takes {
    Flag,
    Number,
    Text,
    Word(&'static [&'static str]),
    Point,
    Object,
}

impl Takes {
    fn allows(&self, value: &Value) -> bool {
        match self {
            Self::Flag => value.is_boolean(),
            Self::Number => value.is_number(),
            Self::Text => value.is_string(),
            Self::Word(words) => value.as_str().is_some_and(|word| words.contains(&word)),
            Self::Point => value.as_array().is_some_and(|point| point.len() == 2 && point.iter().all(Value::is_number)),
            Self::Object => value.is_object(),
        }
    }

    fn words(&self) -> String {
        match self {
            Self::Flag => "true or false".to_owned(),
            Self::Number => "a number".to_owned(),
            Self::Text => "a text".to_owned(),
            Self::Word(words) => format!("one of {}", words.join(", ")),
            Self::Point => "two numbers, [x, y]".to_owned(),
            Self::Object => "an object".to_owned(),
        }
    }
}

impl Editor<'_> {
    pub(super) fn set_node_settings(
        &mut self,
        node: &str,
        settings: &Map<String, Value>,
        types: NodeTypes<'_>,
    ) -> Result<Vec<Changed>, Error> {
        let at = self.find_only(node)?;
        if settings.is_empty() {
            return Err(Error::Edit("there is nothing to change; pass settings".to_owned()));
        }
        check_node_settings(settings)?;
        if let Some(version) = settings.get("typeVersion").and_then(Value::as_f64) {
            check_version(types(&type_in(&self.node(at)?).0), version)?;
        }
        let mut changes = Vec::new();
        for (name, value) in settings {
            let before = match (name.as_str(), value) {
                ("credentials", Value::Object(new)) => self.merge_credentials(at, new)?,
                (_, Value::Null) => self.set_node_member(at, name, None)?,
                (_, value) => self.set_node_member(at, name, Some(value))?,
            };
            let before = before.map(|json| Held::alone(name, &json));
            let after = self.node(at)?.get(name).map(|json| Held::alone(name, json));
            changes.push(Changed::Value { node: Some(self.name(at)), path: name.clone(), before, after });
        }
        Ok(changes)
    }

    /// Merges into the credentials of a node; if none remain, the member is removed. Returns their JSON text before.
    fn merge_credentials(&mut self, at: usize, new: &Map<String, Value>) -> Result<Option<String>, Error> {
        let before = self.node(at)?.get("credentials").filter(|text| text.starts_with('{')).map(str::to_owned);
        let Some(before) = before else {
            let new: Map<_, _> = new.clone().into_iter().filter(|(_, value)| !value.is_null()).collect();
            return self.set_node_member(at, "credentials", (!new.is_empty()).then(|| new.into()).as_ref());
        };
        self.edit_node(at, |node| {
            let found = node.find("credentials").unwrap_or_default();
            let left = node.inside(found, |all| {
                for (name, value) in new {
                    match value {
                        Value::Null => all.remove_member(name),
                        value => all.set_member(name, value),
                    }
                }
                all.len()
            });
            if left == Some(0) {
                node.remove_member("credentials");
            }
            Ok(Some(before))
        })
    }

    pub(super) fn set_settings(&mut self, new: &Map<String, Value>) -> Result<Vec<Changed>, Error> {
        if new.is_empty() {
            return Err(Error::Edit("there is nothing to change; pass settings".to_owned()));
        }
        if self.top.get("settings").is_none_or(|text| text == "null") {
            if new.values().all(Value::is_null) {
                let gone =
                    |name| Changed::Value { node: None, path: format!("settings.{name}"), before: None, after: None };
                return Ok(new.keys().map(gone).collect());
            }
            self.top.set_member("settings", &json!({}));
        }
        let changes = self.edit_member("settings", |level| {
            let mut changes = Vec::new();
            for (name, value) in new {
                let before = level.get(name).map(|json| Held::alone(name, json));
                match value {
                    Value::Null if before.is_none() => {}
                    Value::Null => level.remove_member(name),
                    value => level.set_member(name, value),
                }
                let after = level.get(name).map(|json| Held::alone(name, json));
                changes.push(Changed::Value { node: None, path: format!("settings.{name}"), before, after });
            }
            changes
        });
        changes.ok_or_else(|| Error::NotWorkflow("settings must be an object".to_owned()))
    }

    pub(super) fn set_metadata(
        &mut self,
        name: Option<&str>,
        description: Option<&str>,
    ) -> Result<Vec<Changed>, Error> {
        if name.is_some_and(|name| name.is_empty() || name.chars().count() > NAME_CHARS) {
            return Err(Error::Edit(format!("name must have 1 to {NAME_CHARS} characters")));
        }
        let given = [("name", name), ("description", description)];
        let given = given.into_iter().filter_map(|(member, text)| Some((member, text?)));
        let change = |(member, text): (&str, &str)| {
            let before = self.top.get(member).map(|json| Held::alone(member, json));
            self.top.set_member(member, &json!(text));
            let after = Some(Held::alone(member, &json!(text).to_string()));
            Changed::Value { node: None, path: member.to_owned(), before, after }
        };
        let changes: Vec<_> = given.map(change).collect();
        if changes.is_empty() {
            return Err(Error::Edit("there is nothing to change; pass name or description".to_owned()));
        }
        Ok(changes)
    }
}

/// Checks that a type has this version.
pub(super) fn check_version(known: Option<&NodeType>, version: f64) -> Result<(), Error> {
    match known {
        Some(known) if !known.versions.iter().any(|known| known.as_f64() == Some(version)) => {
            let versions: Vec<_> = known.versions.iter().map(ToString::to_string).collect();
            let (name, versions) = (&known.display_name, versions.join(", "));
            Err(Error::Edit(format!("{name} has no version {version}; it has {versions}")))
        }
        _ => Ok(()),
    }
}

/// Checks settings of a node by name and by value; `null` is allowed for each.
pub(super) fn check_node_settings(settings: &Map<String, Value>) -> Result<(), Error> {
    for (name, value) in settings {
        let Some((_, takes)) = NODE_SETTINGS.iter().find(|(known, _)| known == name) else {
            let known: Vec<_> = NODE_SETTINGS.iter().map(|(known, _)| *known).collect();
            let name = quoted_name(name, CUT_NAME_CHARS);
            return Err(Error::Edit(format!("a node has no setting {name}; it has {}", known.join(", "))));
        };
        if !value.is_null() && !takes.allows(value) {
            return Err(Error::Edit(format!("{name} must be {}", takes.words())));
        }
    }
    Ok(())
}
