//! The lifecycle of a session. At most one is open per pair of agent and project. Each use extends its expiry; it ends
//! with a report, a logout, its expiry, or an administrator's revocation.

use serde_json::json;

use super::execution::{self, Ending};
use crate::coordination::secret::hash;
use crate::coordination::store::{EndReason, Entity, Event, Session, StoreError, Time, Work};
use crate::coordination::{Error, SessionPolicy};

/// The refusal for an invalid token, unless the contract has a different text for the tool.
pub(crate) const INVALID_TOKEN: &str = "Invalid or expired session_token";

/// Whether a session can still be used.
pub(crate) fn is_alive(session: &Session, now: Time) -> bool {
    session.ended_at.is_none() && session.expires_at > now
}

/// The session of a token, whether it is alive or ended recently.
pub(crate) fn alive_or_recently_ended(work: &mut Work<'_>, token: &str) -> Result<Session, Error> {
    let found = work.session_of(&hash(token))?.filter(|session| is_remembered(session, work.now()));
    found.ok_or_else(|| Error::refused(INVALID_TOKEN))
}

/// Whether a session is alive, or ended so recently that a client might still repeat its last call.
fn is_remembered(session: &Session, now: Time) -> bool {
    let until = if session.ended_at.is_some() { session.max_expires_at } else { session.expires_at };
    until > now
}

/// The session of a token, with its expiry extended; `None` if it can no longer be used.
pub(crate) fn renew(work: &mut Work<'_>, token: &str, policy: &SessionPolicy) -> Result<Option<Session>, StoreError> {
    let now = work.now();
    let Some(mut session) = work.session_of(&hash(token))?.filter(|session| is_alive(session, now)) else {
        return Ok(None);
    };
    session.last_seen_at = now.max(session.last_seen_at);
    // If two calls run concurrently, the one that waited must not undo the other's renewal.
    session.expires_at = now.plus(policy.session_ttl).max(session.expires_at).min(session.max_expires_at);
    work.change_session(&session)?;
    Ok(Some(session))
}

/// Like [`renew`], but refuses an invalid token with the common text.
pub(crate) fn renew_or_refuse(work: &mut Work<'_>, token: &str, policy: &SessionPolicy) -> Result<Session, Error> {
    renew(work, token, policy)?.ok_or_else(|| Error::refused(INVALID_TOKEN))
}

/// Ends a session, and with `ending` the executions still running in it. `reply` is kept for a client that
/// repeats its last call.
pub(crate) fn end(
    work: &mut Work<'_>,
    session: &Session,
    reason: EndReason,
    ending: Ending<'_>,
    reply: Option<&str>,
) -> Result<(), StoreError> {
    for running in work.running(&session.id)? {
        execution::end(work, session, running, ending)?;
    }
    work.end_session(session, reason, reply)?;
    work.record(&Event {
        project: Some(&session.project_id),
        actor: Some(&session.agent_id),
        session: Some(&session.id),
        after: Some(json!({ "end_reason": reason })),
        ..Event::new(Entity::Session, &session.id, "ended")
    })
}

/// Ends a session that has expired.
pub(crate) fn expire(work: &mut Work<'_>, session: &Session) -> Result<(), StoreError> {
    end(work, session, EndReason::Expired, Ending::ByServer("The session expired without a report."), None)
}

/// Sessions that have expired but are still open.
pub(crate) fn find_expired(work: &mut Work<'_>) -> Result<Vec<Session>, StoreError> {
    let mut sessions = work.open_sessions()?;
    sessions.retain(|session| !is_alive(session, work.now()));
    Ok(sessions)
}

/// Ends a session found by [`find_expired`], unless it was renewed or ended in the meantime.
pub(crate) fn expire_if_still_due(work: &mut Work<'_>, found: &Session) -> Result<(), StoreError> {
    work.lock_project(&found.project_id)?;
    let open = work.open_session(&found.agent_id, &found.project_id)?;
    match open.filter(|open| open.id == found.id && !is_alive(open, work.now())) {
        Some(expired) => expire(work, &expired),
        None => Ok(()),
    }
}
