//! n8n executions of any size, inside a token budget, in flat memory.
//!
//! An AI agent asks for an execution; n8n answers with anything from 50 KB to 500 MB. The body
//! streams once past a filter, and what an agent can use of it leaves as valid JSON that fits.
//!
//! # Layout
//!
//! Bytes flow one way, and imports run with them, never back:
//!
//! ```text
//! n8n -> json -> execution, workflow -> budget -> tools -> transport, cli
//! ```
//!
//! | room | knows | does not know |
//! |---|---|---|
//! | [`n8n`] | addresses, keys, retries, timeouts, the streamed body, changes that are sent once | what an execution looks like |
//! | [`json`] | RFC 8259: the pruning filter, the cursor (struson) behind it, bounded copies | n8n |
//! | [`execution`] | the shape of an execution; one projection a file, with its table of what it keeps | HTTP, tokens |
//! | [`workflow`] | a workflow document: its outline and graph, pure edits, what n8n takes of it, the catalogue of node types, files | HTTP, executions |
//! | [`budget`] | tokens: counts, shares, pages that take entries until they are full | where entries come from |
//! | [`tools`] | one tool a file: arguments, description, call; one folder a toolset, one table of all | rmcp |
//! | [`gateway`] | MCP servers of others: configuration, supervision, calls, limits; rmcp as their client | our tools, n8n, HTTP routes |
//! | [`coordination`] | agents, projects, tasks, sessions, handoffs: rules over one transaction; SQL in `store` alone | n8n, rmcp |
//! | [`transport`] | rmcp, axum: the tools over stdio, Streamable HTTP and REST, the gateway over REST, and who may ask | what a tool does |
//! | [`cli`] | clap: the tools for people, on ids, files and standard input | rmcp |
//! | [`config`], [`units`], [`node_outputs`] and others | settings; how sizes are written; what n8n calls the outputs of a node; where requests may be sent on to; errors without the values they quote | |
//!
//! A wing (the builder, the gateway, coordination) is a folder or a room of its own; the heart does not
//! learn of it. The gateway runs even our own tools as a child process, as it runs those of others.
//!
//! One request, `get_execution_by_node`: `transport::mcp` finds the tool in its [`tools::Toolbox`]; its
//! `call` checks the arguments and asks [`n8n::Client::read_execution`], which feeds every chunk of
//! the download to a [`json::Pruner`] and sends the trickle that is left to a blocking thread. There
//! [`execution::node::read`] pulls it from a [`json::Cursor`] and holds the items of one run and of
//! what may be its inputs. The composer of the tool divides the budget and lets [`budget::fill`] show
//! as much as fits. Dropping the call drops the download. A change, `update_workflow`, is the other way
//! round: the workflow comes as raw JSON values, what was given is laid over them, and the rest goes back
//! to n8n byte for byte.
//!
//! A call of the gateway: `transport::gateway` hands the body to [`gateway::Gateway`], which checks it before
//! anything is built, finds the server, whose owner task alone starts and ends the process, asks over its
//! connection, and passes the result on as the text that came. `transport::coordination` finds who calls and the
//! tool, whose rule is one unit of work of [`coordination::store`], answered when it is stored.
//!
//! # Invariants
//!
//! - No execution is ever in memory, or in a temporary file; a workflow is only while it is changed. No answer is above its budget, and none is
//!   broken JSON. What was left out is counted, and reachable.
//! - A body that is not whole is never shown as if it were. A change that may have reached n8n is never
//!   sent again, and is never said to have failed.
//! - Two limits, one at each end: bytes at the reader, tokens at the page. The parser knows no token,
//!   the budget no execution.
//! - The core is synchronous and pushed (`feed`); there is one pump for each kind of source and no
//!   second version of anything.
//! - At most one session of an agent in a project is open: the database decides, not a check before it.
//! - A server of others is said to be available only while it can answer, and leaves no process behind.
//! - No error, log or answer holds a key, a token, or a URL with secrets. Nothing panics on input.
//! - `unsafe` is one call, to code for a detected processor feature (`json/block.rs`).
//!
//! # Memory
//!
//! Peak = one network chunk + the pruned pipe + the runs that are held (768 KiB, and as much for
//! possible inputs) + the page + O(nodes) + the tokenizer, times the bodies that are read at once; a
//! workflow that is changed is held whole (64 MiB at most, n8n takes 16).
//! Nothing grows with the body: `tests/memory.rs` holds 1 MB against 1 GB.

pub mod n8n;

pub mod json;

pub mod execution;

pub mod workflow;

pub mod budget;

pub mod tools;

pub mod gateway;

pub mod coordination;

pub mod transport;

pub mod cli;

pub mod config;

pub mod units;

pub mod node_outputs;

mod blocking;
mod redirects;
mod without_value;
