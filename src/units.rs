//! Formats counts, sizes and times for people.

/// A count and what is counted: `1 run`, `3 runs`.
///
/// ```
/// use n8n_lens::units::counted;
///
/// assert_eq!(counted(1, "more node differs", "more nodes differ"), "1 more node differs");
/// assert_eq!(counted(0, "run", "runs"), "0 runs");
/// ```
pub fn counted(count: impl TryInto<u64>, one: &str, many: &str) -> String {
    // Only a count beyond u64 fails, and there is none.
    let count = count.try_into().unwrap_or(u64::MAX);
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Bytes as `105 MB` (10^6 bytes), with one decimal below ten.
///
/// ```
/// use n8n_lens::units::megabytes;
///
/// assert_eq!(megabytes(105_300_000), "105 MB");
/// assert_eq!(megabytes(2_560_000), "2.6 MB");
/// ```
pub fn megabytes(bytes: u64) -> String {
    let megabytes = bytes as f64 / 1e6;
    if megabytes < 10.0 { format!("{megabytes:.1} MB") } else { format!("{megabytes:.0} MB") }
}

/// Seconds as `40 s`, `12 min`, `24 h` or `7 d`: whole numbers of the largest unit that fits at least twice.
///
/// ```
/// use n8n_lens::units::lasting;
///
/// assert_eq!(lasting(90), "90 s");
/// assert_eq!(lasting(86_400), "24 h");
/// ```
pub fn lasting(seconds: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("d", 86_400), ("h", 3600), ("min", 60)];
    match UNITS.iter().find(|(_, length)| seconds >= 2 * length) {
        Some((name, length)) => format!("{} {name}", seconds / length),
        None => format!("{seconds} s"),
    }
}

/// Milliseconds since 1970 as n8n writes a date: ISO 8601, UTC. `None` for a time that is not a date.
///
/// ```
/// assert_eq!(n8n_lens::units::iso(0.0).as_deref(), Some("1970-01-01T00:00:00.000Z"));
/// assert_eq!(n8n_lens::units::iso(f64::NAN), None);
/// ```
pub fn iso(ms: f64) -> Option<String> {
    let time = jiff::Timestamp::from_millisecond(ms as i64).ok().filter(|_| ms.is_finite())?;
    Some(time.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string())
}
