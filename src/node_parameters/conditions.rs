//! The conditions of If, Filter and Switch, of all their versions.

use super::values::shown;
use crate::json::Excerpt;

/// The condition of an If or a Filter. Returns the names of what was read.
pub(super) fn of_node(parameters: &Excerpt, lines: &mut Vec<String>) -> &'static [&'static str] {
    if let Some(conditions) = parameters.member("conditions") {
        let combined = parameters.member("combineConditions").or_else(|| parameters.member("combineOperation"));
        lines.extend(condition(conditions, combined).map(|told| told + &comparing(parameters, conditions)));
    }
    &["conditions", "combineConditions", "combineOperation", "looseTypeValidation"]
}

/// The rules of a Switch, each with the output that it leads to. Returns the names of what was read.
pub(super) fn of_switch(parameters: &Excerpt, lines: &mut Vec<String>) -> &'static [&'static str] {
    let text = |name: &str| parameters.member(name).map(shown);
    if text("mode").as_deref() == Some("expression") {
        lines.extend(text("output").map(|output| format!("output = {output}")));
    }
    let rules = parameters.member("rules");
    // Version 3: `rules.values` with a condition each; 1 and 2: `rules.rules`, all of them about `value1`.
    for (at, rule) in rules.and_then(|rules| rules.member("values")).into_iter().flat_map(Excerpt::elements).enumerate()
    {
        if let Some(conditions) = rule.member("conditions")
            && let Some(told) = condition(conditions, None)
        {
            lines.push(format!("{told}{} -> {}", comparing(parameters, conditions), output(rule, at)));
        }
    }
    for (at, rule) in rules.and_then(|rules| rules.member("rules")).into_iter().flat_map(Excerpt::elements).enumerate()
    {
        let left = text("value1").unwrap_or_default();
        let operation = rule.member("operation").map_or_else(|| "equal".to_owned(), shown);
        let right = rule.member("value2").map(shown).unwrap_or_default();
        lines.push(format!("{left} {} {right} -> {}", operator(&operation), output(rule, at)));
    }
    &["mode", "rules", "value1", "dataType", "output", "looseTypeValidation", "numberOutputs"]
}

/// The name of the output that a rule leads to, or its number.
fn output(rule: &Excerpt, at: usize) -> String {
    let named = rule.member("outputKey").map(shown).filter(|name| !name.is_empty());
    named.or_else(|| rule.member("output").map(shown)).unwrap_or_else(|| at.to_string())
}

/// How values are compared, where that is not n8n's default: version 2 stands in `conditions.options`, and whether types
/// are converted in a parameter of the node, too.
fn comparing(parameters: &Excerpt, conditions: &Excerpt) -> String {
    let option = |name: &str| conditions.member("options").and_then(|options| options.member(name)).map(shown);
    let is_loose = option("typeValidation").as_deref() == Some("loose")
        || parameters.member("looseTypeValidation").map(shown).as_deref() == Some("true");
    let ignores_case = option("caseSensitive").as_deref() == Some("false");
    let told = [(is_loose, "typeValidation: loose"), (ignores_case, "caseSensitive: false")];
    let told: Vec<_> = told.into_iter().filter(|(is_set, _)| *is_set).map(|(_, told)| told).collect();
    if told.is_empty() { String::new() } else { format!(" ({})", told.join(", ")) }
}

/// `left operator right and …`; `None` without a condition.
fn condition(conditions: &Excerpt, combined: Option<&Excerpt>) -> Option<String> {
    // Version 2: one list; 1: a list for each type.
    let (told, any): (Vec<_>, bool) = match conditions.member("conditions") {
        Some(list) => {
            let combinator = conditions.member("combinator").and_then(Excerpt::text);
            (list.elements().map(comparison).collect(), combinator.as_deref() == Some("or"))
        }
        None => {
            let of_type = |(kind, list): (_, &Excerpt)| {
                list.elements().map(move |one| old_comparison(kind, one)).collect::<Vec<_>>()
            };
            let any =
                combined.and_then(Excerpt::text).is_some_and(|combined| ["any", "OR", "or"].contains(&&*combined));
            (conditions.members().flat_map(of_type).collect(), any)
        }
    };
    (!told.is_empty()).then(|| told.join(if any { " or " } else { " and " }))
}

fn comparison(one: &Excerpt) -> String {
    let left = one.member("leftValue").map(shown).unwrap_or_default();
    let of_operator = |name: &str| one.member("operator").and_then(|operator| operator.member(name));
    let operation = of_operator("operation").map(shown).unwrap_or_default();
    let is_single = of_operator("singleValue").is_some_and(|single| shown(single) == "true");
    let right = one.member("rightValue").filter(|_| !is_single && !is_unary(&operation)).map(shown);
    told(&left, &operation, right)
}

/// A comparison of version 1: `{value1, operation, value2}`, where n8n leaves out the default operation.
fn old_comparison(kind: &str, one: &Excerpt) -> String {
    let left = one.member("value1").map(shown).unwrap_or_default();
    let default = if kind == "number" { "smaller" } else { "equal" };
    let operation = one.member("operation").map_or_else(|| default.to_owned(), shown);
    let right = one.member("value2").filter(|_| !is_unary(&operation)).map(shown);
    told(&left, &operation, right)
}

fn told(left: &str, operation: &str, right: Option<String>) -> String {
    let right = right.map(|right| if right.is_empty() { " \"\"".to_owned() } else { format!(" {right}") });
    format!("{left} {}{}", operator(operation), right.unwrap_or_default())
}

/// Whether an operation has no right side.
fn is_unary(operation: &str) -> bool {
    ["true", "false", "exists", "notExists", "empty", "notEmpty", "isEmpty", "isNotEmpty"].contains(&operation)
}

/// The words for n8n's name of an operation.
fn operator(operation: &str) -> String {
    let word = match operation {
        "equals" | "equal" => "=",
        "notEquals" | "notEqual" => "!=",
        "gt" | "larger" => ">",
        "gte" | "largerEqual" => ">=",
        "lt" | "smaller" => "<",
        "lte" | "smallerEqual" => "<=",
        "true" => "is true",
        "false" => "is false",
        "empty" | "isEmpty" => "is empty",
        "notEmpty" | "isNotEmpty" => "is not empty",
        "exists" => "exists",
        "notExists" => "does not exist",
        "notContains" => "does not contain",
        "startsWith" => "starts with",
        "endsWith" => "ends with",
        "regex" => "matches",
        "after" => "is after",
        "before" => "is before",
        other => return other.to_owned(),
    };
    word.to_owned()
}
