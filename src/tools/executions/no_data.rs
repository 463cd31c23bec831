//! Why an execution has no run data, or no values.

use crate::execution::Header;
use crate::units::megabytes;

/// Why an execution may have no items to show.
pub(super) fn no_values(header: &Header, nodes: &[String], is_redacted: bool) -> Vec<String> {
    let no_data = nodes.is_empty().then(|| no_data(header));
    let redacted = is_redacted.then(|| "n8n redacted the data: the values of items are not included.".to_owned());
    no_data.into_iter().chain(redacted).collect()
}

/// The reason as a sentence.
pub(super) fn no_data(header: &Header) -> String {
    known_reason(header).unwrap_or_else(|| "This execution has no run data.".to_owned())
}

/// The reason, if n8n's metadata reveals it.
fn known_reason(header: &Header) -> Option<String> {
    if header.data_too_large {
        return Some(too_large(header.json_size_bytes));
    }
    match header.status.as_deref()? {
        "running" | "new" if header.abandoned => {
            Some("n8n had saved no run data: EXECUTIONS_DATA_SAVE_ON_PROGRESS is not set.".to_owned())
        }
        status @ ("running" | "new") => Some(format!(
            "This execution is {status}: n8n saves run data only when it ends, unless EXECUTIONS_DATA_SAVE_ON_PROGRESS is set."
        )),
        "canceled" => Some(
            "This execution was canceled: n8n saves no run data for it unless EXECUTIONS_DATA_SAVE_ON_PROGRESS is set."
                .to_owned(),
        ),
        "crashed" => Some("n8n crashed during this execution and recovered no run data.".to_owned()),
        _ => None,
    }
}

fn too_large(stored: Option<u64>) -> String {
    let (size, memory) = match stored.filter(|bytes| *bytes > 0) {
        Some(bytes) => (megabytes(bytes), format!("about {}", megabytes(bytes.saturating_mul(10)))),
        None => ("an unknown size".to_owned(), "about ten times that".to_owned()),
    };
    format!(
        "The data is too large to display, so n8n sent no run data (stored size: {size}). ignoreDataSizeLimit: true requests it anyway, at the cost of {memory} of n8n's memory."
    )
}
