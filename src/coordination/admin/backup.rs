//! A copy of the database.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;

use super::given;
use crate::coordination::Coordinator;
use crate::coordination::tool::{Call, Run, Tool};
use crate::toolkit::{Arguments, Effect, Kind, Parameter};

/// `backup`.
pub static TOOL: Tool = Tool {
    name: "admin_backup",
    title: "Back up the database",
    description: "Copy the database, as it is at one moment, to a file that is not there yet.",
    parameters: &[Parameter::required("file", Kind::Text, "The file, on the server's machine.")],
    scopes: &[],
    effect: Effect::Add,
    deprecated: false,
    run: Run::Call(run),
};

fn run(coordinator: Arc<Coordinator>, arguments: Arguments) -> Call {
    Box::pin(async move {
        let file = given(&arguments, "file");
        coordinator.store.backup(PathBuf::from(&file)).await?;
        Ok(json!({"success": true, "file": file}))
    })
}
