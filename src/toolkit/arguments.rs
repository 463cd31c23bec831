//! The arguments of a call, checked against the parameters of its tool.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{Argument, Kind, Parameter};

/// Why arguments are refused: one sentence that says what is allowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArgumentError {
    /// The tool has no such parameter.
    #[error("Unknown argument '{name}'. This tool takes {known}.")]
    Unknown {
        /// The name that was sent, shortened.
        name: String,
        /// The parameters, separated by commas.
        known: String,
    },
    /// One argument is missing or not allowed.
    #[error("Argument '{name}' {problem}")]
    Refused {
        /// Its name.
        name: String,
        /// What is wrong with it and what is allowed: the rest of the sentence.
        problem: String,
    },
    /// Several arguments are incompatible, or a document is not what it must be: a sentence.
    #[error("{0}")]
    Together(String),
}

impl ArgumentError {
    /// The refusal of one argument; `problem` is the rest of the sentence that begins with its name.
    pub fn new(name: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Refused { name: name.into(), problem: problem.into() }
    }

    /// The argument that is refused, if it is one.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Unknown { name, .. } | Self::Refused { name, .. } => Some(name),
            Self::Together(_) => None,
        }
    }

    /// The refusal of a combination of arguments, or of a document; `problem` is the whole sentence.
    pub fn together(problem: impl Into<String>) -> Self {
        Self::Together(problem.into())
    }

    /// The refusal of a member of an argument that is an object.
    pub fn inside(self, argument: &str) -> Self {
        match self {
            Self::Unknown { name, known } => Self::new(argument, format!("has no member '{name}'. It takes {known}.")),
            Self::Refused { name, problem } => Self::Refused { name: format!("{argument}.{name}"), problem },
            together @ Self::Together(_) => together,
        }
    }

    /// The refusal of a value that is not of this kind.
    pub fn not_allowed(name: &str, kind: &Kind, value: &Value) -> Self {
        Self::new(name, format!("is {}; it must be {}.", described(kind, value), kind.allowed()))
    }

    fn missing(name: &str, kind: &Kind) -> Self {
        Self::new(name, format!("is missing; it must be {}.", kind.allowed()))
    }
}

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
    /// use n8n_lens::toolkit::{Arguments, IntegerOr, Parameter};
    /// use serde_json::json;
    ///
    /// let parameters = [Parameter::of::<IntegerOr<50, 1, 50>>("limit", "At most this many.")];
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
                return Err(ArgumentError::Unknown { name: brief(name), known: names.join(", ") });
            };
            if !parameter.kind.allows(value) {
                return Err(ArgumentError::not_allowed(parameter.name, &parameter.kind, value));
            }
        }
        match parameters.iter().find(|parameter| parameter.required && !given.contains_key(parameter.name)) {
            Some(missing) => Err(ArgumentError::missing(missing.name, &missing.kind)),
            None => Ok(Self(given)),
        }
    }

    /// The arguments that a client sent for a prompt: texts. A value that is not a text, or is empty, counts as omitted.
    pub fn of_prompt(mut given: Map<String, Value>) -> Self {
        given.retain(|_, value| value.as_str().is_some_and(|text| !text.is_empty()));
        Self(given)
    }

    /// The arguments as JSON, in the order of their names: the same for the same arguments.
    pub fn to_json(&self) -> String {
        let sorted: BTreeMap<_, _> = self.0.iter().collect();
        serde_json::to_string(&sorted).unwrap_or_default()
    }

    /// Removes and returns an argument, without copying it.
    ///
    /// # Errors
    /// It is required and was omitted, or was not checked.
    pub fn take<A: Argument>(&mut self, name: &str) -> Result<A::Value, ArgumentError> {
        let value = self.0.shift_remove(name).map_or_else(A::omitted, A::read);
        value.ok_or_else(|| ArgumentError::missing(name, &A::KIND))
    }

    /// The names among `names` that were passed.
    pub fn names(&self, names: &[&str]) -> Vec<String> {
        names.iter().filter(|name| self.0.contains_key(**name)).map(|name| (*name).to_owned()).collect()
    }
}

/// A value that is not allowed, for an error message.
fn described(kind: &Kind, value: &Value) -> String {
    match (kind, value) {
        (Kind::Secret, _) => "not a string".to_owned(),
        (Kind::Objects | Kind::Texts, Value::Array(elements)) => {
            let wrong = elements.iter().position(|element| !kind.allows(&json!([element])));
            let (at, element) = wrong.and_then(|at| Some((at, elements.get(at)?))).unwrap_or((0, value));
            format!("a list whose element {at} is {}", described(&Kind::Text, element))
        }
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
