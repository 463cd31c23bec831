//! n8n executions of any size, inside a token budget, in flat memory.
//!
//! An AI agent requests an execution; n8n responds with anything from 50 KB to 500 MB. The body streams
//! once through a filter, and what an agent can use of it leaves as valid JSON that fits.
//!
//! # Layout
//! Bytes flow one way, and imports follow them, never back:
//! `cache -> n8n, store -> json -> execution, workflow -> budget -> tools -> transport, cli`
//!
//! | room | knows | does not know |
//! |---|---|---|
//! | [`json`] | RFC 8259: the pruning filter and its sibling for `flatted` text, the cursor (struson) that reads what is left, excerpts, the walk over captured values, [`json::Projection`] | n8n |
//! | [`secrets`] | what must never be shown: values, names of headers and members, secrets inside text | who shows it |
//! | [`n8n`] | addresses, keys, retries, timeouts, the streamed body, writes that are sent once | what an execution looks like |
//! | [`cache`] | files that can be fetched again: one writes, others wait; names, room, damage | what is in them, HTTP |
//! | [`store`] | n8n's own database and files: where they are, rows, the bytes of a text at a position; SQL of n8n's tables | what an execution looks like |
//! | [`execution`] | the shape of an execution, walked once (`runs`); one projection per file: which parts it wants, what it does with them | HTTP, tokens |
//! | [`workflow`] | a workflow document: outline, graph, `edit` (operations on its text), `expression` (the JavaScript in parameters), `problems`, `replay` (a copy that reaches nothing outside), what n8n accepts, node types, files | HTTP, executions |
//! | [`budget`] | tokens: counts, shares, pages that take entries until they are full | where entries come from |
//! | [`toolkit`] | what a tool is: parameters, checked arguments, effect, answers, locale, words for people | n8n, coordination |
//! | [`tools`] | n8n's tools: one file per tool, one folder per toolset, one table of all; what only people ask, in `view` | rmcp, axum |
//! | [`export`] | all executions of a store as rows or traces, piece by piece; a collector of OpenTelemetry | tools, tokens |
//! | [`coordination`] | agents, projects, tasks, sessions, handoffs: rules over one transaction; SQL and rows, each declared once, only in `store` | n8n, rmcp |
//! | [`gateway`] | third-party MCP servers: configuration, supervision, calls, limits; rmcp as their client | our tools, n8n, HTTP routes |
//! | [`transport`] | rmcp and axum: the tools over stdio, Streamable HTTP and REST, the page (`view`; `app` inside MCP clients), the gateway, access control | what a tool does |
//! | [`cli`] | clap, built from the tools' parameters: a command is its tool, positionals, a renderer and examples | rmcp |
//! | [`config`], [`units`], [`node_outputs`], [`node_parameters`], `blocking`, `cause`, `file_lock`, `http_client`, `named_locks`, `json_rpc`, `platform`, `postgres`, `tls`, `undo` | settings; sizes; what n8n calls the outputs of a node; what its parameters say; blocking threads; why an error occurred; locks between processes; where HTTP clients begin; locks; JSON-RPC messages; what operating systems do differently; a client of PostgreSQL with deadlines and limits; the cryptography of TLS; what is undone however a call ends | |
//!
//! A wing (the builder, the gateway, coordination) is a folder or a room of its own; the core does not know it. n8n's
//! tools and coordination's are neighbours on one toolkit; the gateway runs our tools like those of any other server.
//!
//! One request, `get_execution_by_node`: `transport::mcp` finds the tool in its [`tools::Toolbox`]; its `call` checks
//! the arguments and passes one [`json::Projection`] (what is kept, which window, how it is read) to
//! [`n8n::Client::read_execution`], which feeds every chunk of the download to a [`json::Pruner`] (with a
//! [`cache::Cache`] also to a file, which later calls read as a saved body) and sends the little that is left to a
//! blocking thread. There [`execution::node`] pulls it from a [`json::Cursor`] and holds the items of one run and of
//! its possible inputs. The answer divides the budget and lets [`budget::fill`] show as much as fits. Dropping the call
//! drops the download. A change, `update_workflow`, runs the other way: the workflow arrives as raw JSON values, the
//! given fields replace theirs, and everything else goes back to n8n byte for byte. The page is a client of the tools
//! like any other.
//!
//! A gateway call: [`gateway::Gateway`] validates the body before building anything, finds the server, which only its
//! supervisor task starts and stops, and passes the result on unchanged. A coordination call is one unit of work of
//! [`coordination::store`].
//!
//! # Invariants
//! - No execution is ever held in memory; in a temporary file only while it is read from a database that must be released,
//!   or its items are replayed, exported or downloaded; and longer only in a cache that the user asked for. No answer of a
//!   tool exceeds its budget or is broken JSON. What was left out is counted and can be reached.
//! - n8n's own store is only read: no file of n8n is created, changed or locked for longer than a moment.
//! - An incomplete body is never shown as if it were complete. A write that may have reached n8n is never sent again
//!   (except to remove a copy that a proof made), and is never reported as failed.
//! - Two limits, one at each end: bytes at the reader, tokens at the page. The parser knows no tokens, the budget no
//!   executions. The core is synchronous and pushed (`feed`), with one pump per kind of source.
//! - At most one session per agent and project is open: the database decides. A third-party server is reported as
//!   available only while it can answer, and leaves no process running.
//! - No error, log or answer holds a key, a token, or a URL with secrets. Nothing panics on input. `unsafe` only calls
//!   code for detected processor features (`json/block/simd.rs`).
//!
//! # Memory
//! Peak = one network chunk + the pruned pipe + the runs that are held (768 KiB, and as much again for possible inputs) + the
//! page + O(nodes) + 3 MiB to count (of a file also 3 MiB that are read ahead and 1 MiB that is pruned ahead), times the number
//! of bodies read at once (`--max-downloads` executions, and as many workflows and lists); with a cache, 8 MiB for each body
//! that is compressed; from a store, 2 MiB of the text, and up to 16 MiB of one whose items are not in the order in which they
//! are stored. A summary, a search and the fields hold one item (1 MiB at most), the hits, or 400 paths of a node with 80
//! values each; a timeline 1,000 nodes, 65,536 bars and 8 MiB of counts; a description one node's fields, 32,768 names of
//! things, and 4 MiB of what it shows; a look-up 8 MiB; a recording 8 bytes for each of at most a million items, and 5 MiB of
//! items; an export 128 KiB of rows for each of 32 executions; groups of failures 2 KB for each kind, a trend 16 bytes for each
//! run; a conversation 30 turns of 32 KiB and 2 MiB of messages; a trace the lineage of all items (7 MiB, half as much again
//! while it grows), then 40 items of 64 KiB; a comparison 2 MiB of fields and 1.4 MiB of settings for each of two executions; a
//! workflow that is changed (64 MiB at most; n8n accepts 16) is held as text and as values before and after the change, 13 times
//! its size. Nothing grows with the body: `tests/memory.rs` compares 1 MB with 1 GB.

pub mod units;

pub mod node_outputs;

pub mod node_parameters;

pub mod json;

pub mod secrets;

pub mod cache;

pub mod n8n;

pub mod store;

pub mod execution;

pub mod workflow;

pub mod budget;

pub mod toolkit;

pub mod tools;

#[cfg(feature = "application")]
pub mod export;

#[cfg(feature = "coordination")]
pub mod coordination;

#[cfg(feature = "gateway")]
pub mod gateway;

#[cfg(feature = "application")]
pub mod config;

#[cfg(feature = "application")]
pub mod transport;

#[cfg(feature = "application")]
pub mod cli;

mod blocking;
mod cause;
mod file_lock;
mod http_client;
#[cfg(feature = "application")]
#[cfg_attr(not(feature = "gateway"), allow(dead_code, unused_imports, reason = "the gateway uses all of it"))]
mod json_rpc;
mod named_locks;
#[cfg_attr(
    not(all(feature = "coordination", feature = "gateway")),
    allow(dead_code, reason = "each room uses what it needs of it")
)]
mod platform;
#[cfg(feature = "postgres")]
mod postgres;
mod tls;
#[cfg_attr(not(feature = "application"), allow(dead_code, reason = "the command line ends the process"))]
mod undo;
