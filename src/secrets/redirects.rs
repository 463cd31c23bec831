//! Redirects of requests that carry secrets.

use reqwest::redirect::Policy;

/// The maximum number of redirects followed.
const MAX_REDIRECTS: usize = 5;

/// Follows redirects only to the same origin: reqwest removes `Authorization` and `Cookie` when it follows one to
/// another host, but no other headers.
pub(crate) fn same_origin() -> Policy {
    Policy::custom(|attempt| {
        let first = attempt.previous().first().map(reqwest::Url::origin);
        if first.as_ref() != Some(&attempt.url().origin()) {
            attempt.stop()
        } else if attempt.previous().len() > MAX_REDIRECTS {
            attempt.error("too many redirects")
        } else {
            attempt.follow()
        }
    })
}
