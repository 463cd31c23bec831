//! Writing a workflow: keys that n8n does not accept are left out and reported, or refused by name.

use serde::Serialize;
use serde_json::{Map, Value};

use super::{Outcome, Publishing, raw};
use crate::blocking::blocking;
use crate::json::{Projection, cut_name, is_clipped, shorten};
use crate::n8n::{self, Progress};
use crate::toolkit::answer::success;
use crate::toolkit::{Locale, nearest};
use crate::tools::{Context, Error};
use crate::workflow::outline::{Outline, OutlineProjection};
use crate::workflow::raw::{RawProjection, RawWorkflow};
use crate::workflow::{self, Accepted, Change, Document, N8N_1, N8N_2, PublishedVersion};

/// The workflow to write.
pub(in crate::tools) enum Target<'a> {
    /// A new one.
    New,
    /// The one with this id.
    Existing { id: &'a str, publishing: Publishing },
}

/// A workflow that is about to be written.
pub(in crate::tools) struct Writing<'a> {
    pub context: &'a Context,
    pub target: Target<'a>,
    pub document: Document,
    /// What the caller wrote itself: a key in it that n8n does not know is a mistake, and refused. Files and
    /// n8n's own workflows can hold keys of other versions, which are left out.
    pub given: Map<String, Value>,
    pub progress: &'a Progress,
    /// Whether the answer is n8n's own object.
    pub raw: bool,
}

/// A workflow as n8n stored it.
pub(in crate::tools) struct Written {
    made: Made,
    /// What the change did to production.
    pub outcome: Outcome,
    /// Names of keys that were not sent.
    pub left_out: Vec<String>,
}

enum Made {
    Outline(Outline),
    Raw(RawWorkflow),
}

/// How the editor writes a setting that is not set. n8n refuses both.
const UNSET: [&str; 2] = ["null", "\"DEFAULT\""];

#[derive(Serialize)]
struct ChangedWorkflow<'a> {
    id: &'a str,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    active: Option<bool>,
}

impl Writing<'_> {
    /// Sends the workflow, if necessary a second time without the keys that this n8n refused.
    ///
    /// # Errors
    /// [`Error::Argument`] if it is not a workflow, or if the caller gave a key that n8n does not know;
    /// [`Error::N8n`] if n8n refuses it or does not confirm it.
    pub(in crate::tools) async fn send(mut self) -> Result<Written, Error> {
        if serde_json::to_string(&self.given).is_ok_and(|given| is_clipped(&given)) {
            return Err(Error::arguments(
                "These arguments are from a clipped answer and not complete. Change parts of the workflow with edit_workflow.",
            ));
        }
        let change = match self.target {
            Target::New => Change::Create,
            Target::Existing { .. } => Change::Replace,
        };
        let mut left_out = self.document.tidy(change).map_err(unusable)?;
        left_out.extend(unset(&self.given));
        let refusal = match self.try_send().await {
            Ok(made) => return Ok(self.written(made, left_out)),
            Err(Error::N8n(refusal)) => refusal,
            Err(error) => return Err(error),
        };
        // n8n checks a body before it does anything, so this refusal changed nothing.
        let Some(accepted) = unknown_keys(&refusal) else {
            return Err(refusal.into());
        };
        let narrowed = self.document.narrow(accepted).map_err(unusable)?;
        if let Some(mistake) = narrowed.iter().find(|name| wrote(&self.given, name)) {
            return Err(Error::arguments(unknown_key(mistake, accepted)));
        }
        if narrowed.is_empty() {
            return Err(refusal.into());
        }
        left_out.extend(narrowed);
        Ok(self.written(self.try_send().await?, left_out))
    }

    fn written(&self, made: Made, left_out: Vec<String>) -> Written {
        let outcome = match self.target {
            Target::New => Outcome::Inactive,
            Target::Existing { publishing, .. } => publishing.outcome(made.published()),
        };
        Written { made, outcome, left_out }
    }

    async fn try_send(&self) -> Result<Made, Error> {
        let made = if self.raw {
            self.write(&RawProjection.map(|read| read.map(|raw| raw.map(Made::Raw)))).await?
        } else {
            self.write(&OutlineProjection.map(|read| read.map(|outline| outline.map(Made::Outline)))).await?
        };
        let unsure = |cause: String| n8n::Error::Unsure { status: None, cause };
        let made = made.map_err(|error| unsure(error.to_string()))?;
        Ok(made.ok_or_else(|| unsure("its response contains no workflow".to_owned()))?)
    }

    async fn write<P: Projection>(&self, projection: &P) -> Result<P::View, Error> {
        let (n8n, body) = (self.context.n8n()?, self.document.text());
        match &self.target {
            Target::New => Ok(n8n.create_workflow(body, projection, self.progress).await?),
            Target::Existing { id, publishing } => {
                let as_draft = publishing.saves_draft();
                let replaced = n8n.replace_workflow(id, body, as_draft, projection, self.progress).await;
                replaced.map_err(|error| match error {
                    n8n::Error::NoDrafts => publishing.refused(),
                    error => error.into(),
                })
            }
        }
    }
}

impl Made {
    fn published(&self) -> PublishedVersion {
        match self {
            Self::Outline(outline) => outline.published,
            Self::Raw(raw) => raw.published(),
        }
    }
}

impl Written {
    /// The id that n8n assigned; empty if n8n's own object was requested.
    pub(in crate::tools) fn id(&self) -> &str {
        match &self.made {
            Made::Outline(outline) => &outline.id,
            Made::Raw(_) => "",
        }
    }

    /// n8n's id of the new version; `None` if n8n's own object was requested.
    pub(in crate::tools) fn version(&self) -> Option<&str> {
        match &self.made {
            Made::Outline(outline) => outline.version.as_deref(),
            Made::Raw(_) => None,
        }
    }

    /// The settings that n8n has; empty if its own object was requested, which shows them.
    pub(super) fn settings(&self) -> &[String] {
        match &self.made {
            Made::Outline(outline) => &outline.settings,
            Made::Raw(_) => &[],
        }
    }

    /// The answer: n8n's own object, or the id, the name and, if requested, whether the workflow is active.
    pub(super) fn answer(&self, message: &str, shows_active: bool) -> String {
        match &self.made {
            Made::Raw(workflow) => raw::answer(message, workflow),
            Made::Outline(outline) => {
                let active = shows_active.then_some(outline.active);
                success(message, &ChangedWorkflow { id: &outline.id, name: &outline.name, active })
            }
        }
    }
}

/// A message with the names of keys that were not sent.
pub(super) fn message(locale: Locale, ja: &str, en: &str, left_out: &[String]) -> String {
    const NAMES: usize = 20;
    let message = locale.choose(ja, en);
    if left_out.is_empty() {
        return message.to_owned();
    }
    let more = if left_out.len() > NAMES { ", …" } else { "" };
    let names = left_out.iter().take(NAMES).map(|name| cut_name(name.clone()));
    let names = names.collect::<Vec<_>>().join(", ") + more;
    match locale {
        Locale::Ja => format!("{message}（送信しなかった項目: {names}）"),
        Locale::En => format!("{message} (not sent: {names})"),
    }
}

/// Settings that the caller wants unset, which n8n's API cannot do.
fn unset(given: &Map<String, Value>) -> Vec<String> {
    let settings = given.get("settings").and_then(Value::as_object).into_iter().flatten();
    let unset = settings.filter(|(name, value)| UNSET.contains(&value.to_string().as_str()) && *name != "timezone");
    unset.map(|(name, _)| format!("settings.{name}")).collect()
}

/// Whether the caller itself wrote a key that n8n does not know.
fn wrote(given: &Map<String, Value>, name: &str) -> bool {
    match name.split_once('.') {
        Some(("settings", key)) => given.get("settings").is_some_and(|settings| settings.get(key).is_some()),
        Some(_) => given.contains_key("nodes"),
        None => given.contains_key(name),
    }
}

/// The keys that this n8n accepts, if it refused a body because of others.
fn unknown_keys(refusal: &n8n::Error) -> Option<&'static Accepted> {
    let n8n::Error::Refused { status: 400, message } = refusal else {
        return None;
    };
    if message.contains("Unrecognized key") {
        Some(&N8N_2)
    } else if message.contains("must NOT have additional properties") {
        Some(&N8N_1)
    } else {
        None
    }
}

fn unknown_key(name: &str, accepted: &Accepted) -> String {
    let (known, key) = match name.split_once('.') {
        Some(("settings", key)) => (accepted.settings, key),
        Some((_, key)) => (accepted.node, key),
        None => (accepted.workflow, name),
    };
    let known: Vec<_> = known.iter().map(|key| (*key).to_owned()).collect();
    let shown = cut_name(name.to_owned());
    format!("This n8n does not know the key '{shown}'. {}", nearest("Keys", key, &known))
}

/// Reads a workflow file and checks it.
///
/// # Errors
/// [`Error::File`] if the file cannot be read, [`Error::Argument`] if it does not hold a workflow.
pub(super) async fn read_file(context: &Context, path: String) -> Result<Document, Error> {
    let files = context.files.clone();
    blocking(move || {
        let text = files.read(&path)?;
        let path = shorten(&path, 300);
        let document = Document::parse(&text).and_then(|document| document.check().map(|()| document));
        let document = document.map_err(|error| refused(&format!("File '{path}' cannot be used"), &error))?;
        if is_clipped(&document.text()) {
            return Err(Error::arguments(format!(
                "File '{path}' holds a clipped answer, which is not complete. Save the workflow with workflow_save."
            )));
        }
        Ok(document)
    })
    .await
}

/// The members of a workflow that a call has.
pub(in crate::tools) fn members<const N: usize>(given: [(&str, Option<Value>); N]) -> Map<String, Value> {
    given.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// The names of members of a call that n8n does not accept.
pub(super) fn not_sent(active: Option<bool>, tags: Option<Vec<Value>>, others: Vec<String>) -> Vec<String> {
    let named = [("active", active.is_some()), ("tags", tags.is_some())];
    let named = named.into_iter().filter(|(_, is_given)| *is_given).map(|(name, _)| name.to_owned());
    named.chain(others).collect()
}

/// Makes a workflow from arguments and checks it.
///
/// # Errors
/// [`Error::Argument`], which names the field that is wrong.
pub(super) fn of_arguments(members: &Map<String, Value>) -> Result<Document, Error> {
    let document = Document::of(members).and_then(|document| document.check().map(|()| document));
    document.map_err(|error| refused("These arguments cannot be used", &error))
}

fn unusable(error: workflow::Error) -> Error {
    refused("This workflow cannot be used", &error)
}

/// The reason why a workflow is not written.
pub(super) fn refused(what: &str, error: &workflow::Error) -> Error {
    Error::arguments(format!("{what}: {error}."))
}
