//! `list_workflows`: the workflows of an n8n, in pages.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::MAX_RAW_TOKENS;
use crate::budget::{self, Entry};
use crate::json::{CUT_NAME_CHARS, Excerpt, shorten};
use crate::n8n::{Progress, WorkflowQuery};
use crate::toolkit::answer::{self, DEFAULT_TOKENS, Success, Truncated, paged};
use crate::toolkit::cursor::{self, CURSOR, LIMIT, Limit};
use crate::toolkit::{Effect, Flag, IntegerOr, Text, Texts, arguments};
use crate::tools::{Context, Error, Handler, Tool, ToolCall};
use crate::workflow::outline::{Outline, OutlinePage, OutlinePageProjection};

/// n8n counts in floating-point numbers, and its database fails above this.
const MAX_OFFSET: u64 = 1 << 53;

/// The tool.
pub static TOOL: Tool = Tool {
    name: "list_workflows",
    title: "List workflows",
    description: "List n8n workflows: id, name and whether active. Pass nextCursor back to continue.",
    parameters: ListWorkflows::PARAMETERS,
    effect: Effect::Read,
    handler: Handler::of::<ListWorkflows>().with_large_answers(),
};

arguments! {
    struct ListWorkflows {
        active: Option<Flag> = "Only active (or only inactive) ones.",
        tags: Option<Texts> = "Only those with these tags, by name (n8n 2: all of them; n8n 1: any).",
        name: Option<Text> = "Only those whose name contains this; % and _ are wildcards.",
        limit: Limit = LIMIT,
        offset: IntegerOr<0, 0, MAX_OFFSET> = "Skip this many.",
        cursor: Option<Text> = CURSOR,
        raw: Option<Flag> = "Also tags, times and number of nodes.",
    }
}

impl ToolCall for ListWorkflows {
    async fn run(self, context: Arc<Context>, progress: Progress) -> Result<String, Error> {
        let page = PageRequest::new(self)?;
        let list = context.n8n()?.read_workflows(&page.query(), &OutlinePageProjection, &progress).await??;
        let Some(list) = list else {
            return Err(Error::FailedPrecondition(
                "n8n's response contains no list of workflows. Check N8N_URL.".to_owned(),
            ));
        };
        let message = context.locale.choose("ワークフロー一覧を取得しました", "Workflows retrieved");
        Ok(answer(message, &list, &page))
    }
}

/// A page of the list, as n8n-lens's own cursor encodes it; unset fields are left out to keep the cursor short.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PageRequest {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    active: Option<bool>,
    /// Separated by commas.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    tags: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    limit: u64,
    offset: u64,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    raw: bool,
}

impl PageRequest {
    fn new(asked: ListWorkflows) -> Result<Self, Error> {
        let ListWorkflows { active, tags, name, limit, offset, cursor, raw } = asked;
        match cursor {
            Some(cursor) => {
                let page = cursor::decode::<Self>(&cursor)?.checked()?;
                let tags = tags.map(|tags| joined(&tags)).transpose()?;
                let is_other = active.is_some_and(|active| page.active != Some(active))
                    || tags.is_some_and(|tags| page.tags != tags)
                    || name.is_some_and(|name| page.name != Some(name))
                    || raw.is_some_and(|raw| page.raw != raw)
                    || offset > 0;
                if is_other {
                    return Err(Error::argument(
                        "cursor",
                        "already says which workflows are listed. Pass it without other arguments.",
                    ));
                }
                Ok(page)
            }
            None => {
                let tags = joined(&tags.unwrap_or_default())?;
                Self { active, tags, name, limit, offset, raw: raw.unwrap_or(false) }.checked()
            }
        }
    }

    /// Checks the numbers, since the cursor can come from anywhere.
    fn checked(self) -> Result<Self, Error> {
        if !cursor::LIMITS.contains(&self.limit) || self.offset > MAX_OFFSET {
            return Err(cursor::refused().into());
        }
        Ok(self)
    }

    fn query(&self) -> WorkflowQuery {
        WorkflowQuery {
            active: self.active,
            tags: self.tags.split(',').filter(|tag| !tag.is_empty()).map(str::to_owned).collect(),
            name: self.name.clone(),
            limit: self.limit,
            offset: self.offset,
        }
    }

    /// The cursor of the page after the first `shown` workflows of this one.
    fn after(&self, shown: usize) -> String {
        cursor::encode(&Self { offset: self.offset.saturating_add(shown as u64), ..self.clone() })
    }
}

/// Tags as n8n accepts them, which splits them at commas.
fn joined(tags: &[String]) -> Result<String, Error> {
    match tags.iter().find(|tag| tag.contains(',') || tag.trim().is_empty()) {
        Some(tag) => {
            let tag = shorten(tag, CUT_NAME_CHARS);
            let problem = format!("holds '{tag}'; a tag must not be empty or contain a comma, at which n8n splits.");
            Err(Error::argument("tags", problem))
        }
        None => Ok(tags.join(",")),
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WorkflowPage {
    count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    truncated: Option<Truncated>,
    workflows: Box<RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// The answer: if not all workflows fit, the cursor continues after the last one that does.
fn answer(message: &str, list: &OutlinePage, page: &PageRequest) -> String {
    let entries: Vec<_> = list.workflows.iter().map(|workflow| entry(workflow, page.raw)).collect();
    let write = |shown: &budget::Page| {
        let more = list.more || shown.shown < list.workflows.len();
        let next_cursor = more.then(|| page.after(shown.shown));
        let workflows = answer::json(&format!("[{}]", shown.text));
        if page.raw {
            let answer = Success::new(message, &workflows).truncated(truncated(shown, page));
            return answer.next_cursor(next_cursor).text();
        }
        answer::success(
            message,
            &WorkflowPage { count: shown.shown, truncated: truncated(shown, page), workflows, next_cursor },
        )
    };
    paged(&entries, if page.raw { MAX_RAW_TOKENS } else { DEFAULT_TOKENS }, write).text
}

fn truncated(shown: &budget::Page, page: &PageRequest) -> Option<Truncated> {
    let (reason, clipped_values) = if shown.clipped > 0 {
        ("names or tags are clipped; get_workflow shows one workflow".to_owned(), Some(shown.clipped))
    } else if shown.shown == 0 && page.offset > 0 {
        (format!("offset {} is beyond the last workflow", page.offset), None)
    } else {
        return None;
    };
    Some(Truncated { reason, next_offset: None, clipped_values })
}

fn entry(workflow: &Outline, raw: bool) -> Entry {
    let text = |text: &str| Excerpt::from(text);
    let mut members = vec![
        ("id", text(&workflow.id)),
        ("name", text(&workflow.name)),
        ("active", Excerpt::Scalar(workflow.active.to_string())),
    ];
    if raw {
        let date = |date: &Option<String>| date.as_deref().map_or_else(Excerpt::null, text);
        members.extend([
            ("tags", workflow.tags.clone().unwrap_or_else(|| Excerpt::array([]))),
            ("createdAt", date(&workflow.created_at)),
            ("updatedAt", date(&workflow.updated_at)),
            ("nodeCount", Excerpt::Scalar(workflow.nodes.to_string())),
        ]);
    }
    Entry { value: Excerpt::object(members), tag: None }
}
