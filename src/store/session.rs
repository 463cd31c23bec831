//! What both databases can do: queries of text, and the data of one execution.

use std::collections::HashSet;

use super::error::Error;
use super::row::{Row, iso};
use super::sql::{Query, SqlParameter, Tables};
use crate::json::ReadAt;

/// The largest workflow that is read with an execution, bytes: n8n accepts 16 MiB, plus pinned data.
pub(super) const MAX_WORKFLOW_BYTES: u64 = 64 * 1024 * 1024;

/// Refuses a workflow that is too large to be read.
pub(super) fn check_workflow_size(id: &str, bytes: u64) -> Result<(), Error> {
    match bytes > MAX_WORKFLOW_BYTES {
        true => Err(Error::WorkflowTooLarge { id: id.to_owned(), bytes, most: MAX_WORKFLOW_BYTES }),
        false => Ok(()),
    }
}

/// Apart from texts, the longest value of a row that n8n writes is a version's id of 36 bytes.
const MAX_VALUE_BYTES: usize = 4096;

/// Refuses values of a row that are longer than n8n's.
pub(super) fn check_values(values: &Values) -> Result<(), Error> {
    let is_long = values.iter().flatten().any(|value| value.len() > MAX_VALUE_BYTES);
    if is_long { Err(Error::TooMuch) } else { Ok(()) }
}

/// A row of a query: each value as text.
pub(super) type Values = Vec<Option<String>>;

/// A connection to n8n's database, for one question.
pub(super) trait Session {
    /// The tables that were found.
    fn tables(&self) -> &Tables;

    /// The rows of a query, one after another.
    ///
    /// # Errors
    /// The database fails, or `each` does.
    fn query(
        &mut self,
        statement: &str,
        parameters: &[SqlParameter],
        each: &mut dyn FnMut(Values) -> Result<(), Error>,
    ) -> Result<(), Error>;

    /// Searches in the database itself for executions that need not be read: their text has none of these texts, and
    /// nothing that could redact it. Returns how many of the first of these executions were searched, at least one, and
    /// the ids.
    ///
    /// # Errors
    /// The database fails.
    fn without_texts(&mut self, rows: &[(Row, Option<String>)], _texts: &[String]) -> Result<Looked, Error> {
        Ok(Looked { executions: rows.len(), without: HashSet::new() })
    }

    /// Whether n8n is running; `None` where that cannot be seen.
    fn is_n8n_running(&self) -> Option<bool>;

    /// The workflow and the data of an execution, if it has a data row.
    ///
    /// # Errors
    /// The database fails, or the data is in an unknown form.
    fn contents(&mut self, row: &Row) -> Result<Option<Contents<'_>>, Error>;
}

/// What an execution consists of, apart from its row.
pub(super) struct Contents<'a> {
    /// The workflow, as JSON.
    pub workflow: Box<dyn ReadAt + 'a>,
    /// The run data, as text.
    pub data: Box<dyn ReadAt + 'a>,
    /// Whether the text is written as the inside of a JSON string.
    pub is_escaped: bool,
}

/// The result of a search of texts in the database.
#[derive(Default)]
pub(super) struct Looked {
    /// How many executions were searched.
    pub executions: usize,
    /// The ids of the executions that need not be read.
    pub without: HashSet<String>,
}

/// One execution, whether it is deleted or not.
pub(super) fn execution(session: &mut dyn Session, id: i64) -> Result<Option<Row>, Error> {
    let (statement, columns) = (session.tables().execution(), session.tables().columns().to_vec());
    let mut found = None;
    session.query(&statement, &[SqlParameter::Integer(id)], &mut |values| {
        check_values(&values)?;
        found = Some(Row::new(&columns, values));
        Ok(())
    })?;
    Ok(found)
}

/// How many executions there are, whatever the limit.
pub(super) fn count(session: &mut dyn Session, query: &Query, with_deleted: bool) -> Result<u64, Error> {
    let statement = session.tables().count(query, with_deleted);
    Ok(value(session, statement)?.and_then(|count| count.parse().ok()).unwrap_or(0))
}

/// When the last of the executions started, whatever the limit; `None` if there are none.
pub(super) fn latest_start(
    session: &mut dyn Session,
    query: &Query,
    with_deleted: bool,
) -> Result<Option<String>, Error> {
    let statement = session.tables().latest_start(query, with_deleted);
    Ok(value(session, statement)?.map(|date| iso(&date)))
}

/// The value of a query that has one.
fn value(
    session: &mut dyn Session,
    (statement, parameters): (String, Vec<SqlParameter>),
) -> Result<Option<String>, Error> {
    let mut found = None;
    session.query(&statement, &parameters, &mut |values| {
        check_values(&values)?;
        found = values.into_iter().flatten().next();
        Ok(())
    })?;
    Ok(found)
}

/// A page of executions, newest first, each with the name of its workflow, if it has one.
pub(super) fn list(
    session: &mut dyn Session,
    query: &Query,
    with_deleted: bool,
) -> Result<Vec<(Row, Option<String>)>, Error> {
    let (statement, parameters) = session.tables().list(query, with_deleted);
    let columns = session.tables().columns().to_vec();
    let mut rows = Vec::new();
    session.query(&statement, &parameters, &mut |mut values| {
        let workflow = values.pop().flatten();
        let name = workflow.as_deref().and_then(|workflow| super::name_of(workflow.as_bytes()));
        check_values(&values)?;
        if rows.len() as u64 == query.limit {
            return Err(Error::TooMuch);
        }
        rows.push((Row::new(&columns, values), name));
        Ok(())
    })?;
    Ok(rows)
}
