//! The items of a node's inputs or outputs, as many as fit their share of the budget.

use super::NodeQuery;
use crate::budget::{self, Entry, Need, Page, PageLimits};
use crate::execution::ItemList;
use crate::secrets::redact;
use crate::tools::Error;

/// The items of one input or output.
pub(super) struct EntryList {
    pub total: u64,
    pub entries: Vec<Entry>,
}

/// The items of all inputs, or of all outputs, of a node.
pub(super) struct EntryLists(pub(super) Vec<EntryList>);

/// What is shown: a page for each list.
pub(super) struct Pages(pub(super) Vec<Page>);

impl Pages {
    pub(super) fn json(&self) -> String {
        let texts: Vec<_> = self.0.iter().map(|page| page.text.as_str()).filter(|text| !text.is_empty()).collect();
        format!("[{}]", texts.join(","))
    }

    /// How many items of the list `at` are shown.
    pub(super) fn shown(&self, at: usize) -> usize {
        self.0.get(at).map_or(0, |page| page.shown)
    }

    pub(super) fn clipped(&self) -> u64 {
        self.0.iter().map(|page| page.clipped).sum()
    }
}

impl EntryLists {
    pub(super) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.0.iter().flat_map(|list| &list.entries)
    }

    /// Everything in full detail.
    pub(super) fn whole(&self) -> Pages {
        Pages(self.0.iter().map(|list| budget::whole(&list.entries)).collect())
    }

    /// What each list needs in full detail.
    pub(super) fn needs(&self, limits: PageLimits) -> Vec<Need> {
        self.0.iter().map(|list| budget::need(&list.entries, limits)).collect()
    }

    /// Fills the lists fairly: each shows its first item before any shows its second. If not even one item of each
    /// fits, the first lists show one and the others none.
    pub(super) fn fill(&self, limits: PageLimits, needs: &[Need]) -> Pages {
        let tokens = shown_needs(limits.tokens, needs);
        let shares = budget::shares(limits.tokens, &tokens);
        let fill = |chars: usize| {
            let pages = self.0.iter().enumerate().map(|(at, list)| {
                if tokens[at] == 0 {
                    return Page::default();
                }
                let share = &shares[at];
                let bytes = limits.bytes * share / limits.tokens.max(1);
                budget::fill(&list.entries, PageLimits { tokens: *share, bytes, chars }, needs[at])
            });
            Pages(pages.collect())
        };
        let pages = fill(limits.chars);
        let dropped = self.0.iter().zip(&pages.0).any(|(list, page)| page.shown < list.entries.len());
        if dropped && self.0.len() > 1 { fill(PageLimits::DROPPING_CHARS) } else { pages }
    }
}

/// The needs of the lists that are shown within `limit` tokens, 0 for the others. Shares are fair, so a list that is
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

impl EntryLists {
    /// The number of items of the longest list.
    pub(super) fn longest(&self) -> u64 {
        self.0.iter().map(|list| list.total).max().unwrap_or(0)
    }

    /// How many lists have items in the window, but show none.
    pub(super) fn hidden(&self, pages: &Pages) -> usize {
        self.0.iter().enumerate().filter(|(at, list)| !list.entries.is_empty() && pages.shown(*at) == 0).count()
    }

    /// Where the next page begins, if a list has items after those that are shown.
    pub(super) fn next_offset(&self, pages: &Pages, offset: u64) -> Option<u64> {
        let lists = self.0.iter().enumerate();
        lists.filter_map(|(at, list)| list.next_offset(pages.shown(at), offset)).min()
    }
}

impl EntryList {
    pub(super) fn new(list: &ItemList, tag: Option<(&'static str, u64)>, query: &NodeQuery) -> Result<Self, Error> {
        /// The most memory that an item is read into, bytes.
        const ITEM_BYTES: usize = 1024 * 1024;
        let mut items = list.items(ITEM_BYTES).map_err(crate::execution::Error::from)?;
        if query.redact {
            items.iter_mut().for_each(redact::item);
        }
        let entries = items.into_iter().map(|value| Entry { value, tag }).collect();
        Ok(Self { total: list.total, entries })
    }

    pub(super) fn empty() -> Self {
        Self { total: 0, entries: Vec::new() }
    }

    /// Where the next page of this list begins, if it shows items and has more.
    fn next_offset(&self, shown: usize, offset: u64) -> Option<u64> {
        let next = offset.saturating_add(shown as u64);
        (shown > 0 && next < self.total).then_some(next)
    }
}
