//! The sessions of clients of 2025-11-25: their number, and which one is closed when there are too many.
//!
//! rmcp opens a session for every `initialize` and closes it after five idle minutes. Here the number of sessions is
//! bounded: the one that has been idle longest makes room for a new one.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use axum::body::Body;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::HeaderMap;
use axum::middleware::Next;
use axum::response::Response;
use http_body_util::BodyExt;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::session::{SessionId, SessionManager};

use super::lock;

/// The header with the session's id.
const SESSION_ID: &str = "mcp-session-id";

/// The most sessions of one address other than this machine's own.
const MAX_PER_ADDRESS: usize = 64;

/// The sessions of a server; clones share them.
#[derive(Clone)]
pub(super) struct Sessions {
    manager: Arc<LocalSessionManager>,
    max: usize,
    open: Arc<Mutex<HashMap<SessionId, Session>>>,
}

struct Session {
    peer: IpAddr,
    /// Requests that are not fully answered.
    in_progress: usize,
    last_used: Instant,
}

/// A request in progress; dropping it makes its session idle.
struct Use {
    sessions: Sessions,
    id: SessionId,
}

impl Sessions {
    /// Room for `max` sessions.
    pub(super) fn new(max: usize) -> Self {
        Self { manager: Arc::default(), max, open: Arc::default() }
    }

    /// The manager for rmcp.
    pub(super) fn manager(&self) -> Arc<LocalSessionManager> {
        self.manager.clone()
    }

    /// A request in a session; `None` if the session is not open.
    fn enter(&self, id: SessionId) -> Option<Use> {
        lock(&self.open).get_mut(&id)?.in_progress += 1;
        Some(Use { sessions: self.clone(), id })
    }

    /// Adds a session, and closes others to make room for it.
    async fn opened(&self, id: SessionId, peer: IpAddr) {
        lock(&self.open).insert(id.clone(), Session::new(peer));
        self.close_surplus(peer, Some(&id)).await;
    }

    /// Closes surplus sessions, including those of `peer`, but not `newest`.
    async fn close_surplus(&self, peer: IpAddr, newest: Option<&SessionId>) {
        for id in self.surplus(peer, newest).await {
            tracing::debug!("the session that was idle longest is closed, to make room for another");
            let _ = self.manager.close_session(&id).await;
        }
    }

    async fn surplus(&self, peer: IpAddr, newest: Option<&SessionId>) -> Vec<SessionId> {
        let from_peer = |open: &HashMap<_, Session>| match peer.is_loopback() {
            true => 0,
            false => open.values().filter(|session| session.peer == peer).count(),
        };
        let is_full = |open: &HashMap<_, _>| open.len() > self.max || from_peer(open) > MAX_PER_ADDRESS;
        // rmcp closes idle sessions itself, and opens those of clients that disconnect before they know the session's id.
        let known = self.manager.sessions.read().await;
        let mut open = lock(&self.open);
        open.retain(|id, _| known.contains_key(id));
        if open.len() < known.len() {
            known.keys().for_each(|id| _ = open.entry(id.clone()).or_insert_with(|| Session::new(peer)));
        }
        let mut surplus = Vec::new();
        while is_full(&open) {
            let only_peer = open.len() <= self.max;
            let others = open.iter().filter(|(id, _)| Some(*id) != newest);
            let candidates = others.filter(|(_, session)| !only_peer || session.peer == peer);
            let longest_idle = candidates.min_by_key(|(_, session)| (session.in_progress > 0, session.last_used));
            let Some(id) = longest_idle.map(|(id, _)| id.clone()) else { break };
            open.remove(&id);
            surplus.push(id);
        }
        surplus
    }
}

impl Session {
    fn new(peer: IpAddr) -> Self {
        Self { peer, in_progress: 0, last_used: Instant::now() }
    }
}

impl Drop for Use {
    fn drop(&mut self) {
        if let Some(session) = lock(&self.sessions.open).get_mut(&self.id) {
            session.in_progress -= 1;
            session.last_used = Instant::now();
        }
    }
}

/// A request that may open a session. If its client disconnects before the response, nobody knows the session, but it stays open.
struct Opening {
    sessions: Sessions,
    peer: IpAddr,
    is_answered: bool,
}

impl Drop for Opening {
    fn drop(&mut self) {
        if !self.is_answered {
            let (sessions, peer) = (self.sessions.clone(), self.peer);
            tokio::spawn(async move { sessions.close_surplus(peer, None).await });
        }
    }
}

/// Tracks the sessions that requests open and use.
pub(super) async fn track(State(sessions): State<Sessions>, request: Request, next: Next) -> Response {
    let given = session_id(request.headers());
    if let Some(id) = given {
        let in_use = sessions.enter(id);
        let response = next.run(request).await;
        // The use ends with the body.
        return response.map(|body| Body::new(body.inspect_frame(move |_| _ = &in_use)));
    }
    let Some(ConnectInfo(peer)) = request.extensions().get().copied() else { return next.run(request).await };
    let mut opening = Opening { sessions: sessions.clone(), peer, is_answered: false };
    let response = next.run(request).await;
    opening.is_answered = true;
    if let Some(id) = session_id(response.headers()) {
        sessions.opened(id, peer).await;
    }
    response
}

fn session_id(headers: &HeaderMap) -> Option<SessionId> {
    headers.get(SESSION_ID)?.to_str().ok().map(Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOOPBACK: [u8; 4] = [127, 0, 0, 1];
    const NEAR: [u8; 4] = [192, 0, 2, 1];
    const FAR: [u8; 4] = [192, 0, 2, 2];

    async fn open(sessions: &Sessions, peer: [u8; 4]) -> SessionId {
        let (id, _) = sessions.manager.create_session().await.unwrap();
        sessions.opened(id.clone(), IpAddr::from(peer)).await;
        id
    }

    async fn is_open(sessions: &Sessions, id: &SessionId) -> bool {
        sessions.manager.has_session(id).await.unwrap()
    }

    #[tokio::test]
    async fn the_session_that_was_idle_longest_makes_room() {
        let sessions = Sessions::new(3);
        let (first, second, third) =
            (open(&sessions, LOOPBACK).await, open(&sessions, LOOPBACK).await, open(&sessions, LOOPBACK).await);
        let in_use = sessions.enter(first.clone());
        drop(sessions.enter(second.clone()));
        let fourth = open(&sessions, LOOPBACK).await;
        assert!(!is_open(&sessions, &third).await, "the others were used after it");
        for kept in [&first, &second, &fourth] {
            assert!(is_open(&sessions, kept).await);
        }
        sessions.manager.close_session(&fourth).await.unwrap();
        open(&sessions, LOOPBACK).await;
        assert!(is_open(&sessions, &second).await, "a session that rmcp closed makes room, too");
        drop(in_use);
    }

    #[tokio::test]
    async fn a_new_session_is_never_the_one_to_go() {
        let sessions = Sessions::new(2);
        let (first, second) = (open(&sessions, LOOPBACK).await, open(&sessions, LOOPBACK).await);
        let in_use = (sessions.enter(first.clone()), sessions.enter(second));
        let third = open(&sessions, LOOPBACK).await;
        assert!(is_open(&sessions, &third).await);
        assert!(!is_open(&sessions, &first).await);
        drop(in_use);
    }

    #[tokio::test]
    async fn sessions_that_no_client_knows_make_room() {
        let sessions = Sessions::new(2);
        for _ in 0..5 {
            sessions.manager.create_session().await.unwrap();
        }
        sessions.close_surplus(IpAddr::from(LOOPBACK), None).await;
        assert_eq!(sessions.manager.sessions.read().await.len(), 2);
    }

    #[tokio::test]
    async fn one_address_takes_only_its_own_room() {
        let sessions = Sessions::new(200);
        let (far, first) = (open(&sessions, FAR).await, open(&sessions, NEAR).await);
        for _ in 0..MAX_PER_ADDRESS {
            open(&sessions, NEAR).await;
        }
        assert!(!is_open(&sessions, &first).await);
        assert!(is_open(&sessions, &far).await);
        assert_eq!(lock(&sessions.open).len(), MAX_PER_ADDRESS + 1);
    }
}
