//! The pattern of a string: its shape, whatever its letters and digits are.

/// Writes a string with its letters made alike, and its digits: `INV-1001` is `a-0`.
pub(super) fn write_pattern(text: &str, pattern: &mut Vec<u8>) {
    let mut last = '\0';
    for char in text.chars() {
        let alike = match char {
            'a'..='z' | 'A'..='Z' => 'a',
            '0'..='9' => '0',
            ..='\x7f' => char,
            // Frequent letters, which the tables of Unicode take longer to find.
            'À'..='Ö'
            | 'Ø'..='ö'
            | 'ø'..='ÿ'
            | 'А'..='я'
            | 'ؠ'..='ي'
            | 'ぁ'..='ゖ'
            | 'ァ'..='ヺ'
            | '一'..='鿿'
            | '가'..='힣' => 'a',
            '\u{2010}'..='\u{2027}' | '\u{3000}'..='\u{3003}' | '\u{1f300}'..='\u{1faff}' => char,
            char if char.is_alphabetic() => 'a',
            char if char.is_numeric() => '0',
            char => char,
        };
        if alike.is_ascii() && (alike != last || !alike.is_ascii_alphanumeric()) {
            pattern.push(alike as u8);
        } else if !alike.is_ascii() {
            pattern.extend_from_slice(alike.encode_utf8(&mut [0; 4]).as_bytes());
        }
        last = alike;
    }
}

/// Like [`write_pattern`], for ASCII text. It has no branches: the contents of a text cannot be predicted.
pub(super) fn write_ascii_pattern(text: &[u8], pattern: &mut Vec<u8>) {
    const ALIKE: [u8; 128] = alike();
    let from = pattern.len();
    pattern.resize(from + text.len(), 0);
    let (mut end, mut last) = (from, 0);
    for byte in text {
        let alike = ALIKE[usize::from(byte & 0x7f)];
        pattern[end] = alike;
        let continues = (alike == last) & ((alike == b'a') | (alike == b'0'));
        end += usize::from(!continues);
        last = alike;
    }
    pattern.truncate(end);
}

/// What stands for each character of ASCII in a pattern.
const fn alike() -> [u8; 128] {
    let mut alike = [0; 128];
    let mut byte = 0;
    while byte < 128 {
        alike[byte as usize] = match byte {
            b'a'..=b'z' | b'A'..=b'Z' => b'a',
            b'0'..=b'9' => b'0',
            other => other,
        };
        byte += 1;
    }
    alike
}

#[cfg(test)]
mod tests {
    use super::{write_ascii_pattern, write_pattern};

    #[test]
    fn the_short_way_agrees_with_unicode() {
        for char in '\u{80}'..='\u{1ffff}' {
            let expected = if char.is_alphabetic() {
                "a".to_owned()
            } else if char.is_numeric() {
                "0".to_owned()
            } else {
                char.to_string()
            };
            let mut pattern = Vec::new();
            write_pattern(&char.to_string(), &mut pattern);
            assert_eq!(pattern, expected.as_bytes(), "U+{:x}", u32::from(char));
        }
    }

    #[test]
    fn letters_and_digits_are_alike() {
        for (text, expected) in [("INV-1001", "a-0"), ("é漢a 12.50 €", "a 0.0 €"), ("", ""), ("a--b", "a--a")] {
            let written: [fn(&str, &mut Vec<u8>); 2] =
                [write_pattern, |text, pattern| write_ascii_pattern(text.as_bytes(), pattern)];
            for write in written.iter().take(1 + usize::from(text.is_ascii())) {
                let mut pattern = Vec::new();
                write(text, &mut pattern);
                assert_eq!(pattern, expected.as_bytes());
            }
        }
    }
}
