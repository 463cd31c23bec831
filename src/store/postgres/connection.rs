//! Connecting.

use std::time::Duration;

use postgres::error::SqlState;
use postgres::{Client, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::address::Address;
use super::cause;
use crate::store::Error;

/// How long connecting may take, unless the URL says otherwise.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// How long the server may be silent.
const SILENCE: Duration = Duration::from_secs(15);

impl Address {
    /// Connects; every transaction only reads, no statement takes longer than `statement`, and no lock is waited for longer
    /// than `lock`.
    ///
    /// # Errors
    /// The server cannot be reached, does not encrypt as wanted, or refuses the user.
    pub(super) fn connect(&self, statement: Duration, lock: Duration) -> Result<Client, Error> {
        let mut config = self.config.clone();
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        let (statement, lock) = (statement.as_millis(), lock.as_millis());
        let ours =
            format!("-c default_transaction_read_only=on -c lock_timeout={lock} -c statement_timeout={statement}");
        // Later options win, so those in the URL override ours.
        let given = config.get_options().unwrap_or_default().to_owned();
        config.options(format!("{ours} {given}").trim_end());
        config.keepalives_idle(SILENCE).tcp_user_timeout(SILENCE);
        if config.get_application_name().is_none() {
            config.application_name("n8n-lens");
        }
        let connected = match &self.tls {
            Some(tls) => config.connect(MakeRustlsConnect::new(tls.client_config()?)),
            None => config.connect(NoTls),
        };
        connected.map_err(|error| refusal(&error))
    }
}

/// Why there is no connection. The server's messages repeat the user's name and the host, so they are not passed on.
fn refusal(error: &postgres::Error) -> Error {
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
        return Error::Tls(cause(error));
    }
    match cause(error) {
        // The client asks for a password that it does not have.
        cause if cause.contains("password") => Error::Login("it asks for a password".to_owned()),
        cause => Error::Unreachable(cause),
    }
}
