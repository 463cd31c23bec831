//! The range of dates and times: strings in the same form of ISO 8601, such as `2026-11-25` or `2026-11-25T12:00:00.000Z`.

use crate::json::Written;

/// The bytes of `2026-11-25`.
const DATE: usize = 10;

/// The longest form: `2026-11-25T12:00:00.000000000+02:00`.
const LONGEST: usize = 35;

/// The earliest and the latest date, if all strings are dates in the same form. Such dates sort as their texts do.
#[derive(Debug, Default)]
pub(super) struct Dates {
    range: Option<(Box<str>, Box<str>)>,
    /// Whether there was anything else.
    has_others: bool,
}

impl Dates {
    /// Adds a string.
    pub(super) fn add(&mut self, written: Written<'_>) {
        if self.has_others || written.bytes.is_empty() {
            return;
        }
        let date = std::str::from_utf8(written.bytes).ok().filter(|text| is_date(text.as_bytes()));
        match (date, &mut self.range) {
            (Some(date), Some((least, most))) if are_alike(date, least) => {
                if date < &**least {
                    *least = date.into();
                } else if date > &**most {
                    *most = date.into();
                }
            }
            (Some(date), range @ None) => *range = Some((date.into(), date.into())),
            _ => self.has_others = true,
        }
    }

    /// Both ends.
    pub(super) fn range(&self) -> Option<(&str, &str)> {
        let (least, most) = self.range.as_ref().filter(|_| !self.has_others)?;
        Some((least, most))
    }
}

/// Whether this is a date, perhaps with a time.
pub(super) fn is_date(text: &[u8]) -> bool {
    let matches = |text: &[u8], form: &[u8]| {
        text.iter().zip(form).all(|(byte, form)| if *form == b'0' { byte.is_ascii_digit() } else { byte == form })
    };
    if text.len() < DATE || text.len() > LONGEST || !matches(text, b"0000-00-00") {
        return false;
    }
    let time = &text[DATE..];
    let Some((separator, time)) = time.split_first() else { return true };
    let is_of_time = |byte: &u8| byte.is_ascii_digit() || b":.,Z+-".contains(byte);
    matches!(separator, b'T' | b' ') && time.len() >= 5 && matches(time, b"00:00") && time.iter().all(is_of_time)
}

/// Whether two dates have the same form, and the same offset from UTC.
fn are_alike(one: &str, other: &str) -> bool {
    one.len() == other.len() && offset(one) == offset(other)
}

/// What follows the digits of the time: `Z`, `+02:00` or nothing.
fn offset(date: &str) -> &str {
    let time = date.get(DATE..).unwrap_or_default();
    time.find(['Z', '+', '-']).map_or("", |at| &time[at..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_in_one_form_have_a_range() {
        let range = |texts: &[&str]| {
            let mut dates = Dates::default();
            for text in texts {
                let json = format!("\"{text}\"");
                crate::json::walk(json.as_bytes(), &mut Adder(&mut dates)).unwrap();
            }
            dates.range().map(|(least, most)| format!("{least} to {most}"))
        };
        let days = Some("2026-01-31 to 2026-11-25".to_owned());
        assert_eq!(range(&["2026-11-25", "2026-01-31", "", "2026-02-01"]), days);
        let times = Some("2026-11-25T08:00:00Z to 2026-11-25T09:00:00Z".to_owned());
        assert_eq!(range(&["2026-11-25T09:00:00Z", "2026-11-25T08:00:00Z"]), times);
        for other in ["25.11.2026", "2026-11-25T09:00:00Z", "2026-1-2", "2026-11-25 noon", "2026-11-25 09:00\\\""] {
            assert_eq!(range(&["2026-11-25", other]), None, "{other}");
        }
        // Not in the order of their texts.
        assert_eq!(range(&["2026-11-25T09:00:00+02:00", "2026-11-25T08:00:00+00:00"]), None);
    }

    struct Adder<'d>(&'d mut Dates);

    impl crate::json::Visitor for Adder<'_> {
        fn open(&mut self, _: bool) {}
        fn name(&mut self, _: Written<'_>) {}
        fn string(&mut self, text: Written<'_>) {
            self.0.add(text);
        }
        fn scalar(&mut self, _: Written<'_>) {}
        fn close(&mut self, _: u64, _: &[u8]) {}
    }
}
