//! The task that starts one server, detects its exit, and restarts it.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::config::Source;
use super::connection::{CallError, Connection, Handshake};
use super::exit::Exit;
use super::group::Groups;
use super::restart_policy::{NextStart, RestartPolicy};
use super::server::{Running, Server, State, ToolList};
use super::session::{HANDSHAKE_TIMEOUT, Session};

/// How long calls in flight have to finish once their server is removed from the configuration.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);

/// How often the number of calls in flight is checked in the meantime.
const DRAIN_INTERVAL: Duration = Duration::from_millis(20);

/// The least time between two lists of tools: a server may report changes without a pause.
const LISTING_INTERVAL: Duration = Duration::from_millis(100);

/// Supervises a server until it is stopped. Its calls in flight learn of its exit when its state changes.
pub(super) async fn supervise(server: Arc<Server>, groups: Arc<Groups>) {
    let (mut handshake, mut policy) = (Handshake::default(), RestartPolicy::default());
    loop {
        let (exit_sender, exit_receiver) = watch::channel(None);
        let Some(exit) = run(&server, &mut handshake, exit_receiver, &groups).await else { return };
        tracing::warn!(server = server.name, ?exit, "exited");
        *server.history.last_exit.lock().unwrap_or_else(PoisonError::into_inner) = Some(exit.clone());
        let was_available = matches!(*server.state.borrow(), State::Available(_));
        let stopped = match policy.record_exit(Instant::now(), was_available) {
            NextStart::At(retry_at) => {
                // A server that failed to start is not about to be available.
                let state = match was_available {
                    true => State::Unavailable { retry_at },
                    false => State::Crashed { exit: exit.clone(), retry_at },
                };
                server.publish(state);
                exit_sender.send_replace(Some(exit));
                is_stopped_during(&server, sleep_until(retry_at)).await
            }
            NextStart::OnCallAfter(retry_at) => {
                // Calls before this moment do not count.
                let _ = server.start_requested.notified().now_or_never();
                server.publish(State::Crashed { exit: exit.clone(), retry_at });
                exit_sender.send_replace(Some(exit));
                let stopped = is_stopped_during(&server, start_request(&server, retry_at)).await;
                server.publish(State::Unavailable { retry_at: Instant::now() });
                stopped
            }
        };
        if stopped {
            return;
        }
        server.history.restarts.fetch_add(1, Relaxed);
    }
}

/// Waits for a call after `earliest`.
async fn start_request(server: &Server, earliest: Instant) {
    sleep_until(earliest).await;
    server.start_requested.notified().await;
}

/// Waits for `event`; returns whether the server was stopped before it.
async fn is_stopped_during(server: &Server, event: impl Future<Output = ()>) -> bool {
    tokio::select! {
        () = event => false,
        () = server.stopping.cancelled() => true,
    }
}

/// Runs the server once, from its start to its exit; `None` if it was stopped.
async fn run(
    server: &Server,
    handshake: &mut Handshake,
    exit: watch::Receiver<Option<Exit>>,
    groups: &Arc<Groups>,
) -> Option<Exit> {
    let opened = tokio::select! {
        opened = Session::open(&server.name, &server.source, handshake, groups) => opened,
        () = server.stopping.cancelled() => return None,
    };
    let (mut session, connection) = match opened {
        Ok(opened) => opened,
        Err(exit) => return Some(exit),
    };
    let connection = Arc::new(connection);
    let (tool_list, tools) = watch::channel(ToolList { tools: Arc::default(), outdated: true });
    let running = Running { connection: connection.clone(), tools, exit };
    let exit = {
        let ended = session.ended(&connection);
        let listing = keep_tools_listed(server, running, &connection, &tool_list);
        tokio::select! {
            exit = ended => Some(exit),
            exit = listing => Some(exit),
            () = server.stopping.cancelled() => None,
        }
    };
    if exit.is_none() {
        drain(server).await;
        session.close(connection).await;
    }
    exit
}

/// Lists the tools, publishes the server as available, and lists the tools again whenever they change. Returns only if
/// the first listing fails.
async fn keep_tools_listed(
    server: &Server,
    running: Running,
    connection: &Connection,
    tool_list: &watch::Sender<ToolList>,
) -> Exit {
    match timeout(HANDSHAKE_TIMEOUT, connection.list_tools()).await {
        Ok(Ok(tools)) => tool_list.send_replace(ToolList { tools: Arc::new(tools), outdated: false }),
        // The child has exited, and its session knows how. The session of a remote server survives a broken connection.
        Ok(Err(CallError::Closed)) if matches!(server.source, Source::Child(_)) => std::future::pending().await,
        Ok(Err(_)) => return Exit::because("it could not list its tools"),
        Err(_) => return Exit::because("it did not list its tools within 10 s"),
    };
    server.publish(State::Available(Arc::new(running)));
    loop {
        let earliest = Instant::now() + LISTING_INTERVAL;
        connection.tools_changed().await;
        tool_list.send_modify(|list| list.outdated = true);
        sleep_until(earliest).await;
        let tools = timeout(HANDSHAKE_TIMEOUT, connection.list_tools()).await;
        let tools = tools.ok().and_then(Result::ok).map(Arc::new);
        tool_list.send_modify(|list| {
            list.outdated = false;
            list.tools = tools.unwrap_or_else(|| list.tools.clone());
        });
    }
}

/// Lets calls in flight finish, and cancels the others.
async fn drain(server: &Server) {
    let end = Instant::now() + DRAIN_TIMEOUT;
    while server.pending() > 0 && Instant::now() < end && !server.cancelled.is_cancelled() {
        sleep(DRAIN_INTERVAL).await;
    }
    server.cancelled.cancel();
}
