//! Searches for texts on the server: it unpacks each text once, with workers, and sends nothing of it.
//!
//! `strpos` compares bytes. `LIKE` takes twice as long, and ignoring case (`ILIKE`, `lower`, `~*`) ten times. The planner
//! ignores what is stored outside the table (TOAST), so settings make it use workers; any role may set them.

use std::collections::{HashMap, HashSet};

use tokio_postgres::types::ToSql;

use super::{PostgresSession, error, server_error};
use crate::store::error::Error;
use crate::store::row::{DataLocation, Row};
use crate::store::session::Looked;
use crate::store::sql::DATA;

/// How much of texts one statement unpacks, bytes: about a quarter of a second.
const MAX_BYTES: i64 = 64 * 1024 * 1024;

/// Makes the planner use workers, in this transaction, and lets them search the texts: it considers that cheap, and
/// would pass whole texts on to one process.
const WORKERS: &str = "SET LOCAL min_parallel_table_scan_size = 0; SET LOCAL min_parallel_index_scan_size = 0; \
    SET LOCAL parallel_setup_cost = 0; SET LOCAL cpu_operator_cost = 1; SET LOCAL jit = off";

/// An empty text, but volatile, as the time is: a column of an inner query that has it is computed there, once for all
/// conditions, and by the workers, which `OFFSET 0` would not do.
const COMPUTED: &str = "left(CAST(clock_timestamp() AS text), 0)";

/// What is before the first run in a text: n8n writes first what is nearer to the root.
const HEAD: &str = r#"split_part(d.t, '"startTime":', 1)"#;

/// The text has runs, a known version and its last bracket (93), and nothing in it is redacted (`execution/redaction.rs` has
/// the rule): the workflow has no policy, or one that hides nothing; so has the snapshot of the policy, whose version is a
/// known one. An execution that is redacted must never be left out here: that would tell that it has no match. `{head}` is
/// [`HEAD`].
const READABLE: &str = r#"octet_length({head}) < octet_length(d.t) AND left({head}, 2) = '[{'
    AND substring(convert_to(d.t, 'UTF8') FROM octet_length(d.t)) = '\x5d'
    AND split_part({head}, '}', 1) !~ '"version":(?![01](,|$))'
    AND strpos(replace(d.w, '"redactionPolicy":"none"', ''), 'redactionPolicy') = 0
    AND strpos(d.t, 'DynamicCredentials":true') = 0
    AND (strpos(d.t, '"redaction":') = 0
         OR (strpos({head}, '"production":false') > 0 AND strpos({head}, '"production":true') = 0
             AND strpos({head}, '"manual":false') > 0 AND strpos({head}, '"manual":true') = 0
             AND strpos({head}, '"policy":') = 0 AND {head} !~ '"version":(?![012][,}])'))"#;

impl PostgresSession {
    /// Searches as many of the first of these executions as one statement may unpack.
    pub(super) fn look(&mut self, rows: &[(Row, Option<String>)], texts: &[String]) -> Result<Looked, Error> {
        let is_here = |row: &Row| row.location() == DataLocation::Database;
        let id = |row: &Row| is_here(row).then(|| row.id().parse().ok()).flatten();
        let ids: Vec<Option<i64>> = rows.iter().map(|(row, _)| id(row)).collect();
        let executions = self.first(&ids)?;
        let ids: Vec<i64> = ids.into_iter().take(executions).flatten().collect();
        Ok(Looked { executions, without: self.without(&ids, texts)? })
    }

    /// How many of the first of these executions are small enough for one statement; at least one.
    fn first(&mut self, ids: &[Option<i64>]) -> Result<usize, Error> {
        let statement = format!(
            r#"SELECT CAST(d."executionId" AS bigint), CAST(octet_length(d."data") AS bigint) FROM {} d
               WHERE d."executionId" = ANY($1::bigint[])"#,
            self.tables.table(DATA)
        );
        let mut bytes = HashMap::new();
        let here: Vec<i64> = ids.iter().copied().flatten().collect();
        self.connection.rows(&statement, &[&here], &mut |row| {
            let size: Option<i64> = row.try_get(1).map_err(server_error)?;
            bytes.insert(row.try_get::<_, i64>(0).map_err(server_error)?, size.unwrap_or(0));
            Ok(())
        })?;
        let mut sum = 0;
        let fits = ids.iter().take_while(|id| {
            sum += id.and_then(|id| bytes.get(&id)).copied().unwrap_or(0);
            sum <= MAX_BYTES
        });
        Ok(fits.count().max(1))
    }

    /// The ids of the executions whose text has none of these texts, and is neither redacted nor of an unknown form.
    fn without(&mut self, ids: &[i64], texts: &[String]) -> Result<HashSet<String>, Error> {
        let absent = |has_backslash: bool| {
            let sought = texts.iter().enumerate().filter(move |(_, text)| text.contains('\\') == has_backslash);
            sought.map(|(at, _)| format!(" AND strpos(d.t, ${}) = 0", at + 3)).collect::<String>()
        };
        // Most texts have no backslash, and for one character `strpos` only compares bytes.
        let statement = format!(
            r#"SELECT CAST(d.id AS text) FROM (
                 SELECT "executionId" AS id, "data" || {COMPUTED} AS t, CAST("workflowData" AS text) || {COMPUTED} AS w
                 FROM {} WHERE "executionId" = ANY($1::bigint[])) d
               WHERE {}{} AND (strpos(d.t, $2) = 0 OR (true{}))"#,
            self.tables.table(DATA),
            READABLE.replace("{head}", HEAD),
            absent(false),
            absent(true),
        );
        let backslash = "\\";
        let mut values: Vec<&(dyn ToSql + Sync)> = vec![&ids, &backslash];
        values.extend(texts.iter().map(|text| text as &(dyn ToSql + Sync)));
        self.connection.waiter.wait(self.connection.client.batch_execute(WORKERS)).map_err(error)?;
        let mut without = HashSet::new();
        self.connection.rows(&statement, &values, &mut |row| {
            without.insert(row.try_get(0).map_err(server_error)?);
            Ok(())
        })?;
        Ok(without)
    }
}
