//! Tests from outside of the crate, in one binary.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    unreachable_pub,
    missing_docs,
    reason = "a test fails by a panic, and nothing here is reachable"
)]

/// The page inside an MCP client, through the real binary.
mod apps;
/// Helpers for questions about an execution.
mod asking;
/// Messages of tools, worded for their readers.
mod audiences;
/// Answers stay within their budgets, and use them.
mod budgets;
/// The builder, through the real binary.
mod builder;
/// Workflows in memory.
mod builder_memory;
/// The cache of executions, through the real binary.
mod cache;
/// `n8n-lens check`, through the real binary.
mod check;
/// The command line, through the real binary.
mod command_line;
/// The comparison of two executions.
mod compare;
/// The description of an execution, through the real binary.
mod describe;
/// The documentation agrees with the binary.
mod docs;
mod edited_files;
/// Rows and traces of all executions of a store.
mod export;
/// Wrong and right expressions in executions of a real n8n.
mod expressions;
/// Everything that can go wrong between us and n8n, through the real binary.
mod faults;
/// Faults on the wire, through the real binary.
mod faults_on_the_wire;
/// The fields of an execution.
mod fields;
/// Executions as n8n stores them, against their bodies.
mod flatted;
/// The summary's statements about the flow of items.
mod flow;
/// The command line's output for people.
#[cfg(target_os = "linux")]
mod for_people;
/// Streamable HTTP, through the real binary.
mod http;
/// Responses about something other than what was requested.
mod identity;
/// The JSON parsing test suite.
mod json_suite;
/// Connections and bodies that would exhaust the server.
#[cfg(target_os = "linux")]
mod listeners;
/// Two hundred calls at once, through the real binary.
#[cfg(target_os = "linux")]
mod load;
mod lookup;
/// Questions about many executions of a store.
mod many;
/// What their answers say of the rest.
mod many_answers;
/// The same for people.
#[cfg(target_os = "linux")]
mod many_for_people;
/// The same over n8n's API.
mod many_over_api;
/// The messages of successful calls in both languages.
mod messages;
/// Pages of a node's items.
mod node_pages;
/// A node whose type is replaced, through the real binary.
mod node_replace;
/// Lone surrogates and deep nesting, through every command.
mod odd_text;
/// A simple reference implementation of both projections.
mod oracle;
/// Files for registries and installers.
mod packaging;
/// Both projections against the oracle.
mod production_calls;
mod projections;
/// The properties that the fuzzers check.
mod proof;
/// Changes that could be taken for a fix.
mod proof_requests;
mod proof_verdicts;
mod properties;
/// Commands on a pseudoterminal.
#[cfg(target_os = "linux")]
mod pseudoterminal;
/// Questions whose causes are not outliers.
mod questions;
/// Copies of random workflows reach nothing.
mod replay_copies;
/// The tools over plain REST, through the real binary.
mod rest;
/// Executions with one planted cause, and the calls and tokens that lead to it.
mod scenarios;
/// The search of an execution.
mod search;
/// Secrets do not leak.
mod secrets;
/// `n8n-lens setup`, through the real binary.
#[cfg(target_os = "linux")]
mod setup;
/// Calls in progress when a server over HTTP is shut down, through the real binary.
#[cfg(unix)]
mod shutdown;
/// Signals and pipes, through the real binary.
#[cfg(unix)]
mod signals;
/// The skill that `setup` writes, through the real binary.
mod skill;
/// How many requests wait for n8n, and how many bodies are read, at the same time.
mod slots;
/// What programs started by the binary inherit.
#[cfg(unix)]
mod started_programs;
/// MCP over standard input and output, through the real binary.
mod stdio;
/// n8n's own store as the source of executions, through the real binary.
mod store;
/// Code that the test binaries and benchmarks share.
#[path = "../support/mod.rs"]
mod support;
/// Links that are swapped in while the builder works.
#[cfg(target_os = "linux")]
mod symlink_swaps;
/// The token cost of ten fixes.
#[cfg(target_os = "linux")]
mod ten_fixes;
/// Output to a terminal.
mod terminal;
/// House rules.
mod tidy;
/// The timeline of an execution.
mod timeline;
/// Schemas, lists and instructions.
mod tool_schemas;
/// The trace of an item.
mod trace;
/// Bodies whose UTF-8 is not checked again.
mod trusted;
/// Executions that are not a plain run from start to end.
mod unfinished;
/// Access to the page, through the real binary.
mod view;
mod view_calls;
/// The URLs that `test_workflow` calls, through the real binary.
mod webhook_paths;
/// Activating workflows, through the real binary.
mod workflow_activation;
/// `check_workflow`, through the real binary.
mod workflow_checks;
/// Which output of a node leads where, through the real binary.
mod workflow_connections;
/// An unpublished draft goes live only on request, through the real binary.
mod workflow_drafts;
/// `edit_workflow`, through the real binary.
mod workflow_edits;
/// The files that the tools write and read.
#[cfg(unix)]
mod workflow_files;
/// The workflow tools, through the real binary.
mod workflows;

use support::{
    fixtures, flatten, generator, http_client, large_store, mcp_client, proof_n8n, random, server, tools, wait,
    workflow_store,
};
