//! The items of a node's inputs or outputs, as many as fit their share of the budget.

use super::NodeQuery;
use super::allotment::{ListNeed, Share};
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

    /// How many items of the list at index `at` are shown.
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

    /// What each list needs.
    pub(super) fn needs(&self, limits: PageLimits) -> Vec<ListNeed> {
        let need = |list: &EntryList| ListNeed {
            all: budget::need(&list.entries, limits),
            first: budget::need(list.first(), limits).tokens,
        };
        self.0.iter().map(need).collect()
    }

    /// The tokens that the first item of each list needs in the least detail.
    pub(super) fn least(&self, limits: PageLimits) -> Vec<usize> {
        let least = |list: &EntryList| {
            let first = list.first();
            let page = budget::fill(first, PageLimits { tokens: 0, ..limits }, budget::need(first, limits));
            budget::count(&page.text) + page.shown
        };
        self.0.iter().map(|list| if list.entries.is_empty() { 0 } else { least(list) }).collect()
    }

    /// Fills the lists, each within its share.
    pub(super) fn fill(&self, limits: PageLimits, shares: &[Share], needs: &[ListNeed]) -> Pages {
        let fill = |chars: usize| {
            let lists = self.0.iter().zip(shares).zip(needs);
            Pages(
                lists
                    .map(|((list, share), need)| list.fill(PageLimits { chars, ..limits }, *share, need.all))
                    .collect(),
            )
        };
        let pages = fill(limits.chars);
        let dropped = self.0.iter().zip(&pages.0).any(|(list, page)| page.shown < list.entries.len());
        if dropped && self.0.len() > 1 { fill(PageLimits::DROPPING_CHARS) } else { pages }
    }
}

impl EntryLists {
    /// The number of items of the longest list.
    pub(super) fn longest(&self) -> u64 {
        self.0.iter().map(|list| list.total).max().unwrap_or(0)
    }

    /// How many lists have items in the window but show none.
    pub(super) fn hidden(&self, pages: &Pages) -> usize {
        self.0.iter().enumerate().filter(|(at, list)| !list.entries.is_empty() && pages.shown(*at) == 0).count()
    }

    /// Where the next page begins, if a list has items after the shown ones.
    pub(super) fn next_offset(&self, pages: &Pages, offset: u64) -> Option<u64> {
        if pages.0.is_empty() {
            return None;
        }
        let lists = self.0.iter().enumerate();
        lists.filter_map(|(at, list)| list.next_offset(pages.shown(at), offset)).min()
    }
}

impl EntryList {
    pub(super) fn new(list: &ItemList, tag: Option<(&'static str, u64)>, query: &NodeQuery) -> Result<Self, Error> {
        /// The most memory for one item, bytes.
        const ITEM_BYTES: usize = 1024 * 1024;
        let mut items = list.items(ITEM_BYTES).map_err(crate::execution::Error::from)?;
        if query.redact {
            items.iter_mut().for_each(redact::item);
        }
        let entries = items.into_iter().map(|value| Entry { value, tag }).collect();
        Ok(Self { total: list.total, entries })
    }

    /// A list with this total, none of whose items was read.
    pub(super) fn counted(total: u64) -> Self {
        Self { total, entries: Vec::new() }
    }

    /// The first item, if there is one.
    fn first(&self) -> &[Entry] {
        &self.entries[..self.entries.len().min(1)]
    }

    /// The items that fit into a share of the limits.
    fn fill(&self, limits: PageLimits, share: Share, need: Need) -> Page {
        let within =
            |tokens: usize| PageLimits { tokens, bytes: limits.bytes * tokens / limits.tokens.max(1), ..limits };
        match share {
            Share::Nothing => Page::default(),
            Share::First(tokens) => {
                let first = self.first();
                budget::fill(first, within(tokens), budget::need(first, within(tokens)))
            }
            Share::Items(tokens) => budget::fill(&self.entries, within(tokens), need),
        }
    }

    /// Where the next page of this list begins, if it has more items. If not even one item fits, the next page skips it,
    /// since it would not fit there either.
    fn next_offset(&self, shown: usize, offset: u64) -> Option<u64> {
        let next = offset.saturating_add(shown.max(1) as u64);
        (!self.entries.is_empty() && next < self.total).then_some(next)
    }
}
