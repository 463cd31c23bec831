//! The parameters of a node type, merged and in order of importance.
//!
//! n8n describes fields of its editor, not parameters: there is one field for every combination of resource and
//! operation that a parameter belongs to. The index has each parameter once; the ones that a new node shows come first.

use std::collections::HashMap;

use serde_json::Value;

use super::ParameterType;
use super::declaration::{DisplayOptions, Property};

/// Fields of the editor that are not parameters.
const DECORATION: [&str; 7] = ["notice", "callout", "button", "hidden", "curlImport", "icon", "credentials"];

/// A longer default is a template, which does not help to choose a value.
const DEFAULT_BYTES: usize = 60;

/// Enough to show what a parameter is about.
const MAX_OPTIONS: usize = 30;

/// Conditions can depend on parameters that have conditions themselves; n8n's own are not nested more deeply.
const CONDITION_DEPTH: usize = 3;

/// The default of each parameter that a new node shows.
type Defaults<'a> = HashMap<&'a str, Option<&'a Value>>;

/// A parameter while its fields are being merged.
struct Merged<'a> {
    name: &'a str,
    kind: &'a str,
    place: usize,
    /// A new node shows it.
    fresh: bool,
    required: bool,
    /// A new node shows it and requires it.
    required_fresh: bool,
    /// All its fields belong to the node's settings.
    setting: bool,
    default: Option<&'a Value>,
    options: Vec<&'a Value>,
}

/// The parameters of one version, the most important first.
pub(super) fn parameters(properties: &[Property], version: f64) -> Vec<ParameterType> {
    let defaults = fresh_defaults(properties, version);
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut merged: Vec<Merged<'_>> = Vec::new();
    for (place, property) in properties.iter().enumerate() {
        let conditions = &property.display_options;
        if !conditions.has_version(version) || DECORATION.contains(&property.kind.as_str()) {
            continue;
        }
        let fresh = conditions.is_met_by(version, &defaults);
        let known = *places.entry(&property.name).or_insert(merged.len());
        match merged.get_mut(known) {
            Some(parameter) => parameter.add(property, place, fresh),
            None => merged.push(Merged::new(property, place, fresh)),
        }
    }
    merged.sort_by_key(|parameter| (parameter.rank(), parameter.place));
    merged.into_iter().map(ParameterType::from).collect()
}

/// The fields that a new node shows, with their defaults. Each round knows more of the values that conditions depend on.
fn fresh_defaults(properties: &[Property], version: f64) -> Defaults<'_> {
    let mut defaults = Defaults::new();
    for _ in 0..CONDITION_DEPTH {
        let mut next = Defaults::new();
        for property in properties {
            if !next.contains_key(property.name.as_str()) && property.display_options.is_met_by(version, &defaults) {
                next.insert(&property.name, property.default.as_ref());
            }
        }
        if next == defaults {
            break;
        }
        defaults = next;
    }
    defaults
}

impl<'a> Merged<'a> {
    fn new(property: &'a Property, place: usize, fresh: bool) -> Self {
        let mut parameter = Self {
            name: &property.name,
            kind: &property.kind,
            place,
            fresh,
            required: false,
            required_fresh: false,
            setting: true,
            default: None,
            options: Vec::new(),
        };
        parameter.add(property, place, fresh);
        parameter
    }

    /// Merges another field. The one that a new node shows wins, wherever it is.
    fn add(&mut self, property: &'a Property, place: usize, fresh: bool) {
        if fresh && !self.fresh {
            (self.kind, self.place, self.fresh, self.default) = (&property.kind, place, true, None);
        }
        self.required |= property.required;
        self.required_fresh |= property.required && fresh;
        self.setting &= property.is_node_setting;
        if self.default.is_none() && (fresh || !self.fresh) {
            self.default = property.default.as_ref().filter(|default| is_meaningful(default));
        }
        if matches!(property.kind.as_str(), "options" | "multiOptions") {
            let values = property.options.iter().filter_map(|choice| choice.value.as_ref());
            let place = if fresh { 0 } else { self.options.len() };
            self.options.splice(place..place, values);
        }
    }

    /// Lower is more important.
    fn rank(&self) -> u8 {
        let aside = self.kind == "collection" || self.name == "authentication" || self.setting;
        match self.name {
            "resource" => 0,
            "operation" => 1,
            _ if self.required_fresh => 2,
            _ if self.fresh && !aside => 3,
            _ if self.required => 4,
            _ if self.fresh => 5,
            _ => 6,
        }
    }
}

impl From<Merged<'_>> for ParameterType {
    fn from(merged: Merged<'_>) -> Self {
        let mut options: Vec<Value> = Vec::new();
        for option in merged.options {
            if options.len() < MAX_OPTIONS && !options.contains(option) {
                options.push(option.clone());
            }
        }
        Self {
            name: merged.name.to_owned(),
            kind: merged.kind.to_owned(),
            required: merged.required,
            default: merged.default.cloned(),
            options,
        }
    }
}

/// An empty default says nothing, and neither does an empty choice from a list (`__rl`).
fn is_meaningful(default: &Value) -> bool {
    let empty = match default {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.keys().all(|key| matches!(key.as_str(), "mode" | "value" | "__rl")),
        Value::Bool(_) | Value::Number(_) => false,
    };
    !empty && default.to_string().len() <= DEFAULT_BYTES
}

impl DisplayOptions {
    /// Whether the field belongs to this version, and not only to the twin for AI agents.
    fn has_version(&self, version: f64) -> bool {
        let fits = |conditions: &Vec<Value>| conditions.iter().any(|condition| version_fits(condition, version));
        self.show.get("@version").is_none_or(fits)
            && !self.hide.get("@version").is_some_and(fits)
            && self.show.get("@tool").is_none_or(|wanted| *wanted != [Value::Bool(true)])
    }

    /// Whether the editor shows the field while the other parameters have these values.
    fn is_met_by(&self, version: f64, values: &Defaults<'_>) -> bool {
        let holds = |(name, wanted): (&String, &Vec<Value>)| {
            let value = values.get(name.trim_start_matches('/')).copied().flatten();
            wanted.iter().any(|condition| value_fits(condition, value))
        };
        let on_parameter = |(name, _): &(&String, &Vec<Value>)| !name.starts_with('@');
        self.has_version(version)
            && self.other.is_empty()
            && self.show.iter().filter(on_parameter).all(holds)
            && !self.hide.iter().filter(on_parameter).any(holds)
    }
}

/// A condition is a value, or `{"_cnd": {operator: value}}`.
fn comparison(condition: &Value) -> Option<(&str, &Value)> {
    condition.get("_cnd")?.as_object()?.iter().next().map(|(operator, value)| (operator.as_str(), value))
}

fn version_fits(condition: &Value, version: f64) -> bool {
    let Some((operator, operand)) = comparison(condition) else { return condition.as_f64() == Some(version) };
    let than = |compare: fn(&f64, &f64) -> bool| operand.as_f64().is_some_and(|number| compare(&version, &number));
    let bound = |name| operand.get(name).and_then(Value::as_f64);
    match operator {
        "gte" => than(f64::ge),
        "gt" => than(f64::gt),
        "lte" => than(f64::le),
        "lt" => than(f64::lt),
        "eq" => than(f64::eq),
        "not" => than(f64::ne),
        "between" => bound("from").zip(bound("to")).is_some_and(|(from, to)| (from..=to).contains(&version)),
        _ => true,
    }
}

/// Other operators (`includes`, `regex`) test what a person types: no default satisfies them.
fn value_fits(condition: &Value, value: Option<&Value>) -> bool {
    match comparison(condition) {
        None => value.is_some_and(|value| same(value, condition)),
        Some(("eq", wanted)) => value.is_some_and(|value| same(value, wanted)),
        Some(("not", unwanted)) => !value.is_some_and(|value| same(value, unwanted)),
        Some(("exists", _)) => value.is_some_and(|value| !value.is_null() && value != ""),
        Some(_) => false,
    }
}

/// `1` and `1.0` are the same number in JavaScript.
fn same(a: &Value, b: &Value) -> bool {
    a == b || a.as_f64().is_some_and(|number| b.as_f64() == Some(number))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(properties: Value, version: f64) -> Vec<ParameterType> {
        let properties: Vec<Property> = serde_json::from_value(properties).unwrap();
        parameters(&properties, version)
    }

    fn names(parameters: &[ParameterType]) -> Vec<&str> {
        parameters.iter().map(|parameter| parameter.name.as_str()).collect()
    }

    #[test]
    fn what_a_new_node_shows_comes_first() {
        let parameters = of(
            json!([
                {"name": "hint", "type": "notice"},
                {"name": "more", "type": "collection", "default": {}},
                {"name": "folder", "type": "string", "required": true,
                 "displayOptions": {"show": {"operation": ["move"]}}},
                {"name": "text", "type": "string", "displayOptions": {"show": {"operation": ["send"]}}},
                {"name": "target", "type": "string", "required": true,
                 "displayOptions": {"hide": {"operation": ["move"]}}},
                {"name": "operation", "type": "options", "default": "send",
                 "options": [{"value": "send"}, {"value": "move"}]}
            ]),
            1.0,
        );
        assert_eq!(names(&parameters), ["operation", "target", "text", "folder", "more"]);
        assert!(parameters.iter().find(|parameter| parameter.name == "folder").unwrap().required);
    }

    #[test]
    fn the_fields_of_a_parameter_are_merged() {
        let parameters = of(
            json!([
                {"name": "resource", "type": "options", "default": "page",
                 "options": [{"value": "page"}, {"value": "user"}]},
                {"name": "operation", "type": "options", "default": "ban", "options": [{"value": "ban"}],
                 "displayOptions": {"show": {"resource": ["user"]}}},
                {"name": "operation", "type": "options", "default": "read",
                 "options": [{"value": "read"}, {"value": "ban"}], "displayOptions": {"show": {"resource": ["page"]}}}
            ]),
            1.0,
        );
        let operation = parameters.get(1).unwrap();
        assert_eq!(operation.default, Some(json!("read")), "the default of a new node");
        assert_eq!(operation.options, [json!("read"), json!("ban")]);
    }

    #[test]
    fn a_field_of_another_version_is_left_out() {
        let with = |display_options: Value| json!([{"name": "a", "type": "string", "displayOptions": display_options}]);
        let shown =
            |condition: Value, version| of(with(json!({"show": {"@version": [condition]}})), version).len() == 1;
        assert!(shown(json!(2), 2.0) && !shown(json!(2), 2.1));
        for (operator, operand, at_two) in [
            ("gte", json!(2), true),
            ("gt", json!(2), false),
            ("lte", json!(2), true),
            ("lt", json!(2), false),
            ("eq", json!(2), true),
            ("not", json!(2), false),
            ("between", json!({"from": 1, "to": 3}), true),
            ("between", json!({"from": 3, "to": 4}), false),
        ] {
            assert_eq!(shown(json!({"_cnd": {operator: operand}}), 2.0), at_two, "{operator}");
        }
        assert!(of(with(json!({"hide": {"@version": [2]}})), 2.0).is_empty());
        assert!(of(with(json!({"show": {"@tool": [true]}})), 2.0).is_empty(), "only the twin has it");
    }

    #[test]
    fn conditions_compare_values_as_the_editor_does() {
        let text = json!("a");
        assert!(value_fits(&json!(1), Some(&json!(1.0))) && !value_fits(&json!(1), Some(&json!(true))));
        assert!(value_fits(&json!({"_cnd": {"not": "b"}}), Some(&text)));
        assert!(value_fits(&json!({"_cnd": {"exists": true}}), Some(&text)));
        assert!(!value_fits(&json!({"_cnd": {"exists": true}}), Some(&json!(""))));
        assert!(!value_fits(&json!({"_cnd": {"includes": "a"}}), Some(&text)));
        assert!(!value_fits(&json!("a"), None));
    }

    #[test]
    fn only_a_meaningful_default_is_kept() {
        for nothing in
            [json!(""), json!(null), json!({}), json!([]), json!({"mode": "list", "value": ""}), json!("x".repeat(90))]
        {
            assert!(!is_meaningful(&nothing), "{nothing}");
        }
        for meaningful in [json!(0), json!(false), json!("send"), json!({"limit": 5})] {
            assert!(is_meaningful(&meaningful), "{meaningful}");
        }
    }
}
