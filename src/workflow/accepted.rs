//! The keys that n8n's public API accepts in a workflow. It refuses a body with any other key (400), even one that it
//! sent itself.
//!
//! From the schemas in `packages/cli/src/public-api/v1`, and verified key by key on 2.41.1 and 1.123.81.

use indexmap::IndexSet;
use serde_json::Value;
use serde_json::value::RawValue;

use super::Error;
use super::document::{Document, Members};

/// What n8n does with a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// A new workflow.
    Create,
    /// New content for an existing workflow.
    Replace,
}

/// The keys that one version of n8n accepts.
#[derive(Debug)]
pub struct Accepted {
    /// In a workflow.
    pub workflow: &'static [&'static str],
    /// In a node.
    pub node: &'static [&'static str],
    /// In the settings.
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

/// n8n 1.123: a subset of [`N8N_2`].
pub static N8N_1: Accepted = Accepted {
    workflow: &["name", "nodes", "connections", "settings", "staticData"],
    node: N8N_2.node.split_at(18).0,
    settings: N8N_2.settings.split_at(12).0,
};

/// Keys of nodes that n8n and its editor write, and that no version of the API accepts.
const NEVER_IN_NODES: [&str; 7] =
    ["createdAt", "updatedAt", "extendsCredential", "rewireOutputLogTo", "forceCustomOperation", "color", "issues"];

/// Accepted in a replacement, refused in a new workflow.
const NOT_IN_NEW: &str = "description";

/// What an answer about a workflow in n8n shows in addition to the keys that n8n accepts.
const SHOWN: [&str; 2] = ["id", "active"];

/// Members that n8n's API and editor write but n8n does not accept.
const READ_ONLY: [&str; 22] = [
    "id",
    "active",
    "activeVersion",
    "activeVersionId",
    "createdAt",
    "updatedAt",
    "hash",
    "homeProject",
    "isArchived",
    "meta",
    "ownedBy",
    "parentFolder",
    "parentFolderId",
    "scopes",
    "shared",
    "sharedWithProjects",
    "sourceWorkflowId",
    "tags",
    "triggerCount",
    "usedCredentials",
    "versionCounter",
    "versionId",
];

/// Accepted by n8n, but written by its triggers, whose secrets it can hold.
const STATIC_DATA: &str = "staticData";

impl Document {
    /// The workflow without members that n8n sends but does not accept, such as its owner's name and e-mail address,
    /// dates, versions and the second copy of all nodes in `activeVersion`.
    pub fn without_read_only(mut self) -> Self {
        self.members_mut().retain(|member, _| {
            let member = member.as_str();
            SHOWN.contains(&member) || (N8N_2.workflow.contains(&member) && member != STATIC_DATA)
        });
        self
    }

    /// Takes over the members of `source` that no version of n8n knows, byte for byte, unless this document has them with
    /// another value, since it was derived from what was read there.
    pub fn keep_unknown_of(&mut self, source: &Document) {
        for (member, value) in source.members().iter().filter(|(member, _)| !is_known(member)) {
            if self.members().get(member).is_none_or(|given| is_same(given, value)) {
                self.members_mut().insert(member.clone(), value.clone());
            }
        }
    }

    /// Checks that the document has only members that n8n's workflows have, or that one of `others` has.
    ///
    /// # Errors
    /// [`Error::Edit`] with the first other member.
    pub(super) fn check_members(&self, others: &[&Document]) -> Result<(), Error> {
        let is_in_other = |member: &String| others.iter().any(|other| other.members().contains_key(member));
        match self.members().keys().find(|member| !is_known(member) && !is_in_other(member)) {
            Some(member) => Err(Error::Edit(format!(
                "'{}' is not a member of a workflow. Leave it out.",
                crate::json::shorten(member, crate::json::CUT_NAME_CHARS)
            ))),
            None => Ok(()),
        }
    }

    /// Removes keys that no version of n8n accepts, and returns their names: `meta`, `nodes[].color`,
    /// `settings.x`.
    ///
    /// # Errors
    /// [`Error::NotWorkflow`] if the nodes or the settings are not what they should be.
    pub fn tidy(&mut self, change: Change) -> Result<Vec<String>, Error> {
        let mut left_out = LeftOut::default();
        // n8n refuses a description that is null.
        self.members_mut().retain(|member, value| member != NOT_IN_NEW || value.get() != "null");
        left_out.retain(self.members_mut(), "", |member, _| {
            N8N_2.workflow.contains(&member) && (change == Change::Replace || member != NOT_IN_NEW)
        });
        let mut nodes = self.nodes()?;
        for node in &mut nodes {
            // n8n refuses `null`, although in a known key it means the same as no key.
            left_out.retain(node, "nodes[].", |member, value| {
                !NEVER_IN_NODES.contains(&member) && (value != "null" || N8N_2.node.contains(&member))
            });
            node.retain(|_, value| value.get() != "null");
        }
        self.set("nodes", &nodes)?;
        let mut settings = self.settings()?;
        // The editor writes "DEFAULT" for a setting that is not set; the API accepts it only for the timezone.
        settings.retain(|member, value| match value.get() {
            "null" => false,
            "\"DEFAULT\"" => member == "timezone",
            _ => true,
        });
        self.set("settings", &settings)?;
        Ok(left_out.names.into_iter().collect())
    }

    /// Removes keys that this n8n does not accept, and returns their names.
    ///
    /// # Errors
    /// [`Error::NotWorkflow`] if the nodes or the settings are not what they should be.
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

/// Whether a workflow in n8n can have this member.
fn is_known(member: &str) -> bool {
    N8N_2.workflow.contains(&member) || READ_ONLY.contains(&member)
}

/// Whether two texts are the same value.
fn is_same(one: &RawValue, other: &RawValue) -> bool {
    let value = |raw: &RawValue| serde_json::from_str::<Value>(raw.get()).ok();
    value(one).zip(value(other)).is_some_and(|(one, other)| one == other)
}

/// The names of removed keys, each once.
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
    fn n8n_1_accepts_a_subset_of_what_n8n_2_accepts() {
        assert_eq!(N8N_1.node.last(), Some(&"credentials"));
        assert_eq!(N8N_1.settings.last(), Some(&"availableInMCP"));
        assert!(N8N_1.workflow.iter().all(|key| N8N_2.workflow.contains(key)));
    }
}
