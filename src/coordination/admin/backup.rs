//! `admin backup`: copies the database.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;

use super::required_text;
use crate::coordination::tool::{Call, Handler, Tool};
use crate::coordination::{Caller, Coordinator};
use crate::toolkit::{Arguments, Effect, Kind, Parameter};

/// `backup`.
pub static TOOL: Tool = Tool {
    name: "admin_backup",
    title: "Back up the database",
    description: "Copy the database to a new file, consistently, while it is in use. SQLite only.",
    parameters: &[Parameter::required("file", Kind::Text, "The path of the new file, on the server's machine.")],
    effect: Effect::Add,
    handler: Handler::call(&[], run),
};

fn run(coordinator: Arc<Coordinator>, arguments: Arguments, _caller: Caller) -> Call {
    Box::pin(async move {
        let file = required_text(&arguments, "file");
        coordinator.store.backup(PathBuf::from(&file)).await?;
        Ok(json!({"success": true, "file": file}))
    })
}
