//! Words with numbers in them, and words that are random.

use super::text::Text;

/// The end of what may be an id: at least eight letters, digits, `_` and `-` of ASCII.
pub(super) fn word(text: Text, at: usize) -> Option<usize> {
    text.count(at, 8..=usize::MAX, |char| char.is_ascii_alphanumeric() || char == '_' || char == '-')
}

/// Appends a [`word`] without what is random: all of it, or some of its parts.
pub(super) fn push_word(word: Text, out: &mut String) {
    let is_number = word.0.iter().all(char::is_ascii_digit);
    let is_whole = !word.0.contains(&'_');
    if is_number || is_whole && is_id(word.0.iter().copied().filter(|char| *char != '-')) {
        out.push('*');
        return;
    }
    for part in word.0.chunk_by(|one, other| one.is_ascii_alphanumeric() == other.is_ascii_alphanumeric()) {
        if part.iter().all(char::is_ascii_alphanumeric) {
            push_part(part, out);
        } else {
            out.extend(part);
        }
    }
}

fn push_part(part: &[char], out: &mut String) {
    if is_id(part.iter().copied()) {
        out.push('*');
    } else {
        push_numberless(Text(part), out);
    }
}

/// Appends a text with `*` for each number.
pub(super) fn push_numberless(text: Text, out: &mut String) {
    let mut at = 0;
    while let Some(char) = text.get(at) {
        let number = text.number(at);
        out.push(if number.is_some() { '*' } else { char });
        at = number.unwrap_or(at + 1);
    }
}

/// Whether letters and digits are random: hexadecimal with a digit, or they change often between letters and digits, or
/// between cases.
fn is_id(chars: impl Iterator<Item = char>) -> bool {
    let (mut digits, mut lower, mut upper, mut small_hex, mut large_hex) = (0, 0, 0, true, true);
    let (mut kinds, mut cases) = (0, 0);
    let mut before: Option<char> = None;
    for char in chars {
        digits += usize::from(char.is_ascii_digit());
        lower += usize::from(char.is_ascii_lowercase());
        upper += usize::from(char.is_ascii_uppercase());
        small_hex &= matches!(char, '0'..='9' | 'a'..='f');
        large_hex &= matches!(char, '0'..='9' | 'A'..='F');
        if let Some(before) = before {
            kinds += usize::from(before.is_ascii_digit() != char.is_ascii_digit());
            cases += usize::from(before.is_ascii_lowercase() && char.is_ascii_uppercase());
        }
        before = Some(char);
    }
    let letters = lower + upper;
    let len = digits + letters;
    if digits == 0 {
        return letters >= 12 && cases * 4 >= letters;
    }
    if letters == 0 {
        return false;
    }
    let is_mixed = lower > 0 && upper > 0;
    len >= 8 && (small_hex || large_hex) || digits >= 2 && kinds >= 3 || is_mixed && len >= 12 && kinds + cases >= 4
}
