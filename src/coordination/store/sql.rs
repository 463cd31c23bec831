//! What both databases understand: statements with `?1`, `?2`…, and four kinds of values.

use super::Fault;

/// One transaction of a database.
pub(super) trait Sql {
    /// The rows of a query.
    fn query(&mut self, statement: &'static str, values: &[Value<'_>]) -> Result<Vec<Row>, Fault>;

    /// How many rows a statement changed.
    fn execute(&mut self, statement: &'static str, values: &[Value<'_>]) -> Result<u64, Fault>;

    /// Lets nobody else write what hangs on the rows of a query until the transaction ends. A database with
    /// one writer has nothing to do.
    fn lock(&mut self, query: &'static str, values: &[Value<'_>]) -> Result<(), Fault>;
}

/// What a statement is given.
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

/// What a database gives.
#[derive(Debug)]
pub(super) enum Cell {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
}

/// A row, read from its first column to its last.
#[derive(Debug)]
pub(super) struct Row(std::vec::IntoIter<Cell>);

impl Row {
    pub(super) fn new(cells: Vec<Cell>) -> Self {
        Self(cells.into_iter())
    }

    /// The next column.
    pub(super) fn next<T: Column>(&mut self) -> Result<T, Fault> {
        self.0.next().and_then(T::read).ok_or_else(|| Fault::Damaged("a column is of another type".to_owned()))
    }
}

/// What a column can be read as.
pub(super) trait Column: Sized {
    /// `None` if it is something else.
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

/// The values of a statement, in the order of their numbers.
macro_rules! values {
    ($($value:expr),* $(,)?) => {
        &[$($crate::coordination::store::sql::Value::from($value)),*]
    };
}
pub(super) use values;
