//! What an error was caused by.

use std::error::Error;

/// The innermost cause, which is the most specific one: the error itself if nothing caused it.
pub(crate) fn innermost<'a>(error: &'a (dyn Error + 'static)) -> &'a (dyn Error + 'static) {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost
}
