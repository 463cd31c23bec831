//! How sizes are written for people.

/// Bytes as `105 MB` (10^6 bytes), with one decimal below ten.
pub fn megabytes(bytes: u64) -> String {
    let megabytes = bytes as f64 / 1e6;
    if megabytes < 10.0 { format!("{megabytes:.1} MB") } else { format!("{megabytes:.0} MB") }
}
