//! Schema migrations. The SQL files in the folder of this name are never edited once released: databases store
//! their checksums.

use refinery_core::error::Kind;
use refinery_core::{Migration, Runner};
use rusqlite::ErrorCode;

use super::StoreError;
use crate::cause::innermost;

/// The name and the text of each migration for a database.
macro_rules! migrations {
    ($database:literal: $($name:literal),+) => {
        [$(($name, include_str!(concat!("migrations/", $database, "/", $name, ".sql")))),+]
    };
}

/// Migrates an SQLite file. The caller must hold its lock.
pub(super) fn sqlite(connection: &mut rusqlite::Connection) -> Result<(), StoreError> {
    let runner = runner(migrations!("sqlite": "V1__coordination", "V2__late_notes"))?;
    runner.run(connection).map(drop).map_err(store_error)
}

/// Migrates a PostgreSQL database. The caller must hold its advisory lock.
#[cfg(feature = "postgres")]
pub(super) async fn postgres(client: &mut tokio_postgres::Client) -> Result<(), StoreError> {
    let runner = runner(migrations!("postgres": "V1__coordination", "V2__late_notes"))?;
    runner.run_async(client).await.map(drop).map_err(store_error)
}

fn runner<const N: usize>(migrations: [(&str, &str); N]) -> Result<Runner, StoreError> {
    let migrations: Result<Vec<_>, _> =
        migrations.into_iter().map(|(name, sql)| Migration::unapplied(name, sql)).collect();
    Ok(Runner::new(&migrations.map_err(store_error)?))
}

fn store_error(error: refinery_core::Error) -> StoreError {
    match error.kind() {
        Kind::MissingVersion(_) | Kind::DivergentVersion(..) => StoreError::Unusable(
            "The database was created by a newer n8n-lens or by another program. Upgrade n8n-lens, or use another database."
                .to_owned(),
        ),
        kind => {
            // The database's own error.
            let reason = innermost(kind);
            match reason.downcast_ref::<rusqlite::ffi::Error>() {
                Some(error) if error.code == ErrorCode::DatabaseCorrupt => StoreError::Corrupt(error.to_string()),
                _ => StoreError::Unusable(format!("The tables cannot be created or migrated: {reason}.")),
            }
        }
    }
}
