//! A connection to one running server, with rmcp as the client: the handshake, the list of tools, calls.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CancelledNotification, CancelledNotificationParam, ClientRequest,
    ErrorCode, Implementation, InitializeRequestParams, ListToolsRequest, PaginatedRequestParams, ProtocolVersion,
    ServerResult, SubscriptionFilter,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, NotificationContext, Peer, PeerRequestOptions, RequestHandle,
    RunningService, serve_client_with_lifecycle,
};
use rmcp::transport::Transport;
use rmcp::{ClientHandler, RoleClient, ServiceError};
use serde_json::{Map, Value};
use tokio::sync::Notify;

use super::answer_fault::AnswerFault;
use super::tool::{ToolPage, Tools};
use crate::secrets::without_value;

/// The most pages of a tool list, and bytes of all of them; a server's cursors may run in circles.
const MAX_TOOL_PAGES: usize = 1000;
const TOOL_LIST_BYTES: usize = 16 * 1024 * 1024;

/// The kind of handshake, which depends on the protocol version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Handshake {
    /// `initialize`, up to 2025-11-25. Tried first: nearly every server supports it, and some fail on anything else
    /// before it.
    #[default]
    Initialize,
    /// `server/discover`, from 2026-07-28 on.
    Discover,
}

impl Handshake {
    /// The other kind.
    pub(super) fn other(self) -> Self {
        match self {
            Self::Initialize => Self::Discover,
            Self::Discover => Self::Initialize,
        }
    }
}

/// Why a connection could not be opened.
pub(super) enum ConnectError {
    /// The server answered the handshake with an error: it may support the other kind.
    Rejected,
    /// The server exited, could not be reached, or sent an invalid answer.
    Failed,
}

/// Why a call has no result.
pub(super) enum CallError {
    /// The server answered with a JSON-RPC error.
    JsonRpc(i32, String),
    /// The answer is larger than this many bytes.
    TooLarge(usize),
    /// The answer is malformed.
    Malformed(String),
    /// The connection is closed.
    Closed,
}

/// A connection; dropping it closes the transport.
pub(super) struct Connection {
    service: RunningService<RoleClient, NotificationHandler>,
    handshake: Handshake,
    tools_changed: Arc<Notify>,
    request_failed: Notify,
    probe_succeeded: Notify,
}

/// The outcome of a probe.
pub(super) enum Liveness {
    Alive,
    Slow,
    Gone,
}

/// Receives the server's notifications.
struct NotificationHandler {
    tools_changed: Arc<Notify>,
}

impl ClientHandler for NotificationHandler {
    fn get_info(&self) -> InitializeRequestParams {
        InitializeRequestParams::new(
            Default::default(),
            Implementation::new("n8n-lens gateway", env!("CARGO_PKG_VERSION")),
        )
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.tools_changed.notify_one();
    }
}

impl Connection {
    /// Performs the handshake. It has no timeout of its own.
    ///
    /// # Errors
    /// [`ConnectError::Rejected`] if the server rejects this kind of handshake, [`ConnectError::Failed`] if the
    /// transport closes or the answer is invalid.
    pub(super) async fn open<T>(transport: T, handshake: Handshake) -> Result<Self, ConnectError>
    where
        T: Transport<RoleClient> + Send + 'static,
    {
        let mode = match handshake {
            Handshake::Initialize => ClientLifecycleMode::Initialize,
            Handshake::Discover => {
                ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
            }
        };
        let tools_changed = Arc::new(Notify::new());
        let handler = NotificationHandler { tools_changed: tools_changed.clone() };
        let service = serve_client_with_lifecycle(handler, transport, mode).await.map_err(|error| match error {
            ClientInitializeError::JsonRpcError(_) | ClientInitializeError::NoCompatibleProtocolVersion { .. } => {
                ConnectError::Rejected
            }
            _ => ConnectError::Failed,
        })?;
        Ok(Self { service, handshake, tools_changed, request_failed: Notify::new(), probe_succeeded: Notify::new() })
    }

    /// Closes the transport. Requests in flight fail with [`CallError::Closed`].
    pub(super) fn close(&self) {
        self.service.cancellation_token().cancel();
    }

    /// Waits until the server reports that its tools have changed.
    pub(super) async fn tools_changed(&self) {
        if self.handshake == Handshake::Initialize {
            return self.tools_changed.notified().await;
        }
        // Since 2026-07-28, clients subscribe to such notifications, which arrive on a stream of their own.
        let filter = SubscriptionFilter::builder().tools_list_changed().build();
        let notified = match self.service.peer().listen(filter).await {
            Ok(mut notifications) => notifications.next().await.is_ok_and(|notification| notification.is_some()),
            Err(_) => false,
        };
        if !notified {
            std::future::pending().await
        }
    }

    /// Lists all tools. A server without support for tools has none.
    ///
    /// # Errors
    /// [`CallError`] if one of the pages cannot be fetched or is malformed, or the list is too large.
    pub(super) async fn list_tools(&self) -> Result<Tools, CallError> {
        let (mut tools, mut cursor, mut bytes) = (Tools::new(), None, 0);
        for _ in 0..MAX_TOOL_PAGES {
            let params = PaginatedRequestParams::default().with_cursor(cursor);
            let request = ListToolsRequest { params: Some(params), ..Default::default() };
            let text = match self.request(ClientRequest::ListToolsRequest(request)).await {
                Err(CallError::JsonRpc(code, _)) if code == ErrorCode::METHOD_NOT_FOUND.0 => return Ok(tools),
                text => text?,
            };
            bytes += text.len();
            if bytes > TOOL_LIST_BYTES {
                return Err(CallError::TooLarge(TOOL_LIST_BYTES));
            }
            let page: ToolPage =
                serde_json::from_str(&text).map_err(|error| CallError::Malformed(without_value(&error)))?;
            cursor = page.next_cursor.clone();
            page.add_to(&mut tools);
            if cursor.is_none() {
                break;
            }
        }
        Ok(tools)
    }

    /// Calls a tool; returns the text of the `CallToolResult`. Dropping the future cancels the call at the server.
    ///
    /// # Errors
    /// [`CallError`] if the server answers with a JSON-RPC error, with an answer that is too large or malformed, or not
    /// at all.
    pub(super) async fn call(&self, tool: &str, input: Map<String, Value>) -> Result<String, CallError> {
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(input);
        self.request(ClientRequest::CallToolRequest(CallToolRequest::new(params))).await
    }

    /// Waits until a request fails because the connection is closed.
    pub(super) async fn request_failed(&self) {
        self.request_failed.notified().await;
    }

    /// Waits until a probe finds the server alive.
    pub(super) async fn probe_succeeded(&self) {
        self.probe_succeeded.notified().await;
    }

    /// Checks whether the server answers within `limit`.
    pub(super) async fn probe(&self, limit: Duration) -> Liveness {
        match tokio::time::timeout(limit, self.list_tools()).await {
            Ok(Err(CallError::Closed)) => Liveness::Gone,
            Ok(_) => {
                self.probe_succeeded.notify_waiters();
                Liveness::Alive
            }
            Err(_) => Liveness::Slow,
        }
    }

    async fn request(&self, request: ClientRequest) -> Result<String, CallError> {
        let peer = self.service.peer();
        let handle =
            peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await.map_err(CallError::of)?;
        let mut in_flight = InFlightRequest(Some(handle));
        let answer = in_flight.answer().await.inspect_err(|error| {
            if matches!(error, CallError::Closed) {
                self.request_failed.notify_one();
            }
        })?;
        match answer {
            // The stdio transport passes results on as text; rmcp's own transport has parsed them.
            ServerResult::CustomResult(result) if result.0.is_string() => match result.0 {
                Value::String(text) => Ok(text),
                other => Ok(other.to_string()),
            },
            result => serde_json::to_string(&result).map_err(|error| CallError::Malformed(without_value(&error))),
        }
    }
}

/// A request in flight. Dropping it before its answer arrives cancels it.
struct InFlightRequest(Option<RequestHandle<RoleClient>>);

impl InFlightRequest {
    async fn answer(&mut self) -> Result<ServerResult, CallError> {
        let Some(handle) = self.0.as_mut() else { return Err(CallError::Closed) };
        let answer = (&mut handle.rx).await;
        self.0 = None;
        answer.map_err(|_| CallError::Closed)?.map_err(CallError::of)
    }
}

impl Drop for InFlightRequest {
    fn drop(&mut self) {
        if let Some(handle) = self.0.take() {
            tokio::spawn(cancel(handle.peer.clone(), handle));
        }
    }
}

async fn cancel(peer: Peer<RoleClient>, handle: RequestHandle<RoleClient>) {
    let why = "the caller no longer waits".to_owned();
    let params = CancelledNotificationParam::new(Some(handle.id.clone()), Some(why));
    let _ = peer.send_notification(CancelledNotification::new(params).into()).await;
}

impl CallError {
    fn of(error: ServiceError) -> Self {
        match error {
            ServiceError::McpError(error) => match AnswerFault::of(&error) {
                Some(AnswerFault::TooLarge(bytes)) => Self::TooLarge(bytes),
                Some(AnswerFault::Unreadable(why)) => Self::Malformed(why),
                None => Self::JsonRpc(error.code.0, error.message.into_owned()),
            },
            ServiceError::TransportClosed | ServiceError::TransportSend(_) | ServiceError::Cancelled { .. } => {
                Self::Closed
            }
            // The error's own text may quote the answer.
            _ => Self::Malformed("an unexpected kind of answer".to_owned()),
        }
    }
}
