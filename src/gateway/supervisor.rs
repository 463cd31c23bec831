//! The one task that starts a server, sees its end, and starts it again.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until};

use super::connection::{CallError, Connection, Era};
use super::crashes::{Crashes, Next};
use super::exit::Exit;
use super::keeper::Keeper;
use super::link::Link;
use super::server::{Listed, Running, Server, State};

/// How long calls may go on when a server is no longer wanted.
const GRACE: Duration = Duration::from_secs(10);

/// How often it is looked whether they have ended.
const LOOK: Duration = Duration::from_millis(20);

/// Owns a server until it is stopped.
pub(super) async fn own(server: Arc<Server>, keeper: Arc<Keeper>) {
    let (mut era, mut crashes) = (Era::default(), Crashes::default());
    loop {
        let Some(exit) = life(&server, &mut era, &keeper).await else { return };
        tracing::warn!(server = server.name, ?exit, "ended");
        *server.history.last_exit.lock().unwrap_or_else(PoisonError::into_inner) = Some(exit.clone());
        let was_up = matches!(*server.state.borrow(), State::Available(_));
        let stopped = match crashes.record(Instant::now(), was_up) {
            Next::Restart(again) => {
                // One that does not even start is not about to run.
                let state = if was_up { State::Unavailable { again } } else { State::Crashed { exit, again } };
                server.publish(state);
                pause(&server, sleep_until(again)).await
            }
            Next::OnCall(again) => {
                // Only a call that comes from now on counts.
                let _ = server.wanted.notified().now_or_never();
                server.publish(State::Crashed { exit, again });
                let stopped = pause(&server, wanted(&server, again)).await;
                server.publish(State::Unavailable { again: Instant::now() });
                stopped
            }
        };
        if stopped {
            return;
        }
        server.history.restarts.fetch_add(1, Relaxed);
    }
}

/// Waits for a call after the pause.
async fn wanted(server: &Server, again: Instant) {
    sleep_until(again).await;
    server.wanted.notified().await;
}

/// Waits; gives whether the server was stopped meanwhile.
async fn pause(server: &Server, until: impl Future<Output = ()>) -> bool {
    tokio::select! {
        () = until => false,
        () = server.stopping.cancelled() => true,
    }
}

/// From a start to an end; `None` when the server was stopped.
async fn life(server: &Server, era: &mut Era, keeper: &Arc<Keeper>) -> Option<Exit> {
    let opened = tokio::select! {
        opened = Link::open(&server.name, &server.source, era, keeper) => opened,
        () = server.stopping.cancelled() => return None,
    };
    let (mut link, connection) = match opened {
        Ok(opened) => opened,
        Err(exit) => return Some(exit),
    };
    let connection = Arc::new(connection);
    let (listed, tools) = watch::channel(Listed { tools: Arc::default(), outdated: true });
    let (lost, hears) = watch::channel(None);
    let running = Running { connection: connection.clone(), tools, lost: hears };
    let ended = {
        let ended = link.ended(&connection);
        let listing = list(server, running, &connection, &listed);
        tokio::select! {
            exit = ended => Some(exit),
            exit = listing => Some(exit),
            () = server.stopping.cancelled() => None,
        }
    };
    match ended {
        Some(exit) => {
            lost.send_replace(Some(exit.clone()));
            Some(exit)
        }
        None => {
            drain(server).await;
            link.stop(connection).await;
            lost.send_replace(Some(Exit::because("it was stopped")));
            None
        }
    }
}

/// Lists the tools, says that the server is available, and lists them again whenever they change. Only
/// ends when there is no first list.
async fn list(server: &Server, running: Running, connection: &Connection, listed: &watch::Sender<Listed>) -> Exit {
    match tokio::time::timeout(super::link::HANDSHAKE, connection.list()).await {
        Ok(Ok(tools)) => listed.send_replace(Listed { tools: Arc::new(tools), outdated: false }),
        // It died meanwhile; whoever waits for its end knows how.
        Ok(Err(CallError::Closed)) => std::future::pending().await,
        Ok(Err(_)) => {
            return Exit::because("it could not list its tools");
        }
        Err(_) => return Exit::because("it did not list its tools within 10 s"),
    };
    server.publish(State::Available(Arc::new(running)));
    loop {
        connection.tools_changed().await;
        listed.send_modify(|listed| listed.outdated = true);
        let tools = tokio::time::timeout(super::link::HANDSHAKE, connection.list()).await;
        let tools = tools.ok().and_then(Result::ok).map(Arc::new);
        listed.send_modify(|listed| {
            listed.outdated = false;
            listed.tools = tools.unwrap_or_else(|| listed.tools.clone());
        });
    }
}

/// Lets calls under way end, unless it hurries.
async fn drain(server: &Server) {
    let end = Instant::now() + GRACE;
    while server.pending() > 0 && Instant::now() < end && !server.hurried.is_cancelled() {
        sleep(LOOK).await;
    }
}
