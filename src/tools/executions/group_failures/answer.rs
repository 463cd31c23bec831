//! The answer about groups within its budget.

use jiff::Timestamp;
use serde::Serialize;

use super::super::not_read::NotRead;
use super::groups::{Failed, Group};
use super::{Found, Span};
use crate::budget::Ladder;
use crate::json::{CUT_NAME_CHARS, Prefix, shorten, shorten_name};
use crate::toolkit::Locale;
use crate::toolkit::answer::{is_zero, success};
use crate::tools::executions::listed::{minute, short_version};
use crate::units::counted;

/// Characters shown of the texts of an error.
const MESSAGE_CHARS: usize = 160;
const DESCRIPTION_CHARS: usize = 120;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FailureGroups<'a> {
    groups: Vec<Row<'a>>,
    #[serde(skip_serializing_if = "is_zero")]
    more_groups: u64,
    failures: u64,
    #[serde(skip_serializing_if = "is_zero")]
    canceled: u64,
    #[serde(skip_serializing_if = "is_zero")]
    too_large: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_read: Option<NotRead>,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_examined: Option<NotExamined<'a>>,
    #[serde(rename = "_guidance", skip_serializing_if = "Option::is_none")]
    guidance: Option<String>,
}

/// Failures that were not examined: they started at this time or earlier.
#[derive(Serialize)]
struct NotExamined<'a> {
    before: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Row<'a> {
    workflow_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    workflow: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(skip_serializing_if = "is_one")]
    variants: usize,
    count: u64,
    first: Shown<'a>,
    last: Shown<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    good_before: Option<Shown<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    edited: Option<[String; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    good_after: Option<u64>,
}

#[derive(Serialize)]
struct Shown<'a> {
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<String>,
}

fn is_one(number: &usize) -> bool {
    *number == 1
}

impl<'a> Shown<'a> {
    fn of(failed: &'a Failed) -> Self {
        Self { id: &failed.id, at: failed.at.as_deref().map(minute) }
    }
}

impl<'a> Row<'a> {
    fn of(group: &'a Group, part: usize) -> Self {
        let text = |text: &Prefix, chars: usize| text.cut(chars / part).0.into_owned();
        let name = |name: &String| shorten_name(name, CUT_NAME_CHARS / part);
        let error = [group.key.name.as_deref(), group.key.http_code.as_deref()];
        let error = error.into_iter().flatten().collect::<Vec<_>>().join(" ");
        Self {
            workflow_id: &group.key.workflow_id,
            workflow: group.workflow_name.as_ref().map(name),
            node: group.key.node.as_ref().map(name),
            error: (!error.is_empty()).then(|| shorten(&error, MESSAGE_CHARS / part)),
            message: text(&group.message, MESSAGE_CHARS),
            description: group.description.as_ref().map(|description| text(description, DESCRIPTION_CHARS)),
            variants: group.variants(),
            count: group.count,
            first: Shown::of(&group.first),
            last: Shown::of(&group.last),
            good_before: group.good_before.as_ref().map(Shown::of),
            edited: group.edited().map(|both| both.map(short_version)),
            good_after: group.good_after,
        }
    }
}

/// How much is shown: the number of groups, and the fraction of each text's length.
#[derive(Clone, Copy)]
struct GroupLimits {
    groups: usize,
    part: usize,
}

/// What was found, and in which time span.
fn message(found: &Found, span: Span, locale: Locale) -> String {
    let shown = |at: Timestamp| at.strftime("%Y-%m-%d %H:%M UTC").to_string();
    let (begin, end) = (shown(span.begin), span.end.map(shown));
    let until = end.as_ref().map(|end| format!(" until {end}")).unwrap_or_default();
    let from = end.map_or_else(|| format!("{begin} 以降の"), |end| format!("{begin} から {end} までの"));
    let failures = counted(found.failures as usize, "failure", "failures");
    let (japanese, english) = match found.total {
        0 if found.too_large > 0 || found.not_read.any().is_some() => {
            (format!("{from}失敗で読めたものはありません"), "No failure could be read".to_owned())
        }
        0 => (format!("{from}失敗はありません"), "No failures".to_owned()),
        total => (
            format!("{from}失敗を {total} グループにまとめました"),
            format!("{failures} in {}", counted(total, "group", "groups")),
        ),
    };
    locale.choose(&japanese, &format!("{english} since {begin}{until}")).to_owned()
}

/// The answer as it is sent: as many groups as fit.
pub(super) fn compose(found: &Found, span: Span, max_tokens: usize, locale: Locale) -> String {
    let message = message(found, span, locale);
    let write = |limits: GroupLimits| {
        let shown = &found.groups[..limits.groups.min(found.groups.len())];
        let data = FailureGroups {
            groups: shown.iter().map(|group| Row::of(group, limits.part)).collect(),
            more_groups: (found.total - shown.len()) as u64,
            failures: found.failures,
            canceled: found.canceled,
            too_large: found.too_large,
            not_read: found.not_read.any(),
            not_examined: found.not_examined.as_deref().map(|before| NotExamined { before }),
            guidance: guidance(shown, found),
        };
        success(&message, &data)
    };
    let most = GroupLimits { groups: found.groups.len(), part: 1 };
    let ladder = Ladder::new(most)
        .fewer(|limits| &mut limits.groups, |groups| groups - 1, 1)
        .shorter(|limits| &mut limits.part, |part| part * 2, 16)
        .fewer(|limits| &mut limits.groups, |groups| groups - 1, 0);
    ladder.largest_that_fits(max_tokens, write).answer
}

/// The comparison that shows most: of the first failure after an edit, else of the largest group; and why n8n was not
/// asked for more.
fn guidance(groups: &[Group], found: &Found) -> Option<String> {
    let with_good = || groups.iter().filter(|group| group.good_before.is_some());
    let group = with_good().find(|group| group.edited().is_some()).or_else(|| with_good().next());
    let compared = group.and_then(|group| {
        let good = group.good_before.as_ref()?;
        let (first, good) = (&group.first.id, &good.id);
        Some(format!("compare_executions(id: '{first}', with: '{good}') shows what differed when it began."))
    });
    let why = match found.is_rate_low {
        true => "n8n has almost reached its limit of requests",
        false => "one call reads the newest 50 over n8n's API",
    };
    let bounded = found.not_examined.as_ref().filter(|_| found.is_bounded).map(|before| {
        format!(
            "Older failures were not examined: {why}. Pass startedBefore: '{before}', or start n8n-lens with --store."
        )
    });
    let partial = found.is_partial.then(|| {
        "This call got no more from n8n: goodBefore, goodAfter and edited can be missing. n8n-lens with --store has them."
            .to_owned()
    });
    let unfit = (groups.is_empty() && found.total > 0)
        .then(|| "No group fits the budget of tokens: a larger maxTokens shows them.".to_owned());
    let all: Vec<_> = compared.into_iter().chain(bounded).chain(partial).chain(unfit).collect();
    (!all.is_empty()).then(|| all.join(" "))
}
