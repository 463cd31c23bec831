//! Arguments: one declaration gives the JSON Schema that clients see and the checks that we make.
//! A client's own check is not relied on, and a refusal says what is allowed.

use std::ops::RangeInclusive;

use serde_json::{Map, Value, json};

use super::Error;

/// One argument of a tool.
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What it means, for an agent.
    pub description: &'static str,
    /// What it may be.
    pub kind: Kind,
    /// Whether the tool needs it.
    pub required: bool,
}

impl Parameter {
    /// One that the tool needs.
    pub const fn required(name: &'static str, kind: Kind, description: &'static str) -> Self {
        Self { name, description, kind, required: true }
    }

    /// One that may be left out.
    pub const fn optional(name: &'static str, kind: Kind, description: &'static str) -> Self {
        Self { name, description, kind, required: false }
    }
}

/// What an argument may be.
pub enum Kind {
    /// Digits, as a string; a number is accepted too.
    Id,
    /// Any string but the empty one.
    Text,
    /// Any string, be it empty.
    AnyText,
    /// Any string but the empty one, or `null`, which is not the same as nothing.
    TextOrNull,
    /// The same, or a number or a flag that is meant as a word.
    Word,
    /// A date and time, ISO 8601.
    Date,
    /// One of these.
    Choice(&'static [&'static str]),
    /// A whole number.
    Integer {
        /// What is allowed.
        range: RangeInclusive<u64>,
        /// What it is when it is not given, for the schema.
        default: Option<u64>,
    },
    /// Any string, which errors do not repeat.
    Secret,
    /// A whole number of either sign.
    Signed,
    /// A number, 0 or more.
    Amount,
    /// `true` or `false`.
    Flag {
        /// What it is when it is not given, for the schema.
        default: Option<bool>,
    },
    /// Strings, none of them empty.
    Texts,
    /// A JSON object.
    Object,
    /// A list of JSON objects.
    Objects,
    /// A list of anything.
    List,
}

impl Kind {
    /// A flag that is off unless it is given.
    pub const FLAG: Self = Self::Flag { default: Some(false) };

    fn schema(&self) -> Value {
        match self {
            Self::Id => json!({"type": "string", "pattern": "^\\d+$"}),
            Self::Text | Self::Word => json!({"type": "string", "minLength": 1}),
            Self::AnyText | Self::Secret => json!({"type": "string"}),
            Self::TextOrNull => json!({"type": ["string", "null"], "minLength": 1}),
            Self::Signed => json!({"type": "integer"}),
            Self::Amount => json!({"type": "number", "minimum": 0}),
            Self::Date => json!({"type": "string", "format": "date-time"}),
            Self::Choice(choices) => json!({"type": "string", "enum": choices}),
            Self::Integer { range, default } => {
                let mut schema = json!({"type": "integer", "minimum": range.start()});
                if *range.end() < u64::from(u32::MAX) {
                    schema["maximum"] = json!(range.end());
                }
                if let Some(default) = default {
                    schema["default"] = json!(default);
                }
                schema
            }
            Self::Flag { default: Some(default) } => json!({"type": "boolean", "default": default}),
            Self::Flag { default: None } => json!({"type": "boolean"}),
            Self::Texts => json!({"type": "array", "items": {"type": "string", "minLength": 1}}),
            Self::Object => json!({"type": "object"}),
            Self::Objects => json!({"type": "array", "items": {"type": "object"}}),
            Self::List => json!({"type": "array"}),
        }
    }

    fn allowed(&self) -> String {
        match self {
            Self::Id => "digits, such as \"1234\"".to_owned(),
            Self::Text | Self::Word => "a string that is not empty".to_owned(),
            Self::AnyText | Self::Secret => "a string".to_owned(),
            Self::TextOrNull => "a string that is not empty, or null".to_owned(),
            Self::Signed => "a whole number".to_owned(),
            Self::Amount => "a number from 0".to_owned(),
            Self::Date => "a date and time in ISO 8601, such as \"2026-11-21T00:00:00Z\"".to_owned(),
            Self::Choice(choices) => format!("one of {}", choices.join(", ")),
            Self::Integer { range, .. } if *range.end() >= u64::from(u32::MAX) => {
                format!("a whole number from {}", range.start())
            }
            Self::Integer { range, .. } => format!("a whole number from {} to {}", range.start(), range.end()),
            Self::Flag { .. } => "true or false".to_owned(),
            Self::Texts => "a list of strings that are not empty".to_owned(),
            Self::Object => "an object".to_owned(),
            Self::Objects => "a list of objects".to_owned(),
            Self::List => "a list".to_owned(),
        }
    }

    fn allows(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Id, Value::Number(number)) => number.is_u64(),
            (Self::Id, Value::String(text)) => is_digits(text),
            (Self::Text | Self::Word | Self::TextOrNull, Value::String(text)) => !text.is_empty(),
            (Self::AnyText | Self::Secret, Value::String(_)) | (Self::TextOrNull, Value::Null) => true,
            (Self::Signed, value) => signed(value).is_some(),
            (Self::Amount, value) => value.as_f64().is_some_and(|number| number >= 0.0),
            (Self::Word, Value::Number(number)) => number.is_u64(),
            (Self::Word, Value::Bool(_)) => true,
            (Self::Date, Value::String(text)) => text.parse::<jiff::Timestamp>().is_ok(),
            (Self::Choice(choices), Value::String(text)) => choices.contains(&text.as_str()),
            (Self::Integer { range, .. }, value) => whole(value).is_some_and(|number| range.contains(&number)),
            (Self::Flag { .. }, value) => value.is_boolean(),
            (Self::Texts, Value::Array(texts)) => {
                texts.iter().all(|text| text.as_str().is_some_and(|text| !text.is_empty()))
            }
            (Self::Object, value) => value.is_object(),
            (Self::List, value) => value.is_array(),
            (Self::Objects, Value::Array(objects)) => objects.iter().all(Value::is_object),
            _ => false,
        }
    }
}

/// Whether n8n could have made this id.
fn is_digits(text: &str) -> bool {
    const LONGEST: usize = 20;
    !text.is_empty() && text.len() <= LONGEST && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A whole number; JSON does not tell `5` from `5.0`, and some clients write the latter.
fn whole(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        let number = value.as_f64()?;
        (number >= 0.0 && number.fract() == 0.0 && number < 2f64.powi(53)).then_some(number as u64)
    })
}

fn signed(value: &Value) -> Option<i64> {
    let negative = || {
        let number = value.as_f64()?;
        (number.fract() == 0.0 && number.abs() < 2f64.powi(53)).then_some(number as i64)
    };
    value.as_i64().or_else(negative)
}

/// The arguments of one call, checked.
#[derive(Clone)]
pub struct Arguments(Map<String, Value>);

impl Arguments {
    /// Checks what a client sent; `ignored` are accepted and not used. `null` is the same as nothing.
    ///
    /// # Errors
    /// [`Error::Argument`], which names the argument, its value and what is allowed.
    pub fn check(parameters: &[Parameter], ignored: &[&str], mut given: Map<String, Value>) -> Result<Self, Error> {
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
                return Err(Error::Argument(format!(
                    "Unknown argument '{}'. This tool takes {}.",
                    brief(name),
                    names.join(", ")
                )));
            };
            if !parameter.kind.allows(value) {
                let value = match parameter.kind {
                    Kind::Secret => "not a string".to_owned(),
                    _ => brief(&value.to_string()),
                };
                return Err(Error::Argument(format!(
                    "Argument '{name}' is {value}; it must be {}.",
                    parameter.kind.allowed()
                )));
            }
        }
        match parameters.iter().find(|parameter| parameter.required && !given.contains_key(parameter.name)) {
            Some(missing) => Err(Error::Argument(format!(
                "Argument '{}' is missing; it must be {}.",
                missing.name,
                missing.kind.allowed()
            ))),
            None => Ok(Self(given)),
        }
    }

    /// Arguments that nobody has to check: they are our own.
    pub fn unchecked(own: Map<String, Value>) -> Self {
        Self(own)
    }

    /// A string, or an id that came as a number.
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

    /// A flag.
    pub fn flag(&self, name: &str) -> bool {
        self.choice(name).unwrap_or(false)
    }

    /// A flag that was given.
    pub fn choice(&self, name: &str) -> Option<bool> {
        self.0.get(name).and_then(Value::as_bool)
    }

    /// A list of strings; empty where there is none.
    pub fn texts(&self, name: &str) -> Vec<String> {
        let texts = self.0.get(name).and_then(Value::as_array).into_iter().flatten();
        texts.filter_map(|text| text.as_str().map(str::to_owned)).collect()
    }

    /// Which of these were given.
    pub fn names(&self, names: &'static [&'static str]) -> impl Iterator<Item = String> {
        names.iter().filter(|name| self.0.contains_key(**name)).map(|name| (*name).to_owned())
    }

    /// Takes out an object; an empty one where there is none.
    pub fn take_object(&mut self, name: &str) -> Map<String, Value> {
        match self.0.shift_remove(name) {
            Some(Value::Object(object)) => object,
            _ => Map::new(),
        }
    }

    /// Takes out those of these that were given: they may be megabytes.
    pub fn take(&mut self, names: &[&str]) -> Map<String, Value> {
        names.iter().filter_map(|name| self.0.shift_remove_entry(*name)).collect()
    }
}

/// A value in an error is as long as it helps.
fn brief(text: &str) -> String {
    const CHARS: usize = 100;
    crate::json::shorten(text, CHARS)
}

/// The JSON Schema of an object with these members.
pub(crate) fn schema(parameters: &[Parameter]) -> Map<String, Value> {
    let mut properties = Map::new();
    for parameter in parameters {
        let mut schema = parameter.kind.schema();
        schema["description"] = parameter.description.into();
        properties.insert(parameter.name.to_owned(), schema);
    }
    let required: Vec<_> =
        parameters.iter().filter(|parameter| parameter.required).map(|parameter| parameter.name).collect();
    let mut schema = Map::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), properties.into());
    if !required.is_empty() {
        schema.insert("required".to_owned(), required.into());
    }
    schema.insert("additionalProperties".to_owned(), false.into());
    schema
}
