//! The reaper: a small process of n8n-lens that knows the process group of every child, and ends the remaining groups when
//! its pipe to the gateway closes.
//!
//! The children then also see the end of their standard input, but that does not end one that hangs, nor the
//! processes it started.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::{self, BufRead};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

/// The first argument that makes n8n-lens run as the reaper.
pub(super) const ARGUMENT: &str = "gateway-reaper";

/// How long children have to exit by themselves once the gateway is gone, and again after TERM.
const EXIT_GRACE: Duration = Duration::from_millis(400);

/// Runs as the reaper if the first argument says so; returns whether it did.
///
/// It reads `+GROUP` and `-GROUP` lines until standard input closes, then ends the remaining groups.
pub fn run_as_reaper(first_argument: Option<&OsStr>) -> bool {
    if first_argument.is_none_or(|argument| argument != ARGUMENT) {
        return false;
    }
    let mut groups = BTreeSet::new();
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        match (line.get(..1), line.get(1..).and_then(|group| group.parse::<i32>().ok())) {
            (Some("+"), Some(group)) => drop(groups.insert(group)),
            (Some("-"), Some(group)) => drop(groups.remove(&group)),
            _ => {}
        }
    }
    end(&groups);
    true
}

fn end(groups: &BTreeSet<i32>) {
    let mut left: Vec<_> = groups.iter().filter_map(|group| Pid::from_raw(*group)).collect();
    for signal in [Signal::TERM, Signal::KILL] {
        left.retain(|group| test_kill_process_group(*group).is_ok());
        if left.is_empty() {
            return;
        }
        std::thread::sleep(EXIT_GRACE);
        for group in &left {
            let _ = kill_process_group(*group, signal);
        }
    }
}
