//! Suggestions for a name that does not exist.

use crate::json::{CUT_NAME_CHARS, quoted_name};

/// At most this many names are listed.
const NAMES: usize = 20;

/// Characters of a name that are compared.
const COMPARED_CHARS: usize = 64;

/// Names are near from this similarity on: half of their characters agree.
const NEAR: f64 = 0.5;

/// `Did you mean 'Y'? Nodes: 'A', 'B', …`, the nearest name first; the question is left out if no name is near, and
/// `There are no nodes` if `names` is empty.
///
/// ```
/// use n8n_lens::toolkit::nearest;
///
/// let names = ["Merge".to_owned(), "HTTP Request".to_owned()];
/// assert_eq!(nearest("Nodes", "http request", &names), "Did you mean 'HTTP Request'? Nodes: 'HTTP Request', 'Merge'");
/// assert_eq!(nearest("Nodes", "Letter", &names), "Nodes: 'Merge', 'HTTP Request'");
/// ```
pub fn nearest(what: &str, wanted: &str, names: &[String]) -> String {
    let compared = |name: &str| name.chars().take(COMPARED_CHARS).collect::<String>().to_lowercase();
    let wanted = compared(wanted);
    let mut names: Vec<_> = names.iter().map(|name| (similarity(&wanted, &compared(name)), name)).collect();
    names.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    let quoted: Vec<_> = names.iter().take(NAMES).map(|(_, name)| quoted_name(name, CUT_NAME_CHARS)).collect();
    let (Some(first), Some((similarity, _))) = (quoted.first(), names.first()) else {
        return format!("There are no {}", what.to_lowercase());
    };
    let question = if *similarity >= NEAR { format!("Did you mean {first}? ") } else { String::new() };
    let more = if names.len() > NAMES { ", …" } else { "" };
    format!("{question}{what}: {}{more}", quoted.join(", "))
}

/// From 0 to 1; a name that is part of the other is near.
fn similarity(one: &str, other: &str) -> f64 {
    let edits = strsim::normalized_damerau_levenshtein(one, other);
    let is_part = !one.is_empty() && !other.is_empty() && (one.contains(other) || other.contains(one));
    if is_part { edits.max(NEAR) } else { edits }
}
