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
mod not_proven;
mod other_requests;
mod played;
mod verdict;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use self::copies::{CopyRunner, Differing, Looks};
use self::expectation::Expectation;
use self::not_proven::{depend_on_more, of_asking_good, of_changing_good, of_left};
use self::other_requests::unanswered;
use self::played::Carried;
use self::verdict::{Facts, Verdict, judge};
use crate::blocking::blocking;
use crate::execution::compare::{ValueDifference, first_values};
use crate::execution::recording::{ITEMS_BYTES, Incomplete, Recording, RecordingProjection};
use crate::execution::search::SearchProjection;
use crate::execution::trace::ItemsProjection;
use crate::json::{CUT_NAME_CHARS, quoted_name};
use crate::n8n::{self, ExecutionRequest, Progress, Stage};
use crate::toolkit::answer::{FEW_TOKENS, Tokens};
use crate::toolkit::{Effect, Id, IntegerOr, Locale, Objects, Text, arguments, nearest};
use crate::tools::executions::Origin;
use crate::tools::proof::differences::{Difference, value_of};
use crate::tools::proof::recorded::{failure, record};
use crate::tools::proof::revisions::{CopiedRun, Revisions};
use crate::tools::{Context, Error, Handler, Tool, ToolCall};
use crate::workflow::replay::{Copy, kept};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "prove_fix",
    title: "Prove a fix",
    description: "Run a changed workflow again with the recorded data of an execution, alongside the unchanged one, in scratch copies \
                  that call no outside service. Show the user its claim.",
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
    /// Copies of the workflow that ran, and of the changed one; if only the replay is checked, they are the same, and one is run.
    control: Copy,
    changed: Option<Copy>,
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
        progress.set(Stage::Queued);
        let _one_at_a_time = n8n.lock_proofs().await.map_err(busy)?;
        let runner = CopyRunner::new(&context, Duration::from_secs(self.timeout_seconds), &progress)?;
        runner.sweep().await;
        let mut recording = record(&context, &self.id, &RecordingProjection::keeping_all(), &progress).await?;
        // The copies may need fewer items.
        let has_too_many = recording.incomplete.take_if(|why| matches!(why, Incomplete::Items | Incomplete::Disk(_)));
        check_recording(&self.id, &recording)?;
        let revisions = Revisions::read(&context, self.workflow.as_deref(), &recording, &progress).await?;
        check_expected(&expected, &revisions)?;
        let answer = |recording: &Recording, revisions: &Revisions, facts: &Facts| {
            Ok(answer::compose(self.max_tokens, context.locale, recording, revisions, facts))
        };
        let played = revisions.played(trigger(&recording)?);
        if let Some(verdict) = verdict::before(&recording, &revisions, &played) {
            let facts = Facts::without_replay(&self.id, context.locale, &recording, &revisions, verdict);
            return answer(&recording, &revisions, &facts);
        }
        runner.check_scopes().await?;
        if has_too_many.is_some() {
            drop(recording);
            let projection = RecordingProjection::keeping(played.clone());
            recording = record(&context, &self.id, &projection, &progress).await?;
            check_recording(&self.id, &recording)?;
        }
        let prepared = self.prepare(recording, revisions, played).await?;
        let proven = self.prove(&context, &prepared, &expected, &runner, &progress).await;
        let left = |locale: Locale| of_left(locale, &runner.left());
        let mut facts = proven.map_err(|error| match left(Locale::En) {
            Some(left) => Error::FailedPrecondition(format!("{error} {left}")),
            None => error,
        })?;
        facts.not_proven.extend(left(context.locale));
        answer(&prepared.recording, &prepared.revisions, &facts)
    }
}

impl ProveFix {
    /// Makes the copies.
    async fn prepare(
        &self,
        mut recording: Recording,
        revisions: Revisions,
        played: HashSet<String>,
    ) -> Result<Prepared, Error> {
        let (seconds, id) = (self.timeout_seconds, shown_id(&self.id, &recording).to_owned());
        blocking(move || {
            let carried = Carried::of(&mut recording, &played, |name| revisions.executed_once(name))?;
            let (trigger, failed) = (trigger(&recording)?, recording.failed_node());
            let run = CopiedRun { id: &id, trigger, failed, seconds, played: &|name| carried.played(name) };
            let control = revisions.control(&run)?;
            let changed = if revisions.is_original() { None } else { Some(revisions.changed_copy(&run)?) };
            Ok(Prepared { recording, revisions, control, changed, carried, played })
        })
        .await
    }

    /// Runs the copies, and judges what they did.
    async fn prove(
        &self,
        context: &Context,
        prepared: &Prepared,
        expected: &[Expectation],
        runner: &CopyRunner<'_>,
        progress: &Progress,
    ) -> Result<Facts, Error> {
        let Prepared { recording, revisions, control, changed, carried, played } = prepared;
        let then = expected.iter().map(|one| one.search(revisions.name_then(&one.node_name)));
        let now = expected.iter().map(|one| one.search(Some(&one.node_name)));
        let (then, now) = (then.collect::<Result<Vec<_>, _>>()?, now.collect::<Result<Vec<_>, _>>()?);
        let recorded = self.recorded_hits(context, &then, progress).await?;
        let of_changed = Looks { searches: &now, recorded: Some((recording, revisions)) };
        let (control, changed) = match changed {
            None => (None, runner.replay(control, carried, &of_changed).await?),
            Some(changed) => {
                let of_control = Looks { searches: &then, recorded: None };
                let (control, changed) = tokio::join!(
                    runner.replay(control, carried, &of_control),
                    runner.replay(changed, carried, &of_changed)
                );
                (Some(control?), changed?)
            }
        };
        let locale = context.locale;
        let case = Case { recording, revisions, played, expected, recorded: &recorded, locale };
        let mut facts = judge(&self.id, &case, control.as_ref().unwrap_or(&changed), &changed);
        let values = self.values(context, &changed.differing, progress).await?;
        for one in &mut facts.differs {
            one.value = value_of(revisions.name_now(&one.name), &values);
        }
        if facts.verdict == Verdict::Fixed && self.also_good > 0 {
            let mut uncompared = Vec::new();
            facts.good = self.good(context, &case, runner, progress, &mut uncompared).await?;
            facts.not_proven.extend(uncompared);
            if facts.good.iter().any(|good| !good.differs.is_empty()) {
                facts.verdict = Verdict::FixedButChanges;
            }
        }
        Ok(facts)
    }

    /// How often the execution itself has what is expected.
    async fn recorded_hits(
        &self,
        context: &Context,
        searches: &[Option<SearchProjection>],
        progress: &Progress,
    ) -> Result<Vec<u64>, Error> {
        let request = ExecutionRequest { id: self.id.clone(), ignore_size_limit: true };
        let mut hits = Vec::new();
        for search in searches {
            hits.push(match search {
                Some(search) => context.executions().read(&request, search, progress).await?.view?.total,
                None => 0,
            });
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

    /// Runs the changed workflow with the data of earlier good executions, and, where it does something else, also the one that ran
    /// last: they may have run an older version. What could not be compared is added to `uncompared`, in sentences.
    async fn good(
        &self,
        context: &Context,
        case: &Case<'_>,
        runner: &CopyRunner<'_>,
        progress: &Progress,
        uncompared: &mut Vec<String>,
    ) -> Result<Vec<Good>, Error> {
        let (source, none, mut found) = (context.executions(), Looks::default(), Vec::new());
        let mut header = case.recording.header.clone();
        let mut before = shown_id(&self.id, case.recording).to_owned();
        for _ in 0..self.also_good {
            // There may be none, or no more.
            let Ok(id) = source.last_success_before(&before, &header, Origin::Only).await else { break };
            let projection = RecordingProjection::keeping(case.played.clone());
            let mut recording = record(context, &id, &projection, progress).await?;
            let carried = Carried::of(&mut recording, case.played, |name| case.revisions.executed_once(name))?;
            let (Ok(()), Ok(trigger)) = (check_recording(&id, &recording), trigger(&recording)) else { break };
            let (seconds, failed) = (self.timeout_seconds, case.recording.failed_node());
            let run = CopiedRun { id: &id, trigger, failed, seconds, played: &|name| carried.played(name) };
            let (control, changed) = (case.revisions.control(&run)?, case.revisions.changed_copy(&run)?);
            let changed = runner.replay(&changed, &carried, &none).await?.recording;
            let mut differs = Some(verdict::differences(&recording, &changed, case));
            if differs.as_ref().is_some_and(|differs| !differs.is_empty()) {
                let control = runner.replay(&control, &carried, &none).await?.recording;
                // What the workflow that ran last cannot do with these data says nothing about the change.
                differs = failure(&control).is_none().then(|| verdict::differences(&control, &changed, case));
            }
            let compared = differs.and_then(|differs| {
                let of_good = Case { recording: &recording, ..*case };
                comparable(&of_good, &changed, differs, &id, uncompared)
            });
            found.extend(compared.map(|differs| Good { id: id.clone(), differs }));
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

/// The nodes of a good execution that return something else because of the change; `None` if it would ask a service for something
/// that was not recorded. What depends on the time or chance says nothing about the change, nor what follows it.
fn comparable(
    case: &Case<'_>,
    changed: &Recording,
    differs: Vec<Difference>,
    id: &str,
    uncompared: &mut Vec<String>,
) -> Option<Vec<String>> {
    let asks = unanswered(case, changed, &differs);
    if !asks.is_empty() {
        uncompared.push(of_asking_good(case.locale, id, &asks));
        return None;
    }
    let after: HashSet<_> =
        depend_on_more(case, changed, &differs).into_iter().flat_map(|name| case.revisions.now.after(name)).collect();
    let depends_then = |one: &Difference| case.revisions.name_now(&one.name).is_some_and(|name| after.contains(name));
    let (left_out, differs): (Vec<_>, Vec<_>) = differs.into_iter().partition(depends_then);
    if !left_out.is_empty() {
        let names: Vec<_> = left_out.into_iter().map(|one| one.name).collect();
        uncompared.push(of_changing_good(case.locale, id, &names));
    }
    Some(differs.into_iter().map(|one| one.name).collect())
}

/// A good execution, run with the changed workflow.
struct Good {
    id: String,
    /// The nodes that now return something else.
    differs: Vec<String>,
}

/// Refuses an expectation of a node that does not exist: nothing would ever be in its items.
fn check_expected(expected: &[Expectation], revisions: &Revisions) -> Result<(), Error> {
    let is_missing = |one: &&Expectation| revisions.now.node(&one.node_name).is_none();
    let Some(missing) = expected.iter().find(is_missing) else { return Ok(()) };
    let names: Vec<_> = kept(&revisions.now.workflow).map(|node| node.name.clone()).collect();
    let nearest = nearest("Nodes", &missing.node_name, &names);
    let wanted = quoted_name(&missing.node_name, CUT_NAME_CHARS);
    Err(Error::argument("expect", format!("names a node that the workflow does not have: {wanted}. {nearest}.")))
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
        _ if has_no_end(recording) => format!("it ended as {status} without an error of a node"),
        _ => match recording.incomplete {
            Some(Incomplete::Items) => {
                format!("the recorded items that it would need have more than {} MB", ITEMS_BYTES / 1024 / 1024)
            }
            Some(Incomplete::LargeItem) => {
                "one of its items has more than 1 MB, and half of a surrogate pair in it".to_owned()
            }
            Some(Incomplete::Disk(cause)) => format!("a temporary file for its items cannot be written ({cause})"),
            Some(Incomplete::Runs) => "it has more runs or items than can be compared".to_owned(),
            None => return Ok(()),
        },
    };
    Err(Error::FailedPrecondition(format!("Execution '{id}' cannot be run again: {problem}. Nothing was created.")))
}

/// Whether an execution neither succeeded nor failed at a node: what its nodes would have returned is not known.
fn has_no_end(recording: &Recording) -> bool {
    let is_success = match recording.header.status.as_deref() {
        Some(status) => status == "success",
        None => recording.error.is_none(),
    };
    !is_success && failure(recording).is_none()
}

/// What to do while another proof runs.
fn busy(error: n8n::Error) -> Error {
    match error {
        n8n::Error::Locked(why) => Error::FailedPrecondition(format!(
            "Another proof is running, and only one can: {why}. Nothing was created."
        )),
        error => error.into(),
    }
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
