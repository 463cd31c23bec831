//! The keys that n8n's public API takes of a workflow. It refuses a body with any other (400), also
//! those that it sent itself.
//!
//! From the schemas in `packages/cli/src/public-api/v1`, and tried key by key on 2.41.1 and 1.123.81.

/// What one version of n8n takes.
#[derive(Debug)]
pub struct Accepted {
    /// Of a workflow.
    pub workflow: &'static [&'static str],
    /// Of a node.
    pub node: &'static [&'static str],
    /// Of the settings.
    pub settings: &'static [&'static str],
}

/// n8n 2.41.
pub static N8N_2: Accepted = Accepted {
    workflow: &["name", "nodes", "connections", "settings", "staticData", "pinData", "nodeGroups", "description"],
    node: &[
        "id",
        "name",
        "webhookId",
        "disabled",
        "notesInFlow",
        "notes",
        "type",
        "typeVersion",
        "executeOnce",
        "alwaysOutputData",
        "retryOnFail",
        "maxTries",
        "waitBetweenTries",
        "continueOnFail",
        "onError",
        "position",
        "parameters",
        "credentials",
        "customTelemetryTags",
    ],
    settings: &[
        "saveExecutionProgress",
        "saveManualExecutions",
        "saveDataErrorExecution",
        "saveDataSuccessExecution",
        "executionTimeout",
        "errorWorkflow",
        "timezone",
        "executionOrder",
        "callerPolicy",
        "callerIds",
        "timeSavedPerExecution",
        "availableInMCP",
        "binaryMode",
        "timeSavedMode",
        "redactionPolicy",
        "customTelemetryTags",
        "credentialResolverId",
    ],
};

/// n8n 1.123: a part of what [`N8N_2`] takes.
pub static N8N_1: Accepted = Accepted {
    workflow: &["name", "nodes", "connections", "settings", "staticData"],
    node: N8N_2.node.split_at(18).0,
    settings: N8N_2.settings.split_at(12).0,
};

/// Keys of nodes that n8n and its editor write and no version of the API takes back.
pub(super) const NEVER_IN_NODES: [&str; 7] =
    ["createdAt", "updatedAt", "extendsCredential", "rewireOutputLogTo", "forceCustomOperation", "color", "issues"];

/// Taken in a replacement, refused in a new workflow.
pub(super) const NOT_IN_NEW: &str = "description";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn n8n_1_takes_a_part_of_what_n8n_2_takes() {
        assert_eq!(N8N_1.node.last(), Some(&"credentials"));
        assert_eq!(N8N_1.settings.last(), Some(&"availableInMCP"));
        assert!(N8N_1.workflow.iter().all(|key| N8N_2.workflow.contains(key)));
    }
}
