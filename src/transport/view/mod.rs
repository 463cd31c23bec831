//! The page: shows a person an execution that is too big for n8n's editor. It is served at `/view` as one document, made of files
//! that are compiled in, and calls the same tools as every other client, through `/view/call`.

mod assets;
mod call;
mod document;
mod entrance;
mod items;
mod notice;

use std::sync::{Arc, LazyLock, OnceLock};

use axum::Router;
use axum::extract::{Path, RawQuery, State};
use axum::http::header::{
    CONTENT_SECURITY_POLICY, HeaderName, HeaderValue, LOCATION, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::map_response;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use self::assets::Asset;
pub(super) use self::call::for_page;
use self::document::Document;
use self::entrance::{Entrance, Refused};
use super::body::BodyLimits;
use super::guard::Guard;
use super::http;
use super::listener::Listener;
use super::shutdown::Shutdown;
use crate::config::Access;
use crate::toolkit::Locale;
use crate::tools::executions::get_execution_by_node;
use crate::tools::proof::prove_fix;
use crate::tools::{Context, Tool, Toolbox};

/// What a policy allows besides scripts and styles. Nothing is loaded from elsewhere.
const POLICY: &str = "img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The policy of everything but the page itself: only files of the page, and no text in a document, are run as a script.
static OF_FILES: LazyLock<HeaderValue> = LazyLock::new(|| policy("'self'", "'none'"));

/// What the page knows about its server.
#[derive(Clone, Debug, Default)]
pub struct PageSettings {
    /// The requested language; otherwise the browser decides.
    pub locale: Option<Locale>,
    /// The id that the page uses for the only execution.
    pub execution: Option<&'static str>,
}

/// The page of one person on this machine: `n8n-lens view`.
pub struct View {
    listener: Listener,
    address: String,
    router: Router,
    shutdown: Shutdown,
    entered: CancellationToken,
}

impl View {
    /// Binds a port of this machine; 0 picks a free one.
    ///
    /// # Errors
    /// The port is in use, or the system has no random numbers. The message is a sentence.
    pub async fn bind(context: Context, toolbox: Toolbox, settings: &PageSettings, port: u16) -> Result<Self, String> {
        let listener = Listener::open(("127.0.0.1", port)).await?;
        let at = listener.address().map_err(|error| format!("The port of the page is not known: {error}."))?;
        let (entrance, token, entered) = Entrance::once(at.port())?;
        let (shutdown, guard) = (Shutdown::default(), Guard::new(&Access::loopback()));
        let page = Page::new(Arc::new(context), &toolbox, guard, settings, entrance, shutdown.calls.clone());
        let address = format!("http://{at}/view/?token={}", token.expose());
        Ok(Self { listener, address, router: routes(page), shutdown, entered })
    }

    /// The address with the token, which the first browser exchanges for a cookie.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Ends once the first browser has exchanged the token.
    pub fn entered(&self) -> impl Future<Output = ()> + use<> {
        self.entered.clone().cancelled_owned()
    }

    /// Serves the page until a signal arrives.
    pub async fn serve(self) {
        http::serve_router(self.listener, self.router, self.shutdown).await;
    }
}

/// The page and what it needs.
pub(super) struct Page {
    context: Arc<Context>,
    /// The tools that it may call.
    toolbox: Toolbox,
    /// The tool that proves a draft, if this server offers it.
    prover: Option<&'static Tool>,
    guard: Guard,
    entrance: Entrance,
    /// The requested language.
    locale: Option<Locale>,
    about: Value,
    /// Made for the first reader.
    document: OnceLock<(Asset, HeaderValue)>,
    limits: BodyLimits,
    /// Cancels the calls in progress.
    shutdown: CancellationToken,
}

impl Page {
    /// The page of a server, for anyone who knows its token.
    pub(super) fn of_server(
        context: Arc<Context>,
        toolbox: &Toolbox,
        guard: Guard,
        settings: &PageSettings,
        shutdown: CancellationToken,
    ) -> Self {
        Self::new(context, toolbox, guard, settings, Entrance::Token, shutdown)
    }

    fn new(
        context: Arc<Context>,
        toolbox: &Toolbox,
        guard: Guard,
        settings: &PageSettings,
        entrance: Entrance,
        shutdown: CancellationToken,
    ) -> Self {
        /// The arguments of a call are short.
        const REQUEST_BYTES: usize = 256 * 1024;
        // A proof runs in n8n, and needs the unmasked values.
        let can_prove = context.api.is_some() && !context.redact;
        let prover = toolbox.find(prove_fix::TOOL.name).ok().filter(|_| can_prove);
        let (toolbox, limits) = (toolbox.for_page(), BodyLimits::new(REQUEST_BYTES));
        let about = about_server(&context, settings, prover.is_some());
        let (locale, document) = (settings.locale, OnceLock::new());
        Self { context, toolbox, prover, guard, entrance, locale, about, document, limits, shutdown }
    }

    /// The page as one document, with the policy that allows its script and its style.
    fn document(&self, headers: &HeaderMap) -> Response {
        let (document, policy) = self.document.get_or_init(|| {
            let icon = "<link rel=\"icon\" href=\"icon.svg\" type=\"image/svg+xml\">\n";
            let Document { html, script, style } = Document::of(&["main.js"], icon, &self.about);
            (Asset::new("text/html; charset=utf-8", html), policy(&script, &style))
        });
        ([(CONTENT_SECURITY_POLICY, policy)], document.respond(headers)).into_response()
    }

    /// Why a request is not allowed, if so.
    fn refusal(&self, headers: &HeaderMap) -> Option<Refused> {
        self.entrance.refusal(&self.guard, headers)
    }

    /// Whether the items of nodes can be read at all.
    fn reads_items(&self) -> bool {
        self.toolbox.find(get_execution_by_node::TOOL.name).is_ok()
    }

    /// The language of the person who opens the page.
    fn locale(&self, headers: &HeaderMap) -> Locale {
        self.locale.unwrap_or_else(|| notice::preferred(headers))
    }
}

/// What the page knows about its server, and whether it may prove a draft.
pub(super) fn about_server(context: &Context, settings: &PageSettings, proves: bool) -> Value {
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "locale": settings.locale.map(|locale| locale.choose("ja", "en")),
        "n8nUrl": context.api.as_ref().map(|api| api.editor()),
        "execution": settings.execution,
        "store": context.store.is_some(),
        "proof": proves,
    })
}

/// The page as one document for an MCP client, which shows it in a frame and calls the server on its behalf.
pub(super) fn document(about: &Value) -> String {
    Document::of(&["app.js", "main.js"], "", about).html
}

/// A policy with these sources of scripts and styles.
fn policy(scripts: &str, styles: &str) -> HeaderValue {
    let policy = format!("default-src 'none'; script-src {scripts}; style-src {styles}; {POLICY}");
    // It is ASCII.
    HeaderValue::try_from(policy).unwrap_or(HeaderValue::from_static("default-src 'none'"))
}

/// The routes.
pub(super) fn routes(page: Page) -> Router {
    Router::new()
        .route("/", get(redirect))
        .route("/view", get(redirect))
        .route("/view/", get(index))
        .route("/view/call", post(call::call))
        .route("/view/prove", post(call::prove))
        .route("/view/items", get(items::items))
        .route("/view/{file}", get(file))
        .layer(map_response(protect))
        .with_state(Arc::new(page))
}

/// Redirects to the page: addresses in it are relative to `/view/`. A browser keeps the fragment.
async fn redirect(RawQuery(query): RawQuery) -> Response {
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    to(StatusCode::TEMPORARY_REDIRECT, &format!("/view/{query}"))
}

fn to(status: StatusCode, location: &str) -> Response {
    (status, [(LOCATION, location)]).into_response()
}

async fn index(State(page): State<Arc<Page>>, RawQuery(query): RawQuery, headers: HeaderMap) -> Response {
    let token = query.as_deref().and_then(|query| query.split('&').find_map(|pair| pair.strip_prefix("token=")));
    if let Some(cookie) = token.and_then(|token| page.entrance.exchange(&page.guard, &headers, token)) {
        return (cookie, notice::entering(page.locale(&headers))).into_response();
    }
    match page.refusal(&headers) {
        Some(refusal) => refusal.for_people(page.locale(&headers)),
        // The cookie is valid: drop the used token from the address.
        None if token.is_some() => to(StatusCode::SEE_OTHER, "/view/"),
        None => page.document(&headers),
    }
}

async fn file(State(page): State<Arc<Page>>, Path(file): Path<String>, headers: HeaderMap) -> Response {
    match (page.refusal(&headers), assets::find(&file)) {
        (Some(refusal), _) => refusal.into_response(),
        (None, Some(asset)) => asset.respond(&headers),
        (None, None) => (StatusCode::NOT_FOUND, "The page has no such file.").into_response(),
    }
}

/// Adds headers to every response that keep other pages out.
async fn protect(mut response: Response) -> Response {
    const HEADERS: [(HeaderName, &str); 4] = [
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response.headers_mut().entry(CONTENT_SECURITY_POLICY).or_insert_with(|| OF_FILES.clone());
    response
}
