//! The cause of an error.

use std::error::Error;

/// The innermost cause, which is the most specific one: the error itself if nothing caused it.
pub(crate) fn innermost<'a>(error: &'a (dyn Error + 'static)) -> &'a (dyn Error + 'static) {
    let mut innermost = error;
    while let Some(source) = innermost.source().or_else(|| wrapped(innermost)) {
        innermost = source;
    }
    innermost
}

/// What an I/O error wraps, which is not its source.
fn wrapped<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    let wrapped = error.downcast_ref::<std::io::Error>()?.get_ref()?;
    Some(wrapped)
}
