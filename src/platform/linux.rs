//! Linux, beyond what all Unix systems share.

use std::fs::{File, read_to_string};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{major, minor};

/// The magic numbers from statfs(2) of NFS, SMB, CIFS, SMB2, 9P, AFS, Ceph and Lustre.
const NETWORK: [i64; 8] =
    [0x6969, 0x517B, 0xFF53_4D42, 0xFE53_4D42, 0x0102_1997, 0x5346_414F, 0x00C3_6400, 0x0BD0_0BD0];

/// A folder of the user for a file that a browser is to open. A browser in a sandbox (snap, Flatpak) sees neither the
/// system's folder for temporary files nor hidden folders, but the user's downloads.
pub(crate) fn browser_folder() -> PathBuf {
    let is_there = |folder: &PathBuf| folder.is_dir();
    let downloads = dirs::download_dir().filter(is_there);
    downloads.or_else(|| dirs::home_dir().filter(is_there)).unwrap_or_else(std::env::temp_dir)
}

/// Whether a file is known to be on a network file system.
pub(crate) fn is_on_network_file_system(file: &Path) -> bool {
    #[allow(clippy::unnecessary_cast, reason = "the type of the field depends on the platform")]
    rustix::fs::statfs(file).is_ok_and(|system| NETWORK.contains(&(system.f_type as i64)))
}

/// The process that holds the lock of a file, and its program: `process 4242 (flock)`. `None` if the system does not show
/// it, as for processes of other containers.
pub(crate) fn lock_holder(file: &File) -> Option<String> {
    let metadata = file.metadata().ok()?;
    let (device, inode) = (metadata.dev(), metadata.ino());
    let wanted = format!("{:02x}:{:02x}:{inode}", major(device), minor(device));
    let locks = read_to_string("/proc/locks").ok()?;
    // `1: FLOCK  ADVISORY  WRITE 4242 08:01:131 0 EOF`; waiting ones have `->` before their kind (proc_locks(5)).
    let pid = locks.lines().find_map(|line| match line.split_whitespace().collect::<Vec<_>>()[..] {
        [_, "FLOCK", _, _, pid, place, ..] if place == wanted => pid.parse::<u32>().ok().filter(|pid| *pid > 0),
        _ => None,
    })?;
    let program = read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    let program: String = program.chars().filter(char::is_ascii_graphic).collect();
    Some(if program.is_empty() { format!("process {pid}") } else { format!("process {pid} ({program})") })
}
