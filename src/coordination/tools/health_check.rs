//! `health_check`: whether the server and its database are up.

use std::sync::Arc;

use serde_json::json;

use crate::coordination::store::{Scope, Time};
use crate::coordination::tool::{Call, Handler, Tool};
use crate::coordination::{Caller, Coordinator, Error};
use crate::toolkit::{Arguments, Effect};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "health_check",
    title: "Health check",
    description: "Check whether the server and its database are up.",
    parameters: &[],
    effect: Effect::Read,
    handler: Handler::call(&[Scope::Runner, Scope::Agent], run),
};

fn run(coordinator: Arc<Coordinator>, _arguments: Arguments, _caller: Caller) -> Call {
    Box::pin(async move {
        let version = env!("CARGO_PKG_VERSION");
        match coordinator.ping().await {
            Ok(time) => Ok(json!({"status": "ok", "version": version, "timestamp": time})),
            Err(error) => Err(Error::Unhealthy(json!({
                "status": "error", "version": version, "timestamp": Time::system_now(), "error": error.without_details(),
            }))),
        }
    })
}
