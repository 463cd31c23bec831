//! Whether all is well.

use std::sync::Arc;

use serde_json::json;

use crate::coordination::Coordinator;
use crate::coordination::tool::{Call, Run, Tool};
use crate::toolkit::{Arguments, Effect};

/// `doctor`.
pub static TOOL: Tool = Tool {
    name: "admin_doctor",
    title: "Examine the database",
    description: "Find what is wrong: damage, sessions past their expiry, executions and tasks that hang in the air.",
    parameters: &[],
    scopes: &[],
    effect: Effect::Read,
    deprecated: false,
    run: Run::Call(run),
};

fn run(coordinator: Arc<Coordinator>, _arguments: Arguments) -> Call {
    Box::pin(async move {
        let problems = coordinator.store.examine().await?;
        Ok(json!({"success": true, "ok": problems.is_empty(), "problems": problems}))
    })
}
