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

/// Characters in which the first object of a text ends: it has a few members with short values.
const BEGINNING_CHARS: usize = 1000;

/// Makes the planner use workers, in this transaction, and lets them search the texts: it considers that cheap, and
/// would pass whole texts on to one process.
const WORKERS: &str = "SET LOCAL min_parallel_table_scan_size = 0; SET LOCAL min_parallel_index_scan_size = 0; \
    SET LOCAL parallel_setup_cost = 0; SET LOCAL cpu_operator_cost = 1; SET LOCAL jit = off";

/// An empty text, but volatile, as the time is: a column of an inner query that has it is computed there, once for all
/// conditions, and by the workers, which `OFFSET 0` would not do.
const COMPUTED: &str = "left(CAST(clock_timestamp() AS text), 0)";

/// Without one of these in its text, and without a policy in its workflow, nothing of an execution is redacted
/// (`execution/redaction.rs` has the rule). A snapshot of the policy has version 2 today.
const REDACTING: [&str; 5] =
    [r#""production":true"#, r#""manual":true"#, r#""policy":"#, r#"DynamicCredentials":true"#, r#""version":3"#];

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
        let redacting = REDACTING.map(str::to_owned);
        let sought: Vec<_> = texts.iter().chain(&redacting).collect();
        let absent = (2..).take(sought.len()).map(|at| format!("strpos(d.t, ${at}) = 0"));
        // The beginning of a text is taken from the row: of a text in memory, `left` and `substr` count all characters.
        let statement = format!(
            r#"SELECT CAST(d.id AS text) FROM (
                 SELECT x."executionId" AS id, x."data" || {COMPUTED} AS t, left(x."data", {BEGINNING_CHARS}) || {COMPUTED} AS b,
                        CAST(x."workflowData" AS text) || {COMPUTED} AS w
                 FROM {} x WHERE x."executionId" = ANY($1::bigint[])) d
               WHERE left(d.b, 2) = '[{{' AND strpos(d.b, '}}') > 0
               AND substr(d.b, 1, strpos(d.b, '}}')) !~ '"version":(?![01][,}}])'
               AND strpos(d.w, 'redactionPolicy') = 0 AND {}"#,
            self.tables.table(DATA),
            absent.collect::<Vec<_>>().join(" AND "),
        );
        let mut values: Vec<&(dyn ToSql + Sync)> = vec![&ids];
        values.extend(sought.iter().map(|text| *text as &(dyn ToSql + Sync)));
        self.connection.waiter.wait(self.connection.client.batch_execute(WORKERS)).map_err(error)?;
        let mut without = HashSet::new();
        self.connection.rows(&statement, &values, &mut |row| {
            without.insert(row.try_get(0).map_err(server_error)?);
            Ok(())
        })?;
        Ok(without)
    }
}
