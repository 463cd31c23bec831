//! Schema migrations. The SQL files in the folder of this name are never edited once released: databases store
//! their checksums.

use refinery::error::Kind;
use rusqlite::ErrorCode;

use super::StoreError;

mod for_sqlite {
    refinery::embed_migrations!("src/coordination/store/migrations/sqlite");
}

mod for_postgres {
    refinery::embed_migrations!("src/coordination/store/migrations/postgres");
}

/// Migrates an SQLite file. The caller must hold its lock.
pub(super) fn sqlite(connection: &mut rusqlite::Connection) -> Result<(), StoreError> {
    for_sqlite::migrations::runner().run(connection).map(drop).map_err(store_error)
}

/// Migrates a PostgreSQL database. The caller must hold its advisory lock.
pub(super) fn postgres(client: &mut postgres::Client) -> Result<(), StoreError> {
    for_postgres::migrations::runner().run(client).map(drop).map_err(store_error)
}

fn store_error(error: refinery::Error) -> StoreError {
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
