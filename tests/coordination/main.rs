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

/// Prints a figure of a long form. The short forms say nothing.
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
mod instance;
mod load;
mod migrations;
mod model;
mod protocol;
mod races;
mod replies;
mod secrets;
#[path = "../support/mod.rs"]
mod support;
mod walk_through;

use contract::handoffs;
use libtest_mimic::{Arguments, Trial};
use support::coordination::database::{self, Kind};
use support::coordination::harness;
use support::{http_client, mcp_client, wait};

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

/// Whether the long forms run.
fn is_long() -> bool {
    std::env::args().any(|argument| ["--ignored", "--include-ignored"].contains(&argument.as_str()))
}

fn main() {
    let arguments: Vec<_> = std::env::args().collect();
    if arguments.get(1).is_some_and(|first| first == "worker") {
        return load::worker(&arguments[2..]);
    }
    let mut kinds = vec![Kind::Sqlite];
    // Processes are killed here and the machine is not, so nothing needs to be flushed to its disk.
    if database::start_postgres(&["fsync=off"]) {
        kinds.push(Kind::Postgres);
    } else {
        eprintln!("=== PostgreSQL IS NOT INSTALLED: ITS TESTS ARE SKIPPED ===");
    }
    let short = trials! {
        kinds;
        walk_through: the_original_flow;
        contract: a_runner_sees_what_is_active, who_should_start, nothing_is_told_without_a_passkey,
            a_session_slides_to_its_cap, a_session_lives_as_long_as_it_is_told, an_expired_token_is_worth_nothing,
            one_task_and_one_execution, the_most_urgent_first, a_report_ends_it_all,
            a_report_that_cannot_be_changes_nothing, a_logout_leaves_the_task, a_report_is_answered_again,
            an_instance_that_got_no_answer_asks_again, it_may_ask_again_until_its_first_task,
            execution_logs_are_camel_case, agents_and_projects, tasks_are_listed_and_found, every_move_of_a_task,
            a_task_is_for_a_member;
        handoffs: context_is_carried_forward, a_handoff_to_somebody_moves_the_task,
            a_handoff_to_nobody_moves_it_when_accepted, whose_handoffs_are_pending, deprecated_tools_still_work;
        administration: passkeys_rotate, who_runs_stays_in_the_project, import_is_all_or_nothing, the_command_line,
            a_backup_is_private_and_whole, a_doctor_finds_what_is_wrong;
        protocol: the_tools_that_are_listed, other_languages_and_other_tools, resources_are_what_tools_answer,
            resources_are_listed_page_by_page, prompts_hold_the_task, the_status_error_of_an_execution_is_no_failure;
        model: histories_agree_with_the_model;
        races: one_of_many_wins, an_agent_runs_in_a_hundred_projects, one_of_many_accepts,
            checking_before_inserting_has_many_winners, one_of_sixteen_processes_wins, one_of_three_replicas_wins;
        crashes: kills_lose_nothing, a_server_that_is_killed_loses_nothing, health_tells_when_the_server_is_away,
            a_dead_instance_can_be_started_again, a_sleeper_changes_nothing;
        replies: lost_answers_are_given_again, calls_that_are_cut_off_leave_nothing_open;
        budgets: lists_fit_a_model, texts_are_bounded;
        load: every_process_gets_its_share;
        secrets: secrets_are_nowhere, nobody_takes_as_long_as_somebody;
        migrations: many_processes_may_come_first, databases_of_older_releases_are_brought_up_to_date,
            a_newer_database_is_left_alone, the_database_of_another_program_is_left_alone,
            what_is_no_database_is_left_alone;
        access: each_scope_has_its_tools, an_agent_is_nobody_else;
    };
    let long = trials! {
        kinds;
        races: one_of_many_wins_a_thousand_times, one_of_sixteen_processes_wins_for_a_minute,
            one_of_three_replicas_wins_for_a_minute;
        model: ten_thousand_histories;
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
