//! Tasks.

use serde::Serialize;

use super::row::row;
use super::sql::values;
use super::{StoreError, Time, Work};
use crate::toolkit::words;

words! {
    /// The status of a task.
    pub enum TaskStatus {
        /// Not planned yet.
        Backlog = "backlog",
        /// To be done.
        Todo = "todo",
        /// In progress: its assignee is started for it.
        InProgress = "in_progress",
        /// It cannot continue.
        Blocked = "blocked",
        /// Finished successfully.
        Done = "done",
        /// Dropped.
        Cancelled = "cancelled",
    }
}

words! {
    /// How urgent a task is.
    pub enum Priority {
        /// First of all.
        Urgent = "urgent",
        /// Before most others.
        High = "high",
        /// The default.
        Medium = "medium",
        /// After everything else.
        Low = "low",
    }
}

row! {
    /// A task.
    #[derive(Clone, Debug, Serialize)]
    #[allow(missing_docs, reason = "the contract names the members")]
    pub struct Task in "tasks" {
        pub id: String,
        pub project_id: String,
        pub title: String,
        pub description: Option<String>,
        pub status: TaskStatus,
        pub priority: Priority,
        pub assignee_id: Option<String>,
        pub created_at: Time,
        pub updated_at: Time,
        pub completed_at: Option<Time>,
        #[serde(skip)]
        pub assigned_at: Option<Time>,
    }
}

/// Which tasks to list; the conditions are combined with AND.
#[derive(Clone, Debug, Default)]
pub struct TaskFilter<'a> {
    /// Only tasks of this project.
    pub project: Option<&'a str>,
    /// Only tasks with this status.
    pub status: Option<TaskStatus>,
    /// Only tasks assigned to this agent.
    pub assignee: Option<&'a str>,
}

/// A query's conditions and its order: most urgent first, then by other columns.
macro_rules! by_urgency {
    ($conditions:literal, $then:literal) => {
        concat!(
            $conditions,
            " ORDER BY CASE priority WHEN 'urgent' THEN 0 WHEN 'high' THEN 1 WHEN 'medium' THEN 2 ELSE 3 END, ",
            $then
        )
    };
}

impl Task {
    /// Whether this agent should work on it now.
    pub fn is_for(&self, agent: &str) -> bool {
        self.status == TaskStatus::InProgress && self.assignee_id.as_deref() == Some(agent)
    }
}

impl Work<'_> {
    /// The task with this id.
    pub(crate) fn task(&mut self, id: &str) -> Result<Option<Task>, StoreError> {
        self.sql.select_one("WHERE id = ?1", values![id])
    }

    /// The task with this id. Its project is locked against other changes until this transaction ends.
    pub(crate) fn task_for_update(&mut self, id: &str) -> Result<Option<Task>, StoreError> {
        const LOCK: &str = "SELECT id FROM projects WHERE id = (SELECT project_id FROM tasks WHERE id = ?1)
            FOR NO KEY UPDATE";
        self.sql.lock(LOCK, values![id])?;
        self.task(id)
    }

    /// The matching tasks, most urgent first, then oldest first.
    pub(crate) fn tasks(&mut self, filter: &TaskFilter<'_>) -> Result<Vec<Task>, StoreError> {
        // Each query can use an index of its own.
        let query = match (filter.project, filter.assignee) {
            (_, Some(_)) => by_urgency!(
                "WHERE assignee_id = ?3 AND (CAST(?1 AS TEXT) IS NULL OR project_id = ?1)
                AND (CAST(?2 AS TEXT) IS NULL OR status = ?2)",
                "created_at, id"
            ),
            (Some(_), None) => by_urgency!(
                "WHERE project_id = ?1 AND (CAST(?2 AS TEXT) IS NULL OR status = ?2) AND CAST(?3 AS TEXT) IS NULL",
                "created_at, id"
            ),
            (None, None) => by_urgency!(
                "WHERE CAST(?1 AS TEXT) IS NULL AND (CAST(?2 AS TEXT) IS NULL OR status = ?2)
                AND CAST(?3 AS TEXT) IS NULL",
                "created_at, id"
            ),
        };
        self.sql.select(query, values![filter.project, &filter.status, filter.assignee])
    }

    /// An agent's tasks in progress in a project, most urgent first, then in the order of their assignment.
    pub(crate) fn tasks_in_progress(&mut self, agent: &str, project: &str) -> Result<Vec<Task>, StoreError> {
        let query =
            by_urgency!("WHERE assignee_id = ?1 AND project_id = ?2 AND status = 'in_progress'", "assigned_at, id");
        self.sql.select(query, values![agent, project])
    }

    /// Adds a task. Returns `false`, and changes nothing, if the id is taken.
    pub(crate) fn add_task(&mut self, task: &Task) -> Result<bool, StoreError> {
        self.sql.insert_new(task, [])
    }

    /// Updates every column of a task that can change.
    pub(crate) fn change_task(&mut self, task: &Task) -> Result<(), StoreError> {
        const STATEMENT: &str = "UPDATE tasks SET title = ?2, description = ?3, status = ?4, priority = ?5,
            assignee_id = ?6, updated_at = ?7, completed_at = ?8, assigned_at = ?9, version = version + 1 WHERE id = ?1";
        let values = values![
            &task.id,
            &task.title,
            &task.description,
            &task.status,
            &task.priority,
            &task.assignee_id,
            &task.updated_at,
            &task.completed_at,
            &task.assigned_at,
        ];
        self.sql.execute(STATEMENT, values).map(drop)
    }
}
