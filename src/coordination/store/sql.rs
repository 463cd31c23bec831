//! The SQL that both databases understand: statements with parameters `?1`, `?2`…, and the types of values.

use std::borrow::Cow;

use super::StoreError;
use crate::toolkit::Words;

/// One transaction of a database. Statements consist only of constants, and are prepared once per connection: values that
/// differ between calls are parameters.
pub(super) trait Sql {
    /// Runs a query and returns its rows.
    fn query(&mut self, statement: &str, values: &[SqlValue<'_>]) -> Result<Vec<Row>, StoreError>;

    /// Runs a statement and returns how many rows it changed.
    fn execute(&mut self, statement: &str, values: &[SqlValue<'_>]) -> Result<u64, StoreError>;

    /// Locks the rows of a query, and by convention everything that belongs to them, until the transaction ends.
    /// SQLite has a single writer and ignores it.
    fn lock(&mut self, query: &str, values: &[SqlValue<'_>]) -> Result<(), StoreError>;
}

/// A parameter of a statement.
#[derive(Clone, Debug)]
pub(super) enum SqlValue<'a> {
    Null,
    Integer(i64),
    Real(f64),
    Text(Cow<'a, str>),
    Bytes(&'a [u8]),
}

impl<'a> From<&'a str> for SqlValue<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text.into())
    }
}

impl<'a> From<Option<&'a str>> for SqlValue<'a> {
    fn from(text: Option<&'a str>) -> Self {
        text.map_or(Self::Null, Into::into)
    }
}

impl<'a> From<&'a [u8; 32]> for SqlValue<'a> {
    fn from(bytes: &'a [u8; 32]) -> Self {
        Self::Bytes(bytes)
    }
}

impl<'a, T: Column> From<&'a T> for SqlValue<'a> {
    fn from(value: &'a T) -> Self {
        value.value()
    }
}

/// A value read from a column.
#[derive(Debug)]
pub(super) enum Cell {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
}

/// A row, read column by column from first to last.
#[derive(Debug)]
pub(super) struct Row(std::vec::IntoIter<Cell>);

impl Row {
    pub(super) fn new(cells: Vec<Cell>) -> Self {
        Self(cells.into_iter())
    }

    /// Reads the next column.
    pub(super) fn next<T: Column>(&mut self) -> Result<T, StoreError> {
        self.0.next().ok_or_else(unexpected).and_then(T::read)
    }
}

/// A type of a column.
pub(super) trait Column: Sized {
    /// [`StoreError::Corrupt`] if the value has another type.
    fn read(cell: Cell) -> Result<Self, StoreError>;

    /// The value as the parameter of a statement.
    fn value(&self) -> SqlValue<'_>;
}

/// The error for a column whose value has another type.
pub(super) fn unexpected() -> StoreError {
    StoreError::Corrupt("a column has an unexpected type or value".to_owned())
}

impl Column for i64 {
    fn read(cell: Cell) -> Result<Self, StoreError> {
        match cell {
            Cell::Integer(number) => Ok(number),
            _ => Err(unexpected()),
        }
    }

    fn value(&self) -> SqlValue<'_> {
        SqlValue::Integer(*self)
    }
}

impl Column for f64 {
    fn read(cell: Cell) -> Result<Self, StoreError> {
        match cell {
            Cell::Real(number) => Ok(number),
            _ => Err(unexpected()),
        }
    }

    fn value(&self) -> SqlValue<'_> {
        SqlValue::Real(*self)
    }
}

impl Column for String {
    fn read(cell: Cell) -> Result<Self, StoreError> {
        match cell {
            Cell::Text(text) => Ok(text),
            _ => Err(unexpected()),
        }
    }

    fn value(&self) -> SqlValue<'_> {
        self.as_str().into()
    }
}

/// The word is stored.
impl<T: Words> Column for T {
    fn read(cell: Cell) -> Result<Self, StoreError> {
        Self::named(&String::read(cell)?).ok_or_else(unexpected)
    }

    fn value(&self) -> SqlValue<'_> {
        self.word().into()
    }
}

impl<T: Column> Column for Option<T> {
    fn read(cell: Cell) -> Result<Self, StoreError> {
        match cell {
            Cell::Null => Ok(None),
            cell => T::read(cell).map(Some),
        }
    }

    fn value(&self) -> SqlValue<'_> {
        self.as_ref().map_or(SqlValue::Null, T::value)
    }
}

/// The parameters of a statement, in the order of their numbers.
macro_rules! values {
    ($($value:expr),* $(,)?) => {
        &[$($crate::coordination::store::sql::SqlValue::from($value)),*]
    };
}
pub(super) use values;
