//! One run of one node: its actual input and output items, its parameters and its error.

use std::ops::Range;

use indexmap::IndexMap;

use super::Error;
use super::header::Header;
use super::inputs::Candidates;
use super::items::{ItemLimits, ItemList, ItemLists};
use super::run::Run;
use super::runs::{self, Item, ItemPlace, Parts, RunHead, RunObserver, Side};
use super::source::InputSource;
use super::workflow_node::TYPE_CHARS;
use crate::json::{Cursor, Excerpt, Keep, Members, Projection, ReadError, is_name, member, members};
use crate::node_outputs::OutputLabels;

const WORKFLOW: Keep = Keep::Members(&[("nodes", Keep::EachElement(&NodeSettings::KEEP))]);

/// Memory for the items of one run.
const RUN_BYTES: usize = 768 * 1024;

/// Memory for a node's parameters.
const PARAMETER_BYTES: usize = 128 * 1024;

/// The maximum number of failed runs listed.
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
    const KEEP: Keep = Keep::Members(&runs::keep::<RunData<'_, true>>(WORKFLOW));

    fn window(&self) -> Range<u64> {
        self.window.clone()
    }

    fn read(&self, cursor: Cursor<'_>) -> Self::View {
        RunData::<true>::view(cursor, self)
    }
}

/// Like [`NodeProjection`], but without items: which run is shown, and where its inputs come from.
#[derive(Clone, Debug)]
pub(super) struct NodeRunProjection(pub(super) NodeProjection);

impl Projection for NodeRunProjection {
    type View = Result<NodeView, Error>;
    const KEEP: Keep = Keep::Members(&runs::keep::<RunData<'_, false>>(WORKFLOW));

    fn read(&self, cursor: Cursor<'_>) -> Self::View {
        RunData::<false>::view(cursor, &self.0)
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
    /// The names that match a shortened name if there are several: the request is ambiguous.
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
    /// Whether it did not run, since its output was pinned.
    pub pinned: bool,
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

/// The node's entry in `workflowData`.
#[derive(Default)]
struct NodeSettings {
    name: Option<String>,
    node_type: Option<String>,
    type_version: Option<f64>,
    on_error: Option<String>,
    disabled: bool,
    parameters: Option<Excerpt>,
}

members!(NodeSettings, |node, cursor| match name {
    ("name", Keep::Whole) => node.name = cursor.name()?,
    ("type", Keep::Whole) => node.node_type = cursor.text(TYPE_CHARS)?,
    ("typeVersion", Keep::Whole) => node.type_version = cursor.number()?,
    ("onError", Keep::Whole) => node.on_error = cursor.text(TYPE_CHARS)?,
    ("disabled", Keep::Whole) => node.disabled = cursor.is_true()?,
    ("parameters", Keep::Whole) => node.parameters = Some(cursor.excerpt(PARAMETER_BYTES)?),
});

impl NodeSettings {
    /// The labels of its outputs, as n8n's editor shows them.
    fn output_labels(&self) -> OutputLabels {
        let node_type = self.node_type.as_deref().unwrap_or_default();
        OutputLabels::of_excerpt(node_type, self.type_version, self.on_error.as_deref(), self.parameters.as_ref())
    }
}

/// Reads the settings of the requested node.
fn read_workflow(cursor: &mut Cursor<'_>, projection: &NodeProjection) -> Result<NodeSettings, ReadError> {
    member(cursor, "nodes", |cursor| {
        let mut found = NodeSettings::default();
        cursor.array(|cursor, _| {
            let node = NodeSettings::read_or_default(cursor)?;
            let exact = found.name.as_deref() == Some(projection.node.as_str());
            let is_wanted = |name: &str| name == projection.node || (is_name(&projection.node, name) && !exact);
            if node.name.as_deref().is_some_and(is_wanted) {
                found = node;
            }
            Ok(())
        })?;
        Ok(found)
    })
}

/// The runs, read for one node.
struct RunData<'a, const ITEMS: bool> {
    projection: &'a NodeProjection,
    /// How many runs each node had.
    nodes: IndexMap<String, u64>,
    candidates: Candidates,
    target: Option<Target>,
    /// The nodes that match the requested name only as its shortened form.
    similar: Vec<String>,
    /// The node that is being read, and its runs so far.
    name: String,
    runs: u64,
    /// The same, if it is the requested one.
    reading: Option<Target>,
    /// The inputs and the outputs of the run that is being read.
    lists: [ItemLists; 2],
    /// Which of them are being read, and what is held of their items.
    side: Side,
    limits: Option<ItemLimits>,
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

impl<const ITEMS: bool> RunObserver for RunData<'_, ITEMS> {
    /// The same for every node: any node's output may turn out to be the input. Without items, what decides which run is
    /// shown, and where its inputs come from.
    const PARTS: Parts = {
        let parts = Parts::STATUS.and(Parts::SOURCES).and(Parts::OWN_INPUT);
        let items = Parts::START.and(Parts::TIME).and(Parts::ERROR).and(Parts::CHILDREN).and(Parts::PINNED);
        if ITEMS { parts.and(items).and(Parts::INPUTS).and(Parts::OUTPUTS) } else { parts }
    };

    fn begin_node(&mut self, name: &str) {
        let is_exact = name == self.projection.node;
        if !is_exact && is_name(&self.projection.node, name) {
            self.similar.retain(|similar| similar != name);
            self.similar.push(name.to_owned());
        }
        let is_similar = self.similar.last().is_some_and(|similar| similar == name) && !self.has_exact_target();
        self.reading = (is_exact || is_similar).then(|| Target { name: name.to_owned(), ..Target::default() });
        (self.name, self.runs) = (name.to_owned(), 0);
    }

    fn begin_lists(&mut self, run: u64, side: Side) {
        self.side = side;
        self.limits = match side {
            _ if self.reading.is_some() => Some(self.limits()),
            Side::Inputs => None,
            Side::Outputs => self.candidates.limits(&self.name, run, &self.limits()),
        };
        self.lists[side as usize] = ItemLists::default();
    }

    fn begin_list(&mut self, connection: &str, index: u64) {
        self.lists[self.side as usize].begin_list(connection, index);
    }

    fn item(&mut self, _: ItemPlace, item: Item<'_, '_>) -> Result<(), ReadError> {
        self.lists[self.side as usize].item(item, self.limits.as_ref())
    }

    fn end_list(&mut self, _: ItemPlace) {
        self.lists[self.side as usize].end_list();
    }

    fn end_run(&mut self, run: RunHead) -> Result<(), ReadError> {
        self.runs += 1;
        let [inputs, outputs] = std::mem::take(&mut self.lists).map(ItemLists::complete);
        // A node can feed itself.
        let is_candidate = self.candidates.limits(&self.name, run.index, &self.limits()).is_some();
        let Some(target) = &mut self.reading else {
            if is_candidate {
                self.candidates.keep(&self.name, run.index, outputs);
            }
            return Ok(());
        };
        let run = Run::new(run, inputs, outputs);
        if is_candidate {
            self.candidates.keep(&self.name, run.index, run.outputs.clone());
        }
        target.add(run, self.projection.run);
        Ok(())
    }

    fn end_node(&mut self, name: String) {
        if let Some(target) = self.reading.take() {
            if self.projection.sources.is_none() {
                self.candidates.want(target.sources());
            }
            self.target = Some(target);
        }
        self.nodes.insert(name, self.runs);
    }
}

impl<'a, const ITEMS: bool> RunData<'a, ITEMS> {
    fn new(projection: &'a NodeProjection) -> Self {
        let mut candidates = Candidates::default();
        if let Some(sources) = &projection.sources {
            candidates.want(sources.clone());
        }
        Self {
            projection,
            nodes: IndexMap::new(),
            candidates,
            target: None,
            similar: Vec::new(),
            name: String::new(),
            runs: 0,
            reading: None,
            lists: Default::default(),
            side: Side::Outputs,
            limits: None,
        }
    }

    fn has_exact_target(&self) -> bool {
        self.target.as_ref().is_some_and(|target| target.name == self.projection.node)
    }

    fn limits(&self) -> ItemLimits {
        ItemLimits { window: self.projection.window.clone(), bytes: RUN_BYTES }
    }

    /// Reads an execution.
    fn view(cursor: Cursor<'_>, projection: &'a NodeProjection) -> Result<NodeView, Error> {
        let read_workflow = |cursor: &mut Cursor<'_>| read_workflow(cursor, projection);
        let execution = runs::read(cursor, |_| Self::new(projection), read_workflow)?;
        let (data, pinned, workflow) = (execution.runs, execution.data.result.pinned, execution.workflow);
        let ambiguous = if data.has_exact_target() || data.similar.len() < 2 { Vec::new() } else { data.similar };
        let node = data.target.map(|target| {
            let missing = target.sources().into_iter().filter(|source| {
                let ran = data.nodes.get(&source.node).is_some_and(|runs| source.run < *runs);
                ran && !data.candidates.has(source)
            });
            Node {
                missing: missing.collect(),
                inputs: target.inputs(&data.candidates),
                labels: target.labels(&workflow),
                node_type: workflow.node_type,
                parameters: workflow.parameters,
                pinned: pinned.contains(&target.name) && !workflow.disabled,
                name: target.name,
                runs: target.runs,
                failed: target.failed,
                run: target.run,
            }
        });
        Ok(NodeView { header: execution.header, names: data.nodes.into_keys().collect(), node, ambiguous })
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

    fn labels(&self, settings: &NodeSettings) -> Vec<Option<String>> {
        let outputs = self.run.iter().flat_map(|run| &run.outputs.lists);
        let mains = outputs.clone().filter(|list| list.connection == "main").count();
        let labels = settings.output_labels();
        let label = |list: &ItemList| labels.get(usize::try_from(list.index).ok()?, mains);
        outputs.map(|list| label(list).filter(|_| list.connection == "main")).collect()
    }
}
