//! Settings of n8n's own store.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use clap::builder::FalseyValueParser;

use super::{Access, Error, N8N, filled, path};
use crate::store::{Settings, Store, Variables};

/// Settings of n8n's own store.
#[derive(Args, Clone, Default)]
pub struct StoreOptions {
    /// Read executions from n8n's own store: auto, n8n's folder, a database file, a bundle.json or postgres://…; every caller can then read the executions of all workflows
    #[arg(long, help_heading = N8N, env = "N8N_LENS_STORE", value_name = "WHERE", hide_env_values = true)]
    store: Option<String>,

    /// With --store: show executions that were deleted in n8n, while their data is still there
    #[arg(long, help_heading = N8N, env = "N8N_LENS_DELETED", value_parser = FalseyValueParser::new())]
    deleted: bool,

    /// With --store: show what n8n's redaction policy hides (logged)
    #[arg(long, help_heading = N8N, env = "N8N_LENS_REVEAL", value_parser = FalseyValueParser::new())]
    reveal: bool,

    /// With --store: folder for unnamed temporary files with execution data (default: the system's)
    #[arg(long, help_heading = N8N, env = "N8N_LENS_SPOOL_DIR", value_name = "DIR", value_parser = path)]
    spool_dir: Option<PathBuf>,
}

impl StoreOptions {
    fn location(&self) -> Option<&str> {
        filled(self.store.as_deref())
    }

    /// The folder for temporary files, if it is not the system's.
    pub fn spool(&self) -> Option<PathBuf> {
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

    /// The store, if one is named; `idle_timeout`: how long its database may take, if not the usual time.
    ///
    /// # Errors
    /// There is no store at this place, or another option needs one.
    pub fn find(&self, idle_timeout: Option<Duration>) -> Result<Option<Store>, Error> {
        let Some(location) = self.location() else {
            let alone = [("--deleted", self.deleted), ("--reveal", self.reveal)];
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
            with_deleted: self.deleted,
            spool: self.spool(),
            idle_timeout,
            slice: None,
        };
        Store::find(&settings).map(Some).map_err(Error)
    }

    /// Whether executions come from n8n's own store.
    pub fn is_named(&self) -> bool {
        self.location().is_some()
    }

    /// Whether data hidden by n8n's redaction policy is shown.
    pub fn reveals(&self) -> bool {
        self.reveal
    }

    /// Refuses to serve the store to every user of this machine.
    ///
    /// # Errors
    /// There is a store, and no token guards it; `variable` sets the token.
    pub fn check_access(&self, access: &Access, variable: &str) -> Result<(), Error> {
        if self.is_named() && access.auth_token.is_none() {
            return Err(Error(format!(
                "--store shows the executions of all workflows, so over HTTP it needs a token: set {variable}, or --auth-token, to a token that clients must send, or serve on standard input and output."
            )));
        }
        Ok(())
    }
}
