//! n8n's redaction, which n8n applies when it reads an execution: the store holds everything in clear.
//!
//! The rules are those of `packages/cli/src/modules/redaction/executions` (n8n 2.x; 1.x has none), with two differences.
//! n8n enforces a policy only with a licence, and shows more to some users; a reader of the store knows neither, so the
//! policy always holds, and every reader counts as another user than the one whose credentials were used. A policy of a form that is
//! not known here hides the items, too.

use std::io::{BufRead, Read};

use super::{Error, stored_json};
use crate::json::flatted::{Expansion, Flatted};
use crate::json::{Cursor, Keep, PrunedReader, Pruner, ReadError};

/// What decides, near the beginning of the run data.
const RUNTIME: Keep = Keep::Members(&[
    ("version", Keep::Whole),
    (
        "executionData",
        Keep::Members(&[(
            "runtimeData",
            Keep::Members(&[("redaction", Keep::Whole), ("usesDynamicCredentials", Keep::Whole)]),
        )]),
    ),
]);

/// The runs that used dynamic credentials.
const RUNS: Keep = Keep::Members(&[(
    "resultData",
    Keep::Members(&[(
        "runData",
        Keep::EachMember(&Keep::EachElement(&Keep::Members(&[("usedDynamicCredentials", Keep::Whole)]))),
    )]),
)]);

const WORKFLOW: Keep = Keep::Members(&[("settings", Keep::Members(&[("redactionPolicy", Keep::Whole)]))]);

const HEADER: Keep = Keep::Members(&[("mode", Keep::Whole)]);

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

/// What n8n noted when the execution began.
#[derive(Default)]
struct Runtime {
    version: Option<String>,
    /// The policy at that time.
    redaction: Option<Snapshot>,
    dynamic_credentials: bool,
}

/// n8n's `IRedactionSetting`.
#[derive(Default)]
struct Snapshot {
    version: Option<f64>,
    production: bool,
    manual: bool,
    policy: Option<String>,
}

/// Why the items of this execution are hidden; `None` if they are not.
///
/// # Errors
/// When the run data is broken, or of a version that is not known here.
pub(super) fn reason(text: &mut Flatted<'_>, header: &[u8], workflow: impl BufRead) -> Result<Option<Reason>, Error> {
    let mut cursor = Cursor::over(Expansion::new(text, Pruner::new(RUNTIME, 0..0)));
    let runtime = Runtime::read(&mut cursor)?;
    drop(cursor);
    // Without a version it is version 0 (`packages/workflow/src/run-execution-data`).
    if let Some(version) = runtime.version.filter(|version| !["0", "1"].contains(&version.as_str())) {
        return Err(Error::StoredVersion(version));
    }
    if runtime.dynamic_credentials || any_run_used_dynamic_credentials(text)? {
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

    fn read<R: Read>(cursor: &mut Cursor<R>) -> Result<Option<Self>, ReadError> {
        let mut snapshot = Self::default();
        let is_object = cursor.object(|cursor, member| {
            match member {
                "version" => snapshot.version = cursor.number()?,
                "production" => snapshot.production = cursor.is_true()?,
                "manual" => snapshot.manual = cursor.is_true()?,
                "policy" => snapshot.policy = cursor.text(VALUE_CHARS)?,
                _ => cursor.skip()?,
            }
            Ok(())
        })?;
        Ok(is_object.then_some(snapshot))
    }
}

impl Runtime {
    fn read<R: Read>(cursor: &mut Cursor<R>) -> Result<Self, ReadError> {
        let mut runtime = Self::default();
        cursor.object(|cursor, member| {
            match member {
                "version" => runtime.version = cursor.text(VALUE_CHARS)?,
                "executionData" => {
                    stored_json::member(cursor, "runtimeData", |cursor| runtime.read_context(cursor))?;
                }
                _ => cursor.skip()?,
            }
            Ok(())
        })?;
        Ok(runtime)
    }

    fn read_context<R: Read>(&mut self, cursor: &mut Cursor<R>) -> Result<(), ReadError> {
        cursor.object(|cursor, member| {
            match member {
                "redaction" => self.redaction = Snapshot::read(cursor)?,
                "usesDynamicCredentials" => self.dynamic_credentials = cursor.is_true()?,
                _ => cursor.skip()?,
            }
            Ok(())
        })?;
        Ok(())
    }
}

fn any_run_used_dynamic_credentials(text: &mut Flatted<'_>) -> Result<bool, ReadError> {
    let mut cursor = Cursor::over(Expansion::new(text, Pruner::new(RUNS, 0..0)));
    let mut used = false;
    stored_json::member(&mut cursor, "resultData", |cursor| {
        stored_json::member(cursor, "runData", |cursor| {
            cursor.object(|cursor, _| {
                cursor
                    .array(|cursor, _| {
                        used |= stored_json::member(cursor, "usedDynamicCredentials", Cursor::is_true)?;
                        Ok(())
                    })
                    .map(drop)
            })
        })
    })?;
    Ok(used)
}

/// The beginning of a string inside a JSON text, by its path.
fn text_of(json: impl BufRead, keep: Keep, path: &[&str]) -> Result<Option<String>, ReadError> {
    fn read<R: Read>(cursor: &mut Cursor<R>, path: &[&str]) -> Result<Option<String>, ReadError> {
        match path.split_first() {
            Some((name, deeper)) => stored_json::member(cursor, name, |cursor| read(cursor, deeper)),
            None => cursor.text(VALUE_CHARS),
        }
    }
    read(&mut Cursor::over(PrunedReader::new(json, Pruner::new(keep, 0..0))), path)
}
