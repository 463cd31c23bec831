//! `view_node`: what `get_execution_by_node` shows of a node, its error as people read it, and the request of an HTTP Request node as a
//! command.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::request::{curl, is_request};
use crate::execution::node::Node;
use crate::json::{Detail, Excerpt};
use crate::n8n::Progress;
use crate::toolkit::answer::extended;
use crate::toolkit::{ArgumentError, Arguments, FromArguments};
use crate::tools::executions::get_execution_by_node::{self, GetExecutionByNode};
use crate::tools::{Context, Error, Handler, Tool, ToolCall};

/// The call.
pub static TOOL: Tool = Tool {
    name: "view_node",
    title: "A node as the page shows it",
    description: "A run of a node, with all of a stack trace.",
    handler: Handler::of::<ViewNode>().shared(),
    ..get_execution_by_node::TOOL
};

/// The arguments of `get_execution_by_node`.
struct ViewNode(GetExecutionByNode);

impl FromArguments for ViewNode {
    fn read(arguments: Arguments) -> Result<Self, ArgumentError> {
        GetExecutionByNode::read(arguments).map(Self)
    }
}

impl ToolCall for ViewNode {
    async fn run(self, context: Arc<Context>, progress: Progress) -> Result<String, Error> {
        let (answer, command) = self.0.answer(&context, &progress, true, |node| node.and_then(command)).await?;
        let with_command = command.and_then(|command| {
            let Enveloped { data } = serde_json::from_str(&answer).ok()?;
            let data = extended(data.get(), &format!(r#""curl":{}"#, json!(command)));
            Some(format!(r#"{{"data":{data}}}"#))
        });
        Ok(with_command.unwrap_or(answer))
    }
}

/// An answer in its envelope.
#[derive(Deserialize)]
struct Enveloped<'a> {
    #[serde(borrow)]
    data: &'a RawValue,
}

/// The request of an HTTP Request node.
fn command(node: &Node) -> Option<String> {
    let is_request = node.node_type.as_deref().is_some_and(is_request);
    let error = node.run.as_ref().and_then(|run| run.error.as_ref());
    is_request.then(|| curl(&value(node.parameters.as_ref()), &value(error)))?
}

fn value(excerpt: Option<&Excerpt>) -> Value {
    let (mut text, mut clipped) = (String::new(), 0);
    if let Some(excerpt) = excerpt {
        excerpt.write(Detail::WHOLE, &mut text, &mut clipped);
    }
    serde_json::from_str(&text).unwrap_or_default()
}
