//! A page of entries, shown in as much detail as its budget allows.
//!
//! Long strings are clipped first, then long arrays and large objects; only then are entries dropped
//! from the end: fifty items with their short fields are worth more than three whole ones.

use super::search::{Found, Search};
use super::{BYTES_PER_TOKEN, count};
use crate::json::{Detail, Excerpt};

/// One entry of a page.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The value to show.
    pub value: Excerpt,
    /// A member that is appended to an object, such as `outputIndex`.
    pub tag: Option<(&'static str, u64)>,
}

/// The limits of a page.
#[derive(Clone, Copy, Debug)]
pub struct PageLimits {
    /// The maximum number of tokens.
    pub tokens: usize,
    /// The maximum number of bytes.
    pub bytes: usize,
    /// The maximum number of characters of a string; on a page that drops entries, at most
    /// [`PageLimits::DROPPING_CHARS`].
    pub chars: usize,
}

impl PageLimits {
    /// The maximum number of characters of a string on a page that drops entries.
    pub const DROPPING_CHARS: usize = 1000;

    /// The share of the tokens at which a search ends; more precision would hardly show more.
    const FULL: f64 = 0.93;

    fn search(self) -> Search<impl FnMut(&str) -> usize> {
        let Self { tokens, bytes, .. } = self;
        let enough = (tokens as f64 * Self::FULL).ceil() as usize;
        Search { tokens, bytes, enough, bytes_per_token: BYTES_PER_TOKEN, count }
    }
}

/// Entries as JSON text.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// The entries as JSON, with commas between them.
    pub text: String,
    /// How many entries are shown.
    pub shown: usize,
    /// How many of them are arrays that are shown with fewer elements than they have. The mark in place of missing elements
    /// counts as one.
    pub short: usize,
    /// How many strings, arrays and objects were clipped.
    pub clipped: u64,
}

impl AsRef<str> for Page {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

impl Entry {
    fn write(&self, detail: Detail, page: &mut Page) {
        if page.shown > 0 {
            page.text.push(',');
        }
        page.shown += 1;
        page.short += usize::from(self.is_short(detail));
        self.value.write(detail, &mut page.text, &mut page.clipped);
        let Some((tag, index)) = self.tag else { return };
        if let Some(open) = page.text.strip_suffix('}').map(str::len) {
            page.text.truncate(open);
            let comma = if page.text.ends_with('{') { "" } else { "," };
            page.text.push_str(&format!("{comma}\"{tag}\":{index}}}"));
        }
    }

    fn is_short(&self, detail: Detail) -> bool {
        let Excerpt::Array { kept, total } = &self.value else { return false };
        let mark = 1;
        *total > (kept.len().min(detail.elements) + mark) as u64
    }
}

/// Divides `total` by need: no share is larger than its need, and what one does not need is divided
/// evenly among the others.
///
/// ```
/// use n8n_lens::budget::shares;
///
/// assert_eq!(shares(900, &[100, 2000, 500]), [100, 400, 400]);
/// assert_eq!(shares(900, &[100, 200]), [100, 200]);
/// ```
pub fn shares(total: usize, needs: &[usize]) -> Vec<usize> {
    let mut shares = vec![0; needs.len()];
    let mut order: Vec<usize> = (0..needs.len()).collect();
    order.sort_by_key(|at| needs[*at]);
    let mut left = total;
    for (done, at) in order.iter().enumerate() {
        shares[*at] = needs[*at].min(left / (needs.len() - done));
        left -= shares[*at];
    }
    shares
}

/// The levels of detail, from everything to almost nothing; each step is 4 to 10 % smaller than the one before.
struct Steps;

impl Steps {
    /// From this step on, arrays and objects are clipped, too.
    const STRUCTURE: usize = 160;
    /// The least detail for a page that shows all entries.
    const BRIEF: usize = 240;
    /// The least detail there is.
    const LEAST: usize = 280;

    fn detail(step: usize, chars: usize) -> Detail {
        let shrink = |from: f64, factor: f64, steps: usize| (from * factor.powi(steps as i32)) as usize;
        let detail = match step {
            0 => return Detail { chars, ..Detail::WHOLE },
            1..Self::STRUCTURE => Detail { chars: shrink(262_144.0, 0.953, step), ..Detail::WHOLE },
            Self::STRUCTURE..Self::BRIEF => {
                let below = step - Self::STRUCTURE;
                Detail {
                    chars: shrink(124.0, 0.986, below),
                    elements: shrink(16_384.0, 0.909, below).max(4),
                    members: shrink(8_192.0, 0.93, below).max(24),
                    name_chars: usize::MAX,
                }
            }
            _ => {
                let below = step - Self::BRIEF;
                Detail {
                    chars: shrink(40.0, 0.94, below),
                    elements: shrink(4.0, 0.96, below),
                    members: shrink(24.0, 0.92, below).max(1),
                    name_chars: shrink(200.0, 0.9, below).max(4),
                }
            }
        };
        Detail { chars: detail.chars.min(chars), ..detail }
    }
}

/// Fills a page with as many entries, in as much detail, as fit. At least one entry is always shown, in the least
/// detail if need be; only then can the page exceed its limits.
///
/// `need` is the result of [`need`] for these entries, so that they are not counted again. The [module](super) has
/// an example.
pub fn fill(entries: &[Entry], limits: PageLimits, need: Need) -> Page {
    let filler = Filler { entries, limits };
    let limits_chars = limits.chars != usize::MAX;
    if !limits_chars && need.tokens <= limits.tokens && need.bytes <= limits.bytes {
        return filler.page(0);
    }
    let brief = filler.fitting(Steps::BRIEF);
    if brief.entries < entries.len() {
        return filler.drop_entries(brief);
    }
    let from = usize::from(!limits_chars);
    match filler.search(from, Steps::BRIEF, need.bytes_per_token()) {
        Some(found) => found.text,
        None => filler.page(Steps::BRIEF),
    }
}

/// How many of the first entries fit.
struct Fitting {
    entries: usize,
    bytes_per_token: f64,
}

struct Filler<'a> {
    entries: &'a [Entry],
    limits: PageLimits,
}

impl Filler<'_> {
    fn page(&self, step: usize) -> Page {
        let detail = Steps::detail(step, self.limits.chars);
        let mut page = Page::default();
        for entry in self.entries {
            entry.write(detail, &mut page);
        }
        page
    }

    /// The most detailed page between two steps that fits, or one that almost fills its limits.
    fn search(&self, from: usize, to: usize, bytes_per_token: f64) -> Option<Found<Page>> {
        let mut search = Search { bytes_per_token, ..self.limits.search() };
        search.first(from..to + 1, |step| self.page(step))
    }

    /// How many of the first entries fit at this step.
    fn fitting(&self, step: usize) -> Fitting {
        let detail = Steps::detail(step, self.limits.chars);
        let (mut tokens, mut bytes, mut entries) = (0, 0, 0);
        for entry in self.entries {
            let mut page = Page::default();
            entry.write(detail, &mut page);
            page.text.push(',');
            let left = PageLimits { tokens: self.limits.tokens - tokens, ..self.limits };
            let more = left.search().count(&page.text);
            if more > left.tokens {
                break;
            }
            entries += 1;
            tokens += more;
            bytes += page.text.len();
        }
        let bytes_per_token = if tokens > 0 { bytes as f64 / tokens as f64 } else { BYTES_PER_TOKEN };
        Fitting { entries, bytes_per_token }
    }

    /// A page with only the first entries.
    fn drop_entries(&self, brief: Fitting) -> Page {
        let limits = PageLimits { chars: self.limits.chars.min(PageLimits::DROPPING_CHARS), ..self.limits };
        let first = Filler { entries: &self.entries[..brief.entries.max(1)], limits };
        match first.search(0, Steps::LEAST, brief.bytes_per_token) {
            Some(found) => self.squeeze_in(found, limits),
            None => first.page(Steps::LEAST),
        }
    }

    /// If much of the budget is left, adds the next entry in as much detail as still fits.
    fn squeeze_in(&self, found: Found<Page>, limits: PageLimits) -> Page {
        let mut page = found.text;
        let left = limits.tokens.saturating_sub(found.tokens + 1);
        let next = &self.entries[page.shown..];
        if next.is_empty() || left < limits.tokens / 20 {
            return page;
        }
        let next = Filler { entries: &next[..1], limits: PageLimits { tokens: left, ..limits } };
        if let Some(more) = next.search(Steps::BRIEF, Steps::LEAST, BYTES_PER_TOKEN) {
            page.text.push(',');
            page.text.push_str(&more.text.text);
            page.shown += 1;
            page.short += more.text.short;
            page.clipped += more.text.clipped;
        }
        page
    }
}

/// What entries take in full detail.
#[derive(Clone, Copy, Debug, Default)]
pub struct Need {
    /// Tokens; an estimate if they clearly exceed the limit.
    pub tokens: usize,
    /// Bytes.
    pub bytes: usize,
}

impl Need {
    fn bytes_per_token(self) -> f64 {
        self.bytes as f64 / self.tokens.max(1) as f64
    }
}

/// What all entries take in full detail.
pub fn need(entries: &[Entry], limits: PageLimits) -> Need {
    let page = Filler { entries, limits }.page(0);
    Need { tokens: limits.search().count(&page.text) + entries.len().min(1), bytes: page.text.len() }
}

/// All entries in full detail.
pub fn whole(entries: &[Entry]) -> Page {
    let limits = PageLimits { tokens: usize::MAX, bytes: usize::MAX, chars: usize::MAX };
    Filler { entries, limits }.page(0)
}
