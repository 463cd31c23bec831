//! What is said of a fault of ours.

use std::any::Any;
use std::io::Write;
use std::panic::PanicHookInfo;

/// Has panics told in a line: where, and what, as far as that is no data.
pub(super) fn tell() {
    std::panic::set_hook(Box::new(|fault: &PanicHookInfo<'_>| {
        let place = fault.location().map(|place| format!(" at {}:{}", place.file(), place.line())).unwrap_or_default();
        let words = words(fault.payload());
        let _ = writeln!(std::io::stderr(), "n8n-lens: a fault of its own{place}: {words}. Please report it.");
    }));
}

/// A text that was put together may quote what came: a slice of a string that is cut wrongly does.
fn words(payload: &(dyn Any + Send)) -> &'static str {
    payload.downcast_ref::<&'static str>().copied().unwrap_or("its words may hold data")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_quotes_nothing() {
        let secret = "süß".to_owned();
        let fault = std::panic::catch_unwind(|| secret[..2].len()).unwrap_err();
        assert_eq!(words(&*fault), "its words may hold data");
        let fault = std::panic::catch_unwind(|| panic!("a fixed text")).unwrap_err();
        assert_eq!(words(&*fault), "a fixed text");
    }
}
