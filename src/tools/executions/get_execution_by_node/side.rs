//! The two sides of a node, its inputs and its outputs, in the share of the budget that each gets.

use super::Question;
use crate::budget::{self, Entry, Need, Page, PageLimits};
use crate::execution::ItemList;
use crate::secrets::redact;
use crate::tools::Error;

/// The items of one input or output, ready to be shown.
pub(super) struct Part {
    pub total: u64,
    pub entries: Vec<Entry>,
}

/// One side of a node: its inputs or its outputs.
pub(super) struct Side(pub(super) Vec<Part>);

/// What is shown of a side: a page for each part.
pub(super) struct Pages(pub(super) Vec<Page>);

impl Pages {
    pub(super) fn json(&self) -> String {
        let texts: Vec<_> = self.0.iter().map(|page| page.text.as_str()).filter(|text| !text.is_empty()).collect();
        format!("[{}]", texts.join(","))
    }

    /// How many items of the part `at` are shown.
    pub(super) fn shown(&self, at: usize) -> usize {
        self.0.get(at).map_or(0, |page| page.shown)
    }

    pub(super) fn clipped(&self) -> u64 {
        self.0.iter().map(|page| page.clipped).sum()
    }
}

impl Side {
    pub(super) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.0.iter().flat_map(|part| &part.entries)
    }

    /// Everything in full detail.
    pub(super) fn whole(&self) -> Pages {
        Pages(self.0.iter().map(|part| budget::whole(&part.entries)).collect())
    }

    /// What each part would take whole.
    pub(super) fn needs(&self, limits: PageLimits) -> Vec<Need> {
        self.0.iter().map(|part| budget::need(&part.entries, limits)).collect()
    }

    /// Fills the parts fairly: each shows its first item before any shows its second. If the limits do not even hold
    /// one item of each, the first parts show one and the others none.
    pub(super) fn fill(&self, limits: PageLimits, needs: &[Need]) -> Pages {
        let tokens = shown_needs(limits.tokens, needs);
        let shares = budget::shares(limits.tokens, &tokens);
        let fill = |chars: usize| {
            let pages = self.0.iter().enumerate().map(|(at, part)| {
                if tokens[at] == 0 {
                    return Page::default();
                }
                let share = &shares[at];
                let bytes = limits.bytes * share / limits.tokens.max(1);
                budget::fill(&part.entries, PageLimits { tokens: *share, bytes, chars }, needs[at])
            });
            Pages(pages.collect())
        };
        let pages = fill(limits.chars);
        let dropped = self.0.iter().zip(&pages.0).any(|(part, page)| page.shown < part.entries.len());
        if dropped && self.0.len() > 1 { fill(PageLimits::DROPPING_CHARS) } else { pages }
    }
}

/// The needs of the parts that are shown within `limit` tokens, 0 for the others. Shares are fair, so a part that is
/// shown gets all that it needs, or enough for an item.
fn shown_needs(limit: usize, needs: &[Need]) -> Vec<usize> {
    /// Enough for one item, clipped if it must be, in almost all cases.
    const ITEM_TOKENS: usize = 60;
    let mut least = 0;
    let shown = needs.iter().map(|need| {
        let is_first = least == 0;
        least += need.tokens.min(ITEM_TOKENS);
        if is_first || least <= limit { need.tokens } else { 0 }
    });
    shown.collect()
}

impl Side {
    /// The items of the longest part.
    pub(super) fn longest(&self) -> u64 {
        self.0.iter().map(|part| part.total).max().unwrap_or(0)
    }

    /// Parts with items in the window of which the pages show none.
    pub(super) fn hidden(&self, pages: &Pages) -> usize {
        self.0.iter().enumerate().filter(|(at, part)| !part.entries.is_empty() && pages.shown(*at) == 0).count()
    }

    /// Where the next page begins, if a part has more items after those that are shown of it.
    pub(super) fn next_offset(&self, pages: &Pages, offset: u64) -> Option<u64> {
        let parts = self.0.iter().enumerate();
        parts.filter_map(|(at, part)| part.next_offset(pages.shown(at), offset)).min()
    }
}

impl Part {
    pub(super) fn new(list: &ItemList, tag: Option<(&'static str, u64)>, question: &Question) -> Result<Self, Error> {
        /// What is shown of one item at most, bytes in memory.
        const ITEM_BYTES: usize = 1024 * 1024;
        let mut items = list.items(ITEM_BYTES).map_err(crate::execution::Error::from)?;
        if question.redact {
            items.iter_mut().for_each(redact::item);
        }
        let entries = items.into_iter().map(|value| Entry { value, tag }).collect();
        Ok(Self { total: list.total, entries })
    }

    pub(super) fn empty() -> Self {
        Self { total: 0, entries: Vec::new() }
    }

    /// Where the next page of this part begins, if items of it are shown and it has more.
    fn next_offset(&self, shown: usize, offset: u64) -> Option<u64> {
        let next = offset.saturating_add(shown as u64);
        (shown > 0 && next < self.total).then_some(next)
    }
}
