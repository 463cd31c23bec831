//! Grouping failures through n8n's API: the newest few.

use std::collections::HashMap;

use jiff::Timestamp;
use serde_json::Value;
use tokio::time::timeout_at;

use super::super::listed::text;
use super::super::walk_over_api::{Fetched, Limited, walk};
use super::groups::{Failed, Group, Groups, Whose};
use super::{Found, GroupFailures, Span};
use crate::execution::summary::{Summary, SummaryProjection};
use crate::execution::{self, HeaderProjection};
use crate::n8n::{Client, ListCursor, ListQuery, Listing};
use crate::store::Unread;
use crate::tools::Error;

/// How many good executions are examined after the last failure of a group, and before the first: n8n lists no more at once.
const MAX_LISTED: u64 = 250;
const MAX_BEFORE: u64 = 20;

/// Groups the newest failures, as many as one call may request.
pub(super) async fn find(n8n: &Client, asked: &GroupFailures, span: Span) -> Result<Found, Error> {
    let (mut found, mut groups, mut is_over) = (Found::default(), Groups::default(), false);
    found.is_bounded = true;
    // The oldest versions of n8n do not support `startedAfter`.
    let after = span.begin;
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
        is_over = started.is_some_and(|started| started < after);
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
            Fetched::Read(Ok(summary)) => summary,
            Fetched::Read(Err(_)) | Fetched::Unreadable => {
                found.not_read.add(Unread::Unreadable);
                return true;
            }
        };
        let error = summary.error.as_ref();
        if asked.is_about(error) {
            found.failures += 1;
            let version = summary.header.workflow_version.clone();
            let workflow_name = summary.workflow_name.clone();
            let whose = Whose { workflow_id: text(listed, "workflowId").unwrap_or_default(), workflow_name };
            groups.add(whose, failed(listed, version), error);
        }
        true
    };
    let limited = Limited::new(n8n);
    let walked = walk(&limited, query, &SummaryProjection, take).await?;
    found.is_rate_low = walked.is_rate_low;
    if walked.last.is_some() && !is_over {
        let left = walked.next_at.or(last_at);
        let is_asked = |at: &String| at.parse::<Timestamp>().ok().is_none_or(|at| at >= after);
        found.not_examined = left.filter(is_asked);
    }
    (found.groups, found.total) = groups.finish(asked.limit);
    let mut around = Around { n8n: &limited.n8n, newest: HashMap::new(), versions: HashMap::new(), is_partial: false };
    for group in &mut found.groups {
        around.is_partial |= timeout_at(limited.end, around.look(group)).await.is_err();
    }
    found.is_partial = around.is_partial;
    Ok(found)
}

fn failed(listed: &Value, version: Option<String>) -> Failed {
    let is_manual = listed["mode"] == "manual";
    Failed { id: text(listed, "id").unwrap_or_default(), at: text(listed, "startedAt"), version, is_manual }
}

/// What was good before and after groups. What n8n does not answer is left out.
struct Around<'a> {
    n8n: &'a Client,
    /// The newest good executions of each workflow.
    newest: HashMap<String, Option<Listing>>,
    /// The version of the workflow in an execution.
    versions: HashMap<String, Option<String>>,
    /// Whether n8n was asked for less than there may be.
    is_partial: bool,
}

impl Around<'_> {
    /// A manual execution says nothing about others: its data may be pinned.
    async fn look(&mut self, group: &mut Group) {
        let counts = |failed: &Failed, good: &Value| failed.is_manual || good["mode"] != "manual";
        let workflow = &group.key.workflow_id.clone();
        if !self.newest.contains_key(workflow) {
            let newest = self.good(workflow, None, MAX_LISTED).await;
            self.newest.insert(workflow.clone(), newest);
        }
        let Some(Some(newest)) = self.newest.get(workflow) else { return };
        let number = |good: &Value| text(good, "id").and_then(|id| id.parse::<i64>().ok());
        let (first, last) = (group.first.number(), group.last.number());
        let after = newest.data.iter().take_while(|good| number(good) > last);
        group.good_after = Some(after.filter(|good| counts(&group.last, good)).count() as u64);
        let before = |good: &&Value| number(good) < first && counts(&group.first, good);
        let mut found = newest.data.iter().find(before).cloned();
        if newest.next_cursor.is_some() && found.is_none() {
            let older = self.good(workflow, Some(group.first.id.clone()), MAX_BEFORE).await;
            found = older.and_then(|older| older.data.into_iter().find(|good| before(&good)));
        }
        if let Some(found) = found {
            let version = self.version(&text(&found, "id").unwrap_or_default()).await;
            group.good_before = Some(failed(&found, version));
        }
    }

    async fn good(&mut self, workflow: &str, after: Option<String>, limit: u64) -> Option<Listing> {
        let query = ListQuery {
            workflow_id: Some(workflow.to_owned()),
            status: Some("success".to_owned()),
            cursor: after.map(ListCursor::After),
            limit,
            ..ListQuery::default()
        };
        let listing = self.n8n.list_executions(&query).await;
        self.is_partial |= listing.is_err();
        listing.ok()
    }

    async fn version(&mut self, id: &str) -> Option<String> {
        if let Some(version) = self.versions.get(id) {
            return version.clone();
        }
        let header = self.n8n.read_metadata(id, &HeaderProjection).await;
        self.is_partial |= header.is_err();
        let version = header.ok().and_then(Result::ok).and_then(|header| header.workflow_version);
        self.versions.insert(id.to_owned(), version.clone());
        version
    }
}
