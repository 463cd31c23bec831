//! The gateway: the real binary over real HTTP, in front of real child processes. The child is this very
//! binary, started with `child` (see [`child`]), which is why it has a main of its own.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    unreachable_pub,
    missing_docs,
    reason = "a test fails by a panic, and nothing here is reachable"
)]

/// Who may ask.
mod access;
/// What tools answer, and how calls fail.
mod calls;
/// An MCP server that does what it is told, also what it must not.
mod child;
/// The running gateway.
mod gateway;
#[path = "../it/http_client.rs"]
#[allow(dead_code, reason = "the gateway has no MCP face")]
mod http_client;
#[path = "../it/mcp_client.rs"]
#[allow(dead_code, reason = "only its key is needed here")]
mod mcp_client;
/// The configuration changes under load.
mod reload;
/// What requests may be.
mod rules;
/// Children die, hang, and leave others behind.
mod supervision;

use libtest_mimic::{Arguments, Trial};

/// One trial for each of the named functions.
macro_rules! trials {
    ($($module:ident: $($name:ident),+ $(,)?;)+) => {
        vec![$($(Trial::test(concat!(stringify!($module), "::", stringify!($name)), || {
            $module::$name();
            Ok(())
        })),+),+]
    };
}

fn main() {
    let arguments: Vec<_> = std::env::args().collect();
    if arguments.get(1).is_some_and(|first| first == "child") {
        std::process::exit(child::main(&arguments[2..]));
    }
    let trials = trials! {
        rules: names_have_edges, inputs_have_edges, bodies_have_edges, schemas_are_checked, validation_can_be_switched_off;
    };
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}
