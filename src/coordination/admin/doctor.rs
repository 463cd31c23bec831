//! `admin doctor`: checks the database.

use std::sync::Arc;

use serde_json::json;

use crate::coordination::tool::{Call, Handler, Tool};
use crate::coordination::{Caller, Coordinator};
use crate::toolkit::{Arguments, Effect};

/// `doctor`.
pub static TOOL: Tool = Tool {
    name: "admin_doctor",
    title: "Check the database",
    description: "Check the database for damage, sessions past their expiry, and orphaned executions and tasks.",
    parameters: &[],
    effect: Effect::Read,
    handler: Handler::call(&[], run),
};

fn run(coordinator: Arc<Coordinator>, _arguments: Arguments, _caller: Caller) -> Call {
    Box::pin(async move {
        let problems = coordinator.store.examine().await?;
        Ok(json!({"success": true, "ok": problems.is_empty(), "problems": problems}))
    })
}
