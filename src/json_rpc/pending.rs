//! The requests of a peer that are not answered yet. An answer waits in memory until the peer takes it, so their number
//! is bounded.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{JsonRpcMessage, RequestId};

/// The pending requests of one peer; clones share them.
#[derive(Clone)]
pub(crate) struct PendingRequests {
    max: usize,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// Requests without an answer. A cancelled one gets none.
    unanswered: HashSet<RequestId>,
    /// Answers that are being sent.
    answers: usize,
}

/// Why a request is not handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotAdmitted {
    /// The maximum number of requests is pending.
    TooMany,
    /// A request with the same id is pending.
    SameId,
}

/// An answer that is being sent, until it is dropped.
pub(crate) struct Answering(PendingRequests);

impl PendingRequests {
    /// Room for `max` requests.
    pub(crate) fn new(max: usize) -> Self {
        Self { max, state: Arc::default() }
    }

    /// Adds a request.
    ///
    /// # Errors
    /// It is not added if there are too many, or one has the same id.
    pub(crate) fn admit(&self, id: &RequestId) -> Result<(), NotAdmitted> {
        let mut state = self.state();
        if state.unanswered.len() + state.answers >= self.max {
            return Err(NotAdmitted::TooMany);
        }
        state.unanswered.insert(id.clone()).then_some(()).ok_or(NotAdmitted::SameId)
    }

    /// The peer has cancelled a request.
    pub(crate) fn cancel(&self, id: &RequestId) {
        self.state().unanswered.remove(id);
    }

    /// A message is about to be sent. If it is an answer, it counts until it is sent.
    pub(crate) fn sending<Q, R, N>(&self, message: &JsonRpcMessage<Q, R, N>) -> Option<Answering> {
        let answered = match message {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => return None,
        };
        let mut state = self.state();
        answered.map(|id| state.unanswered.remove(id));
        state.answers += 1;
        Some(Answering(self.clone()))
    }

    /// The session has begun anew: earlier requests get no answer.
    pub(crate) fn reset(&self) {
        self.state().unanswered.clear();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.state().answers -= 1;
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::{ErrorData, ServerJsonRpcMessage};

    use super::*;

    #[test]
    fn what_is_answered_or_cancelled_makes_room() {
        let pending = PendingRequests::new(2);
        let [first, second, third] = [1, 2, 3].map(RequestId::Number);
        assert_eq!(pending.admit(&first), Ok(()));
        assert_eq!(pending.admit(&first), Err(NotAdmitted::SameId));
        assert_eq!(pending.admit(&second), Ok(()));
        assert_eq!(pending.admit(&third), Err(NotAdmitted::TooMany));
        let error = ErrorData::internal_error("x", None);
        let answering = pending.sending(&ServerJsonRpcMessage::error(error, Some(first.clone())));
        pending.cancel(&first);
        assert_eq!(pending.admit(&third), Err(NotAdmitted::TooMany), "the answer is still being sent");
        drop(answering);
        assert_eq!(pending.admit(&third), Ok(()));
        pending.cancel(&second);
        assert_eq!(pending.admit(&first), Ok(()));
    }
}
