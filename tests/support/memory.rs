//! The memory of a process, as Linux reports it (proc(5)).

/// Resident now, bytes.
pub fn resident(pid: u32) -> u64 {
    bytes(pid, "VmRSS:")
}

/// Anonymous memory now, bytes: without the program's pages, of which there are more if it is not optimized.
pub fn anonymous(pid: u32) -> u64 {
    bytes(pid, "RssAnon:")
}

/// The peak resident memory without the program's pages that are resident now, bytes.
pub fn peak_without_program(pid: u32) -> u64 {
    peak(pid) - bytes(pid, "RssFile:")
}

/// The peak resident memory, bytes.
pub fn peak(pid: u32) -> u64 {
    bytes(pid, "VmHWM:")
}

/// The same, for a process that may have ended.
pub fn peak_while_running(pid: u32) -> Option<u64> {
    read(pid, "VmHWM:")
}

fn bytes(pid: u32, field: &str) -> u64 {
    read(pid, field).unwrap()
}

fn read(pid: u32, field: &str) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    Some(line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024)
}
