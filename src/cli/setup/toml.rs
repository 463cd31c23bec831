//! TOML.

use serde_json::{Map, Value, json};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike};

use super::fault::Fault;

fn parse(text: &str) -> Result<DocumentMut, Fault> {
    text.parse().map_err(|error: toml_edit::TomlError| {
        let at = error.span().map_or(0, |span| span.start);
        Fault::at(text, at, error.message().trim().replace('\n', ", "))
    })
}

/// The value of a text.
pub(super) fn value(text: &str) -> Result<Value, Fault> {
    Ok(table(parse(text)?.as_table()))
}

/// The text with a new value, an object: only the differences are rewritten.
pub(super) fn with_value(text: &str, wanted: &Value) -> Result<String, Fault> {
    let mut document = parse(text)?;
    if let Value::Object(wanted) = wanted {
        update_table(document.as_table_mut(), wanted, 0);
    }
    Ok(document.to_string())
}

fn table(table: &dyn TableLike) -> Value {
    Value::Object(table.iter().map(|(name, item)| (name.to_owned(), item_value(item))).collect())
}

fn item_value(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(found) => self::found(found),
        Item::Table(found) => table(found),
        Item::ArrayOfTables(tables) => tables.iter().map(|found| table(found)).collect(),
    }
}

/// A value as JSON. If JSON has no such value, it is its source text, which is only compared.
fn found(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(text) => json!(text.value()),
        toml_edit::Value::Integer(number) => json!(number.value()),
        toml_edit::Value::Boolean(bool) => json!(bool.value()),
        toml_edit::Value::Float(number) => json!(number.value().to_string()),
        toml_edit::Value::Datetime(time) => json!(time.value().to_string()),
        toml_edit::Value::Array(values) => values.iter().map(found).collect(),
        toml_edit::Value::InlineTable(members) => table(members),
    }
}

/// Tables of the first two levels get headers, deeper ones are in braces.
fn update_table(table: &mut dyn TableLike, wanted: &Map<String, Value>, level: usize) {
    let unwanted: Vec<_> = table.iter().map(|(name, _)| name.to_owned()).collect();
    for name in unwanted.iter().filter(|name| !wanted.contains_key(*name)) {
        table.remove(name);
    }
    for (name, wanted) in wanted {
        match table.get_mut(name) {
            Some(item) => update_item(item, wanted, level),
            None => _ = table.insert(name, new_item(wanted, level)),
        }
    }
}

fn update_item(item: &mut Item, wanted: &Value, level: usize) {
    if item_value(item) == *wanted {
        return;
    }
    match (item.as_table_like_mut(), wanted) {
        (Some(table), Value::Object(wanted)) => update_table(table, wanted, level + 1),
        _ => {
            let mut new = new_item(wanted, level);
            if let (Some(old), Some(new)) = (item.as_value(), new.as_value_mut()) {
                *new.decor_mut() = old.decor().clone();
            }
            *item = new;
        }
    }
}

fn new_item(value: &Value, level: usize) -> Item {
    match value {
        Value::Object(members) if level < 2 => {
            let mut table = Table::new();
            // A table that contains only tables needs no header.
            table.set_implicit(level == 0);
            update_table(&mut table, members, level + 1);
            Item::Table(table)
        }
        value => Item::Value(new_value(value)),
    }
}

fn new_value(value: &Value) -> toml_edit::Value {
    match value {
        Value::Null => toml_edit::Value::from(""),
        Value::Bool(bool) => toml_edit::Value::from(*bool),
        Value::Number(number) => match number.as_i64() {
            Some(number) => toml_edit::Value::from(number),
            None => toml_edit::Value::from(number.as_f64().unwrap_or_default()),
        },
        Value::String(text) => toml_edit::Value::from(text.as_str()),
        Value::Array(values) => toml_edit::Value::Array(values.iter().map(new_value).collect::<Array>()),
        Value::Object(members) => {
            let members = members.iter().map(|(name, value)| (name.as_str(), new_value(value)));
            toml_edit::Value::InlineTable(members.collect::<InlineTable>())
        }
    }
}
