//! Metrics, in the text format of Prometheus.

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

/// Upper bounds of the histogram's buckets, in seconds: from a local call to one that takes minutes.
const BUCKETS: [f64; 12] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0, 120.0];

/// Calls, by server and tool.
pub(super) struct Metrics {
    calls: Family<Labels, Counter>,
    seconds: Family<Labels, Histogram, fn() -> Histogram>,
}

impl Default for Metrics {
    fn default() -> Self {
        Self { calls: Family::default(), seconds: Family::new_with_constructor(|| Histogram::new(BUCKETS)) }
    }
}

impl Metrics {
    /// Counts a call, with its outcome and duration. Unknown names are not used as labels: a caller could make up any
    /// number of them.
    pub(super) fn called(&self, server: &str, tool: &str, outcome: &Result<String, Error>, duration: Duration) {
        let (server, tool) = match outcome {
            Err(Error::ServerNotFound { .. }) => ("", ""),
            // While a server is down, its tools are unknown.
            Err(
                Error::ToolNotFound { .. } | Error::NotRunning { .. } | Error::Stopped { .. } | Error::Crashed { .. },
            ) => (server, ""),
            _ => (server, tool),
        };
        let names: Labels = vec![("server", server.to_owned()), ("tool", tool.to_owned())];
        self.seconds.get_or_create(&names).observe(duration.as_secs_f64());
        self.count(names, outcome.as_ref().map_or_else(Error::code, |_| "OK"));
    }

    /// Counts an invalid request.
    pub(super) fn refused(&self, error: &Error) {
        self.count(vec![("server", String::new()), ("tool", String::new())], error.code());
    }

    fn count(&self, mut labels: Labels, code: &str) {
        labels.push(("code", code.to_owned()));
        self.calls.get_or_create(&labels).inc();
    }

    /// All metrics as text, including the current state of `servers`.
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
        registry.register("calls", "Calls by server, tool and result code", self.calls.clone());
        registry.register("call_duration_seconds", "Duration of calls in seconds", self.seconds.clone());
        registry.register("server_up", "Whether a server is available", up);
        registry.register("calls_pending", "Calls in progress", pending);
        registry.register("server_restarts", "Restarts of a server", restarts);
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = encode(&mut text, &registry);
        text
    }
}
