//! Agent coordination: the rules by themselves, the real binary over pipes and HTTP, and what happens when
//! processes and databases die. Everything runs on SQLite and, where it is there, on PostgreSQL.
//!
//! `cargo test --test coordination` is the short form, `cargo test --release --test coordination -- --ignored`
//! the long one, which prints its figures.
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

mod access;
mod crashes;
mod database;
#[path = "../it/http_client.rs"]
#[allow(dead_code, reason = "not all of it is needed here")]
mod http_client;
mod instance;
mod load;
#[path = "../it/mcp_client.rs"]
#[allow(dead_code, reason = "only what the HTTP client needs")]
mod mcp_client;
mod migrations;
mod office;
mod races;
mod replies;
mod secrets;
mod walk_through;

use database::Kind;
use libtest_mimic::{Arguments, Trial};

/// A trial for each of the named functions, on each kind of database.
macro_rules! trials {
    ($kinds:expr; $($module:ident: $($name:ident),+ $(,)?;)+) => {{
        let mut trials = Vec::new();
        $($(for kind in $kinds.clone() {
            let name = format!("{}::{} on {kind:?}", stringify!($module), stringify!($name));
            trials.push(Trial::test(name, move || {
                $module::$name(kind);
                Ok(())
            }));
        })+)+
        trials
    }};
}

fn main() {
    let arguments: Vec<_> = std::env::args().collect();
    if arguments.get(1).is_some_and(|first| first == "worker") {
        return load::worker(&arguments[2..]);
    }
    let mut kinds = vec![Kind::Sqlite];
    if database::start_postgres() {
        kinds.push(Kind::Postgres);
    } else {
        eprintln!("=== PostgreSQL IS NOT INSTALLED: ITS TESTS ARE SKIPPED ===");
    }
    let short = trials! {
        kinds;
        walk_through: the_original_flow;
        races: one_of_many_wins, an_agent_runs_in_a_hundred_projects, one_of_many_accepts,
            checking_before_inserting_has_many_winners, one_of_sixteen_processes_wins, one_of_three_replicas_wins;
        crashes: a_hundred_kills_lose_nothing, a_server_that_is_killed_loses_nothing,
            a_dead_instance_can_be_started_again, a_sleeper_changes_nothing;
        replies: lost_answers_are_given_again, calls_that_are_cut_off_leave_nothing_open;
        load: every_process_gets_its_share;
        secrets: secrets_are_nowhere, nobody_takes_as_long_as_somebody;
        migrations: many_processes_may_come_first, databases_of_older_releases_are_brought_up_to_date,
            a_newer_database_is_left_alone, what_is_no_database_is_left_alone;
        access: each_scope_has_its_tools, an_agent_is_nobody_else;
    };
    let long = trials! {
        kinds;
        races: one_of_many_wins_a_thousand_times, one_of_sixteen_processes_wins_for_a_minute,
            one_of_three_replicas_wins_for_a_minute;
        crashes: a_thousand_kills_lose_nothing;
        replies: a_thousand_lost_answers_are_given_again, ten_thousand_calls_that_are_cut_off_leave_nothing_open;
        load: each_of_32_processes_gets_its_share_for_a_minute;
        secrets: nobody_takes_as_long_as_somebody_200_times;
    };
    let long = long.into_iter().map(|trial| trial.with_ignored_flag(true));
    let mut arguments = Arguments::from_args();
    // Each test is many at once already, and some kill what others would use.
    arguments.test_threads = Some(1);
    let conclusion = libtest_mimic::run(&arguments, short.into_iter().chain(long).collect());
    database::stop_postgres();
    conclusion.exit();
}
