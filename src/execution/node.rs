//! One run of one node: its actual input and output items, its parameters and its error.

use std::io::Read;
use std::ops::Range;

use indexmap::IndexMap;

use super::header::Header;
use super::inputs::Candidates;
use super::items::{ItemLimits, ItemList, ItemLists};
use super::label::labels;
use super::run::{InputSource, Run};
use super::workflow::WorkflowNode;
use super::{Error, body, failure, flow};
use crate::json::{Cursor, Excerpt, Keep, Projection, ReadError, hold_name, is_name};

/// `{connection: [[item, …], …]}`
const ITEM_LISTS: Keep = Keep::EachMember(&Keep::EachElement(&Keep::Window));

/// The same for every node: any node's output may turn out to be the input.
const RUN: Keep = Keep::Members(&[
    ("startTime", Keep::Whole),
    ("executionTime", Keep::Whole),
    ("executionStatus", Keep::Whole),
    ("error", failure::WHOLE),
    ("redactedError", failure::REDACTED),
    ("source", Keep::EachElement(&Keep::Whole)),
    ("metadata", Keep::Members(&[("subExecution", flow::CHILD)])),
    ("inputOverride", ITEM_LISTS),
    ("data", ITEM_LISTS),
]);

const DATA: Keep =
    Keep::Members(&[("resultData", Keep::Members(&[("runData", Keep::EachMember(&Keep::EachElement(&RUN)))]))]);

/// Of a run, what tells whether it is the one to show, and where its inputs come from.
const RUN_WITHOUT_ITEMS: Keep = Keep::Members(&[
    ("executionStatus", Keep::Whole),
    ("error", Keep::Members(&[])),
    ("redactedError", Keep::Members(&[])),
    ("source", Keep::EachElement(&Keep::Whole)),
    ("inputOverride", Keep::Members(&[])),
]);

const DATA_WITHOUT_ITEMS: Keep = Keep::Members(&[(
    "resultData",
    Keep::Members(&[("runData", Keep::EachMember(&Keep::EachElement(&RUN_WITHOUT_ITEMS)))]),
)]);

const WORKFLOW: Keep = Keep::Members(&[(
    "nodes",
    Keep::EachElement(&Keep::Members(&[
        ("name", Keep::Whole),
        ("type", Keep::Whole),
        ("typeVersion", Keep::Whole),
        ("onError", Keep::Whole),
        ("parameters", Keep::Whole),
    ])),
)]);

/// Memory for the items of one run.
const RUN_BYTES: usize = 768 * 1024;

/// Memory for a node's parameters.
const PARAMETER_BYTES: usize = 128 * 1024;

/// The most failed runs that are listed.
const MAX_FAILED: usize = 20;

/// Reads a [`NodeView`] of one run of one node.
///
/// The body is read once, and the items of the shown run's inputs are collected on the way, in bounded memory. If
/// memory was too short for an input, [`second_pass`](Self::second_pass) returns the projection that reads the body
/// again for it.
///
/// ```
/// use n8n_lens::execution::node::NodeProjection;
/// use n8n_lens::json::{Detail, Projection};
///
/// let body = br#"{
///     "id": "7",
///     "data": {"resultData": {"runData": {
///         "Read": [{"data": {"main": [[{"json": {"n": 1}}, {"json": {"n": 2}}, {"json": {"n": 3}}]]}}],
///         "If": [{
///             "source": [{"previousNode": "Read"}],
///             "data": {"main": [[{"json": {"n": 1}}], [{"json": {"n": 2}}, {"json": {"n": 3}}]]}
///         }]
///     }}},
///     "workflowData": {"nodes": [{"name": "If", "type": "n8n-nodes-base.if", "parameters": {"limit": 1}}]}
/// }"#;
///
/// // One item of each input and output, after the first one.
/// let projection = NodeProjection { node: "If".to_owned(), window: 1..2, ..NodeProjection::default() };
/// let view = projection.read_from(&body[..])?;
/// assert_eq!(view.names, ["Read", "If"]);
/// assert!(projection.second_pass(&view).is_none(), "the input is complete");
///
/// let node = view.node.expect("the node ran");
/// assert_eq!(node.labels, [Some("true".to_owned()), Some("false".to_owned())]);
/// let run = node.run.expect("it has a run");
/// let totals: Vec<_> = run.outputs.lists.iter().map(|list| list.total).collect();
/// assert_eq!(totals, [1, 2]);
///
/// let input = node.inputs[0].list.as_ref().expect("its source ran");
/// let (mut item, mut clipped) = (String::new(), 0);
/// input.items(1000)?[0].write(Detail::WHOLE, &mut item, &mut clipped);
/// assert_eq!((item.as_str(), input.total), (r#"{"json":{"n":2}}"#, 3));
/// # Ok::<_, n8n_lens::execution::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct NodeProjection {
    /// The node's name, or the shortened form of it that a summary showed.
    pub node: String,
    /// The run, from 0; `None` selects the first failed run, or else the last one.
    pub run: Option<u64>,
    /// Which items of each input and output.
    pub window: Range<u64>,
    /// In a second pass, the sources of the inputs to read; `None` in the first pass.
    pub sources: Option<Vec<InputSource>>,
}

impl Projection for NodeProjection {
    type View = Result<NodeView, Error>;
    const KEEP: Keep = Keep::Members(&body::keep(DATA, WORKFLOW));

    fn window(&self) -> Range<u64> {
        self.window.clone()
    }

    fn read<R: Read>(&self, cursor: Cursor<R>) -> Self::View {
        let body = body::read(cursor, |cursor, _| RunData::read(cursor, self), |cursor| read_workflow(cursor, self))?;
        Ok(body.data.unwrap_or_else(|| RunData::new(self)).view(body.header, body.workflow))
    }
}

/// As [`NodeProjection`], but the view has no items: which run is shown, and where its inputs come from.
#[derive(Clone, Debug)]
pub(super) struct NodeRunProjection(pub(super) NodeProjection);

impl Projection for NodeRunProjection {
    type View = Result<NodeView, Error>;
    const KEEP: Keep = Keep::Members(&body::keep(DATA_WITHOUT_ITEMS, WORKFLOW));

    fn read<R: Read>(&self, cursor: Cursor<R>) -> Self::View {
        self.0.read(cursor)
    }
}

impl NodeProjection {
    /// The second pass that `view` needs; `None` if it has all inputs, or if this is the second pass.
    pub fn second_pass(&self, view: &NodeView) -> Option<Self> {
        let node = view.node.as_ref()?;
        if node.missing.is_empty() || self.sources.is_some() {
            return None;
        }
        let sources = node.run.as_ref()?.sources.iter().flatten().cloned().collect();
        Some(Self { sources: Some(sources), ..self.clone() })
    }
}

/// What an execution says about a node.
#[derive(Debug)]
pub struct NodeView {
    /// The execution's metadata.
    pub header: Header,
    /// The names of all executed nodes, in document order.
    pub names: Vec<String>,
    /// The node, if it was executed.
    pub node: Option<Node>,
    /// The names that match a shortened name if there are several: it is unclear which node is meant.
    pub ambiguous: Vec<String>,
}

/// An executed node and the shown run.
#[derive(Debug)]
pub struct Node {
    /// The node's name, the key of `runData`.
    pub name: String,
    /// The node's type, such as `n8n-nodes-base.httpRequest`.
    pub node_type: Option<String>,
    /// The node's parameters, as in the workflow.
    pub parameters: Option<Excerpt>,
    /// How often the node ran.
    pub runs: u64,
    /// The indices of the first failed runs, at most 20.
    pub failed: Vec<u64>,
    /// The requested run; `None` if there is no such run.
    pub run: Option<Run>,
    /// The inputs of this run.
    pub inputs: Vec<Input>,
    /// The label of each output of the run, such as `true` and `false` of an If node.
    pub labels: Vec<Option<String>>,
    /// The sources whose items were dropped for lack of memory; a second pass reads them.
    pub missing: Vec<InputSource>,
}

/// One input of a run.
#[derive(Clone, Debug)]
pub struct Input {
    /// Which input, from 0.
    pub index: u64,
    /// The output that it came from; `None` if n8n stores the input itself (`inputOverride`).
    pub source: Option<InputSource>,
    /// Its items; `None` if there is no such output.
    pub list: Option<ItemList>,
}

/// Reads the node's entry in `workflowData`.
fn read_workflow<R: Read>(cursor: &mut Cursor<R>, projection: &NodeProjection) -> Result<WorkflowNode, ReadError> {
    let mut found = WorkflowNode::default();
    cursor.object(|cursor, member| {
        if member != "nodes" {
            return cursor.skip();
        }
        found = WorkflowNode::default();
        cursor
            .array(|cursor, _| {
                let node = WorkflowNode::read(cursor, PARAMETER_BYTES)?;
                let exact = found.name.as_deref() == Some(projection.node.as_str());
                if node
                    .name
                    .as_deref()
                    .is_some_and(|name| name == projection.node || (is_name(&projection.node, name) && !exact))
                {
                    found = node;
                }
                Ok(())
            })
            .map(drop)
    })?;
    Ok(found)
}

/// The member `runData`, read for one node.
struct RunData<'a> {
    projection: &'a NodeProjection,
    /// How many runs each node had.
    nodes: IndexMap<String, u64>,
    candidates: Candidates,
    target: Option<Target>,
    /// The nodes that match the requested name only as its shortened form.
    similar: Vec<String>,
}

/// The runs of the requested node.
#[derive(Default)]
struct Target {
    name: String,
    runs: u64,
    failed: Vec<u64>,
    /// The run to show, judging from the runs read so far.
    run: Option<Run>,
}

impl<'a> RunData<'a> {
    fn new(projection: &'a NodeProjection) -> Self {
        let mut candidates = Candidates::default();
        if let Some(sources) = &projection.sources {
            candidates.want(sources.clone());
        }
        Self { projection, nodes: IndexMap::new(), candidates, target: None, similar: Vec::new() }
    }

    fn read<R: Read>(cursor: &mut Cursor<R>, projection: &'a NodeProjection) -> Result<Self, ReadError> {
        let mut data = Self::new(projection);
        cursor.object(|cursor, member| {
            if member != "resultData" {
                return cursor.skip();
            }
            cursor
                .object(|cursor, member| {
                    if member != "runData" {
                        return cursor.skip();
                    }
                    data = Self::new(projection);
                    cursor.object(|cursor, name| data.read_node(cursor, &hold_name(name))).map(drop)
                })
                .map(drop)
        })?;
        Ok(data)
    }

    fn read_node<R: Read>(&mut self, cursor: &mut Cursor<R>, name: &str) -> Result<(), ReadError> {
        let mut runs = 0;
        let is_exact = name == self.projection.node;
        if !is_exact && is_name(&self.projection.node, name) {
            // Of members with the same name the last one counts.
            self.similar.retain(|similar| similar != name);
            self.similar.push(name.to_owned());
        }
        let is_similar = self.similar.last().is_some_and(|similar| similar == name) && !self.has_exact_target();
        if is_exact || is_similar {
            let mut target = Target { name: name.to_owned(), ..Target::default() };
            cursor.array(|cursor, run| self.read_target(cursor, &mut target, run))?;
            runs = target.runs;
            if self.projection.sources.is_none() {
                self.candidates.want(target.sources());
            }
            self.target = Some(target);
        } else {
            cursor.array(|cursor, run| {
                runs += 1;
                self.read_candidate(cursor, name, run)
            })?;
        }
        self.nodes.insert(name.to_owned(), runs);
        Ok(())
    }

    fn has_exact_target(&self) -> bool {
        self.target.as_ref().is_some_and(|target| target.name == self.projection.node)
    }

    fn limits(&self) -> ItemLimits {
        ItemLimits { window: self.projection.window.clone(), bytes: RUN_BYTES }
    }

    fn read_candidate<R: Read>(&mut self, cursor: &mut Cursor<R>, name: &str, run: u64) -> Result<(), ReadError> {
        let limits = self.candidates.limits(name, run, &self.limits());
        let mut outputs = None;
        cursor.object(|cursor, member| {
            match member {
                "data" => outputs = ItemLists::read(cursor, limits.as_ref())?,
                "inputOverride" => drop(ItemLists::read(cursor, None)?),
                _ => cursor.skip()?,
            }
            Ok(())
        })?;
        if limits.is_some() {
            self.candidates.keep(name, run, outputs.unwrap_or_default());
        }
        Ok(())
    }

    fn read_target<R: Read>(&mut self, cursor: &mut Cursor<R>, target: &mut Target, run: u64) -> Result<(), ReadError> {
        let run = Run::read(cursor, run, &self.limits())?;
        // A node can feed itself.
        if self.candidates.limits(&target.name, run.index, &self.limits()).is_some() {
            self.candidates.keep(&target.name, run.index, run.outputs.clone());
        }
        target.add(run, self.projection.run);
        Ok(())
    }

    fn view(self, header: Header, workflow: WorkflowNode) -> NodeView {
        let ambiguous = if self.has_exact_target() || self.similar.len() < 2 { Vec::new() } else { self.similar };
        let node = self.target.map(|target| {
            let missing = target.sources().into_iter().filter(|source| {
                let ran = self.nodes.get(&source.node).is_some_and(|runs| source.run < *runs);
                ran && !self.candidates.has(source)
            });
            Node {
                missing: missing.collect(),
                inputs: target.inputs(&self.candidates),
                labels: target.labels(&workflow),
                node_type: workflow.node_type,
                parameters: workflow.parameters,
                name: target.name,
                runs: target.runs,
                failed: target.failed,
                run: target.run,
            }
        });
        NodeView { header, names: self.nodes.into_keys().collect(), node, ambiguous }
    }
}

impl Target {
    fn add(&mut self, run: Run, requested: Option<u64>) {
        self.runs += 1;
        let first_failed = run.failed && self.failed.is_empty();
        let show = match requested {
            Some(requested) => run.index == requested,
            None => first_failed || self.failed.is_empty(),
        };
        if run.failed && self.failed.len() < MAX_FAILED {
            self.failed.push(run.index);
        }
        if show {
            self.run = Some(run);
        }
    }

    /// The sources of the shown run's inputs.
    fn sources(&self) -> Vec<InputSource> {
        let run = self.run.as_ref().filter(|run| run.input_override.is_none());
        run.map_or_else(Vec::new, |run| run.sources.iter().flatten().cloned().collect())
    }

    fn inputs(&self, candidates: &Candidates) -> Vec<Input> {
        let Some(run) = &self.run else {
            return Vec::new();
        };
        if let Some(input) = &run.input_override {
            let lists = input.lists.iter().enumerate();
            return lists
                .map(|(at, list)| Input { index: at as u64, source: None, list: Some(list.clone()) })
                .collect();
        }
        let sources = run.sources.iter().enumerate();
        sources
            .filter_map(|(at, source)| {
                let source = source.clone()?;
                let list = candidates.output(&source).cloned();
                Some(Input { index: at as u64, source: Some(source), list })
            })
            .collect()
    }

    fn labels(&self, workflow: &WorkflowNode) -> Vec<Option<String>> {
        let outputs = self.run.iter().flat_map(|run| &run.outputs.lists);
        let mains = outputs.clone().filter(|list| list.connection == "main").count();
        let labels = labels(workflow);
        let label = |list: &ItemList| labels.get(usize::try_from(list.index).ok()?, mains);
        outputs.map(|list| label(list).filter(|_| list.connection == "main")).collect()
    }
}
