//! n8n's redaction, which n8n applies when it reads an execution: the store holds everything in clear.
//!
//! The rules are those of `packages/cli/src/modules/redaction/executions` (n8n 2.x; 1.x has none), with two
//! differences. n8n enforces a policy only with a licence, and shows more to some users; a reader of the store knows
//! neither, so the policy always holds, and every reader counts as another user than the one whose credentials were
//! used. An unknown form of policy hides the items, too.

use std::io::BufRead;

use super::Error;
use super::runs::{self, DataTable, Item, ItemPlace, Parts, RunHead, RunObserver};
use crate::json::flatted::{Expansion, Flatted};
use crate::json::{Cursor, Keep, Members, PrunedReader, Pruner, ReadError, member, members};

const WORKFLOW: Keep = Keep::Members(&[("settings", Keep::Members(&[("redactionPolicy", Keep::Whole)]))]);

const HEADER: Keep = Keep::Members(&[("mode", Keep::Whole)]);
const ID: Keep = Keep::Members(&[("id", Keep::Whole)]);

/// Characters of a policy, a mode or a version; real ones are shorter.
const VALUE_CHARS: usize = 40;

/// Why the items of an execution are hidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// It used credentials of the user who started it.
    DynamicCredentials,
    /// The redaction policy of its workflow.
    Policy,
}

impl Reason {
    /// As n8n names it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::DynamicCredentials => "dynamic_credentials",
            Self::Policy => "workflow_redaction_policy",
        }
    }
}

/// The members that decide, near the start of the run data.
#[derive(Default)]
struct RunDataStart {
    version: Option<String>,
    runtime: Option<Runtime>,
}

members!(RunDataStart, |start, cursor| match name {
    ("version", Keep::Whole) => start.version = cursor.text(VALUE_CHARS)?,
    ("executionData", EXECUTION_DATA) => start.runtime = member(cursor, "runtimeData", Runtime::read_object)?,
});

const EXECUTION_DATA: Keep = Keep::Members(&[("runtimeData", Runtime::KEEP)]);

/// What n8n noted when the execution began.
#[derive(Default)]
struct Runtime {
    /// The policy at that time.
    redaction: Option<Snapshot>,
    dynamic_credentials: bool,
}

members!(Runtime, |runtime, cursor| match name {
    ("redaction", Snapshot::KEEP) => runtime.redaction = Snapshot::read_object(cursor)?,
    ("usesDynamicCredentials", Keep::Whole) => runtime.dynamic_credentials = cursor.is_true()?,
});

/// n8n's `IRedactionSetting`.
#[derive(Default)]
struct Snapshot {
    version: Option<f64>,
    production: bool,
    manual: bool,
    policy: Option<String>,
}

members!(Snapshot, |snapshot, cursor| match name {
    ("version", Keep::Whole) => snapshot.version = cursor.number()?,
    ("production", Keep::Whole) => snapshot.production = cursor.is_true()?,
    ("manual", Keep::Whole) => snapshot.manual = cursor.is_true()?,
    ("policy", Keep::Whole) => snapshot.policy = cursor.text(VALUE_CHARS)?,
});

/// Why the items of this execution are hidden; `None` if they are not.
///
/// # Errors
/// When the run data is broken, or of an unknown version.
pub(super) fn reason(text: &mut Flatted<'_>, header: &[u8], workflow: impl BufRead) -> Result<Option<Reason>, Error> {
    let mut cursor = Cursor::over(Expansion::new(text, Pruner::new(RunDataStart::KEEP, 0..0)));
    let RunDataStart { version, runtime } = RunDataStart::read_or_default(&mut cursor)?;
    drop(cursor);
    let runtime = runtime.unwrap_or_default();
    // Without a version it is version 0 (`packages/workflow/src/run-execution-data`).
    if let Some(version) = version.filter(|version| !["0", "1"].contains(&version.as_str())) {
        return Err(Error::StoredVersion(version));
    }
    if runtime.dynamic_credentials || DynamicCredentials::of(text)?.are_used {
        return Ok(Some(Reason::DynamicCredentials));
    }
    let is_manual = text_of(header, HEADER, &["mode"])?.as_deref() == Some("manual");
    let hides = match runtime.redaction {
        Some(snapshot) if snapshot.version == Some(2.0) => snapshot.hides(is_manual),
        Some(Snapshot { version: Some(version), .. }) if version > 2.0 => true,
        Some(Snapshot { policy: Some(policy), .. }) => policy_hides(&policy, is_manual),
        _ => text_of(workflow, WORKFLOW, &["settings", "redactionPolicy"])?
            .is_some_and(|policy| policy_hides(&policy, is_manual)),
    };
    Ok(hides.then_some(Reason::Policy))
}

/// The id of an execution, for the log.
pub(super) fn id(header: &[u8]) -> Option<String> {
    text_of(header, ID, &["id"]).ok().flatten()
}

fn policy_hides(policy: &str, is_manual: bool) -> bool {
    match policy {
        "none" => false,
        "non-manual" => !is_manual,
        "manual-only" => is_manual,
        _ => true,
    }
}

impl Snapshot {
    /// A policy that hides manual executions hides all (`packages/workflow/src/redaction-channels.ts`).
    fn hides(&self, is_manual: bool) -> bool {
        self.manual || (self.production && !is_manual)
    }
}

/// Whether a run used dynamic credentials.
#[derive(Default)]
struct DynamicCredentials {
    are_used: bool,
}

impl DynamicCredentials {
    fn of(text: &mut Flatted<'_>) -> Result<Self, ReadError> {
        let mut cursor = Cursor::over(Expansion::new(text, Pruner::new(Self::DATA, 0..0)));
        Ok(runs::read_data(&mut cursor, Self::default)?.1)
    }
}

impl RunObserver for DynamicCredentials {
    const PARTS: Parts = Parts::CREDENTIALS;

    fn begin_node(&mut self, _: &str) {}

    fn item(&mut self, _: ItemPlace, item: Item<'_, '_>) -> Result<(), ReadError> {
        item.skip()
    }

    fn end_run(&mut self, run: RunHead) -> Result<(), ReadError> {
        self.are_used |= run.used_dynamic_credentials;
        Ok(())
    }
}

/// The beginning of a string inside a JSON text, by its path.
fn text_of(json: impl BufRead, keep: Keep, path: &[&str]) -> Result<Option<String>, ReadError> {
    fn read(cursor: &mut Cursor<'_>, path: &[&str]) -> Result<Option<String>, ReadError> {
        match path.split_first() {
            Some((name, deeper)) => member(cursor, name, |cursor| read(cursor, deeper)),
            None => cursor.text(VALUE_CHARS),
        }
    }
    read(&mut Cursor::over(PrunedReader::new(json, Pruner::new(keep, 0..0))), path)
}
