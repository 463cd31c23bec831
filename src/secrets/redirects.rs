//! Where a request with secrets may be redirected to.

use reqwest::redirect::Policy;

/// At most this many redirects are followed.
const MAX_REDIRECTS: usize = 5;

/// Follows redirects to the same origin only: reqwest removes `Authorization` and `Cookie` from a request to another
/// host, but no other header.
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
