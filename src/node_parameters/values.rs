//! Values of parameters as text, and assignments.

use crate::json::{Detail, Excerpt};

/// A value as text: a string unchanged, a resource locator as what it names, anything else as JSON.
pub(super) fn shown(value: &Excerpt) -> String {
    if let Some(text) = value.text() {
        return text;
    }
    if let Some(located) = value.member("value").filter(|_| value.member("__rl").is_some()) {
        // People know the name better than the id.
        let named = value.member("cachedResultName").and_then(Excerpt::text).filter(|name| !name.is_empty());
        return match named {
            Some(name) => format!("{} ({name})", shown(located)),
            None => shown(located),
        };
    }
    let (mut json, mut clipped) = (String::new(), 0);
    value.write(Detail::WHOLE, &mut json, &mut clipped);
    json
}

/// `name = value` of each assignment of Edit Fields (Set), or its JSON. Returns the names of what was read.
pub(super) fn assignments(parameters: &Excerpt, lines: &mut Vec<String>) -> &'static [&'static str] {
    let assigned = |value: &Excerpt, lines: &mut Vec<String>| {
        let name = value.member("name").map(shown).unwrap_or_default();
        // Version 3.0 to 3.2 has `stringValue`, `numberValue`, and so on.
        let of_type = || value.members().find(|(member, _)| member.ends_with("Value")).map(|(_, value)| value);
        if let Some(value) = value.member("value").or_else(of_type) {
            lines.push(format!("{name} = {}", shown(value)));
        }
    };
    // Versions 3.3 and newer: `assignments.assignments`; 3.0 to 3.2: `fields.values`; 1 and 2: a list for each type in `values`.
    let newest = parameters.member("assignments").and_then(|assignments| assignments.member("assignments"));
    let before = parameters.member("fields").and_then(|fields| fields.member("values"));
    for list in newest.into_iter().chain(before) {
        list.elements().for_each(|value| assigned(value, lines));
    }
    for (_, list) in parameters.member("values").into_iter().flat_map(Excerpt::members) {
        list.elements().for_each(|value| assigned(value, lines));
    }
    if parameters.member("mode").and_then(Excerpt::text).as_deref() == Some("raw") {
        lines.extend(parameters.member("jsonOutput").map(shown));
    }
    &["assignments", "fields", "values", "jsonOutput", "mode"]
}
