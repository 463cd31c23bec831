//! Which parameters contain code.

/// How the text of a parameter is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Syntax {
    /// Begins with `=`: text, and code in `{{ }}`. The first `}}` without a backslash closes it, even inside a string; without
    /// one, the rest of the text is code.
    Expression,
    /// Text with code in `{{ }}`, although it does not begin with `=`. Unclosed code is text.
    Template,
    /// All of it is JavaScript.
    Code,
}

impl Syntax {
    /// The syntax of a parameter of a node of this full type and version, by the last name of its path, and its text. `None`
    /// for plain text.
    ///
    /// n8n evaluates `{{ }}` without `=` in SQL and HTML (`getResolvables`), and runs the code of Code nodes.
    pub fn of(node_type: &str, version: f64, name: &str, text: &str) -> Option<Self> {
        if text.starts_with('=') {
            return Some(Self::Expression);
        }
        let (package, bare) = node_type.rsplit_once('.').unwrap_or(("", node_type));
        // The twin for AI agents has the parameters of its original.
        let bare = bare.strip_suffix("Tool").unwrap_or(bare);
        let is_template = match name {
            "jsCode" | "functionCode" => return Some(Self::Code),
            "html" => package == "n8n-nodes-base" && matches!(bare, "html" | "form" | "formTrigger" | "mailgun"),
            "query" if bare == "microsoftSql" => version >= 1.1,
            "query" => matches!(
                bare,
                "postgres" | "mySql" | "snowflake" | "oracleDatabase" | "merge" | "crateDb" | "questDb" | "timescaleDb"
            ),
            "sqlQuery" => bare == "googleBigQuery",
            "queryReplacement" => bare == "postgres",
            // For forms, including those that a node sends and waits for; Edit Fields evaluates its own only with `=`.
            "jsonOutput" => bare != "set",
            _ => false,
        };
        is_template.then_some(Self::Template)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_is_read_as_its_node_reads_it() {
        let of = |node_type, version, name, text| Syntax::of(node_type, version, name, text);
        assert_eq!(of("n8n-nodes-base.set", 3.4, "value", "={{ 1 }}"), Some(Syntax::Expression));
        assert_eq!(of("n8n-nodes-base.set", 3.4, "value", "{{ 1 }}"), None);
        assert_eq!(of("n8n-nodes-base.code", 2.0, "jsCode", "return []"), Some(Syntax::Code));
        assert_eq!(of("n8n-nodes-base.code", 2.0, "pythonCode", "return []"), None);
        assert_eq!(of("n8n-nodes-base.html", 1.2, "html", "<b>{{ 1 }}</b>"), Some(Syntax::Template));
        assert_eq!(of("n8n-nodes-base.emailSend", 2.1, "html", "<b>{{ 1 }}</b>"), None);
        assert_eq!(of("n8n-nodes-base.postgresTool", 2.5, "query", "select {{ 1 }}"), Some(Syntax::Template));
        assert_eq!(of("n8n-nodes-base.googleBigQuery", 2.0, "sqlQuery", "select"), Some(Syntax::Template));
        assert_eq!(of("n8n-nodes-base.postgres", 2.6, "queryReplacement", "{{ 1 }}"), Some(Syntax::Template));
        assert_eq!(of("n8n-nodes-base.form", 2.3, "jsonOutput", "[{{ 1 }}]"), Some(Syntax::Template));
        assert_eq!(of("n8n-nodes-base.set", 3.4, "jsonOutput", "[{{ 1 }}]"), None);
        assert_eq!(of("n8n-nodes-base.microsoftSql", 1.0, "query", "select"), None);
        assert_eq!(of("n8n-nodes-base.microsoftSql", 1.1, "query", "select"), Some(Syntax::Template));
    }
}
