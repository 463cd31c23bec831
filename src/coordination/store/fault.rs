//! What can go wrong with a database.

/// Why the database did not do its work; nothing of it holds a password or a passkey.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum Fault {
    /// It is not there, or not any more; nothing was written.
    #[error("The database cannot be reached: {0}. Nothing was changed; ask again in a moment.")]
    Unreachable(String),
    /// The connection broke while a change was being stored.
    #[error(
        "The database broke off while it stored the change: {0}. It may or may not be stored; look before you repeat it."
    )]
    Unknown(String),
    /// It cannot be opened, for somebody holds it.
    #[error(
        "The database cannot be opened: another process holds its lock, or the server does not answer. End that process, or ask again."
    )]
    Locked,
    /// It took too long.
    #[error("The database did not answer within 15 s. A change may or may not be stored; look before you repeat it.")]
    Silent,
    /// It refused a statement.
    #[error("The database refused: {0}. Nothing was changed.")]
    Refused(String),
    /// It holds what cannot be.
    #[error("The database is damaged: {0}. Run `n8n-lens coordinate --db … admin doctor`.")]
    Damaged(String),
    /// Another transaction was in the way; a second try may do.
    #[error("The database is busy. Nothing was changed; ask again.")]
    Busy,
    /// Another transaction holds what is needed, and does not let go.
    #[error("Somebody else holds what this needs in the database. Nothing was changed; ask again in a moment.")]
    Blocked,
    /// The store was closed.
    #[error("The server is stopping. Ask again when it is back.")]
    Closed,
    /// A fault of this program.
    #[error(
        "This failed by a fault of n8n-lens, and nothing was changed. Please report it with the log of standard error."
    )]
    Ours,
    /// It cannot be opened as it is.
    #[error("{0}")]
    Unfit(String),
}
