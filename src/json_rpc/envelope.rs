//! What kind of message a text is.

use rmcp::model::RequestId;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

/// The members that say what kind of message it is. A member that is `null` counts as missing.
#[derive(Deserialize)]
pub(crate) struct Envelope<'a> {
    pub(crate) id: Option<RequestId>,
    pub(crate) method: Option<IgnoredAny>,
    #[serde(borrow)]
    pub(crate) result: Option<&'a RawValue>,
    pub(crate) error: Option<IgnoredAny>,
}
