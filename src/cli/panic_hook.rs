//! Reports panics, which are bugs in n8n-lens.

use std::any::Any;
use std::io::Write;
use std::panic::PanicHookInfo;

/// Reports panics in one line: the location, and the message if it cannot contain data.
pub(super) fn install() {
    std::panic::set_hook(Box::new(|panic: &PanicHookInfo<'_>| {
        let location =
            panic.location().map(|location| format!(" at {}:{}", location.file(), location.line())).unwrap_or_default();
        let message = message(panic.payload());
        let _ = writeln!(std::io::stderr(), "n8n-lens: a bug in n8n-lens{location}: {message}. Please report it.");
    }));
}

/// A formatted message may quote data, as slicing a string inside a character does.
fn message(payload: &(dyn Any + Send)) -> &'static str {
    payload.downcast_ref::<&'static str>().copied().unwrap_or("its message may hold data")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_quotes_no_data() {
        let secret = "süß".to_owned();
        let panic = std::panic::catch_unwind(|| secret[..2].len()).unwrap_err();
        assert_eq!(message(&*panic), "its message may hold data");
        let panic = std::panic::catch_unwind(|| panic!("a fixed text")).unwrap_err();
        assert_eq!(message(&*panic), "a fixed text");
    }
}
