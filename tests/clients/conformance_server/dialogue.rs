//! Requests to the client: during a call in a session, or through the result of a stateless call.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::LazyLock;

use rmcp::ErrorData;
use rmcp::model::{
    CallToolResult, ClientCapabilities, ContentBlock, CreateMessageRequestParams, InputRequiredResult, InputResponses,
    RequestStateCodec, SamplingMessage, SealOptions,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{Answer, Context, text};

/// Signs the state that a client carries from round to round. The key protects nothing, so it is not secret.
static STATES: LazyLock<RequestStateCodec> = LazyLock::new(|| RequestStateCodec::new_unchecked([7; 32]));

/// Requests sampling during the call, as possible in a session.
pub async fn sample(context: &Context, prompt: &str) -> CallToolResult {
    let question = CreateMessageRequestParams::new(vec![SamplingMessage::user_text(prompt)], 100);
    match context.peer.create_message(question).await {
        Ok(answer) => {
            let said = answer.message.content.first().and_then(|content| content.as_text());
            text(format!("LLM response: {}", said.map_or("", |said| &said.text)))
        }
        Err(error) => CallToolResult::error(vec![ContentBlock::text(error.to_string())]),
    }
}

/// Requests elicitation during the call, as possible in a session.
pub async fn elicit(context: &Context, name: &str, message: &str) -> Answer<CallToolResult> {
    let schema = match name {
        "test_elicitation" => json!({
            "type": "object",
            "properties": {"username": {"type": "string"}, "email": {"type": "string"}},
            "required": ["username", "email"]
        }),
        "test_elicitation_sep1034_defaults" => json!({
            "type": "object",
            "properties": {
                "name": {"type": "string", "default": "John Doe"},
                "age": {"type": "integer", "default": 30},
                "score": {"type": "number", "default": 95.5},
                "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
                "verified": {"type": "boolean", "default": true}
            }
        }),
        _ => {
            let names = json!(["option1", "option2", "option3"]);
            let titles = json!([{"const": "value1", "title": "First"}, {"const": "value2", "title": "Second"}]);
            json!({
                "type": "object",
                "properties": {
                    "untitledSingle": {"type": "string", "enum": names},
                    "titledSingle": {"type": "string", "oneOf": titles},
                    "legacyEnum": {"type": "string", "enum": ["opt1", "opt2"], "enumNames": ["One", "Two"]},
                    "untitledMulti": {"type": "array", "items": {"type": "string", "enum": names}},
                    "titledMulti": {"type": "array", "items": {"anyOf": titles}}
                }
            })
        }
    };
    let question = typed(json!({"mode": "form", "message": message, "requestedSchema": schema}))?;
    Ok(match context.peer.create_elicitation(question).await {
        Ok(answer) => text(format!("User response: action={:?}, content={:?}", answer.action, answer.content)),
        Err(error) => CallToolResult::error(vec![ContentBlock::text(error.to_string())]),
    })
}

/// Parses a protocol type from JSON, since the suite specifies it as JSON.
fn typed<T: DeserializeOwned>(wire: Value) -> Answer<T> {
    serde_json::from_value(wire).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

/// A request to the client, the key of its response, and the position of the answer in it.
struct Question {
    key: &'static str,
    answer: Cow<'static, str>,
    wire: Value,
}

impl Question {
    fn user(key: &'static str, message: &str, field: &str, kind: &str) -> Self {
        let schema = json!({"type": "object", "properties": {field: {"type": kind}}, "required": [field]});
        let params = json!({"mode": "form", "message": message, "requestedSchema": schema});
        let wire = json!({"method": "elicitation/create", "params": params});
        Self { key, answer: format!("/content/{field}").into(), wire }
    }

    fn model(key: &'static str, prompt: &str) -> Self {
        let messages = json!([{"role": "user", "content": {"type": "text", "text": prompt}}]);
        let wire = json!({"method": "sampling/createMessage", "params": {"messages": messages, "maxTokens": 100}});
        Self { key, answer: "/content/text".into(), wire }
    }

    fn roots(key: &'static str) -> Self {
        Self { key, answer: "/roots".into(), wire: json!({"method": "roots/list"}) }
    }

    /// `None` also if the response is invalid: then the request is repeated.
    fn answered(&self, responses: Option<&InputResponses>) -> Option<String> {
        let response = responses?.get(self.key)?.pointer(&self.answer)?;
        match response {
            Value::String(text) => Some(text.clone()),
            Value::Bool(_) | Value::Array(_) => Some(response.to_string()),
            _ => None,
        }
    }

    /// The capability that the client lacks, if any.
    fn lacks(&self, client: &ClientCapabilities) -> Option<ClientCapabilities> {
        let all = ClientCapabilities::builder();
        match self.wire["method"].as_str() {
            Some("elicitation/create") if client.elicitation.is_none() => Some(all.enable_elicitation().build()),
            Some("sampling/createMessage") if client.sampling.is_none() => Some(all.enable_sampling().build()),
            Some("roots/list") if client.roots.is_none() => Some(all.enable_roots().build()),
            _ => None,
        }
    }
}

/// A call that requests input through its result and is repeated with the responses, as 2026-07-28 requires.
pub struct Dialogue {
    rounds: Vec<Vec<Question>>,
    /// Whether the client carries a state, and must send it.
    carries: bool,
    /// Whether a request that the client does not support is left out, instead of failing the call.
    adapts: bool,
    /// The final text, with `{}` for the answers.
    says: &'static str,
}

/// The dialogue of a tool or a prompt, if it has one.
pub fn dialogue(name: &str) -> Option<Dialogue> {
    let user = || Question::user("user_name", "What is your name?", "name", "string");
    let confirm = || Question::user("confirm", "Please confirm", "ok", "boolean");
    let model = || Question::model("capital_question", "What is the capital of France?");
    let plain = |question, says| Dialogue { rounds: vec![vec![question]], carries: false, adapts: false, says };
    let carries = |rounds| Dialogue { rounds, carries: true, adapts: false, says: "state-ok: {}" };
    Some(match name {
        "test_streaming_elicitation" | "test_input_required_result_elicitation" => plain(user(), "Hello, {}!"),
        "test_missing_capability" | "test_input_required_result_sampling" => plain(model(), "{}"),
        "test_input_required_result_list_roots" => plain(Question::roots("client_roots"), "The roots are: {}"),
        "test_input_required_result_prompt" => {
            let context = "What context should the prompt use?";
            plain(Question::user("user_context", context, "context", "string"), "The context is: {}")
        }
        "test_input_required_result_capabilities" => {
            Dialogue { rounds: vec![vec![user(), model()]], carries: false, adapts: true, says: "{}" }
        }
        "test_input_required_result_request_state" | "test_input_required_result_tampered_state" => {
            carries(vec![vec![confirm()]])
        }
        "test_input_required_result_multiple_inputs" => {
            let greeting = Question::model("greeting", "Generate a greeting");
            carries(vec![vec![user(), greeting, Question::roots("client_roots")]])
        }
        "test_input_required_result_multi_round" => carries(vec![
            vec![Question::user("step1", "Step 1: What is your name?", "name", "string")],
            vec![Question::user("step2", "Step 2: What is your favorite color?", "color", "string")],
        ]),
        _ => return None,
    })
}

impl Dialogue {
    /// The next requests, or the final text. `name` is signed with the state, so that states cannot be exchanged.
    pub fn next(
        mut self,
        name: &str,
        responses: Option<&InputResponses>,
        state: Option<&str>,
        context: &Context,
    ) -> Answer<ControlFlow<String, InputRequiredResult>> {
        let client = context.client_capabilities().unwrap_or_default();
        if self.adapts {
            self.rounds.iter_mut().for_each(|round| round.retain(|question| question.lacks(&client).is_none()));
        }
        let opened = state.map(|state| STATES.open_json_with(state, name.as_bytes())).transpose();
        let opened: Option<(usize, Vec<String>)> =
            opened.map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
        // Responses without their state belong to no request.
        let responses = responses.filter(|_| opened.is_some() || !self.carries);
        let (mut round, mut said) = opened.unwrap_or_default();
        let answers = self.rounds.get(round).into_iter().flatten().map(|question| question.answered(responses));
        if let Some(answers) = answers.collect::<Option<Vec<_>>>() {
            said.extend(answers);
            round += 1;
        }
        let Some(questions) = self.rounds.get(round) else {
            return Ok(ControlFlow::Break(self.says.replace("{}", &said.join(", "))));
        };
        if let Some(lacking) = questions.iter().find_map(|question| question.lacks(&client)) {
            return Err(ErrorData::missing_required_client_capability(lacking));
        }
        let questions = questions.iter().map(|question| Ok((question.key.to_owned(), typed(question.wire.clone())?)));
        let state = self
            .carries
            .then(|| STATES.seal_json_with(&(round, said), &SealOptions::new().associated_data(name.as_bytes())));
        let state = state.transpose().map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        Ok(ControlFlow::Continue(InputRequiredResult::new(Some(questions.collect::<Answer<_>>()?), state)))
    }
}
