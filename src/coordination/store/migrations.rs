//! The tables, version by version: files in the folder of this name, which are never changed once released.

use refinery::error::Kind;

use super::Fault;

mod for_sqlite {
    refinery::embed_migrations!("src/coordination/store/migrations/sqlite");
}

mod for_postgres {
    refinery::embed_migrations!("src/coordination/store/migrations/postgres");
}

/// Brings a file up to date; the caller has it to itself.
pub(super) fn sqlite(connection: &mut rusqlite::Connection) -> Result<(), Fault> {
    for_sqlite::migrations::runner().run(connection).map(drop).map_err(fault)
}

/// Brings a server's database up to date; the caller has it to itself.
pub(super) fn postgres(client: &mut postgres::Client) -> Result<(), Fault> {
    for_postgres::migrations::runner().run(client).map(drop).map_err(fault)
}

fn fault(error: refinery::Error) -> Fault {
    match error.kind() {
        Kind::MissingVersion(_) | Kind::DivergentVersion(..) => Fault::Unfit(
            "The database was made by a newer n8n-lens, or by something else. Use that one, or another database."
                .to_owned(),
        ),
        kind => Fault::Unfit(format!("The tables of the database cannot be made: {}.", reason(kind))),
    }
}

/// The words of the database, which stand deepest.
fn reason(kind: &Kind) -> String {
    let mut deepest: &dyn std::error::Error = kind;
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    deepest.to_string()
}
