//! Settings of n8n's own store.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use clap::builder::FalseyValueParser;

use super::{Access, Error, N8N, Options, filled, path};
use crate::store::{Settings, Store, Variables};
use crate::tools::executions::StoredExecutions;

/// Settings of n8n's own store.
#[derive(Args, Clone)]
pub struct StoreOptions {
    /// Read executions from n8n's own store: auto, n8n's folder, a database file, a bundle.json or postgres://…; everyone who may ask sees all workflows' executions
    #[arg(long, global = true, help_heading = N8N, env = "N8N_LENS_STORE", value_name = "WHERE", hide_env_values = true)]
    store: Option<String>,

    /// With --store: show executions that were deleted in n8n, while their data is still there
    #[arg(long, global = true, help_heading = N8N, env = "N8N_LENS_DELETED", value_parser = FalseyValueParser::new())]
    deleted: bool,

    /// With --store: show what n8n's redaction policy hides (logged)
    #[arg(long, global = true, help_heading = N8N, env = "N8N_LENS_REVEAL", value_parser = FalseyValueParser::new())]
    reveal: bool,

    /// With --store: folder for unnamed temporary files with execution data (default: the system's)
    #[arg(long, global = true, help_heading = N8N, env = "N8N_LENS_SPOOL_DIR", value_name = "DIR", value_parser = path)]
    spool_dir: Option<PathBuf>,
}

impl StoreOptions {
    fn location(&self) -> Option<&str> {
        filled(self.store.as_deref())
    }

    fn spool(&self) -> Option<PathBuf> {
        self.spool_dir.clone().filter(|folder| !folder.as_os_str().is_empty())
    }

    /// The settings as environment variables, for another process of n8n-lens.
    #[cfg(feature = "gateway")]
    pub(super) fn environment(&self) -> [(&'static str, Option<String>); 4] {
        let flag = |is_on: bool| is_on.then(|| "true".to_owned());
        [
            ("N8N_LENS_STORE", self.store.clone()),
            ("N8N_LENS_DELETED", flag(self.deleted)),
            ("N8N_LENS_REVEAL", flag(self.reveal)),
            ("N8N_LENS_SPOOL_DIR", self.spool().and_then(|folder| folder.to_str().map(str::to_owned))),
        ]
    }
}

impl Options {
    /// n8n's own store, if executions come from there.
    ///
    /// # Errors
    /// There is no store at this place, or another option needs one.
    pub fn store(&self) -> Result<Option<Store>, Error> {
        let options = &self.store;
        let Some(location) = options.location() else {
            let alone = [("--deleted", options.deleted), ("--reveal", options.reveal)];
            return match alone.iter().find(|(_, is_on)| *is_on) {
                Some((name, _)) => {
                    Err(Error(format!("{name} works only with --store: name n8n's store, or leave {name} out.")))
                }
                None => Ok(None),
            };
        };
        let settings = Settings {
            location: location.to_owned(),
            variables: Variables::of_this_process(),
            with_deleted: options.deleted,
            spool: options.spool(),
            idle_timeout: Some(Duration::from_secs(self.idle_timeout)),
            slice: None,
        };
        Store::find(&settings).map(Some).map_err(Error)
    }

    /// The executions of n8n's own store, if they come from there.
    ///
    /// # Errors
    /// As [`store`](Self::store).
    pub fn stored_executions(&self) -> Result<Option<StoredExecutions>, Error> {
        let store = self.store()?;
        if store.is_some() && self.store.reveal {
            tracing::warn!("--reveal: what n8n's redaction policy hides is shown");
        }
        Ok(store.map(|store| StoredExecutions::new(store, self.store.reveal, usize::from(self.max_downloads))))
    }

    /// Whether executions come from n8n's own store.
    pub fn has_store(&self) -> bool {
        self.store.location().is_some()
    }

    /// Whether there is an address and a key of n8n's API, which a store does not need.
    pub fn has_api(&self) -> bool {
        let has_key = self.given_key().is_ok_and(|key| key.is_some());
        self.has_address() && has_key
    }

    /// Whether there is an address of n8n's API.
    pub fn has_address(&self) -> bool {
        filled(self.n8n_url.as_deref()).is_some()
    }

    /// Refuses to serve the store to every user of this machine.
    ///
    /// # Errors
    /// There is a store, and no token guards it; `variable` sets the token.
    pub fn check_access(&self, access: &Access, variable: &str) -> Result<(), Error> {
        if self.has_store() && access.auth_token.is_none() {
            return Err(Error(format!(
                "--store shows the executions of all workflows, so over HTTP it needs a token: set {variable}, or --auth-token, to a token that clients must send, or serve on standard input and output."
            )));
        }
        Ok(())
    }
}
