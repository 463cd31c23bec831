//! Formats sizes for people.

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
