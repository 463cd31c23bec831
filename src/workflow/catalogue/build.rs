//! Builds the index from the packages' own descriptions.

use std::collections::BTreeMap;

use serde_json::Number;

use super::declaration::{Codex, Declaration};
use super::node_type::OlderPorts;
use super::parameters::parameters;
use super::{Catalogue, Error, NodeType};

/// Builds the catalogue from packages: for each its name, its version, and the text of its `nodes.json`.
///
/// # Errors
/// [`Error::Package`] if a `nodes.json` is not a list of node descriptions, [`Error::NoNodes`] if it is empty.
pub fn build(sources: &[(&str, &str, &[u8])]) -> Result<Catalogue, Error> {
    let mut nodes = Vec::new();
    for (package, _, bytes) in sources {
        let declarations: Vec<Declaration> = serde_json::from_slice(bytes)
            .map_err(|source| Error::Package { package: (*package).to_owned(), source })?;
        if declarations.is_empty() {
            return Err(Error::NoNodes { package: (*package).to_owned() });
        }
        nodes.extend(by_name(declarations).values().filter_map(|entries| node_type(package, entries)));
    }
    let source: Vec<_> = sources.iter().map(|(package, version, _)| format!("{package} {version}")).collect();
    Ok(Catalogue::new(source.join(", "), nodes))
}

/// The entries of each type: the versions of one type can be spread over several.
fn by_name(declarations: Vec<Declaration>) -> BTreeMap<String, Vec<Declaration>> {
    let mut types: BTreeMap<String, Vec<Declaration>> = BTreeMap::new();
    for declaration in declarations {
        types.entry(declaration.name.clone()).or_default().push(declaration);
    }
    types
}

/// `None` for a type without a version, which no node can have.
fn node_type(package: &str, entries: &[Declaration]) -> Option<NodeType> {
    let versions = versions(entries);
    let is_version = |version: &Number| versions.iter().any(|known| known.as_f64() == version.as_f64());
    let default = entries.iter().find_map(|entry| entry.default_version.clone()).filter(is_version);
    let version = default.or_else(|| versions.last().cloned())?;
    let current = entries.iter().find(|entry| entry.has_version(&version))?;
    let no_codex = Codex::default();
    let codex = current.codex.as_ref().unwrap_or(&no_codex);
    Some(NodeType {
        node_type: format!("{package}.{}", current.name),
        display_name: current.display_name.trim().to_owned(),
        description: current.description.trim().to_owned(),
        group: current.group.clone(),
        categories: codex.categories.iter().map(|category| category.trim().to_owned()).collect(),
        subcategories: distinct(codex.subcategories()),
        aliases: distinct(codex.alias.clone()),
        parameters: parameters(&current.properties, version.as_f64().unwrap_or_default()),
        declared_inputs: current.inputs(),
        declared_outputs: current.outputs(),
        older_ports: older_ports(entries, current, &version),
        credentials: distinct(current.credentials.iter().map(|credential| credential.name.clone())),
        hidden: current.hidden,
        webhook: current.webhook(),
        usable_as_tool: current.usable_as_tool(),
        usable_for_review: current.usable_for_review(),
        version,
        versions,
    })
}

/// All versions, ascending.
fn versions(entries: &[Declaration]) -> Vec<Number> {
    let mut versions: Vec<Number> = entries.iter().flat_map(Declaration::versions).cloned().collect();
    let size = |version: &Number| version.as_f64().unwrap_or_default();
    versions.sort_by(|a, b| size(a).total_cmp(&size(b)));
    versions.dedup_by(|a, b| size(a) == size(b));
    versions
}

/// The ports of the other entries, if they differ from those of the current one.
fn older_ports(entries: &[Declaration], current: &Declaration, version: &Number) -> Vec<OlderPorts> {
    let (inputs, outputs) = (current.inputs(), current.outputs());
    let others = entries.iter().filter(|entry| !entry.has_version(version));
    let ports = others.map(|entry| OlderPorts {
        versions: entry.versions().cloned().collect(),
        inputs: entry.inputs(),
        outputs: entry.outputs(),
    });
    ports.filter(|older| older.inputs != inputs || older.outputs != outputs).collect()
}

fn distinct(words: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut distinct: Vec<String> = Vec::new();
    for word in words {
        if !distinct.contains(&word) {
            distinct.push(word);
        }
    }
    distinct
}

#[cfg(test)]
mod tests {
    use super::super::{NodePort, NodePorts, samples};
    use super::*;

    fn numbers(numbers: &[Number]) -> Vec<f64> {
        numbers.iter().filter_map(Number::as_f64).collect()
    }

    #[test]
    fn the_entries_of_a_type_are_merged() {
        let catalogue = samples::catalogue();
        let switch = catalogue.find("base.switch").unwrap();
        assert_eq!(numbers(&switch.versions), [1.0, 2.0, 3.0, 3.2]);
        assert_eq!(switch.version.as_f64(), Some(3.2), "the newest");
        assert_eq!(numbers(&switch.older_ports.first().unwrap().versions), [1.0]);
        let request = catalogue.find("base.httpRequest").unwrap();
        assert_eq!(request.version.as_f64(), Some(4.2), "the default, though 5 exists");
        assert!(request.older_ports.is_empty(), "equal ports are not kept twice");
    }

    #[test]
    fn a_type_keeps_what_distinguishes_it() {
        let catalogue = samples::catalogue();
        let chatter = catalogue.find("base.chatter").unwrap();
        assert_eq!(chatter.subcategories, ["Chat", "Human review"]);
        assert_eq!(chatter.credentials, ["chatterApi", "chatterOAuth2Api"], "each once");
        assert!(chatter.webhook && chatter.usable_as_tool && chatter.usable_for_review);
        let branch = catalogue.find("base.if").unwrap();
        assert_eq!(branch.subcategories, ["Flow"]);
        assert_eq!(
            branch.declared_outputs,
            NodePorts::Known(vec![NodePort::new("main", "true"), NodePort::new("main", "false")])
        );
    }

    #[test]
    fn a_package_that_describes_nothing_is_an_error() {
        let error = |bytes: &[u8]| build(&[("base", "1.0.0", bytes)]).unwrap_err().to_string();
        assert_eq!(error(b"[]"), "nodes.json of base describes no nodes");
        assert!(error(b"[{]").starts_with("nodes.json of base cannot be read: "));
    }
}
