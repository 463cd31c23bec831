//! The arguments of a call, checked against the parameters of its tool.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::parameter::{Kind, Parameter, signed, whole};

/// An argument that is missing, unknown or not allowed: one sentence that names the argument and what is allowed.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ArgumentError(pub String);

/// The checked arguments of one call.
#[derive(Clone)]
pub struct Arguments(Map<String, Value>);

impl Arguments {
    /// Checks the arguments that a client sent. Those named in `ignored` are accepted and dropped; `null` is the same
    /// as omitting the argument, unless its kind is [`Kind::TextOrNull`].
    ///
    /// # Errors
    /// When an argument is missing, unknown or not allowed. The value is quoted, shortened, unless it is a
    /// [`Kind::Secret`] or a document, that is an array, an object or a string in place of one: a document may
    /// contain secrets.
    ///
    /// ```
    /// use n8n_lens::toolkit::{Arguments, Kind, Parameter};
    /// use serde_json::json;
    ///
    /// let parameters = [Parameter::optional("limit", Kind::Integer { range: 1..=50, default: Some(50) }, "At most this many.")];
    /// let sent = json!({"limit": 51}).as_object().cloned().unwrap_or_default();
    /// let refused = Arguments::check(&parameters, &[], sent).err().map(|error| error.to_string());
    /// assert_eq!(refused.as_deref(), Some("Argument 'limit' is 51; it must be a whole number from 1 to 50."));
    /// ```
    pub fn check(
        parameters: &[Parameter],
        ignored: &[&str],
        mut given: Map<String, Value>,
    ) -> Result<Self, ArgumentError> {
        let takes_null = |name: &str| {
            parameters.iter().any(|parameter| parameter.name == name && matches!(parameter.kind, Kind::TextOrNull))
        };
        given.retain(|name, value| !value.is_null() || takes_null(name));
        for (name, value) in &given {
            let Some(parameter) = parameters.iter().find(|parameter| parameter.name == name) else {
                if ignored.contains(&name.as_str()) {
                    continue;
                }
                let names: Vec<_> = parameters.iter().map(|parameter| parameter.name).collect();
                return Err(ArgumentError(format!(
                    "Unknown argument '{}'. This tool takes {}.",
                    brief(name),
                    names.join(", ")
                )));
            };
            if !parameter.kind.allows(value) {
                return Err(ArgumentError(format!(
                    "Argument '{name}' is {}; it must be {}.",
                    described(&parameter.kind, value),
                    parameter.kind.allowed()
                )));
            }
        }
        match parameters.iter().find(|parameter| parameter.required && !given.contains_key(parameter.name)) {
            Some(missing) => Err(ArgumentError(format!(
                "Argument '{}' is missing; it must be {}.",
                missing.name,
                missing.kind.allowed()
            ))),
            None => Ok(Self(given)),
        }
    }

    /// Arguments that need no check because they are our own.
    pub fn unchecked(own: Map<String, Value>) -> Self {
        Self(own)
    }

    /// The arguments as JSON, in the order of their names: the same for the same arguments.
    pub fn to_json(&self) -> String {
        let sorted: BTreeMap<_, _> = self.0.iter().collect();
        serde_json::to_string(&sorted).unwrap_or_default()
    }

    /// A string, or the text of an id that was sent as a number.
    pub fn text(&self, name: &str) -> Option<String> {
        match self.0.get(name)? {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            value => Some(value.to_string()),
        }
    }

    /// A whole number.
    pub fn integer(&self, name: &str) -> Option<u64> {
        whole(self.0.get(name)?)
    }

    /// A whole number of either sign.
    pub fn signed(&self, name: &str) -> Option<i64> {
        signed(self.0.get(name)?)
    }

    /// A number.
    pub fn amount(&self, name: &str) -> Option<f64> {
        self.0.get(name)?.as_f64()
    }

    /// A string, a number or a boolean.
    pub fn scalar(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// A flag; `false` if it was omitted.
    pub fn flag(&self, name: &str) -> bool {
        self.choice(name).unwrap_or(false)
    }

    /// A flag, if it was given.
    pub fn choice(&self, name: &str) -> Option<bool> {
        self.0.get(name).and_then(Value::as_bool)
    }

    /// A list of strings; empty if it was omitted.
    pub fn texts(&self, name: &str) -> Vec<String> {
        let texts = self.0.get(name).and_then(Value::as_array).into_iter().flatten();
        texts.filter_map(|text| text.as_str().map(str::to_owned)).collect()
    }

    /// Those of `names` that were given.
    pub fn names(&self, names: &'static [&'static str]) -> impl Iterator<Item = String> {
        names.iter().filter(|name| self.0.contains_key(**name)).map(|name| (*name).to_owned())
    }

    /// Removes and returns an object; an empty one if it was omitted.
    pub fn take_object(&mut self, name: &str) -> Map<String, Value> {
        match self.0.shift_remove(name) {
            Some(Value::Object(object)) => object,
            _ => Map::new(),
        }
    }

    /// Removes and returns those of `names` that were given, without copying: they may be megabytes.
    pub fn take(&mut self, names: &[&str]) -> Map<String, Value> {
        names.iter().filter_map(|name| self.0.shift_remove_entry(*name)).collect()
    }
}

/// A value that is not allowed, as an error names it.
fn described(kind: &Kind, value: &Value) -> String {
    match (kind, value) {
        (Kind::Secret, _) => "not a string".to_owned(),
        (_, Value::Array(_)) => "an array".to_owned(),
        (_, Value::Object(_)) => "an object".to_owned(),
        (Kind::Object | Kind::List | Kind::Objects, Value::String(_)) => "a string".to_owned(),
        (_, value) => brief(&value.to_string()),
    }
}

/// A text as an error quotes it.
fn brief(text: &str) -> String {
    const CHARS: usize = 100;
    crate::json::shorten(text, CHARS)
}
