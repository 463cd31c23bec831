//! `view_talk`: what agents were asked, what their models answered, and which tools they called.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::execution::talk::{AgentParameters, Began, Talk, TalkProjection, Turn};
use crate::json::{Detail, Excerpt, Prefix, Projection};
use crate::n8n::Progress;
use crate::secrets::redact;
use crate::toolkit::answer::{is_zero, json, success};
use crate::toolkit::{Effect, Flag, Id, Text, arguments};
use crate::tools::executions::{ID, IGNORE_SIZE_LIMIT_AGAIN, execution};
use crate::tools::{Context, Error, Handler, Tool, ToolCall};

/// The call.
pub static TOOL: Tool = Tool {
    name: "view_talk",
    title: "The conversation of agents",
    description: "Runs of AI agents, and what they called, in the order in which they began.",
    parameters: ViewTalk::PARAMETERS,
    effect: Effect::Read,
    handler: Handler::of::<ViewTalk>().shared(),
};

/// Turns of an answer.
const TURNS: usize = 30;

/// Characters of a text.
const CHARS: usize = 4000;

arguments! {
    struct ViewTalk {
        id: Id = ID,
        nodes: Text = "The agents and their sub-nodes: a JSON list of names.",
        after: Option<Text> = "`after` of the part before.",
        ignore_data_size_limit: Option<Flag> = IGNORE_SIZE_LIMIT_AGAIN,
    }
}

impl ToolCall for ViewTalk {
    async fn run(self, context: Arc<Context>, progress: Progress) -> Result<String, Error> {
        let nodes = serde_json::from_str::<Vec<String>>(&self.nodes)
            .map_err(|_| Error::argument("nodes", "must be a JSON list of names."))?;
        let after = self.after.as_deref().map(began).transpose()?;
        let projection = TalkProjection { nodes: nodes.into_iter().collect(), after, turns: TURNS };
        let redacts = context.redact;
        let projection = projection.map(move |talk| Ok(compose(talk?, redacts)));
        let execution = execution(self.id, self.ignore_data_size_limit);
        context.executions().read(&execution, &projection, &progress).await?.view
    }
}

/// A place in a conversation, as an answer writes it.
fn began(text: &str) -> Result<Began, Error> {
    let place = text.split_once('.').and_then(|(ms, count)| Some((ms.parse().ok()?, count.parse().ok()?)));
    place.ok_or_else(|| Error::argument("after", "is not from an answer."))
}

#[derive(Serialize)]
struct ShownTalk {
    turns: Vec<ShownTurn>,
    #[serde(skip_serializing_if = "is_zero")]
    more: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<String>,
    /// The prompts and instructions in the parameters of agents, by name.
    told: BTreeMap<String, ShownAgentParameters>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<&'static str>,
}

#[derive(Serialize)]
struct ShownTurn {
    node: String,
    run: u64,
    /// Milliseconds since 1970.
    start: u64,
    ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    caller: Option<(String, u64)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    continues: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<Box<RawValue>>,
    /// The items in the first output, if there are several: only the first one is shown.
    #[serde(skip_serializing_if = "is_zero")]
    items: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

#[derive(Serialize)]
struct ShownAgentParameters {
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<String>,
}

fn compose(talk: Talk, redacts: bool) -> String {
    let after = talk.turns.last().filter(|_| talk.more > 0).map(|turn| format!("{}.{}", turn.began.0, turn.began.1));
    let redacted = talk.redacted.then_some("n8n redacted the data: the values of items are not included.");
    let cut = |text: Option<Prefix>| text.map(|text| text.cut(CHARS).0.into_owned());
    let told = talk.told.into_iter();
    let told = told.map(|(name, AgentParameters { text, system })| {
        (name, ShownAgentParameters { text: cut(text), system: cut(system) })
    });
    success(
        "",
        &ShownTalk {
            turns: talk.turns.into_iter().map(|turn| shown(turn, redacts)).collect(),
            more: talk.more,
            after,
            told: told.collect(),
            notes: redacted.into_iter().collect(),
        },
    )
}

fn shown(turn: Turn, redacts: bool) -> ShownTurn {
    let side = |mut value: Excerpt| {
        if redacts {
            redact::item(&mut value);
        }
        let (mut text, mut clipped) = (String::new(), 0);
        value.write(Detail { chars: CHARS, ..Detail::WHOLE }, &mut text, &mut clipped);
        json(&text)
    };
    let message = |error: &Excerpt| error.member("message").unwrap_or(error).text();
    ShownTurn {
        run: turn.run,
        start: turn.began.0,
        ms: turn.ms,
        caller: turn.caller.map(|caller| (caller.node, caller.run)),
        input: turn.input.map(side),
        continues: turn.continues,
        output: turn.output.map(side),
        items: if turn.items > 1 { turn.items } else { 0 },
        error: turn.error.as_ref().map(|error| message(error).unwrap_or_default()),
        node: turn.node,
    }
}
