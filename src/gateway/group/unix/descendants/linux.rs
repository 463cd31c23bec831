//! Finds descendants in `/proc`.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, getpid, kill_process, pidfd_open, pidfd_send_signal, waitpid,
};

use super::MARK;

/// How often processes are searched again because they may have started others before they ended, and the pause
/// between two searches.
const SEARCHES: usize = 20;
const SEARCH_INTERVAL: Duration = Duration::from_millis(5);

/// A process.
struct Process {
    id: Pid,
    parent: i32,
    is_zombie: bool,
    /// When it started, in clock ticks since the system did. Distinguishes it from a later process with the same id.
    started: u64,
}

/// Makes this process the parent of every process below it whose own parent exits. Returns the children that it already
/// has: those of the program that ran in this process before.
///
/// # Errors
/// The system does not support it.
pub(in crate::gateway) fn adopt_orphans() -> std::io::Result<BTreeSet<i32>> {
    rustix::process::set_child_subreaper(Some(getpid()))?;
    let this = raw(getpid());
    Ok(processes().filter(|process| process.parent == this).map(|process| raw(process.id)).collect())
}

/// Ends the processes below this one that have this mark, and those below them.
pub(in crate::gateway) fn end_marked(mark: &str) {
    let variable = format!("{MARK}={mark}");
    end(|process| process.environment().split(|byte| *byte == 0).any(|its| its == variable.as_bytes()));
}

/// Ends all processes below this one, except the children in `spared` and those below them.
pub(in crate::gateway) fn end_all(spared: &BTreeSet<i32>) {
    let this = raw(getpid());
    end(|process| process.parent == this && !spared.contains(&raw(process.id)));
}

/// The children that have exited and are not reaped yet.
pub(in crate::gateway) fn exited_children() -> Vec<i32> {
    let this = raw(getpid());
    let exited = processes().filter(|process| process.parent == this && process.is_zombie);
    exited.map(|process| raw(process.id)).collect()
}

/// Reaps a child that has exited.
pub(in crate::gateway) fn reap(child: i32) {
    let _ = waitpid(Pid::from_raw(child), WaitOptions::NOHANG);
}

/// Ends the processes below this one for which `is_wanted` holds, and those below them.
fn end(is_wanted: impl Fn(&Process) -> bool) {
    for _ in 0..SEARCHES {
        let found = below_this(&is_wanted);
        if found.is_empty() {
            return;
        }
        found.iter().for_each(Process::kill);
        std::thread::sleep(SEARCH_INTERVAL);
    }
}

/// The processes below this one for which `is_wanted` holds, and those below them; no zombies.
fn below_this(is_wanted: impl Fn(&Process) -> bool) -> Vec<Process> {
    let mut children: BTreeMap<i32, Vec<Process>> = BTreeMap::new();
    for process in processes() {
        children.entry(process.parent).or_default().push(process);
    }
    let (mut found, mut parents) = (Vec::new(), vec![(raw(getpid()), false)]);
    while let Some((parent, is_found)) = parents.pop() {
        for process in children.remove(&parent).unwrap_or_default() {
            let is_found = is_found || is_wanted(&process);
            parents.push((raw(process.id), is_found));
            if is_found && !process.is_zombie {
                found.push(process);
            }
        }
    }
    found
}

fn raw(id: Pid) -> i32 {
    id.as_raw_nonzero().get()
}

/// All processes of the system.
fn processes() -> impl Iterator<Item = Process> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
    entries.filter_map(|entry| Process::read(Pid::from_raw(entry.file_name().to_str()?.parse().ok()?)?))
}

impl Process {
    /// `None` if it has ended.
    fn read(id: Pid) -> Option<Self> {
        let stat = std::fs::read(format!("/proc/{}/stat", raw(id))).ok()?;
        // Its name comes second, in parentheses, and may contain anything (proc(5)).
        let after_name = stat.iter().rposition(|byte| *byte == b')')? + 1;
        let mut fields = std::str::from_utf8(&stat[after_name..]).ok()?.split_ascii_whitespace();
        let is_zombie = matches!(fields.next()?, "Z" | "X");
        Some(Self { id, parent: fields.next()?.parse().ok()?, is_zombie, started: fields.nth(17)?.parse().ok()? })
    }

    fn environment(&self) -> Vec<u8> {
        std::fs::read(format!("/proc/{}/environ", raw(self.id))).unwrap_or_default()
    }

    /// Kills it, unless its id now belongs to another process.
    fn kill(&self) {
        // Opened first: the handle cannot refer to another process between the comparison and the signal.
        let handle = pidfd_open(self.id, PidfdFlags::empty());
        if Self::read(self.id).is_none_or(|now| now.started != self.started) {
            return;
        }
        let _ = match handle {
            Ok(handle) => pidfd_send_signal(handle, Signal::KILL),
            // Linux before 5.3 has no such handles, and neither do some sandboxes.
            Err(_) => kill_process(self.id, Signal::KILL),
        };
    }
}
