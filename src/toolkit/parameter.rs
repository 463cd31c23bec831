//! Parameters: one declaration yields both the JSON Schema that clients see and the checks that we make.
//!
//! We do not rely on a client's own validation, and a refusal says what is allowed.

use serde_json::{Map, Value, json};

use super::Argument;

/// One parameter of a tool.
#[derive(Clone, Copy)]
pub struct Parameter {
    /// The name.
    pub name: &'static str,
    /// Its meaning, for an agent.
    pub description: &'static str,
    /// Which values are allowed.
    pub kind: Kind,
    /// Whether a call without it is refused.
    pub required: bool,
}

impl Parameter {
    /// The parameter whose values are read as `A`.
    pub const fn of<A: Argument>(name: &'static str, description: &'static str) -> Self {
        Self { name, description, kind: A::KIND, required: A::REQUIRED }
    }

    /// Those of `all` with other names than these. Does not compile unless `N` are left.
    pub const fn without<const N: usize>(all: &[Self], names: &[&str]) -> [Self; N] {
        let mut left = [all[0]; N];
        let (mut at, mut count) = (0, 0);
        while at < all.len() {
            if !contains(names, all[at].name) {
                left[count] = all[at];
                count += 1;
            }
            at += 1;
        }
        assert!(count == N, "another number of parameters is left");
        left
    }
}

/// Which values a parameter allows.
#[derive(Clone, Copy)]
pub enum Kind {
    /// Digits, as a string; a number is accepted, too.
    Id,
    /// An [`Id`](Self::Id), or the path of a file.
    IdOrFile,
    /// A non-empty string.
    Text,
    /// Any string, including the empty one.
    AnyText,
    /// A non-empty string, or `null`, which is different from omitting it.
    TextOrNull,
    /// A non-empty string; a number or a boolean is accepted and read as its text.
    Word,
    /// A date and time, ISO 8601.
    Date,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A whole number.
    Integer {
        /// The smallest allowed value.
        min: u64,
        /// The largest one.
        max: u64,
        /// The default, for the schema.
        default: Option<u64>,
    },
    /// Any string; errors never repeat it.
    Secret,
    /// A whole number of either sign.
    Signed,
    /// A number, 0 or more.
    Amount,
    /// A number.
    Number,
    /// A string; a number or a boolean keeps its type. Strict clients only support parameters of one type.
    Scalar,
    /// A [`Scalar`](Self::Scalar), or the path of another value, `{"path": "…"}`, which may be written as a string.
    Operand,
    /// `true` or `false`.
    Flag,
    /// `true` or `false`, which is the default.
    Switch,
    /// A list of non-empty strings.
    Texts,
    /// A JSON object.
    Object,
    /// A list of JSON objects.
    Objects,
    /// A list of any JSON values.
    List,
}

impl Kind {
    fn schema(&self) -> Value {
        match self {
            Self::Id => json!({"type": "string", "pattern": "^\\d+$"}),
            Self::IdOrFile | Self::Text | Self::Word => json!({"type": "string", "minLength": 1}),
            Self::AnyText | Self::Secret | Self::Scalar | Self::Operand => json!({"type": "string"}),
            Self::TextOrNull => json!({"type": ["string", "null"], "minLength": 1}),
            Self::Signed => json!({"type": "integer"}),
            Self::Amount => json!({"type": "number", "minimum": 0}),
            Self::Number => json!({"type": "number"}),
            Self::Date => json!({"type": "string", "format": "date-time"}),
            Self::Choice(choices) => json!({"type": "string", "enum": choices}),
            Self::Integer { min, max, default } => {
                let mut schema = json!({"type": "integer", "minimum": min});
                if *max < u64::from(u32::MAX) {
                    schema["maximum"] = json!(max);
                }
                if let Some(default) = default {
                    schema["default"] = json!(default);
                }
                schema
            }
            Self::Flag => json!({"type": "boolean"}),
            Self::Switch => json!({"type": "boolean", "default": false}),
            Self::Texts => json!({"type": "array", "items": {"type": "string", "minLength": 1}}),
            Self::Object => json!({"type": "object"}),
            Self::Objects => json!({"type": "array", "items": {"type": "object"}}),
            Self::List => json!({"type": "array"}),
        }
    }

    pub(super) fn allowed(&self) -> String {
        match self {
            Self::Id => "digits, such as \"1234\"".to_owned(),
            Self::IdOrFile => "digits, such as \"1234\", or the path of a file".to_owned(),
            Self::Text | Self::Word => "a non-empty string".to_owned(),
            Self::AnyText | Self::Secret => "a string".to_owned(),
            Self::TextOrNull => "a non-empty string or null".to_owned(),
            Self::Signed => "a whole number".to_owned(),
            Self::Amount => "a number, 0 or more".to_owned(),
            Self::Number => "a number".to_owned(),
            Self::Scalar => "a string, a number, true or false".to_owned(),
            Self::Operand => {
                "a string, a number, true or false, or the path of another value, {\"path\": \"…\"}".to_owned()
            }
            Self::Date => "a date and time in ISO 8601, such as \"2026-11-21T00:00:00Z\"".to_owned(),
            Self::Choice(choices) => format!("one of {}", choices.join(", ")),
            Self::Integer { min, max, .. } if *max >= u64::from(u32::MAX) => format!("a whole number, {min} or more"),
            Self::Integer { min, max, .. } => format!("a whole number from {min} to {max}"),
            Self::Flag | Self::Switch => "true or false".to_owned(),
            Self::Texts => "a list of non-empty strings".to_owned(),
            Self::Object => "an object".to_owned(),
            Self::Objects => "a list of objects".to_owned(),
            Self::List => "a list".to_owned(),
        }
    }

    pub(super) fn allows(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Id | Self::IdOrFile, Value::Number(number)) => number.is_u64(),
            // n8n's engine v2 has UUIDs. It is off by default, so the schema does not mention them.
            (Self::Id, Value::String(text)) => is_digits(text) || uuid::Uuid::try_parse(text).is_ok(),
            (Self::IdOrFile | Self::Text | Self::Word | Self::TextOrNull, Value::String(text)) => !text.is_empty(),
            (Self::AnyText | Self::Secret, Value::String(_)) | (Self::TextOrNull, Value::Null) => true,
            (Self::Signed, value) => signed(value).is_some(),
            (Self::Amount, value) => value.as_f64().is_some_and(|number| number >= 0.0),
            (Self::Number, value) => value.is_number(),
            (Self::Scalar, value) => value.is_string() || value.is_number() || value.is_boolean(),
            (Self::Operand, Value::Object(_)) => operand_path(value).is_some(),
            (Self::Operand, value) => value.is_string() || value.is_number() || value.is_boolean(),
            (Self::Word, Value::Number(number)) => number.is_u64(),
            (Self::Word, Value::Bool(_)) => true,
            (Self::Date, Value::String(text)) => text.parse::<jiff::Timestamp>().is_ok(),
            (Self::Choice(choices), Value::String(text)) => choices.contains(&text.as_str()),
            (Self::Integer { min, max, .. }, value) => {
                whole(value).is_some_and(|number| (*min..=*max).contains(&number))
            }
            (Self::Flag | Self::Switch, value) => value.is_boolean(),
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

/// The path of an [operand](Kind::Operand) that is one.
pub(super) fn operand_path(value: &Value) -> Option<String> {
    let written = value.as_str().filter(|text| text.starts_with('{')).and_then(|text| serde_json::from_str(text).ok());
    let members = written.as_ref().unwrap_or(value).as_object().filter(|members| members.len() == 1)?;
    members.get("path")?.as_str().filter(|path| !path.is_empty()).map(str::to_owned)
}

/// Whether a text is one of these; `==` is not const.
const fn contains(texts: &[&str], text: &str) -> bool {
    let mut at = 0;
    while at < texts.len() {
        if is_same(texts[at].as_bytes(), text.as_bytes()) {
            return true;
        }
        at += 1;
    }
    false
}

const fn is_same(one: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

/// Whether n8n could have issued this id.
fn is_digits(text: &str) -> bool {
    const LONGEST: usize = 20;
    !text.is_empty() && text.len() <= LONGEST && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A whole number; JSON does not distinguish `5` from `5.0`, and some clients write the latter.
pub(super) fn whole(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        let number = value.as_f64()?;
        (number >= 0.0 && number.fract() == 0.0 && number < 2f64.powi(53)).then_some(number as u64)
    })
}

pub(super) fn signed(value: &Value) -> Option<i64> {
    let negative = || {
        let number = value.as_f64()?;
        (number.fract() == 0.0 && number.abs() < 2f64.powi(53)).then_some(number as i64)
    };
    value.as_i64().or_else(negative)
}

/// The JSON Schema of an object with these parameters as its members; no others are allowed.
///
/// ```
/// use n8n_lens::toolkit::{Id, Parameter, schema};
///
/// let parameters = [Parameter::of::<Id>("id", "The execution's id.")];
/// assert_eq!(schema(&parameters)["properties"]["id"]["pattern"], "^\\d+$");
/// ```
pub fn schema(parameters: &[Parameter]) -> Map<String, Value> {
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
