//! The first value that differs between two executions, in an answer.

use serde::Serialize;
use serde_json::value::RawValue;

use crate::execution::compare::ValueDifference;
use crate::json::{CUT_NAME_CHARS, shorten};
use crate::toolkit::answer::{clipped, clipped_both, is_zero};

/// The most characters of each value.
const VALUE_CHARS: usize = 80;

/// Where it is, and both values: first that of the execution that the caller asked about.
#[derive(Serialize)]
pub(in crate::tools) struct FirstValue {
    #[serde(skip_serializing_if = "is_zero")]
    run: u64,
    #[serde(skip_serializing_if = "is_zero")]
    output: u64,
    item: u64,
    path: String,
    /// `null` for an execution that lacks the value.
    values: [Option<Box<RawValue>>; 2],
    /// The only execution that has it, if the other one lacks it.
    #[serde(skip_serializing_if = "Option::is_none")]
    only: Option<&'static str>,
}

impl FirstValue {
    /// With the path cut to `path_chars` characters.
    pub(in crate::tools) fn of(difference: &ValueDifference, path_chars: usize) -> Self {
        let ValueDifference { place, path, values: (this, other) } = difference;
        let values = match (this, other) {
            (Some(this), Some(other)) => clipped_both(this, other, VALUE_CHARS, &mut 0).map(Some),
            _ => [this, other].map(|value| value.as_ref().map(|value| clipped(value, VALUE_CHARS, &mut 0))),
        };
        Self {
            run: place.run,
            output: place.output,
            item: place.item,
            path: shorten(path, path_chars.min(CUT_NAME_CHARS)),
            values,
            only: match (this, other) {
                (Some(_), None) => Some("this"),
                (None, Some(_)) => Some("other"),
                _ => None,
            },
        }
    }
}
