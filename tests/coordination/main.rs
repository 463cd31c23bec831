//! Agent coordination: the coordinator in this process, the real binary over pipes and HTTP, and killed processes and
//! databases. Everything runs on SQLite and, if it is installed, on PostgreSQL.
//!
//! `cargo test --test coordination` runs the short forms, `-- --ignored slow::` the further ones that CI runs, and
//! `cargo test --release --test coordination -- --ignored` also the long ones, which print figures.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    unreachable_pub,
    missing_docs,
    reason = "a test fails by a panic, and nothing here is reachable"
)]

/// Prints a figure of a long form. Short forms print nothing.
macro_rules! print_figure {
    ($($argument:tt)*) => {
        if crate::is_long() {
            println!($($argument)*);
        }
    };
}

mod access;
mod administration;
mod budgets;
mod contract;
mod crashes;
mod floods;
mod hostile;
mod instance;
mod load;
mod migrations;
mod model;
mod protocol;
mod races;
mod replaced;
mod replies;
mod secrets;
#[path = "../support/mod.rs"]
mod support;
mod walk_through;

use std::sync::{Mutex, PoisonError};

use support::coordination::database::{self, Kind};
use support::coordination::harness;
use support::{http_client, mcp_client, random, wait};

/// Runs a test on each kind of database that is installed.
///
/// One test at a time: each is concurrent already, and some kill the server that others would use.
fn on_each_database(test: impl Fn(Kind)) {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    for kind in Kind::installed() {
        println!("on {kind:?}");
        test(kind);
    }
}

/// Whether the long forms run.
fn is_long() -> bool {
    std::env::args().any(|argument| ["--ignored", "--include-ignored"].contains(&argument.as_str()))
}
