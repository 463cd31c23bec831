//! The end of a path: which values a search is about.

use std::borrow::Cow;

use crate::execution::values::without_indices;
use crate::json::{CUT_NAME_CHARS, Written, cut_name};

/// The end of a path, such as `customer.address` or `lines[].taxRate`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathEnd {
    text: String,
    /// Whether it leads through elements of lists, which can also be names: `items[0][sku]`.
    has_elements: bool,
}

impl PathEnd {
    /// The end of a path. A leading `json.` and numbers in brackets are left out.
    pub fn new(text: &str) -> Self {
        let text = text.strip_prefix("json.").unwrap_or(text);
        // As the names of a path are cut.
        let names = text.split('.').map(|name| cut_name(name.to_owned()));
        let text = without_indices(&names.collect::<Vec<_>>().join(".")).into_owned();
        Self { has_elements: text.contains("[]"), text }
    }

    /// The path's end as text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub(super) fn ends(&self, path: &str) -> bool {
        let ends = |path: &str| {
            let before = path.strip_suffix(&*self.text);
            before.is_some_and(|before| before.is_empty() || before.ends_with('.') || self.text.starts_with('['))
        };
        ends(path) || (self.has_elements && matches!(without_indices(path), Cow::Owned(path) if ends(&path)))
    }

    /// Whether a path with this last name may end like this.
    pub(super) fn may_end_with(&self, name: Written<'_>) -> bool {
        // A long name is cut.
        name.bytes.len() > CUT_NAME_CHARS
            || name.may_end_with(self.text.as_bytes())
            || (self.has_elements && name.bytes.contains(&b'['))
    }

    /// The end of the name of the last member, which must be in the item, unless the name itself might have a dot or a
    /// bracket, or the value can be an error that is an array, which is shown as its message.
    pub(super) fn name(&self) -> Option<&str> {
        let name = self.text.rsplit('.').next().unwrap_or_default();
        let is_open = name.is_empty() || name.contains(['[', ']', '…']);
        (!is_open && !matches!(&*self.text, "message" | "error.message")).then_some(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_ends_at_a_name() {
        let ends = |end: &str, path: &str| PathEnd::new(end).ends(path);
        assert!(ends("address", "customer.address") && ends("customer.address", "customer.address"));
        assert!(ends("json.customer.address", "customer.address") && ends("lines[3].rate", "a.lines[].rate"));
        assert!(ends("[]", "tags[]") && ends("tags[]", "tags[]"));
        assert!(!ends("address", "customer.ipaddress") && !ends("lines", "lines[]"));
        assert_eq!(PathEnd::new("a[b].c[1x][12]").as_str(), "a[b].c[1x][]");
    }
}
