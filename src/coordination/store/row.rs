//! Rows, each declared once: their columns, and how they are selected, inserted and updated.

use super::StoreError;
use super::sql::{Row, Sql, SqlValue};

/// A row of a table or of a join, declared with [`row!`].
pub(super) trait TableRow: Sized {
    /// The table.
    const TABLE: &'static str;

    /// The columns, in the order of the fields.
    const COLUMNS: &'static [&'static str];

    /// Reads the columns.
    fn read(row: &mut Row) -> Result<Self, StoreError>;

    /// The values of the columns.
    fn values(&self) -> Vec<SqlValue<'_>>;
}

/// Declares a struct whose fields are columns of a table. A column of another name is written after its field:
///
/// ```ignore
/// row! {
///     /// An agent.
///     #[derive(Debug)]
///     pub struct Agent in "agents" {
///         pub id: String,
///         pub kind: AgentType = "type",
///     }
/// }
/// let agent: Option<Agent> = sql.select_one("WHERE id = ?1", values![id])?;
/// let is_new = sql.insert_new(&agent, [])?;
/// ```
///
/// A row can leave out columns of its table: `insert` accepts them separately. A column can be any expression: in a
/// row of a join it has a prefix (`= "a.name"`), and its query begins with `JOIN`.
macro_rules! row {
    ($(#[$meta:meta])* pub struct $name:ident in $table:literal {
        $($(#[$field_meta:meta])* pub $field:ident: $type:ty $(= $column:expr)?),+ $(,)?
    }) => {
        $(#[$meta])*
        pub struct $name { $($(#[$field_meta])* pub $field: $type),+ }

        impl $crate::coordination::store::row::TableRow for $name {
            const TABLE: &'static str = $table;
            const COLUMNS: &'static [&'static str] =
                &[$($crate::coordination::store::row::row!(@column $field $(= $column)?)),+];

            fn read(
                row: &mut $crate::coordination::store::sql::Row,
            ) -> Result<Self, $crate::coordination::store::StoreError> {
                Ok(Self { $($field: row.next()?),+ })
            }

            fn values(&self) -> Vec<$crate::coordination::store::sql::SqlValue<'_>> {
                vec![$((&self.$field).into()),+]
            }
        }
    };
    (@column $field:ident) => { stringify!($field) };
    (@column $field:ident = $column:expr) => { $column };
}
pub(super) use row;

impl dyn Sql + '_ {
    /// The rows that a query returns; `rest` is the part after the name of the table.
    pub(super) fn select<R: TableRow>(
        &mut self,
        rest: &'static str,
        values: &[SqlValue<'_>],
    ) -> Result<Vec<R>, StoreError> {
        let query = format!("SELECT {} FROM {} {rest}", R::COLUMNS.join(", "), R::TABLE);
        self.query(&query, values)?.iter_mut().map(R::read).collect()
    }

    /// The only row that a query returns, if any.
    pub(super) fn select_one<R: TableRow>(
        &mut self,
        rest: &'static str,
        values: &[SqlValue<'_>],
    ) -> Result<Option<R>, StoreError> {
        self.select(rest, values).map(|mut rows| rows.pop())
    }

    /// Inserts a row, with the values of `more` columns that are not among its fields.
    pub(super) fn insert<R: TableRow, const N: usize>(
        &mut self,
        row: &R,
        more: [(&'static str, SqlValue<'_>); N],
    ) -> Result<(), StoreError> {
        self.insert_or(row, more, "").map(drop)
    }

    /// Like [`insert`](Self::insert), but returns `false`, and changes nothing, if a unique index already has such a row.
    pub(super) fn insert_new<R: TableRow, const N: usize>(
        &mut self,
        row: &R,
        more: [(&'static str, SqlValue<'_>); N],
    ) -> Result<bool, StoreError> {
        self.insert_or(row, more, " ON CONFLICT DO NOTHING")
    }

    fn insert_or<'v, R: TableRow, const N: usize>(
        &mut self,
        row: &'v R,
        more: [(&'static str, SqlValue<'v>); N],
        on_conflict: &'static str,
    ) -> Result<bool, StoreError> {
        let columns = R::COLUMNS.iter().copied().zip(row.values());
        self.insert_values(R::TABLE, columns.chain(more), on_conflict)
    }

    /// Inserts a row with these columns; returns whether it was inserted.
    pub(super) fn insert_values<'v>(
        &mut self,
        table: &'static str,
        columns: impl IntoIterator<Item = (&'static str, SqlValue<'v>)>,
        on_conflict: &'static str,
    ) -> Result<bool, StoreError> {
        let (columns, values): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
        let numbers: Vec<_> = (1..=values.len()).map(|number| format!("?{number}")).collect();
        let (columns, numbers) = (columns.join(", "), numbers.join(", "));
        let statement = format!("INSERT INTO {table} ({columns}) VALUES ({numbers}){on_conflict}");
        Ok(self.execute(&statement, &values)? == 1)
    }

    /// Updates every column of the row whose first column, the id, is the same.
    pub(super) fn update<R: TableRow>(&mut self, row: &R) -> Result<(), StoreError> {
        let columns: Vec<_> =
            R::COLUMNS.iter().zip(1..).map(|(column, number)| format!("{column} = ?{number}")).collect();
        let Some((id, others)) = columns.split_first() else { return Ok(()) };
        let statement = format!("UPDATE {} SET {} WHERE {id}", R::TABLE, others.join(", "));
        self.execute(&statement, &row.values()).map(drop)
    }
}
