//! The MCP handler: the toolbox as the protocol presents it.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::http::request::Parts;
use futures::FutureExt;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, GetPromptRequestParams, GetPromptResponse,
    GetPromptResult, Implementation, JsonObject, ListPromptsResult, ListToolsResult, MetaObject,
    PaginatedRequestParams, PromptArgument, PromptMessage, ReadResourceRequestParams, ReadResourceResponse, Role,
    ServerCapabilities, ServerConfig, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{api_key, progress, shutdown};
use crate::budget;
use crate::n8n::Progress;
use crate::toolkit::{self, Effect, Prompt};
use crate::tools::{Context, Tool, Toolbox, Unavailable};

/// The handler of one session or request.
#[derive(Clone)]
pub(super) struct Server {
    context: Arc<Context>,
    toolbox: Arc<Toolbox>,
    /// Cancels the calls in progress.
    shutdown: CancellationToken,
}

impl Server {
    pub(super) fn new(context: Arc<Context>, toolbox: Arc<Toolbox>, shutdown: CancellationToken) -> Self {
        Self { context, toolbox, shutdown }
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().enable_prompts().build())
            .with_server_info(Implementation::new("n8n-lens", env!("CARGO_PKG_VERSION")))
            .with_instructions(self.toolbox.instructions())
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        // A client that lists the tools will call one soon.
        budget::preload();
        Ok(ListToolsResult::with_all_items(self.toolbox.tools().map(describe).collect()))
    }

    fn get_tool(&self, name: &str) -> Option<rmcp::model::Tool> {
        self.toolbox.find(name).ok().map(describe)
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(self.toolbox.prompts().map(describe_prompt).collect()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let Some(prompt) = self.toolbox.prompts().find(|prompt| prompt.name == request.name) else {
            return Err(ErrorData::invalid_params("Unknown prompt; prompts/list shows the available ones.", None));
        };
        let text = (prompt.text)(&request.arguments.unwrap_or_default());
        Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]).into())
    }

    /// There are no resources, but some clients read one anyway.
    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        Err(ErrorData::resource_not_found("This server has no resources.", Some(json!({ "uri": request.uri }))))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tool = match self.toolbox.find(&request.name) {
            Ok(tool) => tool,
            Err(error @ Unavailable::ReadOnly(_)) => return Ok(failure(error.to_string()).into()),
            Err(error @ Unavailable::Unknown(_)) => return Err(ErrorData::invalid_params(error.to_string(), None)),
        };
        let result = match self.context_of(&context) {
            Ok(call_context) => self.call(tool, call_context, request.arguments.unwrap_or_default(), &context).await,
            Err(error) => failure(error.to_owned()),
        };
        Ok(result.into())
    }
}

impl Server {
    /// The context of one request: over HTTP it can carry its own n8n API key.
    fn context_of(&self, request: &RequestContext<RoleServer>) -> Result<Arc<Context>, &'static str> {
        match request.extensions.get::<Parts>().map_or(Ok(None), |parts| api_key::from_headers(&parts.headers))? {
            None => Ok(self.context.clone()),
            Some(key) => Ok(Arc::new(self.context.with_key(key))),
        }
    }

    /// Calls a tool. An answer, an error, a cancellation and a panic all become a result.
    async fn call(
        &self,
        tool: &Tool,
        call_context: Arc<Context>,
        arguments: JsonObject,
        context: &RequestContext<RoleServer>,
    ) -> CallToolResult {
        let (progress, report) = match context.meta.get_progress_token() {
            Some(token) => {
                let (progress, stages) = Progress::watched();
                (progress, progress::report(context.peer.clone(), token, stages).left_future())
            }
            None => (Progress::default(), futures::future::pending().right_future()),
        };
        // The future is created inside, too: a tool may panic before its first await.
        let call = async { tool.run(call_context, arguments, progress).await };
        let called = AssertUnwindSafe(call).catch_unwind();
        tokio::select! {
            // Dropping the call ends the download.
            () = context.ct.cancelled() => failure("The call was cancelled.".to_owned()),
            () = self.shutdown.cancelled() => failure(shutdown::interrupted(tool)),
            () = report => failure("The call ended without an answer.".to_owned()),
            called = called => match called {
                Ok(Ok(text)) => CallToolResult::success(vec![ContentBlock::text(text)]),
                Ok(Err(error)) => failure(error.to_string()),
                Err(_) => failure(format!("{} failed because of a bug in n8n-lens. Please report it with the log from standard error.", tool.name)),
            }
        }
    }
}

fn failure(text: String) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(text)])
}

fn describe_prompt(prompt: &Prompt) -> rmcp::model::Prompt {
    let argument =
        |argument: &toolkit::PromptArgument| PromptArgument::new(argument.name).with_description(argument.description);
    let arguments = prompt.arguments.iter().map(argument).collect();
    rmcp::model::Prompt::new(prompt.name, Some(prompt.description), Some(arguments)).with_title(prompt.title)
}

fn describe(tool: &Tool) -> rmcp::model::Tool {
    let annotations = ToolAnnotations::new().read_only(tool.reads_only()).open_world(true);
    // The other hints mean something only of a tool that writes.
    let annotations = match tool.reads_only() {
        true => annotations,
        false => annotations.destructive(tool.effect == Effect::Overwrite).idempotent(tool.effect != Effect::Add),
    };
    let described = rmcp::model::Tool::new(tool.name, tool.description, Arc::new(tool.input_schema()))
        .with_title(tool.title)
        .with_annotations(annotations);
    match tool.max_result_chars() {
        Some(chars) => {
            let mut meta = MetaObject::default();
            meta.insert("anthropic/maxResultSizeChars".to_owned(), chars.into());
            described.with_meta(meta)
        }
        None => described,
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::time::Duration;

    use rmcp::ServiceExt;
    use serde_json::{Value, json};
    use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

    use super::*;
    use crate::execution::summary::SummaryProjection;
    use crate::json::Projection;
    use crate::n8n::{Address, Client, ExecutionRequest, Settings};
    use crate::secrets::Secret;
    use crate::toolkit::{Arguments, Kind, Locale, Parameter};
    use crate::tools::{Call, CatalogueCache, Folders, Handler, IdenticalCalls, MemoryStore};
    use crate::workflow::file::Files;

    /// A tool that panics where it is asked to.
    static FAULTY: Tool = Tool {
        name: "faulty",
        title: "Faulty",
        description: "Panics.",
        parameters: &[Parameter::required("at", Kind::Choice(&["call", "await", "read"]), "Where.")],
        effect: Effect::Read,
        handler: Handler::new(call),
    };

    fn call(context: Arc<Context>, arguments: Arguments, progress: Progress) -> Call {
        let at = arguments.text("at").unwrap_or_default();
        assert_ne!(at, "call", "on purpose");
        Box::pin(async move {
            tokio::task::yield_now().await;
            assert_ne!(at, "await", "on purpose");
            let request = ExecutionRequest { id: "1".to_owned(), ignore_size_limit: false };
            let panics = SummaryProjection.map(|_| -> String { panic!("on purpose") });
            Ok(context.n8n()?.read_execution(&request, &panics, &progress).await?.view)
        })
    }

    /// An n8n that answers `{}`.
    fn n8n() -> String {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            for connection in listener.incoming() {
                let mut connection = connection.unwrap();
                let _ = connection.read(&mut [0; 8192]);
                let _ = connection.write_all(
                    b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}",
                );
            }
        });
        url
    }

    #[tokio::test]
    async fn a_panic_fails_its_call_only_and_releases_its_permit() {
        let wait = Duration::from_secs(20);
        let settings = Settings {
            address: Address::parse(&n8n()).unwrap(),
            api_key: Secret::key("key"),
            first_byte_timeout: wait,
            idle_timeout: wait,
            max_downloads: 1,
        };
        let context = Context {
            api: Some(Client::new(settings)),
            store: None,
            saved: crate::tools::executions::SavedExecutions::default(),
            locale: Locale::En,
            redact: false,
            files: Files::default(),
            folders: Folders::default(),
            memory: MemoryStore::default(),
            catalogue: CatalogueCache::new(None),
            identical: IdenticalCalls::default(),
        };
        let server = Server::new(Arc::new(context), Arc::new(Toolbox::of(vec![&FAULTY])), CancellationToken::new());
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        tokio::spawn(async move { server.serve(theirs).await.unwrap().waiting().await.unwrap() });
        let (answers, mut stdin) = tokio::io::split(ours);
        let mut answers = BufReader::new(answers).lines();
        let client = json!({"name": "test", "version": "0"});
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
        let mut requests = vec![("initialize", hello)];
        // "read" twice: the only permit was released.
        for at in ["call", "await", "read", "read"] {
            requests.push(("tools/call", json!({"name": "faulty", "arguments": {"at": at}})));
        }
        requests.push(("tools/list", json!({})));
        for (id, (method, params)) in requests.into_iter().enumerate() {
            let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
            stdin.write_all(format!("{request}\n").as_bytes()).await.unwrap();
            let line = tokio::time::timeout(wait, answers.next_line()).await.unwrap().unwrap().unwrap();
            let answer: Value = serde_json::from_str(&line).unwrap();
            assert_eq!(answer["id"], id);
            if method == "tools/call" {
                assert_eq!(answer["result"]["isError"], true, "{answer}");
                let text = answer["result"]["content"][0]["text"].as_str().unwrap();
                assert!(text.starts_with("faulty failed because of a bug in n8n-lens."), "{text}");
            } else {
                assert!(answer["result"].is_object(), "{answer}");
            }
        }
    }
}
