//! The gateway: the real binary over real HTTP, with real child processes. The child is this test binary itself,
//! started with `child` (see [`mcp_child`]), which is why it has its own `main`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    unreachable_pub,
    missing_docs,
    reason = "a test fails by a panic, and nothing here is reachable"
)]

/// Access control.
mod access;
/// Results and errors of calls.
mod calls;
/// Processes that leave the group and the tree of their server.
mod daemons;
/// A running gateway.
mod gateway;
/// Changes of the configuration.
mod reload;
/// Remote servers that misbehave.
mod remote_faults;
/// Validation of requests.
mod rules;
/// Secrets do not leak.
mod secrets;
/// Children that die, hang, or leave processes.
mod supervision;
#[path = "../support/mod.rs"]
mod support;
/// Real third-party servers.
mod third_party;

use libtest_mimic::{Arguments, Trial};
use support::{http_client, mcp_child, random, server, tools, wait};

/// A trial for each of the named functions.
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
        std::process::exit(mcp_child::main(&arguments[2..]));
    }
    let mut trials = trials! {
        rules: names_have_limits, inputs_have_limits, bodies_have_limits, schemas_are_checked, validation_can_be_switched_off;
        calls: results_are_passed_on_unchanged, the_readme_example_runs, errors_have_their_codes, malformed_answers_are_internal_errors,
            answers_of_64_mib_pass, noise_on_stdout_is_ignored, calls_time_out_and_are_cancelled, a_client_that_disconnects_cancels_its_calls,
            a_hundred_calls_at_once, at_most_64_calls_run_at_once, tools_are_listed, changed_tools_are_listed_again,
            a_stateless_server_is_supported, a_remote_server_is_called, the_n8n_server_is_built_in, the_agents_server_is_built_in, openapi_and_metrics_describe_every_tool;
        supervision: a_killed_child_is_back_within_a_second, other_servers_lose_no_call, a_hundred_kills_leave_nothing,
            a_server_that_fails_at_startup_is_restarted, each_exit_logs_the_end_of_standard_error, a_server_that_hangs_blocks_no_other, grandchildren_end_with_their_parent,
            a_stop_is_orderly, a_killed_gateway_leaves_no_process, a_child_that_reads_nothing_survives, a_flood_of_requests_takes_little_memory, large_answers_leave_no_memory_behind, answers_that_are_never_read_are_given_up, a_failing_remote_server_blocks_no_other;
        daemons: daemons_end_with_their_server, daemons_end_with_the_gateway, daemons_that_exit_leave_no_zombie,
            processes_from_before_the_gateway_are_not_ended, half_a_head_does_not_hold_up_a_stop;
        reload: servers_lose_no_call_when_others_change, a_broken_file_changes_nothing, a_file_that_replaces_the_old_one_is_used, calls_under_way_finish;
        remote_faults: every_fault_is_the_right_error_in_time, floods_stay_with_their_call,
            a_flood_of_tools_takes_little_memory, an_answer_cut_at_any_byte_is_an_error, an_answer_reaches_only_the_call_that_it_answers,
            an_expired_session_is_renewed, a_server_recovers_from_every_fault_at_its_start;
        secrets: the_configuration_is_in_no_response_and_no_log, the_address_of_an_unreachable_server_is_not_logged,
            a_request_that_a_server_echoes_is_not_logged, headers_are_not_sent_to_another_host,
            secrets_that_a_child_prints_are_not_logged, a_server_inherits_what_a_program_needs_and_nothing_else;
        access: hosts_and_origins_are_checked, a_token_is_required, without_a_token_only_loopback_is_allowed, bad_configurations_are_usage_errors,
            a_value_of_the_wrong_type_names_its_field;
    };
    let long = trials! {
        calls: answers_of_64_mib_of_every_kind_pass, a_remote_server_that_comes_back_is_called_again;
        supervision: a_call_cut_by_sigterm_reports_the_shutdown, a_call_cut_by_a_reload_reports_the_change, a_thousand_kills_leave_nothing, restarts_of_a_server_that_always_fails_pause, a_handshake_that_hangs_times_out;
        reload: servers_lose_no_call_in_a_hundred_edits;
        third_party: real_servers_are_listed_and_called;
    };
    trials.extend(long.into_iter().map(|trial| trial.with_ignored_flag(true)));
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}
