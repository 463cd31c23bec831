//! An execution as n8n stores it, and the entry through which the projections read it.

use crate::json::{Map, Projection, ReadAt, ReadError};

use super::Error;
use super::node::NodeProjection;
use super::summary::SummaryProjection;

/// An execution as n8n stores it.
pub struct StoredExecution<'a> {
    /// The other members of the public API's body, as one JSON object: `id`, `status`, `mode`, `startedAt`, …; neither
    /// `data` nor `workflowData`.
    pub header: &'a [u8],
    /// The workflow that was executed, as JSON.
    pub workflow: &'a [u8],
    /// The run data, as text of the package `flatted`; `[]` for an execution without data.
    pub data: &'a mut dyn ReadAt,
    /// Whether to show what n8n's redaction policy hides.
    pub reveal: bool,
}

/// A projection that also reads an execution as n8n stores it, with the same view as of the public API's body.
pub trait StoredProjection: Projection {
    /// Reads a stored execution.
    fn read_stored(&self, execution: StoredExecution<'_>) -> Self::View;
}

impl StoredProjection for SummaryProjection {
    fn read_stored(&self, execution: StoredExecution<'_>) -> Self::View {
        self.read_from(&body(execution)?[..])
    }
}

impl StoredProjection for NodeProjection {
    fn read_stored(&self, execution: StoredExecution<'_>) -> Self::View {
        self.read_from(&body(execution)?[..])
    }
}

impl<P, T, F> StoredProjection for Map<P, F>
where
    P: StoredProjection,
    T: Send + 'static,
    F: Fn(P::View) -> T + Clone + Send + 'static,
{
    fn read_stored(&self, execution: StoredExecution<'_>) -> T {
        self.apply(self.inner().read_stored(execution))
    }
}

/// The whole body: slow, and only until the reader in pieces is there.
fn body(execution: StoredExecution<'_>) -> Result<Vec<u8>, Error> {
    let mut text = vec![0; execution.data.len() as usize];
    execution.data.read_at(0, &mut text).map_err(ReadError::Io)?;
    let syntax = |error: serde_json::Error| ReadError::Syntax(error.to_string());
    let values: Vec<serde_json::Value> = serde_json::from_slice(&text).map_err(syntax)?;
    let mut body: serde_json::Map<String, serde_json::Value> =
        serde_json::from_slice(execution.header).map_err(syntax)?;
    if !values.is_empty() {
        body.insert("data".to_owned(), expand(&values, 0, 0));
    }
    body.insert("workflowData".to_owned(), serde_json::from_slice(execution.workflow).map_err(syntax)?);
    Ok(serde_json::Value::from(body).to_string().into_bytes())
}

fn expand(values: &[serde_json::Value], index: usize, depth: usize) -> serde_json::Value {
    use serde_json::Value;
    let inner = |value: &Value| match value.as_str().map(str::parse) {
        Some(Ok(index)) if depth < 64 => expand(values, index, depth + 1),
        _ => value.clone(),
    };
    match values.get(index) {
        Some(Value::Array(elements)) => elements.iter().map(inner).collect(),
        Some(Value::Object(members)) => members.iter().map(|(name, value)| (name.clone(), inner(value))).collect(),
        Some(value) => value.clone(),
        None => Value::Null,
    }
}
