//! What is counted, as Prometheus reads it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use super::error::Error;
use super::server::Server;

type Labels = Vec<(&'static str, String)>;

/// From a call within the machine to one that takes minutes, seconds.
const SECONDS: [f64; 12] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0, 120.0];

/// Calls, by server and tool.
pub(super) struct Metrics {
    calls: Family<Labels, Counter>,
    seconds: Family<Labels, Histogram, fn() -> Histogram>,
}

impl Default for Metrics {
    fn default() -> Self {
        Self { calls: Family::default(), seconds: Family::new_with_constructor(|| Histogram::new(SECONDS)) }
    }
}

impl Metrics {
    /// Counts a call that was made, or refused for its server's or tool's sake. Names that nobody has do
    /// not count one by one: whoever calls could make them up.
    pub(super) fn called(&self, server: &str, tool: &str, called: &Result<String, Error>, took: Duration) {
        let (server, tool) = match called {
            Err(Error::ServerNotFound { .. }) => ("", ""),
            // Without its tools, what a server has is not known.
            Err(Error::ToolNotFound { .. } | Error::NotRunning { .. } | Error::Crashed { .. }) => (server, ""),
            _ => (server, tool),
        };
        let names: Labels = vec![("server", server.to_owned()), ("tool", tool.to_owned())];
        self.seconds.get_or_create(&names).observe(took.as_secs_f64());
        self.count(names, called.as_ref().map_or_else(Error::code, |_| "OK"));
    }

    /// Counts a request that was no call.
    pub(super) fn refused(&self, error: &Error) {
        self.count(vec![("server", String::new()), ("tool", String::new())], error.code());
    }

    fn count(&self, mut labels: Labels, code: &str) {
        labels.push(("code", code.to_owned()));
        self.calls.get_or_create(&labels).inc();
    }

    /// The text of it all.
    pub(super) fn text(&self, servers: &[Arc<Server>]) -> String {
        let up: Family<Labels, Gauge> = Family::default();
        let pending: Family<Labels, Gauge> = Family::default();
        let restarts: Family<Labels, Counter<u64, AtomicU64>> = Family::default();
        for server in servers {
            let labels = vec![("server", server.name.clone())];
            up.get_or_create(&labels).set((server.status() == "available").into());
            pending.get_or_create(&labels).set(server.pending().cast_signed());
            restarts.get_or_create(&labels).inner().store(server.history.restarts.load(Relaxed), Relaxed);
        }
        let mut registry = Registry::with_prefix("gateway");
        registry.register("calls", "Calls by server, tool and code", self.calls.clone());
        registry.register("call_duration_seconds", "How long calls took", self.seconds.clone());
        registry.register("server_up", "Whether a server is available", up);
        registry.register("calls_pending", "Calls under way", pending);
        registry.register("server_restarts", "How often a server was started again", restarts);
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = encode(&mut text, &registry);
        text
    }
}
