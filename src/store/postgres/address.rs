//! Where PostgreSQL is: a URL, or n8n's own variables.

use std::path::PathBuf;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use super::password;
use super::tls::Tls;
use crate::secrets::Secret;
use crate::store::variables::Variables;

/// How to connect. `Debug` shows nothing of it.
#[derive(Clone)]
pub(in crate::store) struct Address {
    pub(super) config: Config,
    pub(super) tls: Option<Tls>,
    schema: String,
}

impl std::fmt::Debug for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("postgres://…")
    }
}

impl Address {
    /// The server of n8n's own variables.
    ///
    /// # Errors
    /// A variable is malformed, or its file cannot be read.
    pub(in crate::store) fn from_variables(variables: &Variables) -> Result<Self, String> {
        let value = |name: &str, default: &str| {
            Ok::<_, String>(variables.get(&format!("DB_POSTGRESDB_{name}"))?.unwrap_or_else(|| default.to_owned()))
        };
        let port = value("PORT", "5432")?;
        let port = port.parse().map_err(|_| "DB_POSTGRESDB_PORT must be a number from 1 to 65535.".to_owned())?;
        let mut config = Config::new();
        config.host(&value("HOST", "localhost")?).port(port);
        config.dbname(&value("DATABASE", "n8n")?).user(&value("USER", "postgres")?);
        Self::finish(config, value("SCHEMA", "public")?, Tls::from_variables(variables)?, variables)
    }

    /// The server of a `postgres://` URL.
    ///
    /// # Errors
    /// The URL is malformed; the message shows nothing of it.
    pub(in crate::store) fn parse(url: &str, variables: &Variables) -> Result<Self, String> {
        let malformed = || {
            "--store is not a valid PostgreSQL address; it must look like postgres://user@host:5432/name?schema=public."
                .to_owned()
        };
        let (url, schema) = without_schema(url);
        let config: Config = url.parse().map_err(|_| malformed())?;
        if config.get_hosts().is_empty() {
            return Err(malformed());
        }
        let is_named = url.contains("sslmode=");
        let tls = match config.get_ssl_mode() {
            SslMode::Disable if is_named => None,
            _ if is_named => Some(Tls::from_variables(variables)?.unwrap_or_default()),
            _ => Tls::from_variables(variables)?,
        };
        let schema = match schema {
            Some(schema) => schema,
            None => variables.get("DB_POSTGRESDB_SCHEMA")?.unwrap_or_else(|| "public".to_owned()),
        };
        Self::finish(config, schema, tls, variables)
    }

    fn finish(mut config: Config, schema: String, tls: Option<Tls>, variables: &Variables) -> Result<Self, String> {
        if config.get_password().is_none()
            && let Some(password) = given_password(&config, variables)?
        {
            config.password(password.expose());
        }
        // A server that does not encrypt is refused, as n8n does, unless the URL says otherwise.
        config.ssl_mode(if tls.is_some() { SslMode::Require } else { SslMode::Disable });
        Ok(Self { config, tls, schema })
    }

    /// The schema of n8n's tables.
    pub(in crate::store) fn schema(&self) -> &str {
        &self.schema
    }
}

/// The password from n8n's variable, `PGPASSWORD`, or the pgpass file.
fn given_password(config: &Config, variables: &Variables) -> Result<Option<Secret>, String> {
    if let Some(password) = variables.secret("DB_POSTGRESDB_PASSWORD")? {
        return Ok(Some(password));
    }
    if let Some(password) = variables.plain("PGPASSWORD") {
        return Ok(Some(Secret::new(password)));
    }
    let default = || Some(PathBuf::from(variables.plain("HOME")?).join(".pgpass"));
    let Some(file) = variables.plain("PGPASSFILE").map(PathBuf::from).or_else(default) else { return Ok(None) };
    // Without the file, the server may need no password.
    let Ok(text) = std::fs::read_to_string(file) else { return Ok(None) };
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(host)) => host.clone(),
        _ => "localhost".to_owned(),
    };
    let port = config.get_ports().first().map_or(5432, |port| *port).to_string();
    let user = config.get_user().unwrap_or_default();
    let wanted = [host.as_str(), &port, config.get_dbname().unwrap_or(user), user];
    Ok(password::find(&text, wanted).map(Secret::new))
}

/// The URL without `schema=…`, which is n8n's and not PostgreSQL's, and the schema.
fn without_schema(url: &str) -> (String, Option<String>) {
    let Some((address, query)) = url.split_once('?') else { return (url.to_owned(), None) };
    let is_schema = |part: &&str| part.starts_with("schema=");
    let schema = query.split('&').find(is_schema).and_then(|part| part.split_once('='));
    let schema = schema.map(|(_, name)| percent_encoding::percent_decode_str(name).decode_utf8_lossy().into_owned());
    let others: Vec<_> = query.split('&').filter(|part| !is_schema(part)).collect();
    let url = if others.is_empty() { address.to_owned() } else { format!("{address}?{}", others.join("&")) };
    (url, schema)
}
