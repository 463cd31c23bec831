//! A connection to one running server, with rmcp as its client: the handshake, the list of its tools, calls.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CancelledNotification, CancelledNotificationParam, ClientRequest,
    ErrorCode, ErrorData, Implementation, InitializeRequestParams, ListToolsRequest, PaginatedRequestParams,
    ProtocolVersion, ServerResult, SubscriptionFilter,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, NotificationContext, Peer, PeerRequestOptions, RequestHandle,
    RunningService, serve_client_with_lifecycle,
};
use rmcp::transport::Transport;
use rmcp::{ClientHandler, RoleClient, ServiceError};
use serde_json::{Map, Value};
use tokio::sync::Notify;

use super::pipes::{TOO_LARGE, UNREADABLE};
use super::tool::{Page, Tools};
use crate::secrets::without_value;

/// A list of tools has at most so many pages: a cursor may run in circles.
const PAGES: usize = 1000;

/// How client and server get to know each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Era {
    /// `initialize`, until 2025-11-25. Nearly every server knows it, and some know nothing that comes before it.
    #[default]
    Initialize,
    /// `server/discover`, from 2026-07-28 on.
    Discover,
}

/// Why there is no connection.
pub(super) enum NoConnection {
    /// The server answered the handshake with an error: it may be of the other era.
    Refused,
    /// It ended, or answered what is no handshake.
    Failed,
}

/// Why a call has no result.
pub(super) enum CallError {
    /// The server answered with a JSON-RPC error.
    JsonRpc(i32, String),
    /// Its answer is too large to be read.
    TooLarge,
    /// Its answer is malformed.
    Malformed(String),
    /// It is gone.
    Closed,
}

/// A connection; dropping it closes the transport.
pub(super) struct Connection {
    service: RunningService<RoleClient, Listener>,
    era: Era,
    changed: Arc<Notify>,
    doubt: Notify,
    confirmed: Notify,
}

/// Whether a server is there.
pub(super) enum Standing {
    Answers,
    Slow,
    Gone,
}

/// What we hear of a server beside answers.
struct Listener {
    changed: Arc<Notify>,
}

impl ClientHandler for Listener {
    fn get_info(&self) -> InitializeRequestParams {
        InitializeRequestParams::new(
            Default::default(),
            Implementation::new("n8n-lens gateway", env!("CARGO_PKG_VERSION")),
        )
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }
}

impl Connection {
    /// Shakes hands; the caller sets the limit.
    ///
    /// # Errors
    /// [`NoConnection`].
    pub(super) async fn open<T>(transport: T, era: Era) -> Result<Self, NoConnection>
    where
        T: Transport<RoleClient> + Send + 'static,
    {
        let mode = match era {
            Era::Initialize => ClientLifecycleMode::Initialize,
            Era::Discover => ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] },
        };
        let changed = Arc::new(Notify::new());
        let listener = Listener { changed: changed.clone() };
        let service = serve_client_with_lifecycle(listener, transport, mode).await.map_err(|error| match error {
            ClientInitializeError::JsonRpcError(_) | ClientInitializeError::NoCompatibleProtocolVersion { .. } => {
                NoConnection::Refused
            }
            _ => NoConnection::Failed,
        })?;
        Ok(Self { service, era, changed, doubt: Notify::new(), confirmed: Notify::new() })
    }

    /// Closes the transport; calls under way end.
    pub(super) fn close(&self) {
        self.service.cancellation_token().cancel();
    }

    /// Waits until the server says that its tools are others now.
    pub(super) async fn tools_changed(&self) {
        if self.era == Era::Initialize {
            return self.changed.notified().await;
        }
        // Since 2026-07-28 such notices are asked for, on a stream of their own.
        let filter = SubscriptionFilter::builder().tools_list_changed().build();
        let told = match self.service.peer().listen(filter).await {
            Ok(mut notices) => notices.next().await.is_ok_and(|notice| notice.is_some()),
            Err(_) => false,
        };
        if !told {
            std::future::pending().await
        }
    }

    /// Asks for all tools.
    ///
    /// # Errors
    /// [`CallError`].
    pub(super) async fn list(&self) -> Result<Tools, CallError> {
        let (mut tools, mut cursor) = (Tools::new(), None);
        for _ in 0..PAGES {
            let params = PaginatedRequestParams::default().with_cursor(cursor);
            let request = ListToolsRequest { params: Some(params), ..Default::default() };
            let text = match self.ask(ClientRequest::ListToolsRequest(request)).await {
                // A server may have no tools at all.
                Err(CallError::JsonRpc(code, _)) if code == ErrorCode::METHOD_NOT_FOUND.0 => return Ok(tools),
                text => text?,
            };
            let page: Page =
                serde_json::from_str(&text).map_err(|error| CallError::Malformed(without_value(&error)))?;
            cursor = page.next_cursor.clone();
            page.add_to(&mut tools);
            if cursor.is_none() {
                break;
            }
        }
        Ok(tools)
    }

    /// Calls a tool; gives the text of its result. Dropping the call cancels it at the server.
    ///
    /// # Errors
    /// [`CallError`].
    pub(super) async fn call(&self, tool: &str, input: Map<String, Value>) -> Result<String, CallError> {
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(input);
        self.ask(ClientRequest::CallToolRequest(CallToolRequest::new(params))).await
    }

    /// Waits until a call could not be sent.
    pub(super) async fn doubted(&self) {
        self.doubt.notified().await;
    }

    /// Waits until a probe has found the server well.
    pub(super) async fn confirmed(&self) {
        self.confirmed.notified().await;
    }

    /// How the server stands.
    pub(super) async fn probe(&self, patience: Duration) -> Standing {
        let standing = self.ask_how(patience).await;
        if let Standing::Answers = standing {
            self.confirmed.notify_waiters();
        }
        standing
    }

    async fn ask_how(&self, patience: Duration) -> Standing {
        match tokio::time::timeout(patience, self.list()).await {
            Ok(Err(CallError::Closed)) => Standing::Gone,
            Ok(_) => Standing::Answers,
            Err(_) => Standing::Slow,
        }
    }

    async fn ask(&self, request: ClientRequest) -> Result<String, CallError> {
        let peer = self.service.peer();
        let handle =
            peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await.map_err(CallError::of)?;
        let mut asked = Asked(Some(handle));
        let answer = asked.answer().await.inspect_err(|error| {
            if matches!(error, CallError::Closed) {
                self.doubt.notify_one();
            }
        })?;
        match answer {
            // The pipes leave results unread; elsewhere they were read, and are written again.
            ServerResult::CustomResult(result) if result.0.is_string() => match result.0 {
                Value::String(text) => Ok(text),
                other => Ok(other.to_string()),
            },
            result => serde_json::to_string(&result).map_err(|error| CallError::Malformed(without_value(&error))),
        }
    }
}

/// A request under way. Dropped before its answer, it is cancelled.
struct Asked(Option<RequestHandle<RoleClient>>);

impl Asked {
    async fn answer(&mut self) -> Result<ServerResult, CallError> {
        let Some(handle) = self.0.as_mut() else { return Err(CallError::Closed) };
        let answer = (&mut handle.rx).await;
        self.0 = None;
        answer.map_err(|_| CallError::Closed)?.map_err(CallError::of)
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        if let Some(handle) = self.0.take() {
            tokio::spawn(cancel(handle.peer.clone(), handle));
        }
    }
}

async fn cancel(peer: Peer<RoleClient>, handle: RequestHandle<RoleClient>) {
    let why = "the caller waits no longer".to_owned();
    let params = CancelledNotificationParam::new(Some(handle.id.clone()), Some(why));
    let _ = peer.send_notification(CancelledNotification::new(params).into()).await;
}

impl CallError {
    fn of(error: ServiceError) -> Self {
        match error {
            ServiceError::McpError(ErrorData { code: TOO_LARGE, .. }) => Self::TooLarge,
            ServiceError::McpError(ErrorData { code: UNREADABLE, .. }) => {
                Self::Malformed("a line that cannot be read".to_owned())
            }
            ServiceError::McpError(error) => Self::JsonRpc(error.code.0, error.message.into_owned()),
            ServiceError::TransportClosed | ServiceError::TransportSend(_) | ServiceError::Cancelled { .. } => {
                Self::Closed
            }
            // What it is would be told with what came.
            _ => Self::Malformed("an answer of another kind".to_owned()),
        }
    }
}
