//! The gateway: the real binary over real HTTP, in front of real child processes. The child is this very
//! binary, started with `child` (see [`mcp_child`]), which is why it has a main of its own.
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
/// The running gateway.
mod gateway;
/// Real servers of others.
mod others;
/// The configuration changes under load.
mod reload;
/// What requests may be.
mod rules;
/// Secrets stay with whom they are for.
mod secrets;
/// Children die, hang, and leave others behind.
mod supervision;
#[path = "../support/mod.rs"]
mod support;

use libtest_mimic::{Arguments, Trial};
use support::{http_client, mcp_child, server, tools, wait};

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
        std::process::exit(mcp_child::main(&arguments[2..]));
    }
    let mut trials = trials! {
        rules: names_have_edges, inputs_have_edges, bodies_have_edges, schemas_are_checked, validation_can_be_switched_off;
        calls: results_come_as_they_are, the_example_of_the_readme_runs, errors_have_their_codes, malformed_answers_are_internal_errors,
            answers_of_64_mib_pass, noise_is_passed_over, calls_time_out_and_are_cancelled, a_vanished_client_cancels,
            a_hundred_calls_at_once, no_more_than_64_at_once, tools_are_listed, changed_tools_are_listed_anew,
            the_stateless_era_is_spoken, a_remote_server_is_called, our_own_n8n_is_a_server, the_agents_server_is_built_in, everything_is_described;
        supervision: a_killed_child_is_back_within_a_second, others_lose_no_call, a_hundred_kills_leave_nothing,
            what_fails_at_its_start_is_tried_again, what_hangs_holds_up_nobody, grandchildren_go_with_their_parent,
            a_stop_is_in_good_order, a_gateway_that_is_killed_leaves_nobody, a_child_that_reads_nothing_lives_on, large_answers_leave_no_memory_behind, a_remote_server_that_fails_holds_up_nobody;
        reload: unchanged_servers_lose_no_call, a_broken_file_changes_nothing, a_new_file_takes_the_old_ones_place, calls_under_way_end;
        secrets: the_configuration_is_in_no_answer_and_no_log, an_address_that_does_not_answer_is_not_logged,
            what_a_server_tells_of_a_request_is_not_logged, headers_do_not_follow_to_another_host,
            what_a_child_says_of_its_secrets_is_not_logged, our_own_secrets_are_not_inherited;
        access: hosts_and_origins_are_checked, a_token_is_asked_for, nobody_listens_to_the_network_without_one, bad_configurations_are_usage_errors,
            a_value_of_the_wrong_type_names_its_field;
    };
    let long = trials! {
        calls: answers_of_64_mib_of_every_kind_pass, a_remote_server_that_comes_back_is_called_again;
        supervision: a_call_cut_by_sigterm_reports_the_shutdown, a_call_cut_by_a_reload_reports_the_change, a_thousand_kills_leave_nothing, what_always_fails_rests, a_handshake_that_hangs_is_given_up;
        reload: unchanged_servers_lose_no_call_in_a_hundred_edits;
        others: real_servers_are_listed_and_called;
    };
    trials.extend(long.into_iter().map(|trial| trial.with_ignored_flag(true)));
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}
