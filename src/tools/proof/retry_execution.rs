//! `retry_execution`: runs a failed execution again, for real, from the node that failed.
//!
//! n8n keeps what the nodes before it returned, and runs that node again with the items that it received. So a fix in a
//! node before it is not exercised, and everything after it really happens: mails go out. `prove_fix` avoids both.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use tokio::time::{Instant, sleep};

use super::differences::{Difference, DiffersRow, Pair, value_of};
use super::recorded::{MESSAGE_CHARS, NAMES, alike, failure, first, record};
use super::revisions::Revisions;
use crate::budget::Ladder;
use crate::execution::HeaderProjection;
use crate::execution::compare::{first_places, first_values};
use crate::execution::recording::{Recording, RecordingProjection};
use crate::execution::trace::ItemsProjection;
use crate::json::shorten;
use crate::n8n::{self, Client, ExecutionRequest, ListQuery, Progress};
use crate::toolkit::answer::{FEW_TOKENS, Tokens, success};
use crate::toolkit::{Choice, Effect, Id, IntegerOr, Locale, arguments, words};
use crate::tools::executions::short_version;
use crate::tools::{Context, Error, Handler, Tool, ToolCall};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "retry_execution",
    title: "Retry an execution",
    description: "Run a failed execution again, for real, from the node that failed: it calls outside services, and nodes before that one \
                  do not run again.",
    parameters: RetryExecution::PARAMETERS,
    effect: Effect::Change,
    handler: Handler::of::<RetryExecution>(),
};

words! {
    /// Which workflow runs.
    pub enum With {
        /// The draft of its workflow.
        Draft = "draft",
        /// The workflow as it ran.
        Original = "original",
    }
}

arguments! {
    struct RetryExecution {
        id: Id = "The failed execution.",
        with: Option<Choice<With>> = "What runs (default: draft).",
        timeout_seconds: IntegerOr<120, 5, 600> = "How long to wait for its end.",
        max_tokens: Tokens<1000> = FEW_TOKENS,
    }
}

/// The pause between two polls of n8n.
const PAUSE: Duration = Duration::from_millis(250);

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RetriedExecution<'a> {
    id: &'a str,
    retry_of: &'a str,
    status: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    version_id: Option<&'a str>,
    verdict: &'static str,
    claim: String,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    fix_not_exercised: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    can_reach_outside: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    compare: Option<ComparedRun<'a>>,
    #[serde(rename = "_guidance")]
    guidance: String,
}

/// What the retry did otherwise than the execution.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ComparedRun<'a> {
    differs: Vec<DiffersRow<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    ran_new: &'a [String],
    same: usize,
}

/// What is known before n8n is asked.
struct Prepared {
    failed: String,
    message: String,
    workflow: Option<String>,
    /// The draft, if it is to run.
    draft: Option<Revisions>,
    /// The changed nodes that do not run again.
    not_exercised: Vec<String>,
    /// The nodes that can reach outside, from the failed one on.
    outside: Vec<String>,
}

/// The outcome of a retry.
struct Retried {
    id: String,
    status: String,
    version: Option<String>,
    /// What it did, once it has ended.
    recording: Option<Recording>,
}

/// What differs between the two executions.
struct Compared {
    differs: Vec<Difference>,
    ran_new: Vec<String>,
    same: usize,
}

impl ToolCall for RetryExecution {
    async fn run(self, context: Arc<Context>, progress: Progress) -> Result<String, Error> {
        let n8n = context.n8n()?;
        let with_draft = !matches!(self.with, Some(With::Original));
        let projection = RecordingProjection::of_items();
        let recording = record(&context, &self.id, &projection, &progress).await?;
        let prepared = self.prepare(&context, &recording, with_draft, &progress).await?;
        let newest = newest(n8n, prepared.workflow.as_deref()).await?;
        let retry = n8n.retry_execution(&self.id, with_draft, &projection, &progress);
        let until = Instant::now() + Duration::from_secs(self.timeout_seconds);
        let retried = match tokio::time::timeout_at(until, retry).await {
            Ok(Ok(Ok(recording))) => Some(Retried::of(recording)),
            Ok(Err(error)) if is_refusal(&error) => {
                // n8n 1.x also refuses what it has started, and then stopped (400).
                match self.look(n8n, prepared.workflow.as_deref(), newest, &progress).await {
                    Ok(Some(_)) => None,
                    _ => return Err(refused(error, &self.id)),
                }
            }
            // n8n continues it whether or not its response arrives.
            Ok(Ok(Err(_)) | Err(_)) | Err(_) => None,
        };
        let mut retried = match retried {
            Some(retried) => retried,
            None => self.find(n8n, prepared.workflow.as_deref(), newest, until, &progress).await?,
        };
        let header = n8n.execution_header(&retried.id, &HeaderProjection, &progress).await;
        retried.version = header.ok().and_then(Result::ok).and_then(|header| header.workflow_version);
        let compared = self.compared(&context, &prepared, &recording, &retried, &progress).await;
        let message = context.locale.choose("実行を再試行しました", "Execution retried");
        let write =
            |names: usize| success(message, &self.data(context.locale, &prepared, &retried, compared.as_ref(), names));
        let ladder = Ladder::new(NAMES).fewer(|names| names, |names| names - 1, 1);
        Ok(ladder.largest_that_fits(self.max_tokens, write).answer)
    }
}

impl RetryExecution {
    /// Refuses what n8n would refuse without a reason, and determines what will run.
    async fn prepare(
        &self,
        context: &Context,
        recording: &Recording,
        with_draft: bool,
        progress: &Progress,
    ) -> Result<Prepared, Error> {
        let refuse =
            |problem: &str| Error::FailedPrecondition(format!("Execution '{}' was not retried: {problem}", self.id));
        if recording.header.status.as_deref() == Some("success") {
            return Err(refuse("it succeeded, and only failed executions can be retried."));
        }
        if recording.redacted {
            return Err(refuse("its data are redacted, so that it is unknown what it would do."));
        }
        let (failed, message) =
            failure(recording).ok_or_else(|| refuse("it did not fail at a node. Start its workflow again."))?;
        let workflow = recording.header.workflow_id.clone();
        let mut prepared = Prepared {
            failed: failed.clone(),
            message,
            workflow,
            draft: None,
            not_exercised: Vec::new(),
            outside: Vec::new(),
        };
        if with_draft {
            let revisions = Revisions::read(context, None, recording, progress).await?;
            if revisions.now.node(&failed).is_none() {
                let gone = format!(
                    "its failed node '{failed}' was renamed or removed in the draft, where n8n would not find it. Use prove_fix, or start the \
                     workflow again."
                );
                return Err(refuse(&gone));
            }
            let after = revisions.now.after(&failed);
            prepared.not_exercised =
                revisions.changed.iter().filter(|name| !after.contains(name.as_str())).cloned().collect();
            prepared.outside = revisions.now.outside(&after);
            prepared.draft = Some(revisions);
        }
        Ok(prepared)
    }

    /// Finds the execution that was started, and waits until it has ended: n8n's response can be lost, and comes before the end of one
    /// that is stopped.
    async fn find(
        &self,
        n8n: &Client,
        workflow: Option<&str>,
        newest: u64,
        until: Instant,
        progress: &Progress,
    ) -> Result<Retried, Error> {
        loop {
            let found = self.look(n8n, workflow, newest, progress).await?;
            let retried = found.ok_or_else(|| {
                Error::FailedPrecondition(format!(
                    "n8n did not confirm the retry of execution '{}', and lists none. It may still have been started: look at \
                     list_executions before you try again.",
                    self.id
                ))
            })?;
            if retried.status != "running" || Instant::now() >= until {
                return Ok(retried);
            }
            sleep(PAUSE).await;
        }
    }

    /// The execution that was started, if n8n lists it.
    async fn look(
        &self,
        n8n: &Client,
        workflow: Option<&str>,
        newest: u64,
        progress: &Progress,
    ) -> Result<Option<Retried>, Error> {
        for status in [Some("running"), Some("waiting"), None] {
            let query = ListQuery {
                workflow_id: workflow.map(str::to_owned),
                status: status.map(str::to_owned),
                limit: 50,
                ..ListQuery::default()
            };
            let listing = n8n.list_executions(&query).await?;
            let text = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let is_it = |one: &&serde_json::Value| {
                text(&one["retryOf"]) == self.id && text(&one["id"]).parse::<u64>().is_ok_and(|id| id > newest)
            };
            if let Some(found) = listing.data.iter().find(is_it) {
                let id = text(&found["id"]);
                let status = found["status"].as_str().unwrap_or("unknown").to_owned();
                if n8n::is_final(&status) {
                    let request = ExecutionRequest { id, ignore_size_limit: true };
                    let projection = RecordingProjection::of_items();
                    let view = n8n.read_execution(&request, &projection, progress).await?.view?;
                    return Ok(Some(Retried::of(view)));
                }
                return Ok(Some(Retried { id, status, version: None, recording: None }));
            }
        }
        Ok(None)
    }

    /// What the retry did otherwise. It has happened: what cannot be read now is left out.
    async fn compared(
        &self,
        context: &Context,
        prepared: &Prepared,
        then: &Recording,
        retried: &Retried,
        progress: &Progress,
    ) -> Option<Compared> {
        let now = retried.recording.as_ref().filter(|now| now.incomplete.is_none() && then.incomplete.is_none())?;
        let mut compared = prepared.compared(then, now);
        let places = first_places(then, now, |name| prepared.name_now(name));
        if places.is_empty() {
            return Some(compared);
        }
        let [at_then, at_now] = [0, 1].map(|side| ItemsProjection {
            places: places.iter().map(|pair| pair[side].clone()).collect(),
            redacts: context.redact,
        });
        let request = |id: &str| ExecutionRequest { id: id.to_owned(), ignore_size_limit: true };
        let source = context.executions();
        let then = source.read(&request(&self.id), &at_then, progress).await.ok()?.view.ok()?;
        let now = source.read(&request(&retried.id), &at_now, progress).await.ok()?.view.ok()?;
        let places: Vec<_> = places.into_iter().map(|[then, now]| [now, then]).collect();
        let values = first_values(&places, &now, &then);
        for one in &mut compared.differs {
            one.value = value_of(prepared.name_now(&one.name), &values);
        }
        Some(compared)
    }

    fn data<'a>(
        &'a self,
        locale: Locale,
        prepared: &'a Prepared,
        retried: &'a Retried,
        compared: Option<&'a Compared>,
        names: usize,
    ) -> RetriedExecution<'a> {
        let failure = retried.failure();
        let verdict = match (&failure, retried.status.as_str()) {
            (None, "success") => "succeeded",
            (_, "crashed" | "canceled") | (None, "error") => "aborted",
            (Some((node, _)), _) if *node != prepared.failed => "failsElsewhere",
            (Some((_, message)), _) if alike(message, &prepared.message) => "stillFails",
            (Some(_), _) => "failsDifferently",
            (None, _) => "notEnded",
        };
        let claim = locale.choose(prepared.claim_ja(verdict, retried), prepared.claim_en(verdict, retried));
        let guidance = match (prepared.not_exercised.is_empty(), verdict) {
            (false, _) => {
                "The nodes in fixNotExercised did not run again: this says nothing about them. prove_fix runs them with the recorded data."
                    .to_owned()
            }
            (true, "notEnded") => format!("Look again: get_execution {{\"id\":\"{}\"}}. stop_execution ends it.", retried.id),
            _ => format!("compare_executions {{\"id\":\"{}\",\"with\":\"{}\"}} shows what differs.", retried.id, self.id),
        };
        RetriedExecution {
            id: &retried.id,
            retry_of: &self.id,
            status: &retried.status,
            version_id: retried.version.as_deref(),
            verdict,
            claim,
            fix_not_exercised: first(&prepared.not_exercised, names),
            can_reach_outside: first(&prepared.outside, names),
            compare: compared.map(|compared| ComparedRun {
                differs: first(&compared.differs, names).iter().map(DiffersRow::from).collect(),
                ran_new: first(&compared.ran_new, names),
                same: compared.same,
            }),
            guidance,
        }
    }
}

impl Prepared {
    /// What the workflow that ran again calls a node of the execution.
    fn name_now<'a>(&'a self, then: &'a str) -> Option<&'a str> {
        match &self.draft {
            Some(draft) => draft.name_now(then),
            None => Some(then),
        }
    }

    fn compared(&self, then: &Recording, now: &Recording) -> Compared {
        let pair = Pair { then, now, name_now: &|name| self.name_now(name), played: &HashSet::new() };
        let differs = pair.differences(|_| true);
        let ran: HashSet<_> = then.nodes.keys().filter_map(|name| self.name_now(name)).collect();
        let ran_new = now.nodes.keys().filter(|name| !ran.contains(name.as_str())).cloned().collect();
        Compared { same: then.nodes.len().saturating_sub(differs.len()), differs, ran_new }
    }

    /// The draft that ran, and the one that was looked at before, if that is another one.
    fn drafts(&self, retried: &Retried) -> Option<(String, Option<String>)> {
        let before = self.draft.as_ref()?.version_id.as_deref().unwrap_or_default();
        let ran = retried.version.as_deref().unwrap_or(before);
        Some((short_version(ran), (ran != before).then(|| short_version(before))))
    }

    /// The sentence to repeat.
    fn claim_en(&self, verdict: &str, retried: &Retried) -> String {
        let what = match self.drafts(retried) {
            None => "the workflow as it was".to_owned(),
            Some((ran, None)) => format!("draft {ran}"),
            Some((ran, Some(before))) => {
                format!("draft {ran} (saved meanwhile: fixNotExercised and canReachOutside are about draft {before})")
            }
        };
        let ending = match verdict {
            "succeeded" => "It succeeded.".to_owned(),
            "stillFails" => "It failed there again, with the same message.".to_owned(),
            "aborted" => format!("It did not come to its end: n8n says that it is {}.", retried.status),
            "notEnded" => format!("It is {}.", retried.status),
            _ => format!("It failed at {}.", retried.fails_at()),
        };
        let (id, failed) = (&retried.id, &self.failed);
        format!(
            "Execution {id} ran for real from {failed} on, with {what}; the nodes before it did not run again. {ending}"
        )
    }

    /// The same in Japanese.
    fn claim_ja(&self, verdict: &str, retried: &Retried) -> String {
        let what = match self.drafts(retried) {
            None => "元のワークフロー".to_owned(),
            Some((ran, None)) => format!("下書き {ran}"),
            Some((ran, Some(before))) => {
                format!(
                    "下書き {ran}（その間に保存されたもので、fixNotExercised と canReachOutside は下書き {before} についてのものです）"
                )
            }
        };
        let ending = match verdict {
            "succeeded" => "成功しました。".to_owned(),
            "stillFails" => "同じメッセージで再び失敗しました。".to_owned(),
            "aborted" => format!("最後まで実行されませんでした（n8n での状態は {}）。", retried.status),
            "notEnded" => format!("現在の状態は {} です。", retried.status),
            _ => format!("{} で失敗しました。", retried.fails_at()),
        };
        let (id, failed) = (&retried.id, &self.failed);
        format!(
            "実行 {id} は {what} で {failed} から実際に実行されました。それより前のノードは再実行されていません。{ending}"
        )
    }
}

impl Retried {
    /// The node that failed, and its message.
    fn failure(&self) -> Option<(String, String)> {
        failure(self.recording.as_ref()?)
    }

    /// The node that failed, and why: `Price: no price`.
    fn fails_at(&self) -> String {
        let (node, message) = self.failure().unwrap_or_default();
        format!("{node}: {}", shorten(&message, MESSAGE_CHARS))
    }

    fn of(recording: Recording) -> Self {
        let id = recording.header.id.clone().unwrap_or_default();
        let status = recording.header.status.clone().unwrap_or_else(|| "unknown".to_owned());
        Self { id, status, version: None, recording: Some(recording) }
    }
}

/// The newest execution of a workflow, running ones included; 0 if there is none.
async fn newest(n8n: &Client, workflow: Option<&str>) -> Result<u64, Error> {
    let mut newest = 0;
    for status in [None, Some("running")] {
        let query = ListQuery {
            workflow_id: workflow.map(str::to_owned),
            status: status.map(str::to_owned),
            limit: 1,
            ..ListQuery::default()
        };
        let id = n8n.list_executions(&query).await?.newest_id();
        newest = newest.max(id.and_then(|id| id.parse().ok()).unwrap_or(0));
    }
    Ok(newest)
}

/// Whether n8n says that it does not retry the execution.
fn is_refusal(error: &n8n::Error) -> bool {
    matches!(error, n8n::Error::Refused { .. } | n8n::Error::NotFound(_) | n8n::Error::Forbidden { .. })
}

/// What to do about a refusal.
fn refused(error: n8n::Error, id: &str) -> Error {
    match error {
        n8n::Error::Refused { status: 409, .. } => Error::FailedPrecondition(format!(
            "Execution '{id}' was not retried: n8n says that it succeeded. Only failed executions can be retried."
        )),
        error => error.into(),
    }
}
