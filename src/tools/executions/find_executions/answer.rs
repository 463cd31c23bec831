//! The answer about executions that were found, within its budget.

use serde::Serialize;
use serde_json::value::RawValue;

use super::page::FindPage;
use super::{Found, FoundExecution, NotSearched};
use crate::budget::Ladder;
use crate::json::{CUT_NAME_CHARS, cut_name, shorten, shorten_name};
use crate::toolkit::Locale;
use crate::toolkit::answer::{clipped_json, success};
use crate::units::counted;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FoundExecutions<'a> {
    executions: Vec<Row<'a>>,
    searched: Searched<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_searched: Option<NotSearched>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    #[serde(rename = "_guidance", skip_serializing_if = "Option::is_none")]
    guidance: Option<String>,
}

#[derive(Serialize)]
struct Searched<'a> {
    executions: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Row<'a> {
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    workflow_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    started_at: Option<&'a str>,
    hits: u64,
    node_name: String,
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Box<RawValue>>,
}

impl<'a> Row<'a> {
    fn of(found: &'a FoundExecution, chars: usize) -> Self {
        let name = found.workflow_name.clone().map(cut_name);
        Self {
            id: &found.id,
            workflow_name: name.map(|name| shorten_name(&name, chars)),
            status: found.status.as_deref(),
            started_at: found.started_at.as_deref(),
            hits: found.hits,
            node_name: shorten_name(&found.first.node, chars),
            path: shorten(&found.first.path, chars),
            value: found.first.value.as_deref().map(|value| clipped_json(value, chars)),
        }
    }
}

/// How much is shown: the number of executions, and of characters of each text.
#[derive(Clone, Copy)]
struct FindLimits {
    executions: usize,
    chars: usize,
}

/// The answer as it is sent. `None` if not all executions fit: those that do not are dropped, so that the answer is about the
/// others, and its cursor continues after them.
pub(super) fn compose(found: &mut Found, page: &FindPage, max_tokens: usize, locale: Locale) -> Option<String> {
    let (answer, shown) = fitting(found, page, max_tokens, locale);
    if shown == found.executions.len() {
        return Some(answer);
    }
    found.cut(shown);
    None
}

/// The answer, and how many executions fit in it.
fn fitting(found: &Found, page: &FindPage, max_tokens: usize, locale: Locale) -> (String, usize) {
    let Found { range, .. } = found;
    let count = found.executions.len();
    let searched = counted(range.searched as usize, "execution", "executions");
    let message = match count {
        0 => format!("Found in none of {searched}"),
        count => format!("Found in {count} of {searched}"),
    };
    let japanese = format!("{} 件中 {count} 件で見つかりました", range.searched);
    let message = locale.choose(&japanese, &message);
    let write = |limits: FindLimits| {
        let shown = &found.executions[..limits.executions];
        let data = FoundExecutions {
            executions: shown.iter().map(|found| Row::of(found, limits.chars)).collect(),
            searched: Searched { executions: range.searched, from: range.from.as_deref(), to: range.to.as_deref() },
            not_searched: Some(range.not_searched).filter(|not_searched| *not_searched != NotSearched::default()),
            // One that continues is about as long whatever it continues after.
            next_cursor: match shown.len() == count {
                true => found.last.as_deref(),
                false => shown.last().map(|last| &*last.id),
            }
            .map(|last| page.continued(last)),
            guidance: guidance(found, page),
        };
        success(message, &data)
    };
    let ladder = Ladder::new(FindLimits { executions: count, chars: CUT_NAME_CHARS })
        .shorter(|limits| &mut limits.chars, |chars| chars / 2, 50)
        .fewer(|limits| &mut limits.executions, |executions| executions * 7 / 8, 1)
        .shorter(|limits| &mut limits.chars, |chars| chars / 2, 12);
    let fitting = ladder.largest_that_fits(max_tokens, write);
    (fitting.answer, fitting.size.executions)
}

/// The call that shows more of the results; if only a few executions were read, how to read more.
fn guidance(found: &Found, page: &FindPage) -> Option<String> {
    let every = found
        .executions
        .first()
        .map(|first| format!("search_execution(id: '{}'{}) shows every place.", first.id, page.of_search()));
    let more = found.last.as_ref().filter(|_| found.is_bounded).map(|_| {
        let why = match found.is_rate_low {
            true => "n8n has almost reached its limit of requests".to_owned(),
            false => {
                format!(
                    "this call read the newest {}",
                    counted(found.range.searched as usize, "execution", "executions")
                )
            }
        };
        format!(
            "Not all executions were searched: {why}. Pass nextCursor, or start n8n-lens with --store to search all."
        )
    });
    let both: Vec<_> = every.into_iter().chain(more).collect();
    (!both.is_empty()).then(|| both.join(" "))
}
