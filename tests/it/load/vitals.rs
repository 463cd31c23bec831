//! The resources of a process.

use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use super::{SETTLE, Transport};
use crate::server::Server;

/// The resources of a process.
#[derive(Debug)]
pub struct Vitals {
    /// kB.
    pub resident: u64,
    threads: usize,
    descriptors: usize,
    sockets: usize,
}

impl Vitals {
    pub fn of(pid: u32) -> Self {
        let process = PathBuf::from(format!("/proc/{pid}"));
        let status = std::fs::read_to_string(process.join("status")).unwrap();
        let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        let open = std::fs::read_dir(process.join("fd")).unwrap();
        let open: Vec<_> = open.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok()).collect();
        Self {
            resident: resident.trim().trim_end_matches(" kB").parse().unwrap(),
            threads: std::fs::read_dir(process.join("task")).unwrap().count(),
            sockets: open.iter().filter(|target| target.to_string_lossy().starts_with("socket:")).count(),
            descriptors: open.len(),
        }
    }

    /// Whether no more resources are in use.
    fn is_as_quiet_as(&self, other: &Self) -> bool {
        self.threads <= other.threads && self.descriptors <= other.descriptors && self.sockets <= other.sockets
    }
}

/// Waits until the resources of a round are released.
pub fn settle(transport: &impl Transport, server: &Server, fresh: &Vitals) -> Vitals {
    let begun = Instant::now();
    loop {
        let now = Vitals::of(transport.pid());
        if server.open() == 0 && now.is_as_quiet_as(fresh) {
            return now;
        }
        let replies = server.open();
        assert!(begun.elapsed() < SETTLE, "left behind: {now:?}, at first {fresh:?}; {replies} replies are open");
        thread::sleep(Duration::from_millis(50));
    }
}
