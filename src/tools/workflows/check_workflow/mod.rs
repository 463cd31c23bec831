//! `check_workflow`: finds problems in a workflow's structure, and expressions that refer to what a real execution did not
//! have.

mod compared;
mod counts;
mod findings;
mod foreign;
mod grounds;
mod questions;
mod row;
mod ways;

use std::sync::Arc;

use serde::Serialize;

use self::compared::{CheckedNode, Hidden, compared};
use self::findings::{Answered, finding, is_of_later, not_run};
use self::foreign::foreign;
use self::grounds::Grounds;
use self::questions::questions;
pub(super) use self::row::Row;
use super::change::refused;
use super::{RanWorkflow, WorkflowLocation, workflow_that_ran};
use crate::blocking::blocking;
use crate::budget::Ladder;
use crate::execution::lookup::{Found, LookupProjection, Outcome, Plan, RunsProjection, RunsView};
use crate::json::{CUT_NAME_CHARS, quoted_name};
use crate::n8n::{ListQuery, Progress};
use crate::toolkit::answer::{FEW_TOKENS, Tokens, success};
use crate::toolkit::{Effect, Flag, IdOrFile, Locale, Text, arguments};
use crate::tools::executions::{IGNORE_SIZE_LIMIT_AGAIN, Read, execution};
use crate::tools::{Context, Error, Handler, Tool, ToolCall};
use crate::units::counted;
use crate::workflow::catalogue::Catalogue;
use crate::workflow::document::text;
use crate::workflow::parsed::{Parsed, ParsedNode};
use crate::workflow::problems::problems;
use crate::workflow::{self, Document, PublishedVersion};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "check_workflow",
    title: "Check a workflow",
    description: "Find faults in a workflow and, with executionId, expressions whose fields its items lack.",
    parameters: CheckWorkflow::PARAMETERS,
    effect: Effect::Read,
    handler: Handler::of::<CheckWorkflow>(),
};

arguments! {
    struct CheckWorkflow {
        workflow_id: Option<Text> = "Id or file.",
        execution_id: Option<IdOrFile> = "Id or file.",
        node_name: Option<Text> = "Only this node.",
        ignore_data_size_limit: Option<Flag> = IGNORE_SIZE_LIMIT_AGAIN,
        max_tokens: Tokens<1000> = FEW_TOKENS,
    }
}

/// The most problems of an answer.
pub const MAX_PROBLEMS: usize = 20;

/// The most nodes without an incoming connection that are listed.
const MAX_UNREACHED: usize = 20;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CheckedWorkflow<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    workflow_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    execution_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    checked: Option<Checked>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    problems: &'a [Row],
    #[serde(skip_serializing_if = "Option::is_none")]
    more: Option<usize>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    unreached: &'a [String],
    /// Whether the execution seems to be of another workflow, so that no reference was looked up.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_of_another_workflow: bool,
}

/// How much was looked up.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
struct Checked {
    nodes: usize,
    references: usize,
    not_run: usize,
}

/// The result of a check.
#[derive(Default)]
struct Report {
    rows: Vec<Row>,
    unreached: Vec<String>,
    checked: Option<Checked>,
    /// The execution whose items were examined.
    looked_up_in: Option<String>,
    /// Whether the execution seems to be of another workflow.
    is_of_another_workflow: bool,
    /// Remarks that the message adds.
    remarks: Vec<String>,
    /// How many nodes were not looked up, after the execution was named.
    skipped: Option<String>,
}

impl ToolCall for CheckWorkflow {
    async fn run(self, context: Arc<Context>, progress: Progress) -> Result<String, Error> {
        if self.workflow_id.is_none() && self.execution_id.is_none() {
            return Err(Error::arguments(
                "Pass workflowId to check a workflow, executionId to check it as it ran, or both to look the expressions of the \
                 workflow up in the items of that execution.",
            ));
        }
        let (catalogue, locale) = (context.catalogue.catalogue()?, context.locale);
        let node_name = self.node_name.clone();
        let draft = match &self.workflow_id {
            Some(id) => Some(WorkflowLocation::of(id).load(&context, &progress).await?),
            None => None,
        };
        let Some(id) = self.execution_id.clone() else {
            let checked = move || {
                let (catalogue, hidden) = (catalogue.as_deref(), Hidden::default());
                let mut report = structure(catalogue, draft.as_ref(), node_name.as_deref(), &hidden, locale)?;
                report.remarks.extend(which_version(draft.as_ref(), None, locale));
                Ok::<_, Error>(report)
            };
            let mut report = blocking(checked).await?;
            report.remarks.extend(self.newest_execution(&context).await);
            return Ok(self.answer(report, None, locale));
        };
        let request = execution(id, self.ignore_data_size_limit);
        let source = context.executions().with_file(&request.id, &context.files);
        let Read { view, origin } = source.read(&request, &RunsProjection, &progress).await?;
        let (mut runs, is_read_once) = (view?, source.is_read_once(&request.id));
        let has_copy = runs.workflow.is_some();
        let ran = self.ran(&context, draft.as_ref(), &mut runs, &progress).await;
        // Scanning all expressions takes time.
        let prepared = blocking(move || {
            let known = Known { catalogue: catalogue.as_deref(), draft, ran, has_copy, is_read_once };
            prepare(known, runs, node_name.as_deref(), locale)
        });
        let (mut report, grounds) = prepared.await?;
        if let Some(grounds) = grounds {
            let plan = Plan::new(&grounds.runs, grounds.questions());
            let found = match plan.needs_items() {
                true => source.read(&request, &LookupProjection::new(plan), &progress).await?.view?,
                false => plan.unread(),
            };
            report.look_up(&grounds, &found, locale);
            if grounds.is_of_these_nodes() {
                report.looked_up_in = Some(grounds.runs.header.id.unwrap_or_else(|| request.id.clone()));
            }
        }
        let own = source.own_id(&request.id);
        blocking(move || Ok(origin.mark(self.answer(report, own, locale)))).await
    }
}

/// What is known of an execution in addition to its runs.
struct Known<'a> {
    catalogue: Option<&'a Catalogue>,
    /// The workflow to check, if it is not the one that ran.
    draft: Option<Document>,
    ran: Option<RanWorkflow>,
    /// Whether the execution has a copy of the workflow.
    has_copy: bool,
    is_read_once: bool,
}

/// The problems of the structure; an error if the workflow has no node of the given name.
fn structure(
    catalogue: Option<&Catalogue>,
    document: Option<&Document>,
    node: Option<&str>,
    hidden: &Hidden,
    locale: Locale,
) -> Result<Report, Error> {
    let Some(document) = document else { return Ok(Report::default()) };
    let nodes = document.nodes().map_err(|error| unusable(&error))?;
    let names: Vec<_> = nodes.iter().filter_map(|node| text(node, "name")).collect();
    if let Some(wanted) = node.filter(|wanted| names.iter().all(|name| name != wanted)) {
        return Err(super::refused(&workflow::Error::NoNode { wanted: wanted.to_owned(), names }));
    }
    let is_hidden = |node: &ParsedNode, pointer: &str| hidden.has(node, pointer);
    let found = problems(document, |name| catalogue?.find(name), is_hidden).map_err(|error| unusable(&error))?;
    let named = |names: &[String]| {
        let names: Vec<_> = names.iter().filter(|name| node.is_none_or(|node| node == *name)).collect();
        let shown: Vec<_> = names.iter().take(3).map(|name| quoted_name(name, CUT_NAME_CHARS)).collect();
        let more = if names.len() > shown.len() { ", …" } else { "" };
        (!shown.is_empty()).then(|| shown.join(", ") + more)
    };
    let unread = named(&found.unread).map(|names| {
        locale.choose(
            format!("{names} のパラメーターは読み取れないため、確認していません。"),
            format!("The parameters of {names} cannot be read: not checked."),
        )
    });
    let always_output = named(&found.always_output).map(|names| {
        locale.choose(
            format!(
                "n8n 3.0 より前では、Always Output Data により {names} の最初の出力に空のアイテムが入ることがあります。"
            ),
            format!("Before n8n 3.0, Always Output Data can add an empty item to the first output of {names}."),
        )
    });
    let remarks = unread.into_iter().chain(always_output).collect();
    let rows = found.list.into_iter().map(Row::from).collect();
    Ok(Report { rows, unreached: found.unreached, remarks, ..Report::default() })
}

fn unusable(error: &workflow::Error) -> Error {
    refused("This workflow cannot be checked", error)
}

/// The problems of the structure, and what to look up in the execution; if nothing, the report says why.
fn prepare(
    Known { catalogue, draft, ran, has_copy, is_read_once }: Known<'_>,
    runs: RunsView,
    node: Option<&str>,
    locale: Locale,
) -> Result<(Report, Option<Grounds>), Error> {
    let checked = draft.as_ref().or(ran.as_ref().map(|ran| &ran.document));
    let parsed = |document| Parsed::of(document).map_err(|error| unusable(&error));
    let now = checked.map(parsed).transpose()?;
    let then = ran.as_ref().map(|ran| parsed(&ran.document)).transpose()?;
    let executed = ran.as_ref().and_then(|ran| ran.executed.as_ref()).map(parsed).transpose()?;
    let hidden = match (&now, &then, &executed) {
        (Some(now), Some(then), Some(executed)) => Hidden::of(now, then, executed),
        _ => Hidden::default(),
    };
    let mut report = structure(catalogue, checked, node, &hidden, locale)?;
    report.remarks.extend(which_version(draft.as_ref(), runs.header.workflow_version.as_deref(), locale));
    let (ja, en) = match (now, then) {
        _ if runs.redacted => (
            "この実行は秘匿されているため、構造だけを調べました。",
            "The execution is redacted: only the structure was checked.",
        ),
        _ if runs.header.data_too_large => (
            "n8n は大きすぎるデータを送らなかったため、構造だけを調べました。ignoreDataSizeLimit: true を渡すと取得します。",
            "The data is too large, so n8n sent none: only the structure was checked. ignoreDataSizeLimit: true requests it anyway.",
        ),
        _ if runs.names().next().is_none() => (
            "実行データのあるノードがないため、構造だけを調べました。",
            "The execution has no data of any node: only the structure was checked.",
        ),
        _ if is_read_once => (
            "標準入力は一度しか読めないため、構造だけを調べました。ファイルに保存して渡してください。",
            "Standard input can be read only once: only the structure was checked. Save the execution to a file and pass the file.",
        ),
        (Some(now), Some(then)) => {
            let saved_id = draft.as_ref().and_then(Document::id);
            let ran_id = runs.header.workflow_id.as_deref();
            let of_another = || foreign(&now, saved_id.as_deref(), &then, ran_id, locale);
            if let Some(remark) = draft.as_ref().and_then(|_| of_another()) {
                report.remarks.push(remark);
                report.is_of_another_workflow = true;
                return Ok((report, None));
            }
            let (nodes, connections) = compared(now, &then, &hidden, has_copy && executed.is_none());
            let asked = questions(&nodes, &connections, |name| runs.runs_of(name));
            return Ok((report, Some(Grounds { nodes, asked, runs })));
        }
        _ => (
            "実行したワークフローが不明なため、構造だけを調べました。",
            "The execution does not say which workflow it ran: only the structure was checked.",
        ),
    };
    report.remarks.push(locale.choose(ja, en).to_owned());
    Ok((report, None))
}

/// Which version was checked, where it is neither published nor the one that `ran`.
fn which_version(draft: Option<&Document>, ran: Option<&str>, locale: Locale) -> Option<String> {
    let draft = draft?;
    let is_another = ran.zip(draft.version()).is_some_and(|(ran, version)| ran != version);
    let (ja, en) = match draft.published() {
        PublishedVersion::Older => {
            ("公開中の版ではなく、下書きを調べました。", "The draft was checked, not the published version.")
        }
        _ if is_another => (
            "実行した版ではなく、保存されている版を調べました。",
            "The saved version was checked, not the one that ran.",
        ),
        _ => return None,
    };
    Some(locale.choose(ja, en).to_owned())
}

impl Report {
    /// Adds what the items of an execution say.
    fn look_up(&mut self, grounds: &Grounds, found: &[Found], locale: Locale) {
        let Grounds { asked, runs, .. } = grounds;
        let evidence = grounds.evidence(found);
        let all = Answered { references: &asked.references, evidence: &evidence };
        let looked_up = all.iter().filter(|(asked, _)| !is_of_later(asked, runs));
        let of_items = looked_up.filter_map(|(asked, evidence)| finding(asked, evidence, &all, runs));
        let of_nodes = asked.nodes.iter().filter_map(|asked| not_run(asked, runs));
        for row in of_items.chain(of_nodes) {
            match self.rows.iter_mut().find(|known| known.statement() == row.statement()) {
                Some(known) => known.times += 1,
                None => self.rows.push(row),
            }
        }
        let ran = |node: &&CheckedNode| {
            node.ran_as.as_ref().or(node.output_as.as_ref()).is_some_and(|name| runs.runs_of(name) > 0)
        };
        let known = grounds.checked().filter(|node| node.is_known()).count();
        let checked = grounds.checked().filter(ran).count();
        let references = evidence.iter().filter(|one| one.found.outcome == Outcome::LookedUp).count();
        self.checked = Some(Checked { nodes: checked, references, not_run: known - checked });
        let skipped = grounds.checked().count() - known;
        if !grounds.is_of_these_nodes() {
            let (ja, en) = (
                "この実行ではこれらのノードがひとつも実行されていません。別のワークフローの実行と思われるため、参照は確認していません。",
                "The execution ran none of these nodes, and seems to be of another workflow: no reference was looked up.",
            );
            self.remarks.push(locale.choose(ja, en).to_owned());
        } else if skipped > 0 {
            let (why, nodes) = match skipped {
                1 => ("it is new or changed since then, or fed by such a node", "node was"),
                _ => ("they are new or changed since then, or fed by such nodes", "nodes were"),
            };
            self.skipped = Some(locale.choose(
                format!("その後に追加・変更されたノードなど {skipped} 個は確認していません。"),
                format!("{skipped} {nodes} not looked up: {why}."),
            ));
        }
    }
}

impl CheckWorkflow {
    /// The workflow that ran. Without another one to compare it with, it is checked as the execution has it.
    async fn ran(
        &self,
        context: &Context,
        draft: Option<&Document>,
        runs: &mut RunsView,
        progress: &Progress,
    ) -> Option<RanWorkflow> {
        let executed = runs.workflow.take();
        if draft.is_none() {
            let document = Document::parse(&executed?).ok()?;
            return Some(RanWorkflow { document, executed: None });
        }
        let is_its_own = self.workflow_id == runs.header.workflow_id;
        workflow_that_ran(context, &runs.header, executed, draft.filter(|_| is_its_own), progress).await
    }

    /// The execution of a workflow in n8n to look references up in.
    async fn newest_execution(&self, context: &Context) -> Option<String> {
        let Some(WorkflowLocation::N8n(id)) = self.workflow_id.as_deref().map(WorkflowLocation::of) else {
            return None;
        };
        let query = ListQuery { workflow_id: Some(id), limit: 1, ..ListQuery::default() };
        let listing = context.n8n().ok()?.list_executions(&query).await.ok()?;
        let newest = listing.newest_id()?;
        Some(context.locale.choose(
            format!("executionId: '{newest}'（最新）を渡すと、式をそのアイテムで確認します。"),
            format!("Pass executionId: '{newest}', the newest one, to look the expressions up in its items."),
        ))
    }

    fn answer(&self, report: Report, execution_id: Option<String>, locale: Locale) -> String {
        let Report { mut rows, mut unreached, checked, looked_up_in, is_of_another_workflow, remarks, skipped } =
            report;
        if let Some(name) = &self.node_name {
            rows.retain(|row| row.node_name == *name);
            unreached.retain(|node| node == name);
        }
        // Stable: otherwise in the order of the nodes.
        rows.sort_by_key(|row| row.severity != "error");
        let rows: Vec<_> = rows.into_iter().map(Row::clipped).collect();
        unreached.truncate(MAX_UNREACHED);
        let message = match rows.len() {
            0 => locale.choose("問題はありません。", "No problems.").to_owned(),
            problems => {
                let as_it_ran = self.workflow_id.is_none();
                let (ja, en) = if as_it_ran {
                    ("実行したワークフローに", " in the workflow as it ran")
                } else {
                    ("", "")
                };
                locale.choose(
                    format!("{ja}問題が {problems} 件あります。"),
                    format!("{}{en}.", counted(problems as u64, "problem", "problems")),
                )
            }
        };
        // If everything was looked up and nothing found, the counts say enough.
        let is_all = rows.is_empty() && remarks.is_empty() && skipped.is_none();
        let looked_up = looked_up_in.filter(|_| !is_all).map(|own| {
            locale.choose(
                format!("参照は実行 {own} のアイテムで確認しました。"),
                format!("References were looked up in the items of execution {own}."),
            )
        });
        let sentences = [message].into_iter().chain(remarks).chain(looked_up).chain(skipped);
        // Japanese has no space between sentences.
        let message = sentences.collect::<Vec<_>>().join(locale.choose("", " "));
        let write = |shown: usize| {
            let more = Some(rows.len() - shown).filter(|more| *more > 0);
            let problems = &rows[..shown];
            let (workflow_id, execution_id) = (self.workflow_id.as_deref(), execution_id.as_deref());
            success(
                &message,
                &CheckedWorkflow {
                    workflow_id,
                    execution_id,
                    checked,
                    problems,
                    more,
                    unreached: &unreached,
                    is_of_another_workflow,
                },
            )
        };
        let ladder = Ladder::new(rows.len().min(MAX_PROBLEMS)).fewer(|shown| shown, |shown| shown - 1, 0);
        ladder.largest_that_fits(self.max_tokens, write).answer
    }
}
