//! Connecting.

use tokio_postgres::Client;
use tokio_postgres::error::SqlState;
use tokio_util::sync::CancellationToken;

use super::address::Address;
use crate::cause::innermost;
use crate::postgres::{self, Limits, Waiter};
use crate::store::{Error, ReadSettings};

impl Address {
    /// Connects; every transaction only reads, and neither a statement nor a wait for a lock takes longer than the
    /// settings allow.
    ///
    /// # Errors
    /// The server cannot be reached, does not encrypt as wanted, refuses the user, or the caller is gone.
    pub(super) fn connect(
        &self,
        reading: &ReadSettings,
        limits: Limits,
        cancel: &CancellationToken,
    ) -> Result<(Client, Waiter), Error> {
        let mut config = self.config.clone();
        let (statement, lock) = (reading.reply_timeout.as_millis(), reading.lock_timeout.as_millis());
        let ours =
            format!("-c default_transaction_read_only=on -c lock_timeout={lock} -c statement_timeout={statement}");
        // Later options win, so those in the URL override ours.
        let given = config.get_options().unwrap_or_default().to_owned();
        config.options(format!("{ours} {given}").trim_end());
        if config.get_application_name().is_none() {
            config.application_name("n8n-lens");
        }
        let tls = self.tls.as_ref().map(|tls| tls.client_config()).transpose()?;
        postgres::connect(&config, tls, limits, cancel.clone()).map_err(unconnected)
    }
}

/// Why there is no connection.
fn unconnected(error: postgres::Error) -> Error {
    match error {
        postgres::Error::Cancelled => Error::Cancelled,
        postgres::Error::TooLarge => Error::TooMuch,
        postgres::Error::Server(error) => refusal(&error),
        error @ (postgres::Error::Silent(_) | postgres::Error::Io(_)) => Error::Unreachable(error.to_string()),
    }
}

/// Why the server refuses. Its messages repeat the user's name and the host, so they are not passed on.
fn refusal(error: &tokio_postgres::Error) -> Error {
    if let Some(reported) = error.as_db_error() {
        return match *reported.code() {
            SqlState::INVALID_PASSWORD => Error::Login("wrong password".to_owned()),
            SqlState::INVALID_AUTHORIZATION_SPECIFICATION => {
                Error::Login("no such user, or pg_hba.conf does not admit this connection".to_owned())
            }
            SqlState::INVALID_CATALOG_NAME => Error::Postgres("there is no such database".to_owned()),
            ref code => Error::Unreachable(format!("it reports {}", code.code())),
        };
    }
    let text = error.to_string();
    if text.contains("TLS") {
        return Error::Tls(innermost(error).to_string());
    }
    match innermost(error).to_string() {
        // The client asks for a password that it does not have.
        cause if cause.contains("password") => Error::Login("it asks for a password".to_owned()),
        cause => Error::Unreachable(cause),
    }
}
