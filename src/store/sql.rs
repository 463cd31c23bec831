//! The statements for both databases, built from the columns that this n8n has. Only tables of executions are named here.

use super::error::Error;

/// The tables that are read, without n8n's prefix.
pub(super) const EXECUTIONS: &str = "execution_entity";
pub(super) const DATA: &str = "execution_data";
const MIGRATIONS: &str = "migrations";

/// How a column becomes a member of the execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Flag,
    Number,
    /// UTC, in ISO 8601 for the reader.
    Date,
}

/// A column of `execution_entity`, which is also a member of the execution in n8n's API.
#[derive(Debug)]
pub(super) struct Column {
    pub name: &'static str,
    pub kind: Kind,
    /// Whether every n8n has it.
    required: bool,
}

const fn required(name: &'static str, kind: Kind) -> Column {
    Column { name, kind, required: true }
}

const fn optional(name: &'static str, kind: Kind) -> Column {
    Column { name, kind, required: false }
}

/// In the order of the API's body. Others of the table are never shown.
static COLUMNS: [Column; 15] = [
    required("id", Kind::Text),
    optional("finished", Kind::Flag),
    required("mode", Kind::Text),
    optional("retryOf", Kind::Text),
    optional("retrySuccessId", Kind::Text),
    required("status", Kind::Text),
    optional("createdAt", Kind::Date),
    required("startedAt", Kind::Date),
    required("stoppedAt", Kind::Date),
    optional("deletedAt", Kind::Date),
    required("workflowId", Kind::Text),
    optional("waitTill", Kind::Date),
    optional("storedAt", Kind::Text),
    optional("jsonSizeBytes", Kind::Number),
    optional("workflowVersionId", Kind::Text),
];

/// The column with the context of the trace that n8n has sent. Its contents are never shown.
const TRACE: &str = "tracingContext";

/// The columns of `execution_data` that every n8n has.
const DATA_COLUMNS: [&str; 3] = ["executionId", "workflowData", "data"];

/// The largest workflow whose name is looked for in a list, bytes.
const LISTED_WORKFLOW_BYTES: u64 = 4 * 1024 * 1024;

/// How much PostgreSQL sends of a workflow whose name is not among its first members, characters.
const SENT_WORKFLOW_CHARS: u64 = 256 * 1024;

/// A workflow up to its name, before which only strings, numbers and literals stand: how n8n writes it.
const UP_TO_NAME: &str = r#"E'^[{](?:"[^"]*":(?:"(?:[^"\\\\]|\\\\.)*"|[^"{[]*),)*"name":"(?:[^"\\\\]|\\\\.)*"'"#;

/// The dialect of SQL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    Sqlite,
    #[cfg_attr(not(feature = "postgres"), allow(dead_code, reason = "both dialects are written either way"))]
    Postgres {
        schema: String,
    },
}

/// A value of a statement. Numbers begin at `$1`.
#[derive(Clone, Debug)]
pub(super) enum SqlParameter {
    Integer(i64),
    Text(String),
}

/// Which executions to list.
#[derive(Clone, Debug, Default)]
pub struct Query {
    /// Only executions of this workflow.
    pub workflow_id: Option<String>,
    /// Only executions with this status; without it, running ones are left out, as in n8n's API.
    pub status: Option<String>,
    /// Only executions that did not end well. One that never started counts from when it was created, here and in the next.
    pub failed: bool,
    /// Only executions that have not ended: those that run, wait, or are queued.
    pub unfinished: bool,
    /// Only executions started at this time or later, ISO 8601.
    pub started_after: Option<String>,
    /// Only executions started at this time or earlier, ISO 8601.
    pub started_before: Option<String>,
    /// Only executions with a smaller id.
    pub below: Option<i64>,
    /// Only executions with a larger id.
    pub above: Option<i64>,
    /// Only executions that were not started by hand, in the editor.
    pub without_manual: bool,
    /// Only executions whose trace n8n has not sent itself (`tracingContext`, n8n 2.19 and newer).
    pub without_traced: bool,
    /// Whether the oldest comes first.
    pub oldest_first: bool,
    /// Only executions that n8n has soft-deleted.
    pub deleted: bool,
    /// At most this many.
    pub limit: u64,
}

/// What this n8n's tables look like.
#[derive(Clone, Debug)]
pub(super) struct Tables {
    dialect: Dialect,
    prefix: String,
    columns: Vec<&'static Column>,
    /// Whether n8n notes in an execution that it has sent its trace.
    has_traces: bool,
}

impl Tables {
    /// Checks the tables; `columns` lists those of a table; none if the table does not exist.
    pub(super) fn find(
        dialect: Dialect,
        prefix: &str,
        mut columns: impl FnMut(&str) -> Result<Vec<String>, Error>,
    ) -> Result<Self, Error> {
        let mut of = |name: &str| {
            let table = format!("{prefix}{name}");
            match columns(&table)? {
                columns if columns.is_empty() => Err(Error::NoTable { table }),
                columns => Ok((table, columns)),
            }
        };
        let (table, found) = of(EXECUTIONS)?;
        let has = |columns: &[String], name| columns.iter().any(|column| column == name);
        if let Some(missing) = COLUMNS.iter().find(|column| column.required && !has(&found, column.name)) {
            return Err(Error::NoColumn { table, column: missing.name });
        }
        let (data, data_columns) = of(DATA)?;
        if let Some(column) = DATA_COLUMNS.into_iter().find(|name| !has(&data_columns, name)) {
            return Err(Error::NoColumn { table: data, column });
        }
        let columns = COLUMNS.iter().filter(|column| has(&found, column.name)).collect();
        let has_traces = has(&found, TRACE);
        Ok(Self { dialect, prefix: prefix.to_owned(), columns, has_traces })
    }

    /// The columns that a statement for executions returns, in this order.
    pub(super) fn columns(&self) -> &[&'static Column] {
        &self.columns
    }

    fn has(&self, name: &str) -> bool {
        self.columns.iter().any(|column| column.name == name)
    }

    /// A table's name with its prefix, not quoted.
    pub(super) fn name(&self, table: &str) -> String {
        format!("{}{table}", self.prefix)
    }

    /// A table's name in a statement.
    pub(super) fn table(&self, table: &str) -> String {
        let table = quoted(&self.name(table));
        match &self.dialect {
            Dialect::Sqlite => table,
            Dialect::Postgres { schema } => format!("{}.{table}", quoted(schema)),
        }
    }

    /// One execution by its id, `$1`: [`columns`](Self::columns), as text.
    pub(super) fn execution(&self) -> String {
        let id = r#"e."id" = CAST($1 AS bigint)"#;
        self.spoken(&format!("SELECT {} FROM {} e WHERE {id}", self.selected(), self.table(EXECUTIONS)))
    }

    /// A page of executions, newest first unless asked otherwise: [`columns`](Self::columns), as text, and the beginning of
    /// the workflow, in which its name stands.
    pub(super) fn list(&self, query: &Query, with_deleted: bool) -> (String, Vec<SqlParameter>) {
        let filters = self.filters(query, with_deleted);
        let (executions, data) = (self.table(EXECUTIONS), self.table(DATA));
        let statement = format!(
            r#"SELECT {}, {} FROM {executions} e LEFT JOIN {data} d ON d."executionId" = e."id"{} ORDER BY e."id" {} LIMIT {}"#,
            self.selected(),
            self.named_workflow(),
            filters.clause(),
            if query.oldest_first { "ASC" } else { "DESC" },
            query.limit,
        );
        (self.spoken(&statement), filters.parameters)
    }

    /// How many executions there are, whatever the limit.
    pub(super) fn count(&self, query: &Query, with_deleted: bool) -> (String, Vec<SqlParameter>) {
        let filters = self.filters(query, with_deleted);
        let (executions, clause) = (self.table(EXECUTIONS), filters.clause());
        (self.spoken(&format!("SELECT CAST(count(*) AS text) FROM {executions} e{clause}")), filters.parameters)
    }

    /// When the last of the executions started, whatever the limit, as text.
    pub(super) fn latest_start(&self, query: &Query, with_deleted: bool) -> (String, Vec<SqlParameter>) {
        let filters = self.filters(query, with_deleted);
        let (latest, executions) = (self.text_of_date(&format!("max({})", self.start(query))), self.table(EXECUTIONS));
        (self.spoken(&format!("SELECT {latest} FROM {executions} e{}", filters.clause())), filters.parameters)
    }

    /// When an execution started.
    fn start(&self, query: &Query) -> &'static str {
        match (query.failed || query.unfinished) && self.has("createdAt") {
            true => r#"COALESCE(e."startedAt", e."createdAt")"#,
            false => r#"e."startedAt""#,
        }
    }

    fn filters(&self, query: &Query, with_deleted: bool) -> Filters {
        let mut filters = Filters::default();
        match (query.deleted, self.has("deletedAt")) {
            (true, true) => filters.add(r#"e."deletedAt" IS NOT NULL"#),
            (true, false) => filters.add("1 = 0"),
            (false, true) if !with_deleted => filters.add(r#"e."deletedAt" IS NULL"#),
            (false, _) => {}
        }
        filters.compare(r#"e."workflowId" ="#, "text", query.workflow_id.as_deref());
        match &query.status {
            Some(status) => filters.compare(r#"e."status" ="#, "text", Some(status)),
            None if query.unfinished => filters.add(r#"e."status" IN ('new', 'running', 'waiting')"#),
            None if query.failed => filters.add(r#"e."status" IN ('error', 'crashed', 'canceled')"#),
            None => filters.add(r#"e."status" <> 'running'"#),
        }
        for (compared, date) in [(">=", &query.started_after), ("<=", &query.started_before)] {
            let date = date.as_deref().and_then(|date| self.stored_date(date));
            filters.compare(&format!("{} {compared}", self.start(query)), self.date(), date.as_deref());
        }
        if query.without_manual {
            filters.add(r#"e."mode" <> 'manual'"#);
        }
        if query.without_traced && self.has_traces {
            filters.add(&format!("e.{} IS NULL", quoted(TRACE)));
        }
        for (compared, id) in [("<", query.below), (">", query.above)] {
            let Some(id) = id else { continue };
            filters.parameters.push(SqlParameter::Integer(id));
            filters.add(&format!(r#"e."id" {compared} CAST(${} AS bigint)"#, filters.parameters.len()));
        }
        filters
    }

    /// The executions that are shown, counted by a column.
    pub(super) fn counts(&self, column: &str, with_deleted: bool) -> Option<String> {
        let shown = if !with_deleted && self.has("deletedAt") { r#" WHERE e."deletedAt" IS NULL"# } else { "" };
        let column = self.has(column).then(|| quoted(column))?;
        let executions = self.table(EXECUTIONS);
        Some(format!(
            "SELECT CAST(e.{column} AS text), CAST(count(*) AS text) FROM {executions} e{shown} GROUP BY e.{column} ORDER BY count(*) DESC"
        ))
    }

    /// The newest migration, which shows how new n8n is.
    pub(super) fn newest_migration(&self) -> String {
        format!(r#"SELECT CAST("name" AS text) FROM {} ORDER BY "timestamp" DESC LIMIT 1"#, self.table(MIGRATIONS))
    }

    /// The statement with this database's parameters.
    fn spoken(&self, statement: &str) -> String {
        match self.dialect {
            Dialect::Sqlite => statement.replace('$', "?"),
            Dialect::Postgres { .. } => statement.to_owned(),
        }
    }

    fn selected(&self) -> String {
        let expression = |column: &&Column| match column.kind {
            Kind::Date => self.text_of_date(&format!("e.{}", quoted(column.name))),
            _ => format!(r#"CAST(e."{}" AS text)"#, column.name),
        };
        self.columns.iter().map(expression).collect::<Vec<_>>().join(", ")
    }

    fn text_of_date(&self, date: &str) -> String {
        match self.dialect {
            Dialect::Sqlite => format!("CAST({date} AS text)"),
            Dialect::Postgres { .. } => {
                format!("to_char(CAST({date} AS timestamptz) AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.MS')")
            }
        }
    }

    fn named_workflow(&self) -> String {
        match self.dialect {
            Dialect::Sqlite => format!(
                r#"CASE WHEN octet_length(d."workflowData") <= {LISTED_WORKFLOW_BYTES} THEN d."workflowData" END"#
            ),
            // PostgreSQL's own `->` fails at a lone surrogate or a zero anywhere in the document.
            Dialect::Postgres { .. } => format!(
                r#"COALESCE(substring(left(CAST(d."workflowData" AS text), 1024) FROM {UP_TO_NAME}) || '}}',
                   left(CAST(d."workflowData" AS text), {SENT_WORKFLOW_CHARS}))"#
            ),
        }
    }

    /// The type in which dates are compared.
    fn date(&self) -> &'static str {
        match self.dialect {
            Dialect::Sqlite => "text",
            Dialect::Postgres { .. } => "timestamptz",
        }
    }

    /// A date as this database stores it: SQLite as text in UTC, without a `Z`.
    fn stored_date(&self, date: &str) -> Option<String> {
        let date: jiff::Timestamp = date.parse().ok()?;
        let text = date.strftime("%Y-%m-%d %H:%M:%S%.3f").to_string();
        Some(if self.dialect == Dialect::Sqlite { text } else { text + "Z" })
    }
}

/// Conditions and their values.
#[derive(Default)]
struct Filters {
    conditions: Vec<String>,
    parameters: Vec<SqlParameter>,
}

impl Filters {
    fn add(&mut self, condition: &str) {
        self.conditions.push(condition.to_owned());
    }

    /// Adds a comparison with a value, if there is one.
    fn compare(&mut self, compared: &str, kind: &str, value: Option<&str>) {
        let Some(value) = value else { return };
        self.parameters.push(SqlParameter::Text(value.to_owned()));
        self.add(&format!("{compared} CAST(CAST(${} AS text) AS {kind})", self.parameters.len()));
    }

    fn clause(&self) -> String {
        if self.conditions.is_empty() { String::new() } else { format!(" WHERE {}", self.conditions.join(" AND ")) }
    }
}

/// A name in a statement.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
