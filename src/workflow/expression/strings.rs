//! The texts in the parameters of a node, with their places.

use serde_json::Value;

use super::Syntax;
use crate::json::well_formed;

/// A text in the parameters of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterText {
    /// Its place below `parameters`, a JSON Pointer (RFC 6901).
    pub pointer: String,
    /// How n8n reads it; `None` for plain text.
    pub syntax: Option<Syntax>,
    /// The text, with U+FFFD in place of half a surrogate pair.
    pub text: String,
}

/// All texts in the parameters of a node of this full type and version, in order. `parameters` is their JSON; there are
/// none if it is not JSON or is nested more than 127 levels deep.
///
/// ```
/// use n8n_lens::workflow::expression::{Syntax, parameter_texts};
///
/// let texts = parameter_texts("n8n-nodes-base.code", 2.0, r#"{"jsCode": "return []", "a/b": ["={{ 1 }}"]}"#);
/// assert_eq!((texts[0].pointer.as_str(), texts[0].syntax), ("/jsCode", Some(Syntax::Code)));
/// assert_eq!(texts[1].pointer, "/a~1b/0");
/// ```
pub fn parameter_texts(node_type: &str, version: f64, parameters: &str) -> Vec<ParameterText> {
    let parameters = serde_json::from_str(&well_formed(parameters.as_bytes()));
    parameters.map(|parameters| texts_of(node_type, version, &parameters)).unwrap_or_default()
}

/// The same of parameters that were read.
pub(in crate::workflow) fn texts_of(node_type: &str, version: f64, parameters: &Value) -> Vec<ParameterText> {
    let mut texts = Vec::new();
    Walk { node_type, version }.value(parameters, "", String::new(), &mut texts);
    texts
}

struct Walk<'a> {
    node_type: &'a str,
    version: f64,
}

impl Walk<'_> {
    /// `name` is that of the nearest member around the value.
    fn value(&self, value: &Value, name: &str, pointer: String, texts: &mut Vec<ParameterText>) {
        match value {
            Value::String(text) => {
                let syntax = Syntax::of(self.node_type, self.version, name, text);
                texts.push(ParameterText { pointer, syntax, text: text.clone() });
            }
            Value::Array(values) => {
                for (index, value) in values.iter().enumerate() {
                    self.value(value, name, format!("{pointer}/{index}"), texts);
                }
            }
            Value::Object(members) => {
                for (name, value) in members {
                    let pointer = format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"));
                    self.value(value, name, pointer, texts);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_surrogate_pair_is_read() {
        let texts =
            parameter_texts("n8n-nodes-base.set", 3.0, r#"{"a": "={{ '\ud83d' }}", "b~c": {"d": "\ud83d\ude00"}}"#);
        assert_eq!(texts[0].text, "={{ '\u{fffd}' }}");
        assert_eq!((texts[1].pointer.as_str(), texts[1].text.as_str(), texts[1].syntax), ("/b~0c/d", "😀", None));
        assert!(parameter_texts("t", 1.0, "[").is_empty());
    }
}
