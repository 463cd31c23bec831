//! The life of a session: at most one is open for a pair of agent and project; it slides while it is used,
//! and ends with a report, a logout, its expiry, or an administrator.

use serde_json::json;

use super::execution::{self, Ending};
use crate::coordination::secret::hash;
use crate::coordination::store::{Change, EndReason, Entity, Fault, Session, Time, Work};
use crate::coordination::{Error, Terms};

/// What a token that is not valid is answered, but where the contract has another text.
pub(crate) const INVALID: &str = "Invalid or expired session_token";

/// Whether a session can still be used.
pub(crate) fn is_alive(session: &Session, now: Time) -> bool {
    session.ended_at.is_none() && session.expires_at > now
}

/// The session of a token, alive or ended lately.
pub(crate) fn remembered(work: &mut Work<'_>, token: &str) -> Result<Session, Error> {
    let found = work.session_of(&hash(token))?.filter(|session| is_remembered(session, work.now()));
    found.ok_or_else(|| Error::refused(INVALID))
}

/// Whether a session is alive, or was ended so lately that its last answer may still be asked for.
fn is_remembered(session: &Session, now: Time) -> bool {
    let until = if session.ended_at.is_some() { session.max_expires_at } else { session.expires_at };
    until > now
}

/// The session of a token, if it can still be used; it lives on from now.
pub(crate) fn alive(work: &mut Work<'_>, token: &str, terms: &Terms) -> Result<Option<Session>, Fault> {
    let now = work.now();
    let Some(mut session) = work.session_of(&hash(token))?.filter(|session| is_alive(session, now)) else {
        return Ok(None);
    };
    session.last_seen_at = now.max(session.last_seen_at);
    // Of two calls at once the one that waited does not take back what the other one gave.
    session.expires_at = now.after(terms.session_ttl).max(session.expires_at).min(session.max_expires_at);
    work.change_session(&session)?;
    Ok(Some(session))
}

/// The same; a token that is not valid is refused with the common text.
pub(crate) fn valid(work: &mut Work<'_>, token: &str, terms: &Terms) -> Result<Session, Error> {
    alive(work, token, terms)?.ok_or_else(|| Error::refused(INVALID))
}

/// Ends a session; what still runs in it is closed as `ending` says.
pub(crate) fn end(
    work: &mut Work<'_>,
    session: &Session,
    reason: EndReason,
    ending: Ending<'_>,
    reply: Option<&str>,
) -> Result<(), Fault> {
    for running in work.running(&session.id)? {
        execution::end(work, running, ending)?;
    }
    work.end_session(&session.id, reason, reply)?;
    work.record(&Change {
        project: Some(&session.project_id),
        actor: Some(&session.agent_id),
        session: Some(&session.id),
        after: Some(json!({ "end_reason": reason })),
        ..Change::new(Entity::Session, &session.id, "ended")
    })
}

/// Ends a session that nobody used in time.
pub(crate) fn expire(work: &mut Work<'_>, session: &Session) -> Result<(), Fault> {
    end(work, session, EndReason::Expired, Ending::ByServer("The session expired without a report."), None)
}

/// Open sessions that nobody used in time.
pub(crate) fn expired(work: &mut Work<'_>) -> Result<Vec<Session>, Fault> {
    let mut sessions = work.open_sessions()?;
    sessions.retain(|session| !is_alive(session, work.now()));
    Ok(sessions)
}

/// Ends a session that was found to have expired, if that is still so.
pub(crate) fn tidy(work: &mut Work<'_>, found: &Session) -> Result<(), Fault> {
    work.lock_project(&found.project_id)?;
    let open = work.open_session(&found.agent_id, &found.project_id)?;
    match open.filter(|open| open.id == found.id && !is_alive(open, work.now())) {
        Some(expired) => expire(work, &expired),
        None => Ok(()),
    }
}
