//! Identical calls that are under way at the same time: one of them asks n8n, and all get its answer.

use std::sync::{Arc, Mutex, PoisonError};

use futures::FutureExt;
use futures::future::{Shared, WeakShared};

use super::{Call, Error};
use crate::n8n::Progress;
use crate::secrets::Secret;
use crate::toolkit::Arguments;

type Outcome = Result<String, Arc<Error>>;
type Work = std::pin::Pin<Box<dyn Future<Output = Outcome> + Send>>;

/// The calls under way. Cheap to clone.
#[derive(Clone, Default)]
pub struct IdenticalCalls(Arc<Mutex<Vec<UnderWay>>>);

/// What calls must have in common.
struct Question {
    tool: &'static str,
    arguments: String,
    key: Option<Secret>,
}

struct UnderWay {
    question: Question,
    work: WeakShared<Work>,
    progress: Progress,
}

impl Question {
    fn is(&self, other: &Self) -> bool {
        let is_same_key = match (&self.key, &other.key) {
            (Some(key), Some(other)) => key.is(other.expose()),
            (None, None) => true,
            _ => false,
        };
        is_same_key && self.tool == other.tool && self.arguments == other.arguments
    }
}

impl IdenticalCalls {
    /// The answer to a call: that of an identical call that is under way, or else that of `begin`. The work goes on as
    /// long as any of its callers waits for it, even if the one that began it no longer does.
    pub(super) fn share(
        &self,
        (tool, arguments, key): (&'static str, Arguments, Option<Secret>),
        progress: Progress,
        begin: impl FnOnce(Arguments, Progress) -> Call,
    ) -> Call {
        let question = Question { tool, arguments: arguments.to_json(), key };
        let mut calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        calls.retain(|call| call.work.upgrade().is_some_and(|work| work.peek().is_none()));
        let found = calls.iter().find(|call| call.question.is(&question));
        let (work, common) = match found.and_then(|call| Some((call.work.upgrade()?, call.progress.clone()))) {
            Some(found) => found,
            None => {
                let common = Progress::unwatched();
                let call = begin(arguments, common.clone());
                let work: Work = Box::pin(async { call.await.map_err(Arc::new) });
                let work = work.shared();
                if let Some(weak) = work.downgrade() {
                    calls.push(UnderWay { question, work: weak, progress: common.clone() });
                }
                (work, common)
            }
        };
        drop(calls);
        Box::pin(follow(work, common, progress))
    }
}

/// Waits for the work, and shows its progress.
async fn follow(work: Shared<Work>, common: Progress, progress: Progress) -> Result<String, Error> {
    let done = progress.following(&common, work).await;
    done.map_err(Error::of_one)
}
