//! The toolbox as an MCP service.

use std::sync::Arc;

use axum::http::request::Parts;
use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use rmcp::ErrorData;
use rmcp::model::{
    CallToolResult, ClientCapabilities, ContentBlock, JsonObject, ListResourcesResult, MetaObject, Prompt,
    ReadResourceResult, ServerCapabilities, ServerConfig, ToolAnnotations,
};
use tokio_util::sync::CancellationToken;

use super::app::{self, App};
use super::call::{Interrupted, bug_to_report, guarded};
use super::mcp::{self, Answer, Request, Service};
use super::view::PageSettings;
use super::{api_key, progress, shutdown};
use crate::n8n::Progress;
use crate::toolkit::Arguments;
use crate::tools::{Context, Tool, Toolbox, Unavailable};

/// The tools of a toolbox, and the state that they use.
#[derive(Clone)]
pub(super) struct ToolboxService {
    pub(super) context: Arc<Context>,
    pub(super) toolbox: Arc<Toolbox>,
    /// The page, for clients that show it.
    app: Option<Arc<App>>,
    /// Cancels the calls in progress.
    shutdown: CancellationToken,
}

impl Service for ToolboxService {
    fn info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_prompts().build();
        mcp::describe_server("n8n-lens", capabilities, &self.toolbox.instructions())
    }

    fn announce(&self, client: &ClientCapabilities, capabilities: &mut ServerCapabilities) {
        if self.app.is_some() && app::is_announced(client) {
            app::announce(capabilities);
        }
    }

    fn tools(&self, request: &Request) -> Vec<rmcp::model::Tool> {
        let app = self.app_of(request);
        let own = app.into_iter().flat_map(App::own_tools);
        self.toolbox.tools().chain(own).map(|tool| describe(tool, app)).collect()
    }

    fn tool(&self, name: &str) -> Option<rmcp::model::Tool> {
        self.toolbox.find(name).ok().map(|tool| describe(tool, None))
    }

    fn call<'a>(
        &'a self,
        name: &'a str,
        arguments: JsonObject,
        request: &'a Request,
    ) -> BoxFuture<'a, Answer<CallToolResult>> {
        async move {
            let app = self.app_of(request);
            let own = app.and_then(|app| app.find(name).ok());
            let tool = match own.map_or_else(|| self.toolbox.find(name), Ok) {
                Ok(tool) => tool,
                Err(error @ Unavailable::ReadOnly(_)) => return Ok(failure(error.to_string())),
                Err(error @ Unavailable::Unknown(_)) => return Err(ErrorData::invalid_params(error.to_string(), None)),
            };
            let result = match self.context_of(request) {
                Ok(context) => self.run(tool, context, arguments, request).await,
                Err(error) => failure(error.to_owned()),
            };
            let is_of_page = app.is_some() && app::is_of_page(&request.meta);
            Ok(if is_of_page { app::for_page(result) } else { result })
        }
        .boxed()
    }

    fn prompts(&self) -> Vec<Prompt> {
        let prompts = self.toolbox.prompts();
        prompts.map(|it| mcp::describe_prompt((it.name, it.title, it.description), it.parameters)).collect()
    }

    fn prompt<'a>(
        &'a self,
        name: &'a str,
        arguments: JsonObject,
        _request: &'a Request,
    ) -> BoxFuture<'a, Answer<String>> {
        let text = || {
            let prompt = self.toolbox.prompts().find(|prompt| prompt.name == name).ok_or_else(mcp::no_prompt)?;
            let text = self.toolbox.prompt_text(prompt, Arguments::of_prompt(arguments));
            text.map_err(|error| ErrorData::invalid_params(error.to_string(), None))
        };
        ready(text()).boxed()
    }

    fn resources<'a>(
        &'a self,
        _cursor: Option<String>,
        request: &'a Request,
    ) -> BoxFuture<'a, Answer<ListResourcesResult>> {
        let page = self.app_of(request).map(|_| App::resource()).into_iter().collect();
        ready(Ok(ListResourcesResult::with_all_items(page))).boxed()
    }

    // Some clients read resources even if the server has none.
    fn read<'a>(&'a self, uri: String, request: &'a Request) -> BoxFuture<'a, Answer<ReadResourceResult>> {
        let read = match self.app_of(request) {
            Some(app) => app.read(&uri).ok_or("Unknown resource; resources/list shows the only one."),
            None => Err("This server has no resources."),
        };
        ready(read.map_err(|why| mcp::no_resource(why, &uri))).boxed()
    }
}

impl ToolboxService {
    /// The service of a toolbox; `page` is what the page knows about its server. `shutdown` cancels the calls in progress.
    pub(super) fn new(context: Context, toolbox: Toolbox, page: &PageSettings, shutdown: CancellationToken) -> Self {
        let app = App::new(&context, &toolbox, page).map(Arc::new);
        Self { context: Arc::new(context), toolbox: Arc::new(toolbox), app, shutdown }
    }

    /// The page, if the client of this request shows it.
    fn app_of(&self, request: &Request) -> Option<&App> {
        let capabilities = request.client_capabilities()?;
        self.app.as_deref().filter(|_| app::is_announced(&capabilities))
    }

    /// The context of one request: over HTTP it can carry its own n8n API key.
    fn context_of(&self, request: &Request) -> Result<Arc<Context>, &'static str> {
        match request.extensions.get::<Parts>().map_or(Ok(None), |parts| api_key::from_headers(&parts.headers))? {
            None => Ok(self.context.clone()),
            Some(key) => Ok(Arc::new(self.context.with_key(key))),
        }
    }

    /// Calls a tool. An answer, an error, a cancellation and a panic all become a result.
    async fn run(
        &self,
        tool: &Tool,
        context: Arc<Context>,
        arguments: JsonObject,
        request: &Request,
    ) -> CallToolResult {
        let (progress, report) = match request.meta.get_progress_token() {
            Some(token) => {
                let (progress, stages) = Progress::watched();
                (progress, progress::report(request.peer.clone(), token, stages).left_future())
            }
            None => (Progress::default(), futures::future::pending().right_future()),
        };
        // The future is also created inside: a tool may panic before its first await.
        let call = async { tool.run(context, arguments, progress).await };
        tokio::select! {
            // Dropping the call ends the download.
            () = request.ct.cancelled() => failure("The call was cancelled.".to_owned()),
            () = report => failure("The call ended without an answer.".to_owned()),
            called = guarded(call, self.shutdown.cancelled()) => match called {
                Ok(Ok(text)) => CallToolResult::success(vec![ContentBlock::text(text)]),
                Ok(Err(error)) => failure(error.to_string()),
                Err(Interrupted::Bug) => failure(bug_to_report(tool.name)),
                Err(Interrupted::Shutdown) => failure(shutdown::interrupted(tool)),
            }
        }
    }
}

fn failure(text: String) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(text)])
}

fn describe(tool: &Tool, app: Option<&App>) -> rmcp::model::Tool {
    let annotations = ToolAnnotations::new().read_only(tool.reads_only()).open_world(tool.effect.is_open_world());
    // The other hints are only meaningful for a tool that writes.
    let annotations = match tool.reads_only() {
        true => annotations,
        false => annotations.destructive(tool.effect.is_destructive()).idempotent(tool.effect.is_idempotent()),
    };
    let described = mcp::describe(tool, annotations);
    let mut meta = MetaObject::default();
    if let Some(chars) = tool.max_result_chars() {
        meta.insert("anthropic/maxResultSizeChars".to_owned(), chars.into());
    }
    if let Some(app) = app {
        app.mark(tool, &mut meta);
    }
    if meta.is_empty() { described } else { described.with_meta(meta) }
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
    use crate::toolkit::Effect;
    use crate::toolkit::{Locale, Text, arguments};
    use crate::tools::{self, CatalogueCache, Folders, Handler, IdenticalCalls, MemoryStore, ToolCall};
    use crate::workflow::file::Files;

    /// A tool that panics at the requested point.
    static FAULTY: Tool = Tool {
        name: "faulty",
        title: "Faulty",
        description: "Panics.",
        parameters: Faulty::PARAMETERS,
        effect: Effect::Read,
        handler: Handler::of::<Faulty>(),
    };

    arguments! {
        struct Faulty {
            at: Text = "Where: call, await or read.",
        }
    }

    impl ToolCall for Faulty {
        fn run(
            self,
            context: Arc<Context>,
            progress: Progress,
        ) -> impl Future<Output = Result<String, tools::Error>> + Send + 'static {
            assert_ne!(self.at, "call", "on purpose");
            async move {
                tokio::task::yield_now().await;
                assert_ne!(self.at, "await", "on purpose");
                let request = ExecutionRequest { id: "1".to_owned(), ignore_size_limit: false };
                let panics = SummaryProjection.map(|_| -> String { panic!("on purpose") });
                Ok(context.n8n()?.read_execution(&request, &panics, &progress).await?.view)
            }
        }
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
            offers_check: false,
        };
        let toolbox = Toolbox::of(vec![&FAULTY]);
        let server = ToolboxService::new(context, toolbox, &PageSettings::default(), CancellationToken::new());
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        tokio::spawn(async move { mcp::Handler::new(server).serve(theirs).await.unwrap().waiting().await.unwrap() });
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
