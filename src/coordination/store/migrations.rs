//! Schema migrations. The SQL files in the folder of this name are never edited once released: databases store
//! their checksums.

use refinery_core::error::Kind;
use refinery_core::{Migrate, Migration, Runner};
use rusqlite::ErrorCode;

use super::StoreError;

/// The name and the text of each migration for a database.
macro_rules! migrations {
    ($database:literal: $($name:literal),+) => {
        [$(($name, include_str!(concat!("migrations/", $database, "/", $name, ".sql")))),+]
    };
}

/// Migrates an SQLite file. The caller must hold its lock.
pub(super) fn sqlite(connection: &mut rusqlite::Connection) -> Result<(), StoreError> {
    migrate(connection, migrations!("sqlite": "V1__coordination", "V2__late_notes"))
}

/// Migrates a PostgreSQL database. The caller must hold its advisory lock.
#[cfg(feature = "postgres")]
pub(super) fn postgres(client: &mut postgres::Client) -> Result<(), StoreError> {
    migrate(client, migrations!("postgres": "V1__coordination", "V2__late_notes"))
}

fn migrate<const N: usize>(database: &mut impl Migrate, migrations: [(&str, &str); N]) -> Result<(), StoreError> {
    let migrations: Result<Vec<_>, _> =
        migrations.into_iter().map(|(name, sql)| Migration::unapplied(name, sql)).collect();
    let migrations = migrations.map_err(store_error)?;
    Runner::new(&migrations).run(database).map(drop).map_err(store_error)
}

fn store_error(error: refinery_core::Error) -> StoreError {
    match error.kind() {
        Kind::MissingVersion(_) | Kind::DivergentVersion(..) => StoreError::Unusable(
            "The database was created by a newer n8n-lens or by another program. Upgrade n8n-lens, or use another database."
                .to_owned(),
        ),
        kind => {
            let reason = reason(kind);
            match reason.downcast_ref::<rusqlite::ffi::Error>() {
                Some(error) if error.code == ErrorCode::DatabaseCorrupt => StoreError::Corrupt(error.to_string()),
                _ => StoreError::Unusable(format!("The tables cannot be created or migrated: {reason}.")),
            }
        }
    }
}

/// The database's own error: the innermost one.
fn reason(kind: &Kind) -> &(dyn std::error::Error + 'static) {
    let mut innermost: &(dyn std::error::Error + 'static) = kind;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost
}
