//! The keys that n8n's public API takes of a workflow. It refuses a body with any other (400), also
//! those that it sent itself.
//!
//! From the schemas in `packages/cli/src/public-api/v1`, and tried key by key on 2.41.1 and 1.123.81.

use indexmap::IndexSet;

use super::Error;
use super::document::{Document, Members};

/// What becomes of a document in n8n.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// A new workflow.
    Create,
    /// Another content for one that is there.
    Replace,
}

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
const NEVER_IN_NODES: [&str; 7] =
    ["createdAt", "updatedAt", "extendsCredential", "rewireOutputLogTo", "forceCustomOperation", "color", "issues"];

/// Taken in a replacement, refused in a new workflow.
const NOT_IN_NEW: &str = "description";

impl Document {
    /// Takes out what no n8n takes; gives its names.
    ///
    /// # Errors
    /// [`Error::NotWorkflow`].
    pub fn tidy(&mut self, change: Change) -> Result<Vec<String>, Error> {
        let mut left_out = LeftOut::default();
        // n8n refuses a description that is null.
        self.members_mut().retain(|member, value| member != NOT_IN_NEW || value.get() != "null");
        left_out.retain(self.members_mut(), "", |member, _| {
            N8N_2.workflow.contains(&member) && (change == Change::Replace || member != NOT_IN_NEW)
        });
        let mut nodes = self.nodes()?;
        for node in &mut nodes {
            // n8n refuses `null`, which says no more than no member where it knows that.
            left_out.retain(node, "nodes[].", |member, value| {
                !NEVER_IN_NODES.contains(&member) && (value != "null" || N8N_2.node.contains(&member))
            });
            node.retain(|_, value| value.get() != "null");
        }
        self.set("nodes", &nodes)?;
        let mut settings = self.settings()?;
        // The editor writes "DEFAULT" for what is not set, and the API knows it for the timezone only.
        settings.retain(|member, value| match value.get() {
            "null" => false,
            "\"DEFAULT\"" => member == "timezone",
            _ => true,
        });
        self.set("settings", &settings)?;
        Ok(left_out.names.into_iter().collect())
    }

    /// Takes out what this n8n does not take; gives its names.
    ///
    /// # Errors
    /// [`Error::NotWorkflow`].
    pub fn narrow(&mut self, accepted: &Accepted) -> Result<Vec<String>, Error> {
        let mut left_out = LeftOut::default();
        left_out.retain(self.members_mut(), "", |member, _| accepted.workflow.contains(&member));
        let (mut nodes, mut settings) = (self.nodes()?, self.settings()?);
        for node in &mut nodes {
            left_out.retain(node, "nodes[].", |member, _| accepted.node.contains(&member));
        }
        left_out.retain(&mut settings, "settings.", |member, _| accepted.settings.contains(&member));
        self.set("nodes", &nodes)?;
        self.set("settings", &settings)?;
        Ok(left_out.names.into_iter().collect())
    }
}

/// Names of what was left out, each once.
#[derive(Default)]
struct LeftOut {
    names: IndexSet<String>,
}

impl LeftOut {
    fn retain(&mut self, members: &mut Members, prefix: &str, keep: impl Fn(&str, &str) -> bool) {
        members.retain(|member, value| {
            let kept = keep(member, value.get());
            if !kept {
                self.names.insert(format!("{prefix}{member}"));
            }
            kept
        });
    }
}

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
