//! `should_start`: whether to start an instance of an agent in a project.

use serde_json::{Value, json};

use super::{AGENT_ID, PROJECT_ID};
use crate::coordination::store::{Scope, Work};
use crate::coordination::tool::{Handler, Rule, Tool};
use crate::coordination::{Error, SessionPolicy};
use crate::toolkit::{AnyText, Effect, arguments};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "should_start",
    title: "Should the agent be started?",
    description: "For the Runner: check whether to start an instance of this agent in this project now. True only if none is running there and the agent has a task to do; ai_type then says what to start.",
    parameters: ShouldStart::PARAMETERS,
    effect: Effect::Read,
    handler: Handler::read::<ShouldStart>(&[Scope::Runner]),
};

arguments! {
    struct ShouldStart: snake_case {
        agent_id: AnyText = AGENT_ID,
        project_id: AnyText = PROJECT_ID,
    }
}

impl Rule for ShouldStart {
    fn run(&self, work: &mut Work<'_>, _policy: &SessionPolicy) -> Result<Value, Error> {
        Ok(match work.ai_type_to_start(&self.agent_id, &self.project_id)? {
            Some(ai_type) => json!({"should_start": true, "ai_type": ai_type}),
            None => json!({"should_start": false}),
        })
    }
}
