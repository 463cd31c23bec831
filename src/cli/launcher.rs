//! The npm package's launcher, which runs alongside the binary.

use std::os::unix::process::parent_id;
use std::time::Duration;

use rustix::process::{Signal, getpid, kill_process};

/// The launcher's process id, which it sets itself.
const LAUNCHER_PID: &str = "N8N_LENS_LAUNCHER_PID";

/// How long this process may outlive its launcher.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Ends this process, as SIGTERM does, when the launcher that started it is killed. A launcher that can still act
/// passes its signals on; one that is killed cannot, and a server over HTTP would keep its port.
pub(super) fn end_with_launcher() {
    let launcher: Option<u32> = std::env::var(LAUNCHER_PID).ok().and_then(|id| id.parse().ok());
    // Child processes inherit the variable, but the launcher is not their parent.
    let Some(launcher) = launcher.filter(|id| *id == parent_id()) else { return };
    std::thread::spawn(move || {
        while parent_id() == launcher {
            std::thread::sleep(CHECK_INTERVAL);
        }
        // It fails only if this process may not signal itself.
        let _ = kill_process(getpid(), Signal::TERM);
    });
}
