//! Tasks.

use serde::Serialize;

use super::sql::{Row, values};
use super::text_enum::text_enum;
use super::{StoreError, Time, Work};

text_enum! {
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

text_enum! {
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

/// A task.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the contract names the members")]
pub struct Task {
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

/// A query for whole rows, with the columns in the order in which [`Task::read`] reads them.
macro_rules! select {
    ($of:literal) => {
        concat!(
            "SELECT id, project_id, title, description, status, priority, assignee_id, created_at, updated_at, \
             completed_at, assigned_at FROM tasks ",
            $of
        )
    };
}

/// The same, most urgent first, then oldest first.
macro_rules! by_urgency {
    ($of:literal) => {
        concat!(
            select!($of),
            " ORDER BY CASE priority WHEN 'urgent' THEN 0 WHEN 'high' THEN 1 WHEN 'medium' THEN 2 ELSE 3 END, \
             created_at, id"
        )
    };
}

impl Task {
    fn read(mut row: Row) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.next()?,
            project_id: row.next()?,
            title: row.next()?,
            description: row.next()?,
            status: row.next()?,
            priority: row.next()?,
            assignee_id: row.next()?,
            created_at: row.next()?,
            updated_at: row.next()?,
            completed_at: row.next()?,
            assigned_at: row.next()?,
        })
    }

    /// Whether this agent should work on it now.
    pub fn is_for(&self, agent: &str) -> bool {
        self.status == TaskStatus::InProgress && self.assignee_id.as_deref() == Some(agent)
    }
}

impl Work<'_> {
    /// The task with this id.
    pub(crate) fn task(&mut self, id: &str) -> Result<Option<Task>, StoreError> {
        const QUERY: &str = select!("WHERE id = ?1");
        self.sql.query(QUERY, values![id])?.pop().map(Task::read).transpose()
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
                AND (CAST(?2 AS TEXT) IS NULL OR status = ?2)"
            ),
            (Some(_), None) => by_urgency!(
                "WHERE project_id = ?1 AND (CAST(?2 AS TEXT) IS NULL OR status = ?2) AND CAST(?3 AS TEXT) IS NULL"
            ),
            (None, None) => by_urgency!(
                "WHERE CAST(?1 AS TEXT) IS NULL AND (CAST(?2 AS TEXT) IS NULL OR status = ?2)
                AND CAST(?3 AS TEXT) IS NULL"
            ),
        };
        let values = values![filter.project, filter.status, filter.assignee];
        self.sql.query(query, values)?.into_iter().map(Task::read).collect()
    }

    /// An agent's tasks in progress in a project, most urgent first, then in the order of their assignment.
    pub(crate) fn tasks_in_progress(&mut self, agent: &str, project: &str) -> Result<Vec<Task>, StoreError> {
        const QUERY: &str = select!(
            "WHERE assignee_id = ?1 AND project_id = ?2 AND status = 'in_progress'
            ORDER BY CASE priority WHEN 'urgent' THEN 0 WHEN 'high' THEN 1 WHEN 'medium' THEN 2 ELSE 3 END,
                assigned_at, id"
        );
        self.sql.query(QUERY, values![agent, project])?.into_iter().map(Task::read).collect()
    }

    /// Adds a task. Returns `false`, and changes nothing, if the id is taken.
    pub(crate) fn add_task(&mut self, task: &Task) -> Result<bool, StoreError> {
        const STATEMENT: &str = "INSERT INTO tasks (id, project_id, title, description, status, priority, assignee_id,
            created_at, updated_at, completed_at, assigned_at)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) ON CONFLICT DO NOTHING";
        let values = values![
            &task.id,
            &task.project_id,
            &task.title,
            task.description.as_ref(),
            task.status,
            task.priority,
            task.assignee_id.as_ref(),
            task.created_at,
            task.updated_at,
            task.completed_at,
            task.assigned_at,
        ];
        Ok(self.sql.execute(STATEMENT, values)? == 1)
    }

    /// Updates every column of a task that can change.
    pub(crate) fn change_task(&mut self, task: &Task) -> Result<(), StoreError> {
        const STATEMENT: &str = "UPDATE tasks SET title = ?2, description = ?3, status = ?4, priority = ?5,
            assignee_id = ?6, updated_at = ?7, completed_at = ?8, assigned_at = ?9, version = version + 1 WHERE id = ?1";
        let values = values![
            &task.id,
            &task.title,
            task.description.as_ref(),
            task.status,
            task.priority,
            task.assignee_id.as_ref(),
            task.updated_at,
            task.completed_at,
            task.assigned_at,
        ];
        self.sql.execute(STATEMENT, values).map(drop)
    }
}
