//! Where a request may be sent on to.

use reqwest::redirect::Policy;

/// Redirects to follow, at most.
const MOST: usize = 5;

/// Follows redirects only where secrets may go: reqwest takes `Authorization` and `Cookie` off a request to
/// another host, and no other header.
pub(crate) fn same_origin() -> Policy {
    Policy::custom(|attempt| {
        let first = attempt.previous().first().map(reqwest::Url::origin);
        if first.as_ref() != Some(&attempt.url().origin()) {
            attempt.stop()
        } else if attempt.previous().len() > MOST {
            attempt.error("too many redirects")
        } else {
            attempt.follow()
        }
    })
}
