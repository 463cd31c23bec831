//! The tables, version by version: files in the folder of this name, which are never changed once released.

use refinery::error::Kind;

use super::{Fault, postgres as server};

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

/// Brings a server's database up to date. Of two processes that come at once, the second waits.
pub(super) fn postgres(client: &mut postgres::Client) -> Result<(), Fault> {
    // Any number will do that nobody else takes: "n8n-lens".
    const LOCK: &str = "SELECT pg_advisory_lock(7942102612205954675)";
    client.batch_execute(LOCK).map_err(server::fault)?;
    let done = for_postgres::migrations::runner().run(client).map(drop).map_err(fault);
    client.batch_execute("SELECT pg_advisory_unlock_all()").map_err(server::fault)?;
    done
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
