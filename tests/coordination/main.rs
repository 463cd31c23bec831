//! Agent coordination: the coordinator in this process, the real binary over pipes and HTTP, and killed processes and
//! databases. Everything runs on SQLite and, if it is installed, on PostgreSQL.
//!
//! `cargo test --test coordination` runs the short forms, with `-- --ignored slow::` those that CI runs, too, and
//! `cargo test --release --test coordination -- --ignored` also the long forms, which print figures.
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

use contract::handoffs;
use libtest_mimic::{Arguments, Trial};
use support::coordination::database::{self, Kind};
use support::coordination::harness;
use support::{http_client, mcp_client, random, wait};

/// A trial for each of the named functions, on each kind of database; their names begin with `$prefix`.
macro_rules! trials {
    ($prefix:literal, $kinds:expr; $($module:ident: $($name:ident),+ $(,)?;)+) => {{
        let mut trials = Vec::new();
        $($(for kind in $kinds.clone() {
            let name = format!("{}{}::{} on {kind:?}", $prefix, stringify!($module), stringify!($name));
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
    // The tests kill processes, not the machine, so nothing needs to be flushed to disk.
    if database::start_postgres(&["fsync=off"]) {
        kinds.push(Kind::Postgres);
    } else {
        eprintln!("=== PostgreSQL IS NOT INSTALLED: ITS TESTS ARE SKIPPED ===");
    }
    let short = trials! {
        "", kinds;
        walk_through: the_flow_of_the_contract;
        contract: a_runner_sees_active_projects_and_agents, only_idle_agents_with_tasks_should_start, nothing_is_revealed_without_a_passkey,
            a_session_is_renewed_up_to_its_maximum, session_lifetimes_are_configurable, an_expired_token_is_rejected_everywhere,
            a_session_has_one_task_and_one_execution, the_most_urgent_task_comes_first, a_report_ends_task_execution_and_session, no_duration_is_negative,
            a_rejected_report_changes_nothing, a_logout_does_not_change_the_task, a_repeated_report_gets_the_same_answer,
            an_instance_can_authenticate_again_after_a_lost_answer, an_instance_can_authenticate_again_until_its_first_task,
            execution_logs_are_camel_case, agents_and_projects_are_listed_and_found, tasks_are_listed_and_found, every_status_transition_is_checked,
            a_task_can_only_be_assigned_to_a_member;
        handoffs: context_is_carried_over, a_handoff_to_an_agent_moves_the_task,
            a_late_report_does_not_hide_the_progress_of_the_new_assignee,
            a_report_is_late_only_after_notes_since_the_task_moved,
            an_open_handoff_moves_the_task_when_accepted, pending_handoffs_are_filtered_by_agent, deprecated_tools_still_work;
        administration: passkeys_rotate, a_running_agent_cannot_be_unassigned, import_is_all_or_nothing, commands_print_json,
            a_backup_is_private_and_whole, the_doctor_finds_problems, the_doctor_reports_damage;
        protocol: tools_are_listed_as_in_the_contract, options_add_tools_and_change_the_language, resources_match_the_answers_of_tools,
            resources_are_listed_page_by_page, prompts_contain_the_task, malformed_messages_get_errors_of_the_protocol,
            an_execution_with_the_status_error_is_not_a_failed_call;
        model: histories_agree_with_the_model;
        races: one_of_many_wins, an_agent_can_run_in_a_hundred_projects, one_of_many_accepts,
            checking_before_inserting_has_many_winners;
        crashes: health_reports_an_unreachable_database, a_dead_instance_can_be_replaced, a_process_that_exited_can_be_replaced_at_once,
            a_killed_process_can_be_replaced_at_once, an_instance_that_wakes_up_late_changes_nothing;
        budgets: lists_fit_the_token_budget, texts_have_limits;
        secrets: secrets_are_not_stored_or_logged, an_unknown_agent_takes_as_long_as_a_known_one;
        migrations: many_processes_can_migrate_at_once, databases_of_older_releases_are_migrated,
            a_newer_database_is_not_touched, the_database_of_another_program_is_left_alone,
            a_file_that_is_not_a_database_is_not_touched;
        replaced: a_deleted_or_replaced_file_is_noticed, health_reports_a_deleted_file,
            what_was_acknowledged_is_in_the_file_that_was_moved, a_link_to_the_database_is_followed,
            damage_is_reported_without_details;
        floods: a_call_counts_until_its_unit_of_work_has_ended;
        access: each_scope_has_its_tools, an_agent_token_acts_for_its_agent_only;
    };
    // Tests that take more than a few seconds run in CI.
    let mut slow = trials! {
        "slow::", kinds;
        races: one_of_sixteen_processes_wins, one_of_three_replicas_wins;
        crashes: kills_lose_nothing, a_killed_database_loses_nothing;
        replies: lost_answers_are_repeated, aborted_calls_leave_nothing_open;
        load: every_process_gets_a_fair_share;
        floods: wrong_passkeys_of_one_agent_do_not_delay_another,
            attempts_for_many_agents_do_not_delay_an_agent_with_a_token, large_lists_of_one_agent_do_not_delay_another;
    };
    slow.push(Trial::test("slow::hostile::servers_that_are_silent_or_flood_are_given_up", || {
        hostile::servers_that_are_silent_or_flood_are_given_up();
        Ok(())
    }));
    let long = trials! {
        "", kinds;
        races: one_of_many_wins_a_thousand_times, one_of_sixteen_processes_wins_for_a_minute,
            one_of_three_replicas_wins_for_a_minute;
        model: ten_thousand_histories;
        crashes: a_thousand_kills_lose_nothing;
        replies: a_thousand_lost_answers_are_repeated, ten_thousand_aborted_calls_leave_nothing_open;
        load: each_of_32_processes_gets_a_fair_share_for_a_minute;
        secrets: an_unknown_agent_takes_as_long_as_a_known_one_200_times;
    };
    let ignored = slow.into_iter().chain(long).map(|trial| trial.with_ignored_flag(true));
    let mut arguments = Arguments::from_args();
    // Each test is concurrent already, and some kill the server that others would use.
    arguments.test_threads = Some(1);
    let conclusion = libtest_mimic::run(&arguments, short.into_iter().chain(ignored).collect());
    database::stop_postgres();
    conclusion.exit();
}
