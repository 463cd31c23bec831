//! Suggestions for a name that does not exist.

use crate::json::{CUT_NAME_CHARS, shorten_name};

/// At most this many names are listed.
const NAMES: usize = 20;

/// Characters of a name that are compared.
const COMPARED_CHARS: usize = 64;

/// `Did you mean 'Y'? Nodes: 'A', 'B', …`, the nearest name first; `There are no nodes.` if `names` is empty.
///
/// ```
/// use n8n_lens::toolkit::nearest;
///
/// let names = ["Merge".to_owned(), "HTTP Request".to_owned()];
/// assert_eq!(nearest("Nodes", "http request", &names), "Did you mean 'HTTP Request'? Nodes: 'HTTP Request', 'Merge'");
/// ```
pub fn nearest(what: &str, wanted: &str, names: &[String]) -> String {
    let compared = |name: &str| name.chars().take(COMPARED_CHARS).collect::<String>().to_lowercase();
    let wanted = compared(wanted);
    let mut names: Vec<_> =
        names.iter().map(|name| (strsim::normalized_damerau_levenshtein(&wanted, &compared(name)), name)).collect();
    names.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    let quoted: Vec<_> =
        names.iter().take(NAMES).map(|(_, name)| format!("'{}'", shorten_name(name, CUT_NAME_CHARS))).collect();
    let Some(first) = quoted.first() else {
        return format!("There are no {}.", what.to_lowercase());
    };
    let more = if names.len() > NAMES { ", …" } else { "" };
    format!("Did you mean {first}? {what}: {}{more}", quoted.join(", "))
}
