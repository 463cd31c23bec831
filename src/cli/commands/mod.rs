//! The commands that are made from tools, a row each.

#[cfg(test)]
mod tests;

use super::spelling::{Shorthand, Spelling, Words};
use super::tool_command::{Reads, ToolCommand};
use super::{expectation, render, render_compare, render_many, render_proof, render_workflow};
use crate::tools::executions::{
    compare_executions, describe_execution, find_executions, get_execution, get_execution_by_node,
    get_execution_fields, group_failures, list_executions, search_execution, trace_execution_item, workflow_trend,
};
use crate::tools::proof::{prove_fix, publish_workflow_version, retry_execution, stop_execution};
use crate::tools::view::view_summary;
use crate::tools::workflows::{check_workflow, edit_workflow};

/// The common part of rows that name an execution.
const EXECUTION: Spelling = Spelling {
    positional: &["id"],
    renamed: &[("id", "execution"), ("nodeName", "node"), ("with", "other")],
    help: &[COMMON],
    ..Spelling::OPTIONS
};

const COMMON: Words = &[
    ("id", "An execution's id, a file with its body (may be gzip-compressed), or - for standard input"),
    ("nodeName", "The node's name"),
    ("cursor", "nextCursor of the previous answer"),
    ("maxTokens", "Maximum size of the answer in tokens"),
    ("ignoreDataSizeLimit", "Request data above n8n's display limit"),
];

/// The period of commands that read a store.
pub(super) const PERIOD: Words = &[
    ("startedAfter", "Only executions started at or after this time (ISO 8601)"),
    ("startedBefore", "Only executions started at or before this time (ISO 8601)"),
];

const WORKFLOW: Words = &[("workflowId", "A workflow's id in n8n, or a workflow file")];

/// A row without its required members: `tool`, `about` and so on.
const ROW: ToolCommand = ToolCommand {
    name: "",
    alias: None,
    tool: &get_execution::TOOL,
    tool_for_people: None,
    about: "",
    reads: Reads::Execution,
    spelling: EXECUTION,
    of_json: &[],
    raw: None,
    of_store: &[],
    workflow: None,
    documents: &[],
    short_document: None,
    fails: |_| None,
    render: render::summary,
    examples: &[],
};

/// The commands, in the order of the help.
pub(super) static COMMANDS: &[ToolCommand] = &[
    ToolCommand {
        name: "list",
        alias: Some("ls"),
        tool: &list_executions::STORE_TOOL,
        about: "List executions, newest first",
        reads: Reads::Executions,
        spelling: Spelling {
            help: &[
                COMMON,
                &[
                    ("startedAfter", "Only executions started at or after this time (ISO 8601; n8n 2.37 and newer)"),
                    ("startedBefore", "Only executions started at or before this time (ISO 8601; n8n 2.37 and newer)"),
                    ("failingNode", "With --store: only failed executions whose error is of the node with this name"),
                    ("error", "With --store: only failed executions whose error contains this text"),
                    ("raw", "Print n8n's own objects, without workflow names"),
                ],
            ],
            ..Spelling::OPTIONS
        },
        raw: Some("raw"),
        of_store: &["failingNode", "error"],
        render: render::list,
        examples: &[
            "n8n-lens list --status error --limit 50",
            "n8n-lens list --started-after 2026-11-21T00:00:00Z",
            "n8n-lens list --json | jq -r .data.nextCursor",
            "n8n-lens list --store ~/.n8n --failing-node 'HTTP Request'",
        ],
        ..ROW
    },
    ToolCommand {
        name: "summary",
        tool: &get_execution::TOOL,
        tool_for_people: Some(&view_summary::TOOL),
        about: "Summarize an execution",
        spelling: Spelling { help: &[COMMON, &[("offset", "In JSON, skip this many nodes")]], ..EXECUTION },
        render: render::summary,
        examples: &[
            "n8n-lens summary 1234",
            "n8n-lens summary failed.json.gz",
            "n8n-lens summary - < execution.json",
            "n8n-lens summary 1234 --store ~/.n8n",
            "n8n-lens summary 1234 --cache auto",
        ],
        ..ROW
    },
    ToolCommand {
        name: "describe",
        tool: &describe_execution::TOOL,
        about: "Say what each node of an execution did",
        render: render::describe,
        examples: &["n8n-lens describe 1234", "n8n-lens describe execution.json --json"],
        ..ROW
    },
    ToolCommand {
        name: "node",
        tool: &get_execution_by_node::TOOL,
        about: "Show one node of an execution",
        spelling: Spelling {
            positional: &["id", "nodeName"],
            flags: &[("format", "rows")],
            help: &[
                COMMON,
                &[
                    ("runIndex", "Which run, from 0 (default: the first failed run, or else the last)"),
                    ("offset", "Skip this many items of each input and output"),
                    ("limit", "At most this many items of each input and output"),
                    ("part", "Only the items of the inputs or of the outputs"),
                    ("format", "In JSON, show uniform items as table rows"),
                ],
            ],
            ..EXECUTION
        },
        of_json: &["format"],
        render: render::node,
        examples: &[
            "n8n-lens node 1234 'HTTP Request'",
            "n8n-lens node 1234 Loop --run-index 3 --limit 1",
            "n8n-lens node execution.json Code --json",
        ],
        ..ROW
    },
    ToolCommand {
        name: "search",
        tool: &search_execution::TOOL,
        about: "Search an execution for a value",
        spelling: Spelling {
            positional: &["id", "text"],
            takes_words: true,
            help: &[
                &[
                    ("text", "Part of a string, or a whole number or literal; several words are one text"),
                    ("regex", "TEXT is a regular expression"),
                    ("path", "The end of the value's path, such as customer.address or lines[].taxRate"),
                    ("is", "Only values of this kind; missing: items without --path"),
                    ("equals", "Only this value: a string, a number, true or false"),
                    ("notEquals", "Only other values"),
                    ("above", "Only numbers above this one"),
                    ("below", "Only numbers below this one"),
                    ("nodeName", "Only this node"),
                    ("limit", "At most this many hits"),
                ],
                COMMON,
            ],
            ..EXECUTION
        },
        render: render::search,
        examples: &[
            "n8n-lens search 1234 ann@example.com",
            "n8n-lens search 1234 --path lines[].taxRate --above 0.2",
            "n8n-lens search execution.json '^INV-\\d+$' --regex --node 'HTTP Request'",
        ],
        ..ROW
    },
    ToolCommand {
        name: "fields",
        tool: &get_execution_fields::TOOL,
        about: "Show what all items of a node look like, or the outliers of all nodes",
        spelling: Spelling {
            positional: &["id", "nodeName"],
            help: &[
                &[
                    ("nodeName", "The node's name (default: the outliers of all nodes)"),
                    ("runIndex", "Only this run, from 0"),
                    ("outputIndex", "Only this output, from 0"),
                    ("path", "Only this path and those below it"),
                    ("by", "With --path: a row for each value of this path of the same item"),
                ],
                COMMON,
            ],
            ..EXECUTION
        },
        render: render::fields,
        examples: &[
            "n8n-lens fields 1234",
            "n8n-lens fields 1234 'HTTP Request' --path customer",
            "n8n-lens fields execution.json Code --json",
        ],
        ..ROW
    },
    ToolCommand {
        name: "trace",
        tool: &trace_execution_item::TOOL,
        about: "Trace an item back to its sources or forward to the items derived from it",
        spelling: Spelling {
            positional: &["id", "nodeName", "item"],
            help: &[
                &[
                    ("nodeName", "The node that output the item"),
                    ("item", "The item, from 0"),
                    ("runIndex", "Its run, from 0 (default: 0)"),
                    ("outputIndex", "Its output, from 0 (default: 0)"),
                    ("direction", "Which way to trace (default: back)"),
                ],
                COMMON,
            ],
            ..EXECUTION
        },
        render: render::trace,
        examples: &[
            "n8n-lens trace 1234 Merge 17",
            "n8n-lens trace 1234 'Loop Over Items' 3 --run-index 2 --output-index 1",
            "n8n-lens trace execution.json Read 0 --direction forward",
        ],
        ..ROW
    },
    ToolCommand {
        name: "compare",
        tool: &compare_executions::TOOL,
        about: "Compare with another execution (default: the last successful one)",
        spelling: Spelling {
            positional: &["id", "with"],
            help: &[
                COMMON,
                &[("with", "The other execution: an id, a file, or - (default: the last successful one before it)")],
            ],
            ..EXECUTION
        },
        render: render_compare::compare,
        examples: &[
            "n8n-lens compare 1234",
            "n8n-lens compare 1234 1229",
            "n8n-lens compare failed.json good.json.gz --json",
        ],
        ..ROW
    },
    ToolCommand {
        name: "edit",
        tool: &edit_workflow::TOOL,
        about: "Change parts of a workflow, all or nothing",
        reads: Reads::Api,
        spelling: Spelling {
            positional: &["workflowId", "operations"],
            renamed: &[("workflowId", "workflow")],
            help: &[
                &[
                    ("operations", "A JSON file with the list of operations, or - for standard input"),
                    ("dryRun", "Only show what would change"),
                    ("publish", "Also publish the change, in n8n"),
                    ("expectVersionId", "Refuse if the workflow has another version"),
                ],
                WORKFLOW,
            ],
            ..Spelling::OPTIONS
        },
        workflow: Some("workflowId"),
        documents: &["operations"],
        render: render_workflow::edit,
        examples: &[
            "n8n-lens edit workflow.json operations.json --dry-run",
            "n8n-lens edit AbC123 - < operations.json",
        ],
        ..ROW
    },
    ToolCommand {
        name: "check-workflow",
        tool: &check_workflow::TOOL,
        about: "Find faults in a workflow, also with the items of an execution (exit code 1 if there are errors)",
        reads: Reads::Places,
        spelling: Spelling {
            positional: &["workflowId"],
            renamed: &[("workflowId", "workflow"), ("executionId", "execution"), ("nodeName", "node")],
            help: &[
                &[
                    ("executionId", "Look the expressions up in the items of this execution, or of this file"),
                    ("nodeName", "Only this node"),
                ],
                WORKFLOW,
                COMMON,
            ],
            ..Spelling::OPTIONS
        },
        workflow: Some("workflowId"),
        fails: |answer| {
            let problems = answer["data"]["problems"].as_array();
            let has_errors = problems.is_some_and(|problems| problems.iter().any(|one| one["severity"] == "error"));
            let is_foreign = answer["data"]["isOfAnotherWorkflow"] == true;
            let of_execution = is_foreign.then_some("The execution seems to be of another workflow.");
            has_errors.then_some("The workflow has errors.").or(of_execution)
        },
        render: render_workflow::check,
        examples: &["n8n-lens check-workflow workflow.json", "n8n-lens check-workflow AbC123 --execution 1234"],
        ..ROW
    },
    ToolCommand {
        name: "find",
        tool: &find_executions::TOOL,
        about: "Find the executions in which a value occurs",
        reads: Reads::Executions,
        spelling: Spelling {
            positional: &["text"],
            renamed: &[("nodeName", "node"), ("workflowId", "workflow")],
            help: &[
                COMMON,
                &[
                    ("text", "Part of a string, or a whole number or literal; capitals count only if there are some"),
                    ("path", "The end of the value's path, such as lines[].taxRate"),
                    ("equals", "Only this value"),
                    ("above", "Only values above this one, with --path"),
                    ("below", "Only values below this one, with --path"),
                    ("nodeName", "Only values of the node with this name"),
                    ("workflowId", "Only executions of this workflow"),
                    ("status", "Only executions with this status"),
                ],
                PERIOD,
            ],
            ..Spelling::OPTIONS
        },
        render: render_many::found,
        examples: &[
            "n8n-lens find 'order 4711' --store ~/.n8n",
            "n8n-lens find --path customer.id --equals 17 --store ~/.n8n",
        ],
        ..ROW
    },
    ToolCommand {
        name: "failures",
        tool: &group_failures::TOOL,
        about: "Group failed executions by what failed",
        reads: Reads::Executions,
        spelling: Spelling {
            help: &[
                COMMON,
                &[
                    ("workflowId", "Only failures of this workflow"),
                    ("nodeName", "Only failures of the node with this name"),
                    (
                        "startedAfter",
                        "Only executions started at or after this time (ISO 8601; default: 7 days before the end)",
                    ),
                    ("limit", "At most this many groups"),
                ],
                PERIOD,
            ],
            renamed: &[("nodeName", "node"), ("workflowId", "workflow")],
            ..Spelling::OPTIONS
        },
        render: render_many::failures,
        examples: &[
            "n8n-lens failures --store ~/.n8n",
            "n8n-lens failures --store ~/.n8n --started-after 2026-11-01T00:00:00Z",
        ],
        ..ROW
    },
    ToolCommand {
        name: "trend",
        tool: &workflow_trend::TOOL,
        about: "Show what moved at the nodes of a workflow in a store: slower, failing, other numbers of items",
        reads: Reads::Executions,
        spelling: Spelling {
            positional: &["workflowId"],
            renamed: &[("workflowId", "workflow")],
            help: &[
                COMMON,
                &[
                    ("workflowId", "The workflow's id"),
                    ("period", "Compare the last 1h to 30d with the seven periods before it (default: 24h)"),
                    ("until", "The end of the last period (ISO 8601; default: now)"),
                ],
            ],
            ..Spelling::OPTIONS
        },
        render: render_many::trend,
        examples: &["n8n-lens trend OrdersWorkflow01 --store ~/.n8n --period 7d"],
        ..ROW
    },
    ToolCommand {
        name: "prove",
        tool: &prove_fix::TOOL,
        about: "Prove a fix with the recorded data of an execution (exit code 0 only if it is fixed)",
        spelling: Spelling {
            positional: &["id"],
            renamed: &[("id", "execution"), ("alsoGood", "good"), ("timeoutSeconds", "timeout")],
            shorthands: &[Shorthand {
                flag: "check",
                parameter: "workflow",
                value: "original",
                help: "Only check that the execution can be replayed: the unchanged workflow must do the same again",
            }],
            help: &[
                &[
                    ("id", "The id of the execution whose data are used"),
                    ("workflow", "A version or a workflow file (default: the draft)"),
                    ("expect", "NODE = VALUE in JSON, or a JSON file with expectations, or - for standard input"),
                    ("alsoGood", "How many earlier good executions must not change"),
                    ("timeoutSeconds", "How long each copy may run, seconds"),
                ],
                COMMON,
            ],
            ..Spelling::OPTIONS
        },
        documents: &["expect"],
        short_document: Some((expectation::FORM, expectation::expectation)),
        workflow: Some("workflow"),
        fails: |answer| match answer["data"]["verdict"].as_str() {
            Some("fixed" | "reproduced") => None,
            Some("notReproduced") => Some("The unchanged workflow did not do the same again."),
            _ => Some("It is not proven to be fixed."),
        },
        render: render_proof::proof,
        examples: &[
            "n8n-lens prove 1234",
            "n8n-lens prove 1234 --workflow fixed.json --good 2",
            "n8n-lens prove 1234 --expect 'Ship parcel = \"P-0219\"'",
            "n8n-lens prove 1234 --check",
        ],
        ..ROW
    },
    ToolCommand {
        name: "retry",
        tool: &retry_execution::TOOL,
        about: "Run a failed execution again, for real, from the node that failed",
        reads: Reads::Api,
        spelling: Spelling {
            positional: &["id"],
            renamed: &[("id", "execution"), ("timeoutSeconds", "timeout")],
            help: &[
                &[
                    ("id", "The id of the failed execution"),
                    ("with", "What runs: draft (default) or original"),
                    ("timeoutSeconds", "How long to wait for its end, seconds"),
                ],
                COMMON,
            ],
            ..Spelling::OPTIONS
        },
        fails: |answer| (answer["data"]["verdict"] != "succeeded").then_some("The retry did not succeed."),
        render: render_proof::proof,
        examples: &["n8n-lens retry 1234", "n8n-lens retry 1234 --with original"],
        ..ROW
    },
    ToolCommand {
        name: "stop",
        tool: &stop_execution::TOOL,
        about: "Stop a running execution",
        reads: Reads::Api,
        spelling: Spelling {
            positional: &["id"],
            renamed: &[("id", "execution")],
            help: &[&[("id", "The id of the execution")]],
            ..Spelling::OPTIONS
        },
        render: render_proof::done,
        examples: &["n8n-lens stop 1234"],
        ..ROW
    },
    ToolCommand {
        name: "publish",
        tool: &publish_workflow_version::TOOL,
        about: "Publish one saved version of a workflow",
        reads: Reads::Api,
        spelling: Spelling {
            positional: &["workflowId", "versionId"],
            renamed: &[("workflowId", "workflow"), ("versionId", "version")],
            help: &[&[
                ("workflowId", "The id of a workflow in n8n"),
                ("versionId", "The version, as edit and prove show it"),
                ("name", "A name for the version"),
                ("description", "What it changes"),
            ]],
            ..Spelling::OPTIONS
        },
        workflow: Some("workflowId"),
        render: render_proof::done,
        examples: &["n8n-lens publish AbC123 9f94a43e-9e53-489e-a51a-43e069da04b8"],
        ..ROW
    },
];
