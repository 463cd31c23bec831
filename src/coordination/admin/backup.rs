//! `admin backup`: copies the database.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::coordination::tool::{Handler, Tool, ToolCall};
use crate::coordination::{Caller, Coordinator, Error};
use crate::toolkit::{Effect, Text, arguments};

/// `backup`.
pub static TOOL: Tool = Tool {
    name: "admin_backup",
    title: "Back up the database",
    description: "Copy the database to a new file, consistently, while it is in use. SQLite only.",
    parameters: Backup::PARAMETERS,
    effect: Effect::Add,
    handler: Handler::call::<Backup>(&[]),
};

arguments! {
    struct Backup: snake_case {
        file: Text = "The path of the new file, on the server's machine.",
    }
}

impl ToolCall for Backup {
    async fn run(self, coordinator: Arc<Coordinator>, _caller: Caller) -> Result<Value, Error> {
        coordinator.store.backup(PathBuf::from(&self.file)).await?;
        Ok(json!({"success": true, "file": self.file}))
    }
}
