//! The faults that a transport finds in answers. They reach the call as JSON-RPC errors, the only errors that a transport
//! can pass on, and are distinguished from errors of the server by a mark that no server knows.

use std::sync::LazyLock;

use rmcp::model::{ErrorCode, ErrorData, RequestId, ServerJsonRpcMessage};
use serde_json::Value;

static MARK: LazyLock<Value> = LazyLock::new(|| uuid::Uuid::new_v4().to_string().into());

const UNREADABLE: ErrorCode = ErrorCode::PARSE_ERROR;
const TOO_LARGE: ErrorCode = ErrorCode::INTERNAL_ERROR;

/// The fault of an answer.
#[derive(Debug, PartialEq)]
pub(super) enum AnswerFault {
    /// It is not an answer to the request. The reason is for the log, and quotes nothing that the server sent.
    Unreadable(String),
    /// It is larger than this many bytes.
    TooLarge(usize),
}

impl AnswerFault {
    /// The fault as the answer to a request.
    pub(super) fn answer(self, request: RequestId) -> ServerJsonRpcMessage {
        let (code, message) = match self {
            Self::Unreadable(why) => (UNREADABLE, why),
            Self::TooLarge(bytes) => (TOO_LARGE, bytes.to_string()),
        };
        ServerJsonRpcMessage::error(ErrorData::new(code, message, Some(MARK.clone())), Some(request))
    }

    /// The fault that an error stands for; `None` if it is an error of the server.
    pub(super) fn of(error: &ErrorData) -> Option<Self> {
        if error.data.as_ref() != Some(&*MARK) {
            return None;
        }
        Some(match error.code {
            TOO_LARGE => Self::TooLarge(error.message.parse().ok()?),
            _ => Self::Unreadable(error.message.to_string()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_survives_the_way_to_its_call_and_cannot_be_forged() {
        for fault in [|| AnswerFault::Unreadable("HTTP 500".to_owned()), || AnswerFault::TooLarge(5)] {
            let ServerJsonRpcMessage::Error(error) = fault().answer(RequestId::Number(1)) else { panic!() };
            assert_eq!(AnswerFault::of(&error.error), Some(fault()));
            let forged = ErrorData { data: Some("another mark".into()), ..error.error };
            assert_eq!(AnswerFault::of(&forged), None);
        }
    }
}
