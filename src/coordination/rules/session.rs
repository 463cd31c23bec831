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

/// Whether anybody came back with its token.
pub(crate) fn was_used(session: &Session) -> bool {
    session.last_seen_at > session.created_at
}

/// The session of a token, if it can still be used; it lives on from now.
pub(crate) fn alive(work: &mut Work<'_>, token: &str, terms: &Terms) -> Result<Option<Session>, Fault> {
    let now = work.now();
    let Some(mut session) = work.session_of(&hash(token))?.filter(|session| is_alive(session, now)) else {
        return Ok(None);
    };
    // One that was used is seen after its beginning, however coarse the clock.
    session.last_seen_at = now.max(Time(session.created_at.0 + 1));
    session.expires_at = now.after(terms.session_ttl).min(session.max_expires_at);
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

/// Ends all sessions that nobody used in time.
pub(crate) fn sweep(work: &mut Work<'_>) -> Result<(), Fault> {
    for session in work.open_sessions()? {
        if is_alive(&session, work.now()) {
            continue;
        }
        // Meanwhile it may have ended, or a new one may have been opened.
        work.lock_project(&session.project_id)?;
        let open = work.open_session(&session.agent_id, &session.project_id)?;
        if let Some(open) = open.filter(|open| open.id == session.id && !is_alive(open, work.now())) {
            expire(work, &open)?;
        }
    }
    Ok(())
}
