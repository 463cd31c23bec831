//! `health_check`: whether the server and its database are up.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::coordination::store::{Scope, Time};
use crate::coordination::tool::{Handler, Tool, ToolCall};
use crate::coordination::{Caller, Coordinator, Error};
use crate::toolkit::{Effect, arguments};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "health_check",
    title: "Health check",
    description: "Check whether the server and its database are up.",
    parameters: HealthCheck::PARAMETERS,
    effect: Effect::Read,
    handler: Handler::call::<HealthCheck>(&[Scope::Runner, Scope::Agent]),
};

arguments! {
    struct HealthCheck: snake_case {}
}

impl ToolCall for HealthCheck {
    async fn run(self, coordinator: Arc<Coordinator>, _caller: Caller) -> Result<Value, Error> {
        let version = env!("CARGO_PKG_VERSION");
        match coordinator.ping().await {
            Ok(time) => Ok(json!({"status": "ok", "version": version, "timestamp": time})),
            Err(error) => Err(Error::Unhealthy(json!({
                "status": "error", "version": version, "timestamp": Time::system_now(), "error": error.without_details(),
            }))),
        }
    }
}
