//! `health_check`: whether the server and its database are up.

use std::sync::Arc;

use serde_json::json;

use crate::coordination::Coordinator;
use crate::coordination::store::{Scope, Time};
use crate::coordination::tool::{Call, Run, Tool};
use crate::toolkit::{Arguments, Effect};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "health_check",
    title: "Health check",
    description: "Say whether the server and its database are up.",
    parameters: &[],
    scopes: &[Scope::Runner, Scope::Agent],
    effect: Effect::Read,
    deprecated: false,
    run: Run::Call(run),
};

fn run(coordinator: Arc<Coordinator>, _arguments: Arguments) -> Call {
    Box::pin(async move {
        let answered = coordinator.ping().await;
        let status = if answered.is_some() { "ok" } else { "error" };
        let timestamp = answered.unwrap_or_else(Time::of_this_machine);
        Ok(json!({"status": status, "version": env!("CARGO_PKG_VERSION"), "timestamp": timestamp}))
    })
}
