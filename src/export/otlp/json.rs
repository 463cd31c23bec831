//! The parts of a span in OTLP's JSON: ids in hexadecimal, 64-bit numbers as strings
//! (<https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding>).

use serde::Serialize;
use serde_json::{Value, json};

use crate::execution::Failure;
use crate::execution::rows::RunError;

/// `SPAN_KIND_INTERNAL`.
pub(super) const INTERNAL: u8 = 1;

/// A span.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Span<'a> {
    pub(super) trace_id: &'a str,
    pub(super) span_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parent_span_id: Option<String>,
    pub(super) name: &'static str,
    pub(super) kind: u8,
    pub(super) start_time_unix_nano: String,
    pub(super) end_time_unix_nano: String,
    pub(super) attributes: Vec<Attribute>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) events: Vec<Event>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) links: Vec<Link>,
    pub(super) status: Status,
}

/// How a span ended.
#[derive(Serialize)]
pub(super) struct Status {
    code: u8,
}

impl Status {
    /// `STATUS_CODE_OK` or `STATUS_CODE_ERROR`.
    pub(super) fn of(failed: bool) -> Self {
        Self { code: if failed { 2 } else { 1 } }
    }
}

/// A span of another trace.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Link {
    pub(super) trace_id: String,
    pub(super) span_id: String,
}

/// A name and a value.
#[derive(Serialize)]
pub(super) struct Attribute {
    key: &'static str,
    value: Value,
}

impl Attribute {
    pub(super) fn text(key: &'static str, text: &str) -> Self {
        Self { key, value: json!({"stringValue": text}) }
    }

    pub(super) fn texts(key: &'static str, text: &str) -> Self {
        Self { key, value: json!({"arrayValue": {"values": [{"stringValue": text}]}}) }
    }

    pub(super) fn flag(key: &'static str, is_on: bool) -> Self {
        Self { key, value: json!({"boolValue": is_on}) }
    }

    pub(super) fn count(key: &'static str, count: u64) -> Self {
        Self { key, value: json!({"intValue": count.to_string()}) }
    }

    /// A number of JavaScript: whole ones are integers.
    pub(super) fn number(key: &'static str, number: f64) -> Self {
        let is_whole = number.fract() == 0.0 && number.abs() < 1e15;
        let value = if is_whole { json!({"intValue": format!("{number:.0}")}) } else { json!({"doubleValue": number}) };
        Self { key, value }
    }
}

/// An exception.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Event {
    time_unix_nano: String,
    name: &'static str,
    attributes: Vec<Attribute>,
}

impl Event {
    pub(super) fn of_failure(error: &Failure, ms: f64) -> Self {
        let text = |text: &Option<crate::json::Prefix>| text.as_ref().map(|text| text.cut(usize::MAX).0.into_owned());
        Self::exception(text(&error.name), text(&error.message), ms)
    }

    pub(super) fn of_run_error(error: &RunError, ms: f64) -> Self {
        Self::exception(error.name.clone(), error.message.clone(), ms)
    }

    fn exception(name: Option<String>, message: Option<String>, ms: f64) -> Self {
        let parts = [("exception.type", name), ("exception.message", message)];
        let attributes = parts.into_iter().filter_map(|(key, text)| Some(Attribute::text(key, &text?)));
        Self { time_unix_nano: nanoseconds(ms), name: "exception", attributes: attributes.collect() }
    }
}

/// Milliseconds since 1970 as nanoseconds.
pub(super) fn nanoseconds(ms: f64) -> String {
    (ms.max(0.0) as u64).saturating_mul(1_000_000).to_string()
}
