//! The MCP handler: a service as the protocol presents it.

use std::future::ready;
use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, GetPromptRequestParams, GetPromptResponse,
    GetPromptResult, Implementation, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, Prompt, PromptArgument, PromptMessage, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, ResourceContents, ResourceTemplate, ResourcesCapability, Role,
    ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};

use crate::toolkit;

/// The media type of resources.
pub(super) const JSON: &str = "application/json";

/// What came with a request: its HTTP headers, its cancellation, and the connection for notifications.
pub(super) type Request = RequestContext<RoleServer>;

/// An answer, or an error of the protocol; an error of a tool is an answer.
pub(super) type Answer<T> = Result<T, ErrorData>;

/// The page of a list that a client wants.
type Page = Option<PaginatedRequestParams>;

/// What a server offers over MCP.
pub(super) trait Service: Clone + Send + Sync + 'static {
    /// The name of the server.
    const NAME: &'static str;

    /// Whether it has resources.
    const HAS_RESOURCES: bool = false;

    /// How to use its tools, for an agent.
    fn instructions(&self) -> String;

    /// The tools to list.
    fn tools(&self, request: &Request) -> Vec<Tool>;

    /// The tool with this name, listed or not.
    fn tool(&self, name: &str) -> Option<Tool>;

    /// Calls a tool.
    fn call(
        &self,
        call: CallToolRequestParams,
        request: &Request,
    ) -> impl Future<Output = Answer<CallToolResult>> + Send;

    /// The prompts.
    fn prompts(&self) -> Vec<Prompt>;

    /// The text of a prompt.
    fn prompt(&self, prompt: GetPromptRequestParams, request: &Request) -> impl Future<Output = Answer<String>> + Send;

    /// The templates for the URIs of its resources.
    fn resource_templates(&self, _request: &Request) -> Vec<ResourceTemplate> {
        Vec::new()
    }

    /// The page of its resources at a cursor.
    fn resources(
        &self,
        _cursor: Option<String>,
        _request: &Request,
    ) -> impl Future<Output = Answer<ListResourcesResult>> + Send {
        ready(Ok(ListResourcesResult::default()))
    }

    /// The content of a resource. Some clients read one even if the server has none.
    fn resource(&self, uri: &str, _request: &Request) -> impl Future<Output = Answer<Value>> + Send {
        ready(Err(no_resource("This server has no resources.", uri)))
    }
}

/// The error of a URI without a resource.
pub(super) fn no_resource(why: &'static str, uri: &str) -> ErrorData {
    ErrorData::resource_not_found(why, Some(json!({ "uri": uri })))
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
    arguments: &[toolkit::PromptArgument],
    are_required: bool,
) -> Prompt {
    let arguments = arguments.iter().map(|argument| {
        let described = PromptArgument::new(argument.name).with_description(argument.description);
        if are_required { described.with_required(true) } else { described }
    });
    Prompt::new(name, Some(description), Some(arguments.collect())).with_title(title)
}

/// The handler of one session or request.
#[derive(Clone)]
pub(super) struct Server<S>(pub(super) S);

impl<S: Service> ServerHandler for Server<S> {
    fn get_info(&self) -> ServerConfig {
        let mut capabilities = ServerCapabilities::builder().enable_tools().enable_prompts().build();
        capabilities.resources = S::HAS_RESOURCES.then(ResourcesCapability::default);
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new(S::NAME, env!("CARGO_PKG_VERSION")))
            .with_instructions(self.0.instructions())
    }

    async fn list_tools(&self, _page: Page, request: Request) -> Answer<ListToolsResult> {
        Ok(ListToolsResult::with_all_items(self.0.tools(&request)))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.0.tool(name)
    }

    async fn call_tool(&self, call: CallToolRequestParams, request: Request) -> Answer<CallToolResponse> {
        self.0.call(call, &request).await.map(Into::into)
    }

    async fn list_prompts(&self, _page: Page, _request: Request) -> Answer<ListPromptsResult> {
        Ok(ListPromptsResult::with_all_items(self.0.prompts()))
    }

    async fn get_prompt(&self, prompt: GetPromptRequestParams, request: Request) -> Answer<GetPromptResponse> {
        let text = self.0.prompt(prompt, &request).await?;
        Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]).into())
    }

    async fn list_resource_templates(&self, _page: Page, request: Request) -> Answer<ListResourceTemplatesResult> {
        Ok(ListResourceTemplatesResult::with_all_items(self.0.resource_templates(&request)))
    }

    async fn list_resources(&self, page: Page, request: Request) -> Answer<ListResourcesResult> {
        self.0.resources(page.and_then(|page| page.cursor), &request).await
    }

    async fn read_resource(&self, wanted: ReadResourceRequestParams, request: Request) -> Answer<ReadResourceResponse> {
        let content = self.0.resource(&wanted.uri, &request).await?;
        let text = ResourceContents::text(content.to_string(), wanted.uri).with_mime_type(JSON);
        Ok(ReadResourceResult::new(vec![text]).into())
    }
}
