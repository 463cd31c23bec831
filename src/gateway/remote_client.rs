//! The HTTP client of a remote server. It passes an answer on only to its own request, and turns a
//! response that is not an answer into an error that names the fault, without repeating what the server sent.

use std::collections::HashMap;
use std::sync::Arc;

use futures::StreamExt;
use futures::stream::BoxStream;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::model::{
    CancelledNotification, ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::Sse;

use super::answer_fault::AnswerFault;
use super::limits::{ANSWER_BYTES, SERVER_REQUESTS};
use crate::json_rpc::{Answering, Envelope, PendingRequests};

type Error = StreamableHttpError<reqwest::Error>;
type Headers = HashMap<HeaderName, HeaderValue>;
type Events = BoxStream<'static, Result<Sse, SseError>>;

/// The client.
#[derive(Clone)]
pub(super) struct RemoteClient {
    http: reqwest::Client,
    requests: PendingRequests,
}

impl StreamableHttpClient for RemoteClient {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Error> {
        let (request, _answering) = self.sending(&message);
        let response = self.http.post_message(uri, message, session, token, headers).await;
        self.response_to(request, response)
    }

    async fn post_message_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
        bytes: usize,
    ) -> Result<StreamableHttpPostResponse, Error> {
        let (request, _answering) = self.sending(&message);
        let response =
            self.http.post_message_with_max_sse_event_size(uri, message, session, token, headers, bytes).await;
        self.response_to(request, response)
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<(), Error> {
        self.http.delete_session(uri, session, token, headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<Events, Error> {
        let events = self.http.get_stream(uri, session, last_event, token, headers).await?;
        Ok(self.events(None, events))
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: Headers,
        bytes: usize,
    ) -> Result<Events, Error> {
        let opening = self.http.get_stream_with_max_sse_event_size(uri, session, last_event, token, headers, bytes);
        Ok(self.events(None, opening.await?))
    }
}

impl RemoteClient {
    /// A client that sends its requests over `http`.
    pub(super) fn new(http: reqwest::Client) -> Self {
        Self { http, requests: PendingRequests::new(SERVER_REQUESTS) }
    }

    /// Returns the id of a request that waits for an answer; `None` for other messages, and for a handshake, whose
    /// faults end the session. An answer counts as pending until it is sent.
    fn sending(&self, message: &ClientJsonRpcMessage) -> (Option<RequestId>, Option<Answering>) {
        let JsonRpcMessage::Request(request) = message else { return (None, self.requests.sending(message)) };
        match request.request {
            ClientRequest::InitializeRequest(_) | ClientRequest::DiscoverRequest(_) => {
                self.requests.reset();
                (None, None)
            }
            _ => (Some(request.id.clone()), None),
        }
    }

    /// The response to a request. If it is not an answer, it becomes an error with the request's id, unless the connection
    /// failed or the session has expired.
    fn response_to(
        &self,
        request: Option<RequestId>,
        response: Result<StreamableHttpPostResponse, Error>,
    ) -> Result<StreamableHttpPostResponse, Error> {
        use StreamableHttpPostResponse::{Json, Sse};
        let Some(request) = request else { return response };
        match response {
            Ok(Json(answer, session)) => Ok(Json(answer_to(request, answer), session)),
            Ok(Sse(events, session)) => Ok(Sse(self.events(Some(request), events), session)),
            Ok(other) => Ok(other),
            Err(error) => match fault(&error) {
                Some(fault) => Ok(Json(fault.answer(request), None)),
                None => Err(error),
            },
        }
    }

    /// The events of a response to `request`, or of the stream for everything else: without answers to other requests,
    /// and without more requests than are answered. An event that is too large becomes an error.
    fn events(&self, request: Option<RequestId>, events: Events) -> Events {
        let requests = self.requests.clone();
        let events = events.filter_map(move |event| {
            let event = match (event, &request) {
                (Ok(event), _) => is_wanted(&event, request.as_ref(), &requests).then_some(Ok(event)),
                (Err(error), Some(request)) if is_too_large(&error) => {
                    let answer = AnswerFault::TooLarge(ANSWER_BYTES).answer(request.clone());
                    Some(Ok(Sse { data: serde_json::to_string(&answer).ok(), ..Sse::default() }))
                }
                (Err(error), _) => Some(Err(error)),
            };
            std::future::ready(event)
        });
        events.boxed()
    }
}

/// The answer, if it belongs to this request. An error without an id is about the request that it responds to.
fn answer_to(request: RequestId, answer: ServerJsonRpcMessage) -> ServerJsonRpcMessage {
    match answer {
        JsonRpcMessage::Response(response) if answers(&response.id, &request) => {
            ServerJsonRpcMessage::response(response.result, request)
        }
        JsonRpcMessage::Error(error) if error.id.as_ref().is_none_or(|id| answers(id, &request)) => {
            ServerJsonRpcMessage::error(error.error, Some(request))
        }
        _ => AnswerFault::Unreadable("the response is not an answer to the request".to_owned()).answer(request),
    }
}

/// Whether this is the id of the request. Some servers return a number as a string, which rmcp also accepts.
fn answers(id: &RequestId, request: &RequestId) -> bool {
    match (id, request) {
        (RequestId::String(id), RequestId::Number(request)) => id.parse() == Ok(*request),
        _ => id == request,
    }
}

fn is_wanted(event: &Sse, request: Option<&RequestId>, requests: &PendingRequests) -> bool {
    let Some(data) = &event.data else { return true };
    match serde_json::from_str(data) {
        Ok(Envelope { id: Some(id), method: Some(_), .. }) => requests.admit(&id).is_ok(),
        Ok(Envelope { id: Some(id), method: None, .. }) => request.is_none_or(|request| answers(&id, request)),
        Ok(Envelope { id: None, .. }) => {
            if let Ok(cancelled) = serde_json::from_str::<CancelledNotification>(data) {
                cancelled.params.request_id.iter().for_each(|id| requests.cancel(id));
            }
            true
        }
        Err(_) => false,
    }
}

/// rmcp reports the cause only in words.
fn is_too_large(error: &SseError) -> bool {
    matches!(error, SseError::Body(cause) if cause.to_string().starts_with("SSE event exceeded the maximum size"))
}

/// The fault of a response; `None` if the connection failed, or the session may be over.
fn fault(error: &Error) -> Option<AnswerFault> {
    let status = match error {
        StreamableHttpError::HttpStatus(error) => Some(error.status),
        StreamableHttpError::AuthRequired(_) => Some(401),
        StreamableHttpError::InsufficientScope(_) => Some(403),
        // `HTTP 418 I'm a teapot: ` and the body.
        StreamableHttpError::UnexpectedServerResponse(text) => {
            text.strip_prefix("HTTP ").and_then(|text| text.get(..3)?.parse().ok())
        }
        StreamableHttpError::UnexpectedContentType(_) | StreamableHttpError::Deserialize(_) => None,
        StreamableHttpError::ResponseBodyTooLarge { max_size } => return Some(AnswerFault::TooLarge(*max_size)),
        _ => return None,
    };
    Some(AnswerFault::Unreadable(match status {
        Some(status) => format!("HTTP {status}"),
        None => "the response is neither JSON-RPC nor a stream of events".to_owned(),
    }))
}
