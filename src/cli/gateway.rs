//! `n8n-lens gateway`.

use super::Error;
use super::terminal::report;
use crate::config::GatewayOptions;
use crate::gateway::{self, Config, Gateway};
use crate::transport;

/// Serves the gateway until SIGINT or SIGTERM.
pub(super) async fn run(options: &GatewayOptions) -> Result<(), Error> {
    let usage = |error: gateway::ConfigError| Error::Usage(error.to_string());
    let text = Config::read(&options.config).map_err(usage)?;
    let config = Config::from_bytes(&text).map_err(usage)?;
    let ((host, port), settings) = (options.address(&config)?, options.settings()?);
    let access = options.access(&host)?;
    options.store.check_access(&access, "GATEWAY_TOKEN")?;
    if !settings.checks {
        report("VALIDATION IS DISABLED. The names and inputs of calls are not checked.");
    }
    let gateway = Gateway::start(&config, settings);
    let watching = tokio::spawn(gateway::watch(gateway.clone(), options.config.clone(), text));
    let served = transport::serve_gateway(gateway.clone(), (&host, port), &access).await;
    watching.abort();
    gateway.stop().await;
    served.map_err(Error::Transport)
}
