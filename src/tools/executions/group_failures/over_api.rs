//! Grouping failures through n8n's API: the newest few.

use futures::StreamExt;
use jiff::Timestamp;
use serde_json::Value;

use super::super::listed::text;
use super::super::walk_over_api::{Fetched, walk};
use super::groups::{Failed, Group, Groups, Whose};
use super::{Found, GroupFailures};
use crate::execution::summary::{Summary, SummaryProjection};
use crate::execution::{self, HeaderProjection};
use crate::n8n::{Client, ListCursor, ListQuery};
use crate::tools::Error;

/// How many good executions are examined after the last failure of a group, and before the first: n8n lists no more at once.
const MAX_LISTED: u64 = 250;
const MAX_BEFORE: u64 = 20;

/// How many groups look for their good executions at the same time.
const AT_ONCE: usize = 2;

/// Groups the newest failures, as many as one call may request.
pub(super) async fn find(n8n: &Client, asked: &GroupFailures) -> Result<Found, Error> {
    let (mut found, mut groups, mut is_over) = (Found::default(), Groups::default(), false);
    found.is_bounded = true;
    // The oldest versions of n8n do not support `startedAfter`.
    let after: Option<Timestamp> = asked.started_after().parse().ok();
    let query = ListQuery {
        workflow_id: asked.workflow_id.clone(),
        // n8n lists one status at a time; a crashed execution has no error to group by.
        status: Some("error".to_owned()),
        started_before: asked.started_before.clone(),
        ..ListQuery::default()
    };
    let mut last_at = None;
    let take = |listed: &Value, fetched: Fetched<Result<Summary, execution::Error>>| {
        let at = text(listed, "startedAt");
        let started: Option<Timestamp> = at.as_deref().and_then(|at| at.parse().ok());
        is_over = started.zip(after).is_some_and(|(started, after)| started < after);
        if is_over {
            return false;
        }
        last_at = at;
        let summary = match fetched {
            Fetched::TooLarge => {
                found.too_large += 1;
                return true;
            }
            Fetched::Deleted => return true,
            Fetched::Read(summary) => summary.ok(),
            Fetched::Unreadable => None,
        };
        let error = summary.as_ref().and_then(|summary| summary.error.as_ref());
        if asked.is_about(error) {
            found.failures += 1;
            let version = summary.as_ref().and_then(|summary| summary.header.workflow_version.clone());
            let name = summary.as_ref().and_then(|summary| summary.workflow_name.clone());
            let whose = Whose { workflow_id: text(listed, "workflowId").unwrap_or_default(), workflow_name: name };
            groups.add(whose, failed(listed, version), error);
        }
        true
    };
    let walked = walk(n8n, query, &SummaryProjection, take).await?;
    found.not_examined = last_at.filter(|_| walked.last.is_some() && !is_over);
    found.is_rate_low = walked.is_rate_low;
    let (mut groups, total) = groups.finish(asked.limit);
    let around: Vec<_> = groups.iter_mut().map(|group| look_around(n8n, group)).collect();
    let results: Vec<_> = futures::stream::iter(around).buffered(AT_ONCE).collect().await;
    results.into_iter().collect::<Result<(), Error>>()?;
    (found.groups, found.total) = (groups, total);
    Ok(found)
}

fn failed(listed: &Value, version: Option<String>) -> Failed {
    let is_manual = listed["mode"] == "manual";
    Failed { id: text(listed, "id").unwrap_or_default(), at: text(listed, "startedAt"), version, is_manual }
}

/// Lists the good executions before and after. Manual ones, whose data may be pinned, say nothing about others.
async fn look_around(n8n: &Client, group: &mut Group) -> Result<(), Error> {
    let good = |cursor: Option<String>, limit| ListQuery {
        workflow_id: Some(group.key.workflow_id.clone()),
        status: Some("success".to_owned()),
        cursor: cursor.map(ListCursor::After),
        limit,
        ..ListQuery::default()
    };
    let counts = |failed: &Failed, good: &Value| failed.is_manual || good["mode"] != "manual";
    let before = n8n.list_executions(&good(Some(group.first.id.clone()), MAX_BEFORE)).await?;
    let good_before = before.data.iter().find(|good| counts(&group.first, good)).map(|good| failed(good, None));
    let after = n8n.list_executions(&good(None, MAX_LISTED)).await?;
    let last = group.last.number();
    let is_after = |good: &&Value| text(good, "id").and_then(|id| id.parse::<i64>().ok()) > last;
    let after = after.data.iter().take_while(is_after).filter(|good| counts(&group.last, good)).count();
    group.good_after = after as u64;
    group.good_before = match good_before {
        Some(good) => {
            let header = n8n.read_metadata(&good.id, &HeaderProjection).await;
            let version = header.ok().and_then(Result::ok).and_then(|header| header.workflow_version);
            Some(Failed { version, ..good })
        }
        None => None,
    };
    Ok(())
}
