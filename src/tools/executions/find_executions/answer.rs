//! The answer about executions that were found, within its budget.

use serde::Serialize;
use serde_json::value::RawValue;

use super::page::FindPage;
use super::{Found, FoundExecution, NotSearched};
use crate::budget::Ladder;
use crate::json::{CUT_NAME_CHARS, cut_name, shorten, shorten_name};
use crate::toolkit::Locale;
use crate::toolkit::answer::{is_zero, json, success};
use crate::units::counted;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Data<'a> {
    executions: Vec<Row<'a>>,
    searched: Searched<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_searched: Option<ShownNotSearched>,
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
struct ShownNotSearched {
    #[serde(skip_serializing_if = "is_zero")]
    redacted: u64,
    #[serde(skip_serializing_if = "is_zero")]
    unreadable: u64,
    #[serde(skip_serializing_if = "is_zero")]
    too_large_items: u64,
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
    fn of(FoundExecution { listed, hits, first }: &'a FoundExecution, chars: usize) -> Self {
        let name = listed.workflow_name.clone().map(cut_name);
        let value = first.value.as_deref().map(|value| {
            let is_short = value.chars().count() <= chars;
            // Clipped JSON is shown as text.
            let text = || {
                serde_json::Value::from(shorten(
                    serde_json::from_str::<String>(value).as_deref().unwrap_or(value),
                    chars,
                ))
            };
            if is_short { json(value) } else { json(&text().to_string()) }
        });
        Self {
            id: listed.row.id(),
            workflow_name: name.map(|name| shorten_name(&name, chars)),
            status: listed.row.status(),
            started_at: listed.row.started_at(),
            hits: *hits,
            node_name: shorten_name(&first.node, chars),
            path: shorten(&first.path, chars),
            value,
        }
    }
}

impl NotSearched {
    fn shown(self) -> Option<ShownNotSearched> {
        let Self { redacted, unreadable, too_large_items } = self;
        (redacted + unreadable + too_large_items > 0).then_some(ShownNotSearched {
            redacted,
            unreadable,
            too_large_items,
        })
    }
}

/// How much is shown: so many executions, with so many characters of each text.
#[derive(Clone, Copy)]
struct FindLimits {
    executions: usize,
    chars: usize,
}

/// The answer as it is sent. If not all executions fit, its cursor continues after the last one that does.
pub(super) fn compose(found: &Found, page: &FindPage, max_tokens: usize, locale: Locale) -> String {
    let count = found.executions.len();
    let searched = counted(found.searched as usize, "execution", "executions");
    let message = match count {
        0 => format!("Found in none of {searched}"),
        count => format!("Found in {count} of {searched}"),
    };
    let japanese = format!("{} 件中 {count} 件で見つかりました", found.searched);
    let message = locale.choose(&japanese, &message);
    let write = |limits: FindLimits| {
        let shown = &found.executions[..limits.executions];
        let last = match shown.len() == count {
            true => found.last,
            false => shown.last().and_then(|last| last.listed.row.id().parse().ok()),
        };
        let data = Data {
            executions: shown.iter().map(|found| Row::of(found, limits.chars)).collect(),
            searched: Searched { executions: found.searched, from: found.from.as_deref(), to: found.to.as_deref() },
            not_searched: found.not_searched.shown(),
            next_cursor: last.map(|last| page.continued(last)),
            guidance: shown.first().map(|first| {
                format!("search_execution(id: '{}'{}) shows every place.", first.listed.row.id(), page.of_search())
            }),
        };
        success(message, &data)
    };
    let ladder = Ladder::new(FindLimits { executions: count, chars: CUT_NAME_CHARS })
        .shorter(|limits| &mut limits.chars, |chars| chars / 2, 50)
        .fewer(|limits| &mut limits.executions, |executions| executions * 7 / 8, 1)
        .shorter(|limits| &mut limits.chars, |chars| chars / 2, 12);
    ladder.largest_that_fits(max_tokens, write).answer
}
