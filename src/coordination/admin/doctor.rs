//! `admin doctor`: checks the database.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::coordination::tool::{Handler, Tool, ToolCall};
use crate::coordination::{Caller, Coordinator, Error};
use crate::toolkit::{Effect, arguments};

/// `doctor`.
pub static TOOL: Tool = Tool {
    name: "admin_doctor",
    title: "Check the database",
    description: "Check the database for damage, sessions past their expiry, and orphaned executions and tasks.",
    parameters: Doctor::PARAMETERS,
    effect: Effect::Read,
    handler: Handler::call::<Doctor>(&[]),
};

arguments! {
    struct Doctor: snake_case {}
}

impl ToolCall for Doctor {
    async fn run(self, coordinator: Arc<Coordinator>, _caller: Caller) -> Result<Value, Error> {
        let problems = coordinator.store.examine().await?;
        Ok(json!({"success": true, "ok": problems.is_empty(), "problems": problems}))
    }
}
