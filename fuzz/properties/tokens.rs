//! The number of tokens of any text is that of tiktoken-rs.

use n8n_lens::budget;

use super::entropy::Entropy;
use super::{execution, shown, split};

/// Characters of every class that the pattern of o200k_base distinguishes, and those that it treats individually.
const CHARACTERS: [char; 48] = [
    'a',
    's',
    'S',
    'ſ',
    't',
    'T',
    'r',
    'e',
    'E',
    'v',
    'm',
    'l',
    'L',
    'd',
    'D',
    'é',
    'A',
    'Z',
    'É',
    'ǅ',
    'ʰ',
    'あ',
    '漢',
    '\u{301}',
    '\u{20DD}',
    '1',
    '٣',
    '½',
    ' ',
    '\t',
    '\u{A0}',
    '\u{3000}',
    '\u{85}',
    '\u{2028}',
    '\n',
    '\r',
    '/',
    '.',
    '\'',
    '’',
    '"',
    '{',
    '-',
    '🎉',
    '\u{200D}',
    '\u{FE0F}',
    '\0',
    '\u{10FFFF}',
];

/// Counts the tokens of a text.
pub fn check(data: &[u8]) {
    let (mut choices, rest) = split(data);
    let text = match choices.byte() % 2 {
        0 => String::from_utf8_lossy(&execution(&mut choices, rest)).into_owned(),
        _ => characters(&mut Entropy::new(rest)),
    };
    // Longer texts are counted in parts.
    let text = &text[..text.floor_char_boundary(budget::ANSWER_BYTES)];
    let (count, truth) = (budget::count(text), tiktoken_rs::o200k_base_singleton().count_ordinary(text));
    assert!(count == truth, "{count} tokens, and {truth} by tiktoken-rs: {}", shown(text.as_bytes()));
}

/// A text of these characters, some of them repeated.
fn characters(choices: &mut Entropy<'_>) -> String {
    let mut text = String::new();
    while !choices.is_over() {
        let character = *choices.pick(&CHARACTERS);
        let times = if choices.one_in(16) { choices.below(1000) } else { 1 };
        text.extend(std::iter::repeat_n(character, times));
    }
    text
}
