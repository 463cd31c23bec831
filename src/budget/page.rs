//! A page of entries, shown in as much detail as its share of the budget allows.
//!
//! Long strings are clipped first, then long arrays and large objects, and only then entries are
//! dropped from the end: fifty items that show their short fields say more than three whole ones.

use super::{TOKEN_BYTES, count};
use crate::json::{Detail, Excerpt};

/// One entry of a page.
#[derive(Clone, Debug)]
pub struct Entry {
    /// What is shown.
    pub value: Excerpt,
    /// A member that is added behind those of the value, such as `outputIndex`.
    pub tag: Option<(&'static str, u64)>,
}

/// What a page may use.
#[derive(Clone, Copy, Debug)]
pub struct PageLimits {
    /// Tokens.
    pub tokens: usize,
    /// Bytes.
    pub bytes: usize,
    /// Characters of a string. A page that drops entries shows no more than
    /// [`PageLimits::DROPPING_CHARS`].
    pub chars: usize,
}

impl PageLimits {
    /// The longest string, in characters, beside entries that were dropped.
    pub const DROPPING_CHARS: usize = 1000;
}

/// Entries as they are sent.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// The entries as JSON, with commas between them.
    pub text: String,
    /// How many there are.
    pub shown: usize,
    /// Strings, arrays and objects in them that are not whole.
    pub clipped: u64,
}

impl Entry {
    fn write(&self, detail: Detail, page: &mut Page) {
        if page.shown > 0 {
            page.text.push(',');
        }
        page.shown += 1;
        self.value.write(detail, &mut page.text, &mut page.clipped);
        let Some((tag, index)) = self.tag else { return };
        if let Some(open) = page.text.strip_suffix('}').map(str::len) {
            page.text.truncate(open);
            let comma = if page.text.ends_with('{') { "" } else { "," };
            page.text.push_str(&format!("{comma}\"{tag}\":{index}}}"));
        }
    }
}

/// Divides `total` among those who need it: nobody gets more than it needs, and what one leaves goes
/// to the others in equal parts.
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

/// The steps from everything to almost nothing. Each is 4 to 10 % smaller than the one before.
struct Steps;

impl Steps {
    /// From here on arrays and objects are clipped, too.
    const STRUCTURE: usize = 160;
    /// The least detail in which several entries are shown.
    const BRIEF: usize = 240;
    /// The least detail of a single entry.
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

/// Fills a page with as many entries in as much detail as fit; at least one is always shown, clipped
/// if need be.
///
/// `need` is what [`need`] said of these entries: what is known is not counted again.
pub fn fill(entries: &[Entry], limits: PageLimits, need: Need) -> Page {
    let filler = Filler { entries, limits };
    let cut_short = limits.chars != usize::MAX;
    if !cut_short && need.tokens <= limits.tokens && need.bytes <= limits.bytes {
        return filler.page(0);
    }
    let brief = filler.fitting(Steps::BRIEF);
    if brief.entries < entries.len() {
        return filler.drop_entries(brief);
    }
    let from = usize::from(!cut_short);
    match filler.search(from, Steps::BRIEF, need.bytes_per_token()) {
        Some(found) => found.page,
        None => filler.page(Steps::BRIEF),
    }
}

/// A page and what it takes.
struct Found {
    page: Page,
    tokens: usize,
}

/// How many of the first entries fit, and what they take.
struct Fitting {
    entries: usize,
    bytes_per_token: f64,
}

struct Filler<'a> {
    entries: &'a [Entry],
    limits: PageLimits,
}

impl Filler<'_> {
    /// Enough of the share is used; more precision would not show more.
    const FULL: f64 = 0.93;

    /// After so many guesses that were off the search halves what is left.
    const GUESSES: usize = 4;

    fn page(&self, step: usize) -> Page {
        let detail = Steps::detail(step, self.limits.chars);
        let mut page = Page::default();
        for entry in self.entries {
            entry.write(detail, &mut page);
        }
        page
    }

    /// The page of the most detail, between two steps, that fits. How many bytes a token has is first
    /// guessed, then known from the last page.
    fn search(&self, from: usize, to: usize, mut bytes_per_token: f64) -> Option<Found> {
        let (mut low, mut high) = (from, to + 1);
        let mut best = None;
        for guess in 0.. {
            if low >= high {
                break;
            }
            let bytes = (self.limits.tokens as f64 * bytes_per_token) as usize;
            let bytes = bytes.min(self.limits.bytes);
            let step =
                if guess < Self::GUESSES { self.step_of(bytes, low, high) } else { usize::midpoint(low, high - 1) };
            let page = self.page(step);
            let tokens = count_up_to(&page.text, self.limits);
            bytes_per_token = page.text.len() as f64 / tokens.max(1) as f64;
            if tokens <= self.limits.tokens {
                let full = tokens as f64 >= self.limits.tokens as f64 * Self::FULL;
                best = Some(Found { page, tokens });
                high = step;
                if full {
                    break;
                }
            } else {
                low = step + 1;
            }
        }
        best
    }

    /// The step inside `low..high` whose page has about so many bytes: found without counting a token.
    fn step_of(&self, bytes: usize, low: usize, high: usize) -> usize {
        let (mut from, mut to) = (low, high - 1);
        while from < to {
            let middle = usize::midpoint(from, to);
            if self.page(middle).text.len() <= bytes { to = middle } else { from = middle + 1 }
        }
        from
    }

    /// How many of the first entries fit.
    fn fitting(&self, step: usize) -> Fitting {
        let detail = Steps::detail(step, self.limits.chars);
        let (mut tokens, mut bytes, mut entries) = (0, 0, 0);
        for entry in self.entries {
            let mut page = Page::default();
            entry.write(detail, &mut page);
            page.text.push(',');
            let left = PageLimits { tokens: self.limits.tokens - tokens, ..self.limits };
            let more = count_up_to(&page.text, left);
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

    /// Shows the first entries only.
    fn drop_entries(&self, brief: Fitting) -> Page {
        let limits = PageLimits { chars: self.limits.chars.min(PageLimits::DROPPING_CHARS), ..self.limits };
        let first = Filler { entries: &self.entries[..brief.entries.max(1)], limits };
        match first.search(0, Steps::LEAST, brief.bytes_per_token) {
            Some(found) => self.squeeze_in(found, limits),
            None => first.page(Steps::LEAST),
        }
    }

    /// Where much is left, the next entry is shown in whatever detail fits there.
    fn squeeze_in(&self, found: Found, limits: PageLimits) -> Page {
        let mut page = found.page;
        let left = limits.tokens.saturating_sub(found.tokens + 1);
        let next = &self.entries[page.shown..];
        if next.is_empty() || left < limits.tokens / 20 {
            return page;
        }
        let next = Filler { entries: &next[..1], limits: PageLimits { tokens: left, ..limits } };
        if let Some(more) = next.search(Steps::BRIEF, Steps::LEAST, BYTES_PER_TOKEN) {
            page.text.push(',');
            page.text.push_str(&more.page.text);
            page.shown += 1;
            page.clipped += more.page.clipped;
        }
        page
    }
}

/// The bytes of a token of ordinary JSON, where nothing is known yet.
const BYTES_PER_TOKEN: f64 = 3.0;

/// The tokens of a text; a guess above the limit where that is clear without counting.
fn count_up_to(text: &str, limits: PageLimits) -> usize {
    if text.len() > limits.bytes || text.len().div_ceil(TOKEN_BYTES) > limits.tokens {
        let guess = (text.len() as f64 / BYTES_PER_TOKEN) as usize;
        return guess.max(limits.tokens + 1);
    }
    count(text)
}

/// What entries would take in full detail.
#[derive(Clone, Copy, Debug, Default)]
pub struct Need {
    /// Tokens; a guess where it is clear that they are above a limit.
    pub tokens: usize,
    /// Bytes.
    pub bytes: usize,
}

impl Need {
    fn bytes_per_token(self) -> f64 {
        self.bytes as f64 / self.tokens.max(1) as f64
    }
}

/// What all entries would take in full detail.
pub fn need(entries: &[Entry], limits: PageLimits) -> Need {
    let page = Filler { entries, limits }.page(0);
    Need { tokens: count_up_to(&page.text, limits) + entries.len().min(1), bytes: page.text.len() }
}

/// All entries in full detail.
pub fn whole(entries: &[Entry]) -> Page {
    let limits = PageLimits { tokens: usize::MAX, bytes: usize::MAX, chars: usize::MAX };
    Filler { entries, limits }.page(0)
}
