//! Executions that belong together: the one that started this one, and the ones that its runs started.

use crate::json::{Keep, member, members};

/// Ids of n8n are never longer.
const ID_CHARS: usize = 60;

/// How many executions of sub-workflows are named.
const CHILDREN: usize = 3;

/// The execution that started this one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parent {
    /// Its id.
    pub id: Option<String>,
    /// The id of its workflow.
    pub workflow_id: Option<String>,
}

members!(Parent, |parent, cursor| match name {
    ("executionId", Keep::Whole) => parent.id = cursor.text(ID_CHARS)?,
    ("workflowId", Keep::Whole) => parent.workflow_id = cursor.text(ID_CHARS)?,
});

/// Executions of sub-workflows that a node started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Children {
    /// The first ids, at most three.
    pub ids: Vec<String>,
    /// How many there are.
    pub total: u64,
}

/// The `metadata` of a run or of an item.
#[derive(Debug, Default)]
pub(super) struct Metadata {
    /// The execution of a sub-workflow.
    pub child: Option<String>,
    /// How many executions of sub-workflows there are.
    count: Option<u64>,
}

members!(Metadata, |metadata, cursor| match name {
    ("subExecution", CHILD) => metadata.child = member(cursor, "executionId", |cursor| cursor.text(ID_CHARS))?,
    ("subExecutionsCount", Keep::Whole) => metadata.count = cursor.number()?,
});

/// What is kept of a reference to the execution of a sub-workflow.
const CHILD: Keep = Keep::Members(&[("executionId", Keep::Whole)]);

impl From<Metadata> for Children {
    fn from(Metadata { child, count }: Metadata) -> Self {
        let total = if child.is_some() { count.unwrap_or(1).max(1) } else { 0 };
        Self { ids: child.into_iter().collect(), total }
    }
}

impl Children {
    pub(super) fn add(&mut self, more: Self) {
        let room = CHILDREN - self.ids.len().min(CHILDREN);
        self.ids.extend(more.ids.into_iter().take(room));
        self.total = self.total.saturating_add(more.total);
    }
}
