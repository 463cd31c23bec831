//! The runs of the nodes of an execution.

use std::collections::HashMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::model_call::{self, ModelCall};
use super::{RowSpace, RowWriter, Rows};
use crate::execution::Error;
use crate::execution::failure::Failure;
use crate::execution::header::Header;
use crate::execution::related::Parent;
use crate::execution::runs::{self, Item, ItemPlace, ItemText, Parts, RunHead, RunObserver, Side};
use crate::execution::source::InputSource;
use crate::execution::workflow::{self, Workflow};
use crate::execution::workflow_node::WorkflowNode;
use crate::json::{Cursor, Excerpt, Keep, Members, Projection, ReadError, cut_name, members};

/// No node has more outputs; any further ones are not counted.
const MAX_OUTPUTS: usize = 1000;

/// Characters of the class and of the message of an error.
const NAME_CHARS: usize = 100;
const MESSAGE_CHARS: usize = 1000;

/// Reads [`ExecutionRuns`].
///
/// ```
/// use n8n_lens::execution::rows::{RowSpace, RunRowsProjection};
/// use n8n_lens::json::Projection;
///
/// let body = br#"{"id":"7","data":{"resultData":{"runData":{"Read":[
///     {"startTime":1795226662000,"executionTime":30,"executionStatus":"success","data":{"main":[[{},{}],[{}]]}}
/// ]}}}}"#;
/// let mut runs = RunRowsProjection { model_calls: false, space: RowSpace::default() }.read_from(&body[..])?;
/// runs.rows.each(|node, run| {
///     assert_eq!((node, run.ms, run.items(), run.status.as_str()), ("Read", 30, 3, "success"));
///     Ok(())
/// }).unwrap();
/// # Ok::<_, n8n_lens::execution::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct RunRowsProjection {
    /// Whether the calls of language models are read, which requires reading items.
    pub model_calls: bool,
    /// Where the rows are.
    pub space: RowSpace,
}

/// What was read.
#[derive(Debug)]
pub struct ExecutionRuns {
    /// The execution's metadata.
    pub header: Header,
    /// The workflow's name at the time of the execution.
    pub workflow_name: Option<String>,
    /// How many nodes it had.
    pub workflow_nodes: u64,
    /// What the workflow says about each node, by its name.
    pub nodes: HashMap<String, RowNode>,
    /// The execution that started this one.
    pub parent: Option<Parent>,
    /// Why the execution failed.
    pub error: Option<Failure>,
    /// The runs.
    pub rows: Rows<RunRow>,
}

/// A node of the workflow.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowNode {
    /// Its id.
    pub id: Option<String>,
    /// Its type, such as `n8n-nodes-base.httpRequest`.
    pub node_type: Option<String>,
    /// The version of this type.
    pub type_version: Option<f64>,
    /// Whether it serves other nodes, as a tool or a model serves an AI agent.
    pub serves: bool,
}

/// A run.
#[derive(Debug, Serialize, Deserialize)]
pub struct RunRow {
    /// Which of the node's runs, from 0.
    pub run: u64,
    /// Its place among all runs of the execution, as n8n counts them; old versions do not.
    pub index: Option<u64>,
    /// When it began, milliseconds since 1970.
    pub start: Option<f64>,
    /// How long it took, ms.
    pub ms: u64,
    /// `crashed`, `error` if it failed in another way, otherwise n8n's `executionStatus`.
    pub status: String,
    /// Its outputs, of all types of connections, in the order of the text.
    pub outputs: Vec<Output>,
    /// The source of each input; `None` for an input without data.
    pub sources: Vec<Option<InputSource>>,
    /// Whether a retry has copied it from the execution that it retries.
    pub copied: bool,
    /// Why it failed.
    pub error: Option<RunError>,
    /// The call of a language model, if it is one and calls are read.
    pub call: Option<ModelCall>,
}

/// An output of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Output {
    /// The type of connection: `main`, `ai_tool`, …
    pub connection: String,
    /// How many items there are.
    pub items: u64,
}

/// Why a run failed, without secrets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunError {
    /// The class of the error.
    pub name: Option<String>,
    /// What happened.
    pub message: Option<String>,
}

impl RunRow {
    /// Items in all outputs.
    pub fn items(&self) -> u64 {
        self.outputs.iter().fold(0, |sum, output| sum.saturating_add(output.items))
    }

    /// Items of each `main` output.
    pub fn main_outputs(&self) -> impl Iterator<Item = u64> {
        self.outputs.iter().filter(|output| output.connection == "main").map(|output| output.items)
    }

    /// Whether it is a call of a sub-node of an AI agent: its outputs are of other types than `main`.
    pub fn is_call(&self) -> bool {
        !self.outputs.is_empty() && self.main_outputs().next().is_none()
    }
}

impl Projection for RunRowsProjection {
    type View = Result<ExecutionRuns, Error>;
    const KEEP: Keep = Keep::Members(&runs::keep::<Reader>(RowWorkflow::KEEP));

    fn window(&self) -> Range<u64> {
        0..u64::from(self.model_calls)
    }

    fn read(&self, cursor: Cursor<'_>) -> Self::View {
        let execution = runs::read(cursor, |header| Reader::new(self, header), RowWorkflow::read_or_default)?;
        let (data, RowWorkflow { workflow, nodes, total }) = (execution.data, execution.workflow);
        Ok(ExecutionRuns {
            header: execution.header,
            nodes: with_sub_nodes(nodes, &workflow),
            workflow_name: workflow.name,
            workflow_nodes: total,
            parent: data.parent,
            error: data.result.error.or(data.result.redacted_error),
            rows: execution.runs.rows.finish(),
        })
    }
}

/// The workflow that was executed.
#[derive(Default)]
struct RowWorkflow {
    workflow: Workflow,
    nodes: HashMap<String, RowNode>,
    /// How many nodes there are, with sticky notes.
    total: u64,
}

members!(RowWorkflow, |read, cursor| match name {
    ("name", Keep::Whole) => read.workflow.name = cursor.name()?,
    ("nodes", Keep::EachElement(&WorkflowNode::IDENTITY)) => read.read_nodes(cursor)?,
    ("connections", workflow::CONNECTIONS) =>
        read.workflow.read_connections(cursor, |cursor, _| cursor.skip_present())?,
});

impl RowWorkflow {
    fn read_nodes(&mut self, cursor: &mut Cursor<'_>) -> Result<(), ReadError> {
        (self.nodes, self.total) = (HashMap::new(), 0);
        cursor.array(|cursor, _| {
            let node = WorkflowNode::read_or_default(cursor)?;
            self.total += 1;
            let WorkflowNode { name, id, node_type, type_version, .. } = node;
            let Some(name) = name else { return Ok(()) };
            self.nodes.insert(name, RowNode { id, node_type, type_version, serves: false });
            Ok(())
        })?;
        Ok(())
    }
}

fn with_sub_nodes(mut nodes: HashMap<String, RowNode>, workflow: &Workflow) -> HashMap<String, RowNode> {
    for name in &workflow.sub_nodes {
        nodes.entry(name.clone()).or_default().serves = true;
    }
    nodes
}

struct Reader {
    model_calls: bool,
    own_start: Option<i64>,
    rows: RowWriter,
    /// Whether the lists that follow are outputs.
    is_output: bool,
    outputs: Vec<Output>,
    /// Whether the items that follow are those of a language model.
    is_model: bool,
    call: Option<ModelCall>,
}

impl Reader {
    fn new(projection: &RunRowsProjection, header: &Header) -> Self {
        Self {
            model_calls: projection.model_calls,
            own_start: header.own_start_ms(),
            rows: RowWriter::new(&projection.space),
            is_output: false,
            outputs: Vec::new(),
            is_model: false,
            call: None,
        }
    }

    fn begin_run(&mut self) {
        self.rows.begin_run();
        (self.outputs, self.call) = (Vec::new(), None);
    }
}

impl RunObserver for Reader {
    const PARTS: Parts = Parts::PARENT
        .and(Parts::END)
        .and(Parts::START)
        .and(Parts::TIME)
        .and(Parts::STATUS)
        .and(Parts::ERROR)
        .and(Parts::SOURCES)
        .and(Parts::INPUTS)
        .and(Parts::OUTPUTS);

    fn begin_node(&mut self, _: &str) {
        self.rows.begin_node();
        self.begin_run();
    }

    fn begin_lists(&mut self, _: u64, side: Side) {
        self.is_output = matches!(side, Side::Outputs);
        if self.is_output {
            self.outputs.clear();
        }
    }

    fn begin_list(&mut self, connection: &str, _: u64) {
        self.is_model = connection == model_call::CONNECTION;
        if self.is_output && self.outputs.len() < MAX_OUTPUTS {
            self.outputs.push(Output { connection: cut_name(connection.to_owned()), items: 0 });
        }
    }

    fn item(&mut self, place: ItemPlace, item: Item<'_, '_>) -> Result<(), ReadError> {
        if !self.model_calls || !self.is_model || place.item > 0 {
            return item.skip();
        }
        let ItemText::Json(text) = item.text()? else { return Ok(()) };
        let call = self.call.get_or_insert_default();
        if self.is_output { call.add_output(&text) } else { call.add_input(&text) }
    }

    fn end_list(&mut self, end: ItemPlace) {
        let output = self.outputs.get_mut(usize::try_from(end.output).unwrap_or(usize::MAX));
        if let Some(output) = output.filter(|_| self.is_output) {
            output.items = end.item;
        }
    }

    fn end_run(&mut self, run: RunHead) -> Result<(), ReadError> {
        let row = RunRow {
            run: run.index,
            index: run.start.index.filter(|index| *index >= 0.0 && index.fract() == 0.0).map(|index| index as u64),
            start: run.start.ms(),
            ms: run.ms(),
            status: run.outcome().to_owned(),
            outputs: std::mem::take(&mut self.outputs),
            copied: run.is_copied(self.own_start),
            error: run.error.as_ref().map(run_error),
            call: self.call.take(),
            sources: run.sources,
        };
        self.rows.add(&row);
        self.rows.end_run(true);
        Ok(())
    }

    fn end_node(&mut self, name: String) {
        self.rows.end_node(name);
    }
}

/// An error is an object with a message, or only a message.
fn run_error(error: &Excerpt) -> RunError {
    let text = |part: &Excerpt, chars| match part {
        Excerpt::Text(text) => Some(text.cut(chars).0.into_owned()),
        _ => None,
    };
    let member = |name, chars| error.member(name).and_then(|part| text(part, chars));
    RunError {
        name: member("name", NAME_CHARS),
        message: member("message", MESSAGE_CHARS).or(text(error, MESSAGE_CHARS)),
    }
}
