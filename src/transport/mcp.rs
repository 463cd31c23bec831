//! The common part of the MCP servers: how they describe themselves, their tools and their prompts, and the frame of their
//! answers.

use std::sync::Arc;

use rmcp::model::{
    GetPromptResponse, GetPromptResult, Implementation, PaginatedRequestParams, Prompt, PromptArgument, PromptMessage,
    Role, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::json;

use crate::toolkit;

/// The context of a request: its HTTP headers, its cancellation, and the connection for notifications.
pub(super) type Request = RequestContext<RoleServer>;

/// An answer, or a protocol error; an error of a tool is an answer.
pub(super) type Answer<T> = Result<T, ErrorData>;

/// The page of a list that a client requests.
pub(super) type Page = Option<PaginatedRequestParams>;

/// Describes a server; the instructions tell an agent how to use its tools.
pub(super) fn describe_server(name: &str, capabilities: ServerCapabilities, instructions: &str) -> ServerConfig {
    ServerConfig::new(capabilities)
        .with_server_info(Implementation::new(name, env!("CARGO_PKG_VERSION")))
        .with_instructions(instructions)
}

/// Describes a tool.
pub(super) fn describe<H>(tool: &toolkit::Tool<H>, annotations: ToolAnnotations) -> Tool {
    Tool::new(tool.name, tool.description, Arc::new(tool.input_schema()))
        .with_title(tool.title)
        .with_annotations(annotations)
}

/// Describes a prompt, all of whose arguments are required or optional.
pub(super) fn describe_prompt(
    (name, title, description): (&str, &str, &str),
    parameters: &[toolkit::Parameter],
) -> Prompt {
    let arguments = parameters.iter().map(|parameter| {
        let described = PromptArgument::new(parameter.name).with_description(parameter.description);
        if parameter.required { described.with_required(true) } else { described }
    });
    Prompt::new(name, Some(description), Some(arguments.collect())).with_title(title)
}

/// The text of a prompt, as a message of the user.
pub(super) fn prompt_text(text: String) -> GetPromptResponse {
    GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]).into()
}

/// The error for a URI without a resource.
pub(super) fn no_resource(why: &'static str, uri: &str) -> ErrorData {
    ErrorData::resource_not_found(why, Some(json!({ "uri": uri })))
}
