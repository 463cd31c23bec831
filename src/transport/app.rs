//! The page inside an MCP client (MCP Apps, `io.modelcontextprotocol/ui`, 2026-01-26): the tools about one execution declare
//! it as the view of their results. Only a client that announces the extension sees any of this.

use std::sync::OnceLock;

use rmcp::model::{
    CallToolResult, ClientCapabilities, ContentBlock, JsonObject, MetaObject, ReadResourceResult, Resource,
    ResourceContents, ServerCapabilities,
};
use serde_json::{Value, json};

use super::view::{self, PageSettings};
use crate::tools::executions::{compare_executions, describe_execution, get_execution};
use crate::tools::view::PAGE;
use crate::tools::{Context, Tool, Toolbox, Unavailable};

/// The name of the extension.
const EXTENSION: &str = "io.modelcontextprotocol/ui";

/// The media type of a page for such a client.
const MEDIA_TYPE: &str = "text/html;profile=mcp-app";

/// The address of the page.
const URI: &str = "ui://n8n-lens/execution";

/// The member of `_meta` with which the page requests answers worded for it.
const READER: &str = "n8n-lens/reader";

/// The tools whose results are shown in the page.
const SHOWN: [&Tool; 3] = [&get_execution::TOOL, &describe_execution::TOOL, &compare_executions::TOOL];

/// The page, and the tools that it may call.
pub(super) struct App {
    /// The tools that the page calls in addition to those offered to agents.
    own: Toolbox,
    about: Value,
    /// Made for the first reader.
    document: OnceLock<String>,
}

impl App {
    /// The page for a selection of tools; `None` if it would have nothing to show.
    pub(super) fn new(context: &Context, toolbox: &Toolbox, settings: &PageSettings) -> Option<Self> {
        toolbox.find(get_execution::TOOL.name).ok()?;
        let about = view::about_server(context, settings, false);
        Some(Self { own: toolbox.only_for_page(), about, document: OnceLock::new() })
    }

    /// The tools that only the page calls.
    pub(super) fn own_tools(&self) -> impl Iterator<Item = &'static Tool> {
        self.own.tools()
    }

    /// The tool with this name that only the page calls.
    pub(super) fn find(&self, name: &str) -> Result<&'static Tool, Unavailable> {
        self.own.find(name)
    }

    /// Adds to a tool the resource that shows its results, or else who may call it. The page only reads.
    pub(super) fn mark(&self, tool: &Tool, meta: &mut JsonObject) {
        if SHOWN.iter().any(|shown| shown.name == tool.name) {
            meta.insert("ui".to_owned(), json!({ "resourceUri": URI }));
            // For clients from before the extension was finalized.
            meta.insert("ui/resourceUri".to_owned(), URI.into());
        } else if self.find(tool.name).is_ok() {
            meta.insert("ui".to_owned(), json!({ "visibility": ["app"] }));
        } else if !tool.reads_only() {
            meta.insert("ui".to_owned(), json!({ "visibility": ["model"] }));
        }
    }

    /// The page as an entry in the list of resources.
    pub(super) fn resource() -> Resource {
        Resource::new(URI, "execution")
            .with_title("n8n execution")
            .with_description("An n8n execution as a page: nodes, time axis, items, errors.")
            .with_mime_type(MEDIA_TYPE)
            .with_meta(about_page())
    }

    /// The page, if this is its address.
    pub(super) fn read(&self, uri: &str) -> Option<ReadResourceResult> {
        (uri == URI).then(|| {
            let document = self.document.get_or_init(|| view::document(&self.about));
            let contents = ResourceContents::text(document, URI).with_mime_type(MEDIA_TYPE).with_meta(about_page());
            ReadResourceResult::new(vec![contents])
        })
    }
}

/// The page's requirements on a client: nothing from other origins, and the clipboard for its copy buttons.
fn about_page() -> MetaObject {
    let mut meta = MetaObject::default();
    meta.insert("ui".to_owned(), json!({"prefersBorder": true, "permissions": {"clipboardWrite": {}}}));
    meta
}

/// Whether a client announces that it shows pages.
pub(super) fn is_announced(capabilities: &ClientCapabilities) -> bool {
    let settings = capabilities.extensions.as_ref().and_then(|extensions| extensions.get(EXTENSION));
    settings.is_some_and(|settings| match settings.get("mimeTypes").and_then(Value::as_array) {
        Some(types) => types.iter().any(|media_type| media_type == MEDIA_TYPE),
        None => true,
    })
}

/// Announces the page to the client.
pub(super) fn announce(capabilities: &mut ServerCapabilities) {
    let settings = JsonObject::from_iter([("mimeTypes".to_owned(), json!([MEDIA_TYPE]))]);
    capabilities.extensions.get_or_insert_default().insert(EXTENSION.to_owned(), settings);
    capabilities.resources.get_or_insert_default();
}

/// Whether the page, rather than an agent, makes a call.
pub(super) fn is_of_page(meta: &MetaObject) -> bool {
    meta.get(READER).is_some_and(|reader| reader == "page")
}

/// A result worded for the page.
pub(super) fn for_page(mut result: CallToolResult) -> CallToolResult {
    let is_error = result.is_error == Some(true);
    for block in &mut result.content {
        let Some(text) = block.as_text() else { continue };
        let told = if is_error { PAGE.tell(&text.text) } else { view::for_page(&text.text) };
        *block = ContentBlock::text(told.into_owned());
    }
    result
}
