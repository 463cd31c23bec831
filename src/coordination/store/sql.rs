//! The SQL that both databases understand: statements with parameters `?1`, `?2`…, and the types of values.

use super::StoreError;

/// One transaction of a database.
pub(super) trait Sql {
    /// Runs a query and returns its rows.
    fn query(&mut self, statement: &'static str, values: &[Value<'_>]) -> Result<Vec<Row>, StoreError>;

    /// Runs a statement and returns how many rows it changed.
    fn execute(&mut self, statement: &'static str, values: &[Value<'_>]) -> Result<u64, StoreError>;

    /// Locks the rows of a query, and by convention everything that belongs to them, until the transaction ends.
    /// SQLite has a single writer and ignores it.
    fn lock(&mut self, query: &'static str, values: &[Value<'_>]) -> Result<(), StoreError>;
}

/// A parameter of a statement.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value<'a> {
    Null,
    Integer(i64),
    Real(f64),
    Text(&'a str),
    Bytes(&'a [u8]),
}

impl From<i64> for Value<'_> {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}

impl From<f64> for Value<'_> {
    fn from(number: f64) -> Self {
        Self::Real(number)
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a String> for Value<'a> {
    fn from(text: &'a String) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a [u8; 32]> for Value<'a> {
    fn from(bytes: &'a [u8; 32]) -> Self {
        Self::Bytes(bytes)
    }
}

impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
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
        self.0
            .next()
            .and_then(T::read)
            .ok_or_else(|| StoreError::Corrupt("a column has an unexpected type or value".to_owned()))
    }
}

/// A type that a column can be read as.
pub(super) trait Column: Sized {
    /// `None` if the value has another type.
    fn read(cell: Cell) -> Option<Self>;
}

impl Column for i64 {
    fn read(cell: Cell) -> Option<Self> {
        match cell {
            Cell::Integer(number) => Some(number),
            _ => None,
        }
    }
}

impl Column for f64 {
    fn read(cell: Cell) -> Option<Self> {
        match cell {
            Cell::Real(number) => Some(number),
            _ => None,
        }
    }
}

impl Column for String {
    fn read(cell: Cell) -> Option<Self> {
        match cell {
            Cell::Text(text) => Some(text),
            _ => None,
        }
    }
}

impl<T: Column> Column for Option<T> {
    fn read(cell: Cell) -> Option<Self> {
        match cell {
            Cell::Null => Some(None),
            cell => T::read(cell).map(Some),
        }
    }
}

/// The parameters of a statement, in the order of their numbers.
macro_rules! values {
    ($($value:expr),* $(,)?) => {
        &[$($crate::coordination::store::sql::Value::from($value)),*]
    };
}
pub(super) use values;
