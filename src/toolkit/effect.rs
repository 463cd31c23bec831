//! What a tool does to the system it works on.

/// What a tool does to n8n, or to the coordination database; MCP's annotations are derived from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Changes nothing.
    Read,
    /// Adds something; calling twice adds two.
    Add,
    /// Adds something that is gone when the call ends, and reaches nothing outside n8n; calling twice does it twice.
    Rehearse,
    /// Adds something that is missing; calling twice is the same as calling once.
    Ensure,
    /// Overwrites or deletes; calling twice is the same as calling once.
    Overwrite,
    /// Overwrites or deletes; calling twice may change something twice.
    Change,
}

impl Effect {
    /// Whether it may overwrite or delete something.
    pub fn is_destructive(self) -> bool {
        matches!(self, Self::Overwrite | Self::Change)
    }

    /// Whether it can reach something outside n8n, or something that others may change in the meantime (MCP's `openWorldHint`).
    pub fn is_open_world(self) -> bool {
        self != Self::Rehearse
    }

    /// Whether calling twice is the same as calling once.
    pub fn is_idempotent(self) -> bool {
        matches!(self, Self::Read | Self::Ensure | Self::Overwrite)
    }
}
