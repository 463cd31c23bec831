//! A server for the official conformance suite (`@modelcontextprotocol/conformance`).
//!
//! It is only a handler: the HTTP stack around it is that of n8n-lens, which is what the suite tests. Names,
//! URIs and texts are those of the suite; each scenario says what it needs from a server.
#![expect(deprecated, reason = "2025-11-25 still has logging, sampling, roots and resources/subscribe")]

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult, CompletionInfo,
    ContentBlock, GetPromptRequestParams, GetPromptResponse, GetPromptResult, Implementation, JsonObject,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, LoggingLevel,
    LoggingMessageNotificationParam, PaginatedRequestParams, ProgressNotificationParam, Prompt, PromptArgument,
    PromptMessage, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate, Role, ServerCapabilities, ServerConfig, SetLevelRequestMethod,
    SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler, object};
use serde_json::json;
use tokio::sync::broadcast;
use tokio::time::sleep;

use dialogue::{dialogue, elicit, sample};

mod dialogue;

type Answer<T> = Result<T, ErrorData>;
type Context = RequestContext<RoleServer>;
type Page = Option<PaginatedRequestParams>;

/// One white pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mP4DwABAQEAHLCMmQAAAABJRU5ErkJggg==";
/// Four samples of silence.
const WAV: &str = "UklGRigAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQQAAACAgICA";
/// The pause between two notifications, so that they do not arrive as one.
const PAUSE: Duration = Duration::from_millis(50);
/// The completions of an argument.
const COMPLETIONS: [&str; 3] = ["paris", "park", "party"];
/// A resource to subscribe to. It never changes, so subscriptions are not stored.
const WATCHED: &str = "test://watched-resource";

/// Every tool and its description.
const TOOLS: &[(&str, &str)] = &[
    ("test_simple_text", "Answers with a text"),
    ("test_image_content", "Answers with an image"),
    ("test_audio_content", "Answers with a sound"),
    ("test_embedded_resource", "Answers with a resource"),
    ("test_multiple_content_types", "Answers with a text, an image and a resource"),
    ("test_error_handling", "Fails, as a tool does"),
    ("test_tool_with_logging", "Logs while it works"),
    ("test_logging_tool", "Logs while it works, if the request enables logs"),
    ("test_tool_with_progress", "Tells how far it is"),
    ("test_reconnection", "Answers late, so that a client may come back for the answer"),
    ("test_sampling", "Asks the client's model"),
    ("test_elicitation", "Asks the user"),
    ("test_elicitation_sep1034_defaults", "Asks the user, with a default for every type"),
    ("test_elicitation_sep1330_enums", "Asks the user to choose, in every way there is"),
    ("json_schema_2020_12_tool", "Its input uses what JSON Schema 2020-12 added"),
    ("test_custom_header", "Its argument comes in a header, too"),
    ("test_trigger_tool_change", "Says that the tools changed"),
    ("test_trigger_prompt_change", "Says that the prompts changed"),
    ("test_missing_capability", "Cannot work without the client's model"),
    ("test_streaming_elicitation", "Asks the user in its result"),
    ("test_input_required_result_elicitation", "Asks the user in its result"),
    ("test_input_required_result_sampling", "Asks the client's model in its result"),
    ("test_input_required_result_list_roots", "Asks for the client's roots in its result"),
    ("test_input_required_result_request_state", "Has the client carry a state"),
    ("test_input_required_result_tampered_state", "Refuses a state that the client changed"),
    ("test_input_required_result_multiple_inputs", "Asks three things at once"),
    ("test_input_required_result_multi_round", "Asks twice"),
    ("test_input_required_result_capabilities", "Asks only what the client can answer"),
];

/// Sends changes to every open `subscriptions/listen` of the process: since 2026-07-28, each request has its own
/// handler, so the one that changes something is not the one that listens.
static CHANGES: LazyLock<broadcast::Sender<Change>> = LazyLock::new(|| broadcast::channel(16).0);

#[derive(Clone, Copy)]
enum Change {
    Tools,
    Prompts,
}

/// The handler. Clones share the level of `logging/setLevel`; each session needs a new handler.
#[derive(Clone, Default)]
pub struct ConformanceServer {
    level: Arc<AtomicU8>,
}

impl ConformanceServer {
    /// Logs three times: at the session's level before 2026-07-28, since then only if the request has a level.
    async fn log(&self, context: &Context) -> CallToolResult {
        let level = match context.meta.log_level() {
            Some(level) => Some(level as u8),
            None => (!is_stateless(context)).then(|| self.level.load(Relaxed)),
        };
        for said in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
            if level.is_some_and(|level| level <= LoggingLevel::Info as u8) {
                let message = LoggingMessageNotificationParam::new(LoggingLevel::Info, json!(said));
                let _ = context.peer.notify_logging_message(message).await;
            }
            sleep(PAUSE).await;
        }
        text("Logged what was to be logged")
    }
}

impl ServerHandler for ConformanceServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_completions()
            .enable_logging()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_tools()
            .enable_tool_list_changed()
            .build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("conformance-server", "1.0.0"))
    }

    async fn list_tools(&self, _: Page, _: Context) -> Answer<ListToolsResult> {
        Ok(ListToolsResult::with_all_items(TOOLS.iter().map(|(name, does)| tool(name, does)).collect()))
    }

    /// The HTTP stack uses this to compare headers with arguments, before `call_tool`.
    fn get_tool(&self, name: &str) -> Option<Tool> {
        TOOLS.iter().find(|(known, _)| *known == name).map(|(name, does)| tool(name, does))
    }

    async fn call_tool(&self, request: CallToolRequestParams, context: Context) -> Answer<CallToolResponse> {
        let result = match request.name.as_ref() {
            "test_tool_with_logging" | "test_logging_tool" => self.log(&context).await,
            "test_tool_with_progress" => progress(&context).await,
            "test_reconnection" => {
                sleep(PAUSE).await;
                text("Here is the answer")
            }
            "test_sampling" => sample(&context, argument(request.arguments.as_ref(), "prompt")).await,
            name @ ("test_elicitation" | "test_elicitation_sep1034_defaults" | "test_elicitation_sep1330_enums") => {
                elicit(&context, name, argument(request.arguments.as_ref(), "message")).await?
            }
            "test_trigger_tool_change" => announce(Change::Tools),
            "test_trigger_prompt_change" => announce(Change::Prompts),
            "test_error_handling" => {
                CallToolResult::error(vec![ContentBlock::text("This tool intentionally returns an error for testing")])
            }
            name => match (constant(name), dialogue(name)) {
                (Some(content), _) => CallToolResult::success(content),
                (None, Some(dialogue)) => {
                    let responses = request.input_responses.as_ref();
                    match dialogue.next(name, responses, request.request_state.as_deref(), &context)? {
                        ControlFlow::Continue(asked) => return Ok(asked.into()),
                        ControlFlow::Break(said) => text(said),
                    }
                }
                (None, None) => return Err(ErrorData::invalid_params(format!("Unknown tool: {name}"), None)),
            },
        };
        Ok(result.into())
    }

    async fn list_resources(&self, _: Page, _: Context) -> Answer<ListResourcesResult> {
        Ok(ListResourcesResult::with_all_items(vec![
            Resource::new("test://static-text", "text").with_description("A text").with_mime_type("text/plain"),
            Resource::new("test://static-binary", "binary").with_description("An image").with_mime_type("image/png"),
            Resource::new(WATCHED, "watched").with_description("A text to subscribe to").with_mime_type("text/plain"),
        ]))
    }

    async fn list_resource_templates(&self, _: Page, _: Context) -> Answer<ListResourceTemplatesResult> {
        Ok(ListResourceTemplatesResult::with_all_items(vec![
            ResourceTemplate::new("test://template/{id}/data", "template")
                .with_description("Data by its id")
                .with_mime_type("application/json"),
        ]))
    }

    async fn read_resource(&self, request: ReadResourceRequestParams, _: Context) -> Answer<ReadResourceResponse> {
        let uri = request.uri.as_str();
        let id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
        let contents = match (uri, id) {
            (_, Some(id)) => {
                let data = json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
                ResourceContents::text(data.to_string(), uri).with_mime_type("application/json")
            }
            ("test://static-text", _) => {
                ResourceContents::text("This is the content of the static text resource.", uri)
            }
            ("test://static-binary", _) => ResourceContents::blob(PNG, uri).with_mime_type("image/png"),
            (WATCHED, _) => ResourceContents::text("Nothing happens here.", uri),
            _ => return Err(no_resource(uri)),
        };
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn subscribe(&self, request: SubscribeRequestParams, _: Context) -> Answer<()> {
        if request.uri == WATCHED { Ok(()) } else { Err(no_resource(&request.uri)) }
    }

    async fn unsubscribe(&self, _: UnsubscribeRequestParams, _: Context) -> Answer<()> {
        Ok(())
    }

    /// Accepts everything: the caller removes what `get_info` does not offer.
    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Answer<()> {
        let mut changes = CHANGES.subscribe();
        loop {
            let change = tokio::select! {
                () = context.cancelled() => return Ok(()),
                change = changes.recv() => change,
            };
            // The sink rejects kinds that the client did not subscribe to, as it should.
            let _ = match change {
                Ok(Change::Tools) => context.sink().notify_tool_list_changed().await,
                Ok(Change::Prompts) => context.sink().notify_prompt_list_changed().await,
                Err(_) => Ok(()),
            };
        }
    }

    async fn list_prompts(&self, _: Page, _: Context) -> Answer<ListPromptsResult> {
        let required = |name: &str| PromptArgument::new(name).with_description("Any text").with_required(true);
        let two = vec![required("arg1"), required("arg2")];
        let uri = vec![required("resourceUri")];
        Ok(ListPromptsResult::with_all_items(vec![
            Prompt::new("test_simple_prompt", Some("A text"), None),
            Prompt::new("test_prompt_with_arguments", Some("A text with two arguments"), Some(two)),
            Prompt::new("test_prompt_with_embedded_resource", Some("A resource, and what to do with it"), Some(uri)),
            Prompt::new("test_prompt_with_image", Some("An image, and what to do with it"), None),
            Prompt::new("test_input_required_result_prompt", Some("Asks the user in its result"), None),
        ]))
    }

    async fn get_prompt(&self, request: GetPromptRequestParams, context: Context) -> Answer<GetPromptResponse> {
        let given = |name| argument(request.arguments.as_ref(), name);
        let contents = match request.name.as_str() {
            "test_simple_prompt" => vec![ContentBlock::text("This is a simple prompt for testing.")],
            "test_prompt_with_arguments" => {
                let (first, second) = (given("arg1"), given("arg2"));
                vec![ContentBlock::text(format!("Prompt with arguments: arg1='{first}', arg2='{second}'"))]
            }
            "test_prompt_with_embedded_resource" => vec![
                ContentBlock::embedded_text(given("resourceUri"), "Embedded resource content for testing."),
                ContentBlock::text("Please process the embedded resource above."),
            ],
            "test_prompt_with_image" => {
                vec![ContentBlock::image(PNG, "image/png"), ContentBlock::text("Please analyze the image above.")]
            }
            name => {
                let Some(dialogue) = dialogue(name) else {
                    return Err(ErrorData::invalid_params(format!("Unknown prompt: {name}"), None));
                };
                let responses = request.input_responses.as_ref();
                match dialogue.next(name, responses, request.request_state.as_deref(), &context)? {
                    ControlFlow::Continue(asked) => return Ok(asked.into()),
                    ControlFlow::Break(said) => vec![ContentBlock::text(said)],
                }
            }
        };
        let messages = contents.into_iter().map(|content| PromptMessage::new(Role::User, content)).collect();
        Ok(GetPromptResult::new(messages).into())
    }

    async fn complete(&self, request: CompleteRequestParams, _: Context) -> Answer<CompleteResult> {
        let typed = &request.argument.value;
        let values = COMPLETIONS.iter().filter(|value| value.starts_with(typed)).map(ToString::to_string).collect();
        let completion = CompletionInfo::with_all_values(values);
        Ok(CompleteResult::new(completion.map_err(|error| ErrorData::internal_error(error, None))?))
    }

    /// 2026-07-28 removed the method: each request has its own level.
    async fn set_level(&self, request: SetLevelRequestParams, context: Context) -> Answer<()> {
        if is_stateless(&context) {
            return Err(ErrorData::method_not_found::<SetLevelRequestMethod>());
        }
        self.level.store(request.level as u8, Relaxed);
        Ok(())
    }
}

/// Whether the revision of the request has no sessions.
fn is_stateless(context: &Context) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

fn text(said: impl Into<String>) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(said)])
}

/// A text argument; empty if it is missing, which no scenario tests.
fn argument<'a>(arguments: Option<&'a JsonObject>, name: &str) -> &'a str {
    arguments.and_then(|arguments| arguments.get(name)?.as_str()).unwrap_or_default()
}

/// The code is that before 2026-07-28; the caller changes it for newer clients.
fn no_resource(uri: &str) -> ErrorData {
    ErrorData::resource_not_found("Resource not found", Some(json!({"uri": uri})))
}

fn tool(name: &'static str, does: &'static str) -> Tool {
    let input = match name {
        "test_sampling" => {
            object!({"type": "object", "properties": {"prompt": {"type": "string"}}, "required": ["prompt"]})
        }
        "test_elicitation" => {
            object!({"type": "object", "properties": {"message": {"type": "string"}}, "required": ["message"]})
        }
        "test_custom_header" => {
            object!({"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}})
        }
        "json_schema_2020_12_tool" => object!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": {"address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}}
            }},
            "properties": {
                "name": {"type": "string"},
                "address": {"$ref": "#/$defs/address"},
                "contactMethod": {"type": "string", "enum": ["phone", "email"]},
                "phone": {"type": "string"},
                "email": {"type": "string"}
            },
            "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
            "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
            "then": {"required": ["phone"]},
            "else": {"required": ["email"]},
            "additionalProperties": false
        }),
        _ => object!({"type": "object", "properties": {}}),
    };
    Tool::new(name, does, input)
}

/// The answers of tools with a constant answer.
fn constant(name: &str) -> Option<Vec<ContentBlock>> {
    Some(match name {
        "test_simple_text" => vec![ContentBlock::text("This is a simple text response for testing.")],
        "test_image_content" => vec![ContentBlock::image(PNG, "image/png")],
        "test_audio_content" => vec![ContentBlock::audio(WAV, "audio/wav")],
        "test_embedded_resource" => {
            vec![ContentBlock::embedded_text("test://embedded-resource", "This is an embedded resource content.")]
        }
        "test_multiple_content_types" => {
            let data = json!({"test": "data", "value": 123}).to_string();
            let data = ResourceContents::text(data, "test://mixed-content-resource").with_mime_type("application/json");
            vec![
                ContentBlock::text("Multiple content types test:"),
                ContentBlock::image(PNG, "image/png"),
                ContentBlock::resource(data),
            ]
        }
        "json_schema_2020_12_tool" | "test_custom_header" => vec![ContentBlock::text("The arguments are fine")],
        _ => return None,
    })
}

async fn progress(context: &Context) -> CallToolResult {
    for done in [0.0, 50.0, 100.0] {
        if let Some(token) = context.meta.get_progress_token() {
            let progress = ProgressNotificationParam::new(token, done).with_total(100.0);
            let _ = context.peer.notify_progress(progress).await;
        }
        sleep(PAUSE).await;
    }
    text("All of it is done")
}

fn announce(change: Change) -> CallToolResult {
    // An error means that there is no listener.
    let _ = CHANGES.send(change);
    text("Said so")
}
