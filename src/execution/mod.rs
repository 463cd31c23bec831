//! The shape of an n8n execution, as n8n's public API sends it, and the projections that read it:
//! [`SummaryProjection`](summary::SummaryProjection) for an overview, [`NodeProjection`](node::NodeProjection)
//! for one run of one node, [`SearchProjection`](search::SearchProjection) for where a value occurs.
//!
//! An execution is walked in one place, `runs`. A projection observes the walk: it declares which parts it wants, which
//! determines what is kept ([`Keep`](crate::json::Keep)), and what it does with a node, an item and a run (see
//! [`Projection`](crate::json::Projection)). It does not depend on the order of members: `workflowData` can come before
//! or after `data`, an error before or after `runData`. If members have the same name, the last one counts, as in
//! JavaScript. Values of an unexpected type are skipped, never an error. One thing is known only if the header comes
//! before `data`, as n8n sends it: which runs a retry has copied ([`Header::own_start_ms`]).
//!
//! # Glossary
//!
//! The terms of [`json`](crate::json#glossary), and these:
//!
//! | term | meaning |
//! |---|---|
//! | run | one execution of a node; a node in a loop has several |
//! | item | what nodes receive and output, one by one: an object with `json`, often `pairedItem` |
//! | output | a list of items of a run: of a type of connection (`main`, `ai_tool`, …), with an index |
//! | source | the output that an input of a run came from |
//! | place | where an item is: node, run, output (counted across all types of connections), item; all from 0 |
//! | part | what an observer of the walk wants: the start of a run, its error, its outputs, … |
//! | copied run | a run that a retry took over from the execution that it retries |
//! | recovered run | a run that n8n restored from its event log after a crash, with placeholders for items |
//! | lineage | which items each item came from |
//! | kind | of an error's text: what is left without the values in it, so that equal failures are one |
//! | outlier | a value that differs from almost all others with the same path; the member `odd` of answers |
//! | row | what an export writes about one execution, one run or one item |
//! | movement | a difference between a node's runs in one period and in the seven before it that is not chance |
//!
//! # The shape of an execution
//!
//! ```text
//! {id, workflowId, status, mode, retryOf, retrySuccessId, startedAt, stoppedAt, waitTill, jsonSizeBytes, dataTooLargeToDisplay,
//!  data: {
//!    redactionInfo: {isRedacted},
//!    parentExecution: {executionId, workflowId},
//!    resultData: {
//!      error, lastNodeExecuted,
//!      runData: {<node's name>: [run, …], …}},
//!    executionData: {nodeExecutionStack: [{node: {name}}, …]}},
//!  workflowData: {name, nodes: [{name, type, typeVersion, onError, continueOnFail, parameters}, …],
//!                 connections: {<node's name>: {main: [[{node}, …], …]}}}}
//!
//! run: {startTime, executionTime, executionIndex, executionStatus, error,
//!       source: [{previousNode, previousNodeOutput, previousNodeRun} or null, …],
//!       metadata: {subExecution: {executionId, workflowId}, subExecutionsCount},
//!       inputOverride: items, data: items}
//! items: {<connection type>: [[item, …], …]}, one list of items for each input or output
//! item: {json, binary, pairedItem, error, …}
//! ```
//!
//! A run does not contain its input: `source` names the output that it came from, of any node and any run, which can
//! be anywhere in `runData`. Only AI sub-nodes and tools store their input themselves (`inputOverride`). In a
//! redacted execution `redactedError: {type, httpCode}` replaces each `error`.
//!
//! n8n stores an execution in another form; [`StoredProjection`] reads that with the same projections.
//!
//! Facts about n8n are from its source (`packages/workflow/src/run-execution-data`,
//! `packages/cli/src/public-api`) and were verified on n8n 1.123 and 2.41.
//!
//! # Example
//!
//! ```
//! use n8n_lens::execution::node::NodeProjection;
//! use n8n_lens::execution::summary::SummaryProjection;
//! use n8n_lens::json::Projection;
//!
//! let body = br#"{
//!     "id": "42", "status": "success",
//!     "data": {"resultData": {"runData": {
//!         "Start": [{"data": {"main": [[{"json": {"order": 1}}, {"json": {"order": 2}}]]}}],
//!         "Filter": [{
//!             "source": [{"previousNode": "Start"}],
//!             "data": {"main": [[{"json": {"order": 2}}]]}
//!         }]
//!     }}}
//! }"#;
//!
//! let summary = SummaryProjection.read_from(&body[..])?;
//! let items: Vec<_> = summary.nodes.iter().map(|node| (node.name.as_str(), node.items)).collect();
//! assert_eq!(items, [("Start", 2), ("Filter", 1)]);
//!
//! // What the node received is found in the output of the node that feeds it.
//! let projection = NodeProjection { node: "Filter".to_owned(), window: 0..50, ..NodeProjection::default() };
//! let view = projection.read_from(&body[..])?;
//! let node = view.node.expect("the node ran");
//! assert_eq!(node.inputs[0].list.as_ref().map(|list| list.total), Some(2));
//! assert_eq!(node.run.expect("there is a run").outputs.lists[0].total, 1);
//! # Ok::<_, n8n_lens::execution::Error>(())
//! ```

pub mod compare;
pub mod describe;
mod edits;
mod executed;
mod failure;
mod failure_filter;
pub mod fields;
mod flow;
pub mod graph;
mod header;
mod inflow;
mod inputs;
mod items;
pub mod kind;
mod leaves;
pub mod lookup;
pub mod node;
pub mod node_runs;
mod order;
pub mod recording;
mod redaction;
mod related;
pub mod rows;
mod run;
mod runs;
pub mod search;
mod source;
mod stored;
pub mod summary;
pub mod talk;
pub mod timeline;
pub mod trace;
pub mod trend;
mod values;
mod workflow;
mod workflow_node;

pub use failure::Failure;
pub(crate) use failure::{STACK_LINES, shorten_stack, unescape_texts};
pub use failure_filter::FailureFilter;
pub use flow::{ErrorItem, ErrorItems};
pub use header::{Header, HeaderProjection, duration};
pub use items::{ItemList, ItemLists};
pub use related::{Children, Parent};
pub use run::Run;
pub use runs::is_failure;
pub use source::InputSource;
pub use stored::{Searched, StoredExecution, StoredProjection, StoredSearch};

/// Why an execution could not be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The body is broken or ends early.
    #[error("The body is incomplete or not valid JSON: {0}. None of it is shown; fetch it again.")]
    Read(#[from] crate::json::ReadError),
    /// JSON, but not an execution.
    #[error(
        "This is JSON, but not an n8n execution: it has no `id`, `status` or `data`. Pass the response of GET /api/v1/executions/{{id}}?includeData=true."
    )]
    NotAnExecution,
    /// The source of stored run data failed.
    #[error(transparent)]
    Store(std::io::Error),
    /// Stored run data is broken.
    #[error(
        "The run data of this execution in n8n's store cannot be read: {0}. None of it is shown. If the execution is running, ask again; if not, the store is damaged."
    )]
    StoredData(crate::json::ReadError),
    /// The parts of stored run data refer to each other too often.
    #[error(
        "The run data of this execution is too expensive to expand: its parts refer to each other so often that n8n-lens stopped. It is not damaged, but none of it is shown. Narrow the question (get_execution and get_execution_by_node follow fewer references), or start n8n-lens without --store, with N8N_URL and N8N_API_KEY: n8n's API then answers."
    )]
    StoredTooExpensive,
    /// A stored workflow is broken.
    #[error("The workflow of this execution in n8n's store is not JSON: {0}. Nothing is shown; the store is damaged.")]
    StoredWorkflow(crate::json::ReadError),
    /// The header that a store wrote is broken.
    #[error("The columns of this execution in n8n's store could not be read: {0}. Nothing is shown.")]
    StoredHeader(crate::json::ReadError),
    /// Stored run data is not flatted text; with its beginning.
    #[error(
        "The run data of this execution is stored in a form that this version of n8n-lens does not know: it begins with `{0}`. Update n8n-lens, or read the execution through n8n's API."
    )]
    StoredForm(String),
    /// Stored run data is of an unknown version.
    #[error(
        "The run data of this execution is of version {0}; this version of n8n-lens knows 0 and 1. Update n8n-lens, or read the execution through n8n's API."
    )]
    StoredVersion(String),
}
