//! `prove_fix`: runs a workflow again with the recorded data of an execution, changed and unchanged, and claims only what was shown.
//!
//! ```text
//! recording of the execution --+--> copy of the workflow that ran --> control \
//!                              +--> copy of the changed workflow  --> changed  --> verdict --> claim
//! ```
//!
//! The control decides whether the replay means anything: if the unchanged workflow does not fail again in the same way, nothing
//! is proven. See [`crate::workflow::replay`] for what a copy is.

mod answer;
mod claim;
mod copies;
mod expectation;
mod played;
mod verdict;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use self::copies::{CopyRunner, Differing, Looks};
use self::expectation::Expectation;
use self::played::Carried;
use self::verdict::{Facts, Verdict, judge};
use crate::blocking::blocking;
use crate::execution::compare::{ValueDifference, first_values};
use crate::execution::recording::{ITEMS_BYTES, Incomplete, Recording, RecordingProjection};
use crate::execution::trace::ItemsProjection;
use crate::n8n::{ExecutionRequest, Progress};
use crate::toolkit::answer::{FEW_TOKENS, Tokens};
use crate::toolkit::{Effect, Id, IntegerOr, Locale, Objects, Text, arguments};
use crate::tools::executions::Origin;
use crate::tools::proof::recorded::{failure, record};
use crate::tools::proof::revisions::Revisions;
use crate::tools::{Context, Error, Handler, Tool, ToolCall};
use crate::workflow::replay::Copy;

/// The tool.
pub static TOOL: Tool = Tool {
    name: "prove_fix",
    title: "Prove a fix",
    description: "Run a changed workflow again with the recorded data of an execution, beside the unchanged one, in scratch copies that \
                  call no outside service. Show the user its claim.",
    parameters: ProveFix::PARAMETERS,
    effect: Effect::Rehearse,
    handler: Handler::of::<ProveFix>(),
};

arguments! {
    struct ProveFix {
        id: Id = "The execution whose data are used.",
        workflow: Option<Text> = "A version, a workflow file, or original: only check that it can be replayed (default: the draft).",
        expect: Option<Objects> = "Up to 5 {nodeName, path, equals, hits: none | some}: values that must (not) be there then.",
        also_good: IntegerOr<1, 0, 5> = "Earlier good executions that must not change.",
        timeout_seconds: IntegerOr<120, 5, 600> = "For each copy.",
        max_tokens: Tokens<1000> = FEW_TOKENS,
    }
}

/// The facts known before anything is created.
struct Prepared {
    recording: Recording,
    revisions: Revisions,
    control: Copy,
    changed: Copy,
    carried: Carried,
    /// The nodes that answer from the recording in either copy, by their names in the execution.
    played: HashSet<String>,
}

impl ToolCall for ProveFix {
    async fn run(mut self, context: Arc<Context>, progress: Progress) -> Result<String, Error> {
        if context.redact {
            return Err(Error::FailedPrecondition(
                "This server masks values (--redact), and a proof needs them. Start one without --redact to prove a fix.".to_owned(),
            ));
        }
        let (n8n, expected) = (context.n8n()?, Expectation::all(self.expect.take().unwrap_or_default())?);
        let recording = record(&context, &self.id, &RecordingProjection::of_runs(), &progress).await?;
        check_recording(&self.id, &recording)?;
        let revisions = Revisions::read(&context, self.workflow.as_deref(), &recording, &progress).await?;
        let answer = |recording: &Recording, revisions: &Revisions, facts: &Facts| {
            Ok(answer::compose(self.max_tokens, context.locale, recording, revisions, facts))
        };
        let played = revisions.played(trigger(&recording)?, self.timeout_seconds);
        if let Some(verdict) = verdict::before(&recording, &revisions, &played) {
            let facts = Facts::without_replay(&self.id, &recording, verdict);
            return answer(&recording, &revisions, &facts);
        }
        let Prepared { recording, revisions, control, changed, carried, played } =
            self.prepare(&context, revisions, played, &progress).await?;
        let runner = CopyRunner::new(n8n, Duration::from_secs(self.timeout_seconds), &progress);
        runner.check_scopes().await?;
        runner.sweep().await;
        let recorded = self.recorded_hits(&context, &expected, &revisions, &progress).await?;
        let then: Vec<_> =
            expected.iter().map(|one| one.search(revisions.name_then(&one.node_name))).collect::<Result<_, _>>()?;
        let now: Vec<_> = expected.iter().map(|one| one.search(&one.node_name)).collect::<Result<_, _>>()?;
        let then = Looks { searches: &then, recorded: None };
        let now = Looks { searches: &now, recorded: Some((&recording, &revisions)) };
        let (control, changed) =
            tokio::join!(runner.replay(&control, &carried, &then), runner.replay(&changed, &carried, &now));
        let (control, changed) = (control?, changed?);
        let case = Case {
            recording: &recording,
            revisions: &revisions,
            played: &played,
            expected: &expected,
            recorded: &recorded,
            locale: context.locale,
        };
        let mut facts = judge(&self.id, &case, &control, &changed);
        facts.values = self.values(&context, &changed.differing, &progress).await?;
        if facts.verdict == Verdict::Fixed && self.also_good > 0 {
            facts.good = self.good(&context, &case, &runner, &progress).await?;
            if facts.good.iter().any(|good| !good.differs.is_empty()) {
                facts.verdict = Verdict::FixedButChanges;
            }
        }
        answer(&recording, &revisions, &facts)
    }
}

impl ProveFix {
    /// Makes both copies.
    async fn prepare(
        &self,
        context: &Context,
        revisions: Revisions,
        played: HashSet<String>,
        progress: &Progress,
    ) -> Result<Prepared, Error> {
        let projection = RecordingProjection::keeping(played.clone());
        let mut recording = record(context, &self.id, &projection, progress).await?;
        check_recording(&self.id, &recording)?;
        let (seconds, id) = (self.timeout_seconds, shown_id(&self.id, &recording).to_owned());
        blocking(move || {
            let trigger = trigger(&recording)?.to_owned();
            let carried = Carried::of(&mut recording, &played)?;
            let played_as = |name: &str| carried.played(name);
            let control = revisions.ran.copy(&id, "control", &trigger, seconds, &played_as)?;
            let changed = revisions.copy_of_changed(&id, &trigger, seconds, &played_as)?;
            Ok(Prepared { recording, revisions, control, changed, carried, played })
        })
        .await
    }

    /// How often the expected values occur in the execution itself.
    async fn recorded_hits(
        &self,
        context: &Context,
        expected: &[Expectation],
        revisions: &Revisions,
        progress: &Progress,
    ) -> Result<Vec<u64>, Error> {
        let request = ExecutionRequest { id: self.id.clone(), ignore_size_limit: true };
        let mut hits = Vec::new();
        for one in expected {
            let search = one.search(revisions.name_then(&one.node_name))?;
            hits.push(context.executions().read(&request, &search, progress).await?.view?.total);
        }
        Ok(hits)
    }

    /// The first value of each node that differs from the recording.
    async fn values(
        &self,
        context: &Context,
        differing: &Differing,
        progress: &Progress,
    ) -> Result<Vec<ValueDifference>, Error> {
        if differing.places.is_empty() {
            return Ok(Vec::new());
        }
        let request = ExecutionRequest { id: self.id.clone(), ignore_size_limit: true };
        let places = differing.places.iter().map(|[_, then]| then.clone()).collect();
        let projection = ItemsProjection { places, redacts: false };
        let recorded = context.executions().read(&request, &projection, progress).await?.view?;
        Ok(first_values(&differing.places, &differing.items, &recorded))
    }

    /// Runs both workflows with the data of earlier good executions, which may have run an older version.
    async fn good(
        &self,
        context: &Context,
        case: &Case<'_>,
        runner: &CopyRunner<'_>,
        progress: &Progress,
    ) -> Result<Vec<Good>, Error> {
        let (source, none, mut found) = (context.executions(), Looks::default(), Vec::new());
        let mut header = case.recording.header.clone();
        let mut before = shown_id(&self.id, case.recording).to_owned();
        for _ in 0..self.also_good {
            // There may be none, or no more.
            let Ok(id) = source.last_success_before(&before, &header, Origin::Only).await else { break };
            let projection = RecordingProjection::keeping(case.played.clone());
            let mut recording = record(context, &id, &projection, progress).await?;
            let carried = Carried::of(&mut recording, case.played)?;
            let (Ok(()), Ok(trigger)) = (check_recording(&id, &recording), trigger(&recording)) else { break };
            let (seconds, played_as) = (self.timeout_seconds, |name: &str| carried.played(name));
            let control = case.revisions.ran.copy(&id, "control", trigger, seconds, &played_as)?;
            let changed = case.revisions.copy_of_changed(&id, trigger, seconds, &played_as)?;
            let (control, changed) =
                tokio::join!(runner.replay(&control, &carried, &none), runner.replay(&changed, &carried, &none));
            let (control, changed) = (control?.recording, changed?.recording);
            // If the workflow that ran last cannot process these data, that says nothing about the change.
            if failure(&control).is_none() {
                let differs = verdict::differences(&control, &changed, case);
                found.push(Good { id: id.clone(), differs });
            }
            (before, header) = (id, recording.header);
        }
        Ok(found)
    }
}

/// The basis on which a replay is judged.
struct Case<'a> {
    recording: &'a Recording,
    revisions: &'a Revisions,
    played: &'a HashSet<String>,
    expected: &'a [Expectation],
    /// How often the expected values occur in the execution itself.
    recorded: &'a [u64],
    /// The language of the list of unproven points.
    locale: Locale,
}

/// The id of an execution in n8n, even if it was read from a file.
fn shown_id<'a>(id: &'a str, recording: &'a Recording) -> &'a str {
    recording.header.id.as_deref().unwrap_or(id)
}

/// A good execution, run with the changed workflow.
struct Good {
    id: String,
    /// The nodes that now return something else.
    differs: Vec<String>,
}

/// Refuses a recording that cannot be replayed.
fn check_recording(id: &str, recording: &Recording) -> Result<(), Error> {
    let status = recording.header.status.as_deref().unwrap_or_default();
    let problem = match status {
        _ if recording.redacted => "its data are redacted".to_owned(),
        _ if recording.header.data_too_large => {
            "n8n did not send its data, which are too large. Read it with --store".to_owned()
        }
        "running" | "waiting" | "new" => format!("it is {status}: wait until it has ended"),
        _ if recording.nodes.is_empty() => "no node ran in it".to_owned(),
        _ => match recording.incomplete {
            Some(Incomplete::Items) => {
                format!("the recorded items that it would need have more than {} MB", ITEMS_BYTES / 1024 / 1024)
            }
            Some(Incomplete::LargeItem) => {
                "one of its items has more than 1 MB, and half of a surrogate pair in it (or U+FFFD)".to_owned()
            }
            Some(Incomplete::Disk(cause)) => format!("a temporary file for its items cannot be written ({cause})"),
            Some(Incomplete::Runs) => "it has more runs or items than can be compared".to_owned(),
            None => return Ok(()),
        },
    };
    Err(Error::FailedPrecondition(format!("Execution '{id}' cannot be run again: {problem}. Nothing was created.")))
}

/// The trigger that ran.
fn trigger(recording: &Recording) -> Result<&str, Error> {
    let mut triggers = recording.triggers();
    match (triggers.next(), triggers.next()) {
        (Some(trigger), None) => Ok(trigger),
        (Some(one), Some(other)) => Err(Error::FailedPrecondition(format!(
            "This execution cannot be run again: it began at several nodes ('{one}', '{other}'). Nothing was created."
        ))),
        (None, _) => Err(Error::FailedPrecondition(
            "This execution does not say where it began. Nothing was created.".to_owned(),
        )),
    }
}
