//! Database errors.

use std::time::Duration;

/// Why the database did not do its work. No message contains a password or a passkey.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum StoreError {
    /// There is no connection to the database; nothing was written.
    #[error("The database cannot be reached: {0}. Nothing was changed; try again in a moment.")]
    Unreachable(String),
    /// The connection broke during a commit.
    #[error(
        "The database connection broke while a change was being stored: {0}. It may or may not be stored; check before you repeat it."
    )]
    OutcomeUnknown(String),
    /// Opening took too long: another process holds the lock, or the server does not answer.
    #[error(
        "The database cannot be opened: another process holds its lock, or the server does not answer. End that process, or try again."
    )]
    OpenTimeout,
    /// The database file was deleted or replaced while it was open.
    #[error(
        "The database file was deleted or replaced while this process had it open, so nothing can be read or stored. Put the file back, or restart this process to use the file that is there now."
    )]
    Replaced,
    /// The unit of work was not answered within this time.
    #[error("The database did not answer within {} s. A change may or may not be stored; check before you repeat it.", .0.as_secs())]
    Timeout(Duration),
    /// The database rejected a statement.
    #[error("The database rejected a statement: {0}. Nothing was changed.")]
    Rejected(String),
    /// The database contains impossible data.
    #[error("The database is damaged: {0}. Restore a backup.")]
    Corrupt(String),
    /// Another transaction conflicted, or too many calls are waiting.
    #[error("The database is busy. Nothing was changed; try again.")]
    Busy,
    /// Another transaction did not release a lock in time.
    #[error(
        "The database rows for this call are locked by another transaction. Nothing was changed; try again in a moment."
    )]
    LockTimeout,
    /// The store was closed.
    #[error("The server is stopping. Try again when it is back.")]
    Closed,
    /// A bug in this program.
    #[error(
        "The call failed because of a bug in n8n-lens, and nothing was changed. Please report it with the log from standard error."
    )]
    Bug,
    /// The database cannot be used in its present state; the text says why and what to do.
    #[error("{0}")]
    Unusable(String),
}

impl StoreError {
    /// The message for clients that may not see the details, such as an address.
    pub fn without_details(&self) -> String {
        match self {
            Self::Replaced => self.to_string(),
            Self::Corrupt(_) => "The database is damaged. An administrator must restore a backup.".to_owned(),
            Self::Unusable(_) => {
                "The database cannot be used. An administrator must check the server's log.".to_owned()
            }
            _ => "The database is not available. Try again in a moment.".to_owned(),
        }
    }
}
