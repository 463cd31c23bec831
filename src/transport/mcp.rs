//! The MCP server: one handler for every [`Service`], and how services describe themselves, their tools and their prompts.

use std::sync::Arc;

use futures::future::BoxFuture;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, DiscoverResult,
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, Implementation, InitializeRequestParams,
    InitializeResult, JsonObject, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, Prompt, PromptArgument, PromptMessage, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, ResourceTemplate, Role, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::json;

use crate::toolkit;

/// The context of a request: its HTTP headers, its cancellation, and the connection for notifications.
pub(super) type Request = RequestContext<RoleServer>;

/// An answer, or a protocol error; an error of a tool is an answer.
pub(super) type Answer<T> = Result<T, ErrorData>;

/// The page of a list that a client requests.
type Page = Option<PaginatedRequestParams>;

/// The offers of an MCP server: tools, prompts and resources.
pub(super) trait Service: Send + Sync + 'static {
    /// Describes the server.
    fn info(&self) -> ServerConfig;

    /// Adds the capabilities announced only to some clients.
    fn announce(&self, _client: &ClientCapabilities, _capabilities: &mut ServerCapabilities) {}

    /// The tools for the sender of a request.
    fn tools(&self, request: &Request) -> Vec<Tool>;

    /// The tool with this name, for any caller.
    fn tool(&self, name: &str) -> Option<Tool>;

    /// Calls a tool.
    fn call<'a>(
        &'a self,
        name: &'a str,
        arguments: JsonObject,
        request: &'a Request,
    ) -> BoxFuture<'a, Answer<CallToolResult>>;

    /// All prompts.
    fn prompts(&self) -> Vec<Prompt>;

    /// The text of a prompt.
    fn prompt<'a>(
        &'a self,
        name: &'a str,
        arguments: JsonObject,
        request: &'a Request,
    ) -> BoxFuture<'a, Answer<String>>;

    /// The resources after this cursor.
    fn resources<'a>(
        &'a self,
        cursor: Option<String>,
        request: &'a Request,
    ) -> BoxFuture<'a, Answer<ListResourcesResult>>;

    /// The templates of resources.
    fn resource_templates(&self, _request: &Request) -> Vec<ResourceTemplate> {
        Vec::new()
    }

    /// Reads a resource.
    fn read<'a>(&'a self, uri: String, request: &'a Request) -> BoxFuture<'a, Answer<ReadResourceResult>>;
}

/// A service for one client: rmcp's handler, compiled once.
#[derive(Clone)]
pub(super) struct Handler(Arc<dyn Service>);

impl Handler {
    pub(super) fn new(service: impl Service) -> Self {
        Self(Arc::new(service))
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        self.0.info()
    }

    async fn initialize(&self, hello: InitializeRequestParams, request: Request) -> Answer<InitializeResult> {
        request.peer.set_peer_info(hello.clone());
        let mut server = self.negotiate_initialize(&hello)?;
        self.0.announce(&hello.capabilities, &mut server.capabilities);
        Ok(server)
    }

    async fn discover(&self, request: Request) -> Answer<DiscoverResult> {
        let mut server = self.0.info();
        if let Some(client) = request.client_capabilities() {
            self.0.announce(&client, &mut server.capabilities);
        }
        Ok(DiscoverResult::from_server_info(self.supported_protocol_versions().into_owned(), server))
    }

    async fn list_tools(&self, _page: Page, request: Request) -> Answer<ListToolsResult> {
        Ok(ListToolsResult::with_all_items(self.0.tools(&request)))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.0.tool(name)
    }

    async fn call_tool(&self, call: CallToolRequestParams, request: Request) -> Answer<CallToolResponse> {
        let called = self.0.call(&call.name, call.arguments.unwrap_or_default(), &request);
        called.await.map(CallToolResponse::from)
    }

    async fn list_prompts(&self, _page: Page, _request: Request) -> Answer<ListPromptsResult> {
        Ok(ListPromptsResult::with_all_items(self.0.prompts()))
    }

    async fn get_prompt(&self, wanted: GetPromptRequestParams, request: Request) -> Answer<GetPromptResponse> {
        let text = self.0.prompt(&wanted.name, wanted.arguments.unwrap_or_default(), &request).await?;
        Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]).into())
    }

    async fn list_resources(&self, page: Page, request: Request) -> Answer<ListResourcesResult> {
        self.0.resources(page.and_then(|page| page.cursor), &request).await
    }

    async fn list_resource_templates(&self, _page: Page, request: Request) -> Answer<ListResourceTemplatesResult> {
        Ok(ListResourceTemplatesResult::with_all_items(self.0.resource_templates(&request)))
    }

    async fn read_resource(&self, wanted: ReadResourceRequestParams, request: Request) -> Answer<ReadResourceResponse> {
        self.0.read(wanted.uri, &request).await.map(ReadResourceResponse::from)
    }
}

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

/// The error for a prompt that does not exist.
pub(super) fn no_prompt() -> ErrorData {
    ErrorData::invalid_params("Unknown prompt; prompts/list shows the available ones.", None)
}

/// The error for a URI without a resource.
pub(super) fn no_resource(why: &'static str, uri: &str) -> ErrorData {
    ErrorData::resource_not_found(why, Some(json!({ "uri": uri })))
}
