//! Runs of AI agents as conversations: each call of a model, a tool or a memory is a run of a sub-node, which names the run that
//! made it as its source.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use super::Error;
use super::header::Header;
use super::items::read_item;
use super::runs::{self, Execution, Item, ItemPlace, ItemText, Parts, RunHead, RunObserver, Side};
use super::source::InputSource;
use super::workflow_node::WorkflowNode;
use crate::json::{Cursor, Excerpt, Keep, Members, Prefix, Projection, ReadError, cut_name, members};

/// Memory for one side of a turn.
const SIDE_BYTES: usize = 16 * 1024;

/// Memory for an item of the messages of a model: they hold the whole conversation so far.
const MESSAGES_BYTES: usize = 1024 * 1024;

/// The member of a model's input with its messages.
const MESSAGES: &str = "messages";

/// Reads a [`Talk`]: the first turns after a place, in the order in which they began.
///
/// Memory is bounded by `turns` of 32 KiB, and the messages of two calls of a model (1 MiB each).
///
/// ```
/// use n8n_lens::execution::talk::TalkProjection;
/// use n8n_lens::json::Projection;
///
/// let body = br#"{"id": "7", "data": {"resultData": {"runData": {
///     "Model": [{"startTime": 1795226676642, "executionIndex": 2, "source": [{"previousNode": "Agent"}],
///         "data": {"ai_languageModel": [[{"json": {"text": "42"}}]]}}],
///     "Agent": [{"startTime": 1795226675606, "executionIndex": 1, "data": {"main": [[{"json": {"output": "It is 42."}}]]}}]
/// }}}}"#;
/// let nodes = ["Model", "Agent"].map(str::to_owned).into();
/// let talk = TalkProjection { nodes, after: None, turns: 30 }.read_from(&body[..])?;
/// let turns: Vec<_> = talk.turns.iter().map(|turn| (&*turn.node, turn.caller.as_ref().map(|caller| &*caller.node))).collect();
/// assert_eq!(turns, [("Agent", None), ("Model", Some("Agent"))]);
/// # Ok::<_, n8n_lens::execution::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct TalkProjection {
    /// The agents and their sub-nodes; names as answers show them.
    pub nodes: HashSet<String>,
    /// Only turns that began after this one.
    pub after: Option<Began>,
    /// How many turns.
    pub turns: usize,
}

/// When a turn began: milliseconds since 1970, and n8n's counter of runs.
pub type Began = (u64, u64);

/// A part of a conversation.
#[derive(Debug)]
pub struct Talk {
    /// The execution's metadata.
    pub header: Header,
    /// Whether n8n redacted the items.
    pub redacted: bool,
    /// What was said and called, in the order in which it began: who calls comes before what is called.
    pub turns: Vec<Turn>,
    /// How many more there are.
    pub more: u64,
    /// The prompts and instructions in the parameters of agents.
    pub told: Vec<(String, AgentParameters)>,
}

/// A run of an agent, or of what it called.
#[derive(Debug, Default)]
pub struct Turn {
    /// The node.
    pub node: String,
    /// Its run, from 0.
    pub run: u64,
    /// When it began.
    pub began: Began,
    /// How long it took, ms.
    pub ms: u64,
    /// The run that it was called by, if it is one of the nodes that are asked about.
    pub caller: Option<InputSource>,
    /// The `json` of the first item that it received, if n8n stores that with the run. Of a model: without the messages that it had
    /// received in an earlier call of the same run.
    pub input: Option<Excerpt>,
    /// Whether such messages are left out.
    pub continues: bool,
    /// The `json` of the first item that it returned.
    pub output: Option<Excerpt>,
    /// The items in its first output.
    pub items: u64,
    /// Its error.
    pub error: Option<Excerpt>,
}

/// What the parameters of an agent say, as templates.
#[derive(Clone, Debug, Default)]
pub struct AgentParameters {
    /// The prompt.
    pub text: Option<Prefix>,
    /// The instructions.
    pub system: Option<Prefix>,
}

impl Projection for TalkProjection {
    type View = Result<Talk, Error>;
    const KEEP: Keep = Keep::Members(&runs::keep::<Reader<'_>>(TalkWorkflow::KEEP));

    fn window(&self) -> Range<u64> {
        0..1
    }

    fn read(&self, cursor: Cursor<'_>) -> Self::View {
        let read = runs::read(cursor, |_| Reader::new(self), TalkWorkflow::read_or_default)?;
        let Execution { header, data, runs, workflow } = read;
        let told = workflow.told.into_iter().filter(|(name, _)| self.nodes.contains(name)).collect();
        let more = runs.total - runs.turns.len() as u64;
        let turns = runs.turns.into_values().collect();
        Ok(Talk { header, redacted: data.redacted || data.result.redacted_error.is_some(), turns, more, told })
    }
}

/// The parameters of the nodes of a workflow.
#[derive(Default)]
struct TalkWorkflow {
    told: Vec<(String, AgentParameters)>,
}

members!(TalkWorkflow, |workflow, cursor| match name {
    ("nodes", Keep::EachElement(&WorkflowNode::WHOLE)) => workflow.read_nodes(cursor)?,
});

/// The most nodes whose parameters are held.
const TOLD: usize = 1000;

impl TalkWorkflow {
    fn read_nodes(&mut self, cursor: &mut Cursor<'_>) -> Result<(), ReadError> {
        self.told.clear();
        cursor.array(|cursor, _| {
            let node = WorkflowNode::read_or_default(cursor)?;
            let (Some(name), Some(parameters)) = (node.name, node.parameters) else { return Ok(()) };
            let text = |value: Option<&Excerpt>| match value {
                Some(Excerpt::Text(text)) => Some(text.clone()),
                _ => None,
            };
            let options = parameters.member("options");
            let system = text(options.and_then(|options| options.member("systemMessage")));
            let told = AgentParameters { text: text(parameters.member("text")), system };
            if self.told.len() < TOLD && (told.text.is_some() || told.system.is_some()) {
                self.told.push((cut_name(name), told));
            }
            Ok(())
        })?;
        Ok(())
    }
}

/// Turns by when they began; those of one moment by node and run.
type Turns = BTreeMap<(Began, String, u64), Turn>;

struct Reader<'p> {
    projection: &'p TalkProjection,
    turns: Turns,
    /// How many turns there are after the place.
    total: u64,
    /// The node that is being read, if it is asked about.
    node: Option<String>,
    /// The messages of the call before, and the run that made it.
    before: Option<(InputSource, String)>,
    /// The run that is being read.
    side: Side,
    is_sub_node: bool,
    input: Option<Excerpt>,
    output: Option<Excerpt>,
    /// The items in its first output.
    items: u64,
}

impl RunObserver for Reader<'_> {
    const PARTS: Parts = Parts::REDACTED
        .and(Parts::END)
        .and(Parts::START)
        .and(Parts::TIME)
        .and(Parts::STATUS)
        .and(Parts::ERROR)
        .and(Parts::SOURCES)
        .and(Parts::INPUTS)
        .and(Parts::OUTPUTS);

    fn begin_node(&mut self, name: &str) {
        let name = cut_name(name.to_owned());
        let is_known = |turn: &Turn| turn.node == name;
        if self.turns.values().any(is_known) {
            let before = self.turns.len();
            self.turns.retain(|_, turn| !is_known(turn));
            self.total -= (before - self.turns.len()) as u64;
        }
        self.node = Some(name).filter(|name| self.projection.nodes.contains(name));
        self.before = None;
    }

    fn begin_lists(&mut self, _: u64, side: Side) {
        self.side = side;
        match side {
            Side::Inputs => self.input = None,
            Side::Outputs => (self.output, self.items) = (None, 0),
        }
    }

    fn begin_connection(&mut self, connection: &str) {
        self.is_sub_node |= connection != "main";
    }

    fn item(&mut self, place: ItemPlace, item: Item<'_, '_>) -> Result<(), ReadError> {
        let (held, bytes) = match self.side {
            Side::Inputs => (&self.input, MESSAGES_BYTES),
            Side::Outputs => (&self.output, SIDE_BYTES),
        };
        if self.node.is_none() || place.item > 0 || held.is_some() {
            return item.skip();
        }
        let ItemText::Json(json) = item.text()? else { return Ok(()) };
        let read = read_item(&mut Cursor::unpruned(&json[..]), bytes)?;
        let json = read.member("json").cloned();
        match self.side {
            Side::Inputs => self.input = json,
            Side::Outputs => self.output = json,
        }
        Ok(())
    }

    fn end_list(&mut self, end: ItemPlace) {
        if matches!(self.side, Side::Outputs) && end.output == 0 {
            self.items = end.item;
        }
    }

    fn end_run(&mut self, run: RunHead) -> Result<(), ReadError> {
        let is_sub_node = std::mem::take(&mut self.is_sub_node);
        let (input, output) = (self.input.take(), self.output.take());
        // n8n stores the input of a failed call as what it returned.
        let output = output.filter(|_| !(is_sub_node && run.failed));
        let items = std::mem::take(&mut self.items);
        let Some(node) = self.node.clone().filter(|_| run.has_begun()) else { return Ok(()) };
        let ms = run.ms();
        let caller = run.sources.into_iter().flatten().next();
        let caller = caller.map(|source| InputSource { node: cut_name(source.node), ..source });
        let (input, continues) = self.new_messages(input, caller.as_ref());
        // Old versions of n8n count no runs: what is called comes after its caller.
        let counted = run.start.index.map_or(u64::from(is_sub_node), |index| index.max(0.0) as u64);
        let began = (run.start.ms().unwrap_or(0.0).max(0.0) as u64, counted);
        if self.projection.after.is_some_and(|after| began <= after) {
            return Ok(());
        }
        self.total += 1;
        let caller = caller.filter(|caller| self.projection.nodes.contains(&caller.node));
        let (name, error) = (node.clone(), run.error);
        let turn = Turn { node: name, run: run.index, began, ms, caller, input, continues, output, items, error };
        self.turns.insert((began, node, run.index), turn);
        self.drop_last();
        Ok(())
    }
}

impl<'p> Reader<'p> {
    fn new(projection: &'p TalkProjection) -> Self {
        Self {
            projection,
            turns: Turns::new(),
            total: 0,
            node: None,
            before: None,
            side: Side::Outputs,
            is_sub_node: false,
            input: None,
            output: None,
            items: 0,
        }
    }

    /// What a model received, without the messages that it had received in its call before by the same run.
    fn new_messages(&mut self, input: Option<Excerpt>, caller: Option<&InputSource>) -> (Option<Excerpt>, bool) {
        let Some(input) = input else { return (None, false) };
        let Some((all, caller)) = messages(&input).zip(caller) else { return (Some(shrunk(input)), false) };
        let before = self.before.take().filter(|(by, _)| by == caller);
        let new = before.as_ref().and_then(|(_, before)| all.strip_prefix(before.as_str()));
        let (shown, continues) = (new.unwrap_or(&all).trim_start().to_owned(), new.is_some());
        self.before = Some((caller.clone(), all));
        let messages = vec![(MESSAGES.to_owned(), Excerpt::Text(shown.into()))];
        (Some(shrunk(Excerpt::Object { kept: messages, total: 1 })), continues)
    }

    /// Drops what comes after the turns that are asked for. Those of one moment stay together, so that none of them is lost at the
    /// end of a part, unless they are very many.
    fn drop_last(&mut self) {
        const OF_ONE_MOMENT: usize = 4;
        while self.turns.len() > self.projection.turns {
            let Some(((last, ..), _)) = self.turns.last_key_value() else { return };
            let last = *last;
            let earlier = self.turns.keys().filter(|(began, ..)| *began < last).count();
            if earlier < self.projection.turns && self.turns.len() < OF_ONE_MOMENT * self.projection.turns {
                return;
            }
            self.turns.pop_last();
        }
    }
}

/// The messages of a model, one after the other.
fn messages(input: &Excerpt) -> Option<String> {
    match input.member(MESSAGES)? {
        Excerpt::Text(text) => Some(text.kept.clone()),
        Excerpt::Array { kept, .. } => {
            let texts: Option<Vec<_>> = kept.iter().map(Excerpt::text).collect();
            texts.map(|texts| texts.join("\n"))
        }
        _ => None,
    }
}

fn shrunk(mut input: Excerpt) -> Excerpt {
    input.shrink(SIDE_BYTES);
    input
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn talk(runs: &Value) -> Vec<Turn> {
        let body = json!({"id": "7", "data": {"resultData": {"runData": runs}}}).to_string();
        let nodes = ["Agent", "Model", "Tool"].map(str::to_owned).into();
        TalkProjection { nodes, after: None, turns: 30 }.read_from(body.as_bytes()).unwrap().turns
    }

    fn run(index: u64, failed: bool, kind: &str, items: &Value) -> Value {
        let (status, error) = if failed { ("error", json!({"message": "no"})) } else { ("success", Value::Null) };
        json!({"startTime": 1_795_226_662_000_u64 + index, "executionIndex": index, "executionStatus": status, "error": error,
            "data": {kind: [items]}})
    }

    #[test]
    fn a_failed_call_returned_nothing_but_a_failed_agent_keeps_its_output() {
        let item = json!([{"json": {"query": "6*7"}}]);
        let turns = talk(&json!({
            "Agent": [run(0, true, "main", &item)],
            "Model": [run(1, true, "ai_languageModel", &item)],
            "Tool": [run(2, false, "ai_tool", &item), run(3, true, "ai_tool", &item)],
        }));
        let returned: Vec<_> = turns.iter().map(|turn| (&*turn.node, turn.output.is_some())).collect();
        assert_eq!(returned, [("Agent", true), ("Model", false), ("Tool", true), ("Tool", false)]);
    }

    #[test]
    fn a_call_that_never_began_is_no_turn() {
        let reserved = json!({"startTime": 0, "executionIndex": 0, "executionTime": 0, "source": [{"previousNode": "Agent"}],
            "inputOverride": {"ai_tool": [[{"json": {"query": "2"}}]]}});
        let item = json!([{"json": {"response": "42"}}]);
        let turns = talk(&json!({"Tool": [run(3, false, "ai_tool", &item), reserved]}));
        assert_eq!(turns.iter().map(|turn| (turn.run, turn.output.is_some())).collect::<Vec<_>>(), [(0, true)]);
    }

    #[test]
    fn the_items_of_an_agent_are_counted() {
        let items = json!([{"json": {"output": 1}}, {"json": {"output": 2}}, {"json": {"output": 3}}]);
        let turns = talk(&json!({"Agent": [run(0, false, "main", &items), run(1, false, "main", &json!([]))]}));
        assert_eq!(turns.iter().map(|turn| turn.items).collect::<Vec<_>>(), [3, 0]);
    }
}
