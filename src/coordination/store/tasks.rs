//! Tasks.

use serde::Serialize;

use super::sql::{Row, values};
use super::words::words;
use super::{Fault, Time, Work};

words! {
    /// Where a task stands.
    pub enum TaskStatus {
        /// Not planned yet.
        Backlog = "backlog",
        /// To be done.
        Todo = "todo",
        /// Being done.
        InProgress = "in_progress",
        /// It cannot go on.
        Blocked = "blocked",
        /// It is done.
        Done = "done",
        /// It will not be done.
        Cancelled = "cancelled",
    }
}

words! {
    /// How urgent a task is.
    pub enum Priority {
        /// Before all others.
        Urgent = "urgent",
        /// Before most.
        High = "high",
        /// As most are.
        Medium = "medium",
        /// When there is nothing else.
        Low = "low",
    }
}

/// A task; what answers show of it.
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

/// Which tasks.
#[derive(Clone, Debug, Default)]
pub struct TaskFilter<'a> {
    /// Only this project's.
    pub project: Option<&'a str>,
    /// Only with this status.
    pub status: Option<TaskStatus>,
    /// Only this agent's.
    pub assignee: Option<&'a str>,
}

/// A query of whole rows, in the order in which they are read.
macro_rules! select {
    ($of:literal) => {
        concat!(
            "SELECT id, project_id, title, description, status, priority, assignee_id, created_at, updated_at, \
             completed_at, assigned_at FROM tasks ",
            $of
        )
    };
}

/// The same, the most urgent first, then the oldest.
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
    fn read(mut row: Row) -> Result<Self, Fault> {
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

    /// Whether this agent is to do it now.
    pub fn is_for(&self, agent: &str) -> bool {
        self.status == TaskStatus::InProgress && self.assignee_id.as_deref() == Some(agent)
    }
}

impl Work<'_> {
    /// The task of this id.
    pub(crate) fn task(&mut self, id: &str) -> Result<Option<Task>, Fault> {
        const QUERY: &str = select!("WHERE id = ?1");
        self.sql.query(QUERY, values![id])?.pop().map(Task::read).transpose()
    }

    /// The same, to be changed: nobody else changes anything of its project meanwhile.
    pub(crate) fn task_to_change(&mut self, id: &str) -> Result<Option<Task>, Fault> {
        const LOCK: &str = "SELECT id FROM projects WHERE id = (SELECT project_id FROM tasks WHERE id = ?1)
            FOR NO KEY UPDATE";
        self.sql.lock(LOCK, values![id])?;
        self.task(id)
    }

    /// Some tasks: the most urgent first, then the oldest.
    pub(crate) fn tasks(&mut self, filter: &TaskFilter<'_>) -> Result<Vec<Task>, Fault> {
        // Each has its own index.
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

    /// What an agent is to do in a project: the most urgent, then what it has had for longest.
    pub(crate) fn tasks_in_progress(&mut self, agent: &str, project: &str) -> Result<Vec<Task>, Fault> {
        const QUERY: &str = select!(
            "WHERE assignee_id = ?1 AND project_id = ?2 AND status = 'in_progress'
            ORDER BY CASE priority WHEN 'urgent' THEN 0 WHEN 'high' THEN 1 WHEN 'medium' THEN 2 ELSE 3 END,
                assigned_at, id"
        );
        self.sql.query(QUERY, values![agent, project])?.into_iter().map(Task::read).collect()
    }

    /// Adds a task, unless there is one of this id; whether it did.
    pub(crate) fn add_task(&mut self, task: &Task) -> Result<bool, Fault> {
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

    /// Writes all of a task that can change.
    pub(crate) fn change_task(&mut self, task: &Task) -> Result<(), Fault> {
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
