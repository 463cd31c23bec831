//! Tables of what a projection keeps.

/// What the pruning filter does with a JSON value and everything inside it.
///
/// A projection has one table, a constant next to the code that reads it. Everything that a table does not name is
/// [`Keep::Skip`]. [`Pruner`](super::Pruner) has an example.
///
/// A rule for a container that meets one of the other kind (an array instead of an object, or the reverse) skips it.
#[derive(Clone, Copy, Debug)]
pub enum Keep {
    /// Nothing of it: a container or a string becomes `0`; a number or a literal stays, since it is short
    /// and `null` must differ from a value.
    Skip,
    /// The whole value, as text.
    Whole,
    /// These members of an object; others, and those that are skipped, are omitted. A string is kept, because some
    /// errors in executions are strings.
    Members(&'static [(&'static str, Keep)]),
    /// All members of an object, whole, except that these have rules of their own.
    Except(&'static [(&'static str, Keep)]),
    /// All members of an object, with their names, each by the same rule.
    EachMember(&'static Keep),
    /// All elements of an array, each by the same rule.
    EachElement(&'static Keep),
    /// The number of elements of an array: `[5, 6]` becomes `2`.
    Count,
    /// The elements of an array that are inside the pruner's window, captured. The others become their number,
    /// negated: with the window `1..2`, `[5, 6, 7, 8]` becomes `[-1,1,-2]`.
    Window,
    /// The whole value, but next to the text, as raw JSON; in the text it becomes `1`. A value larger than
    /// [`CAPTURE_BYTES`](super::CAPTURE_BYTES) stays in the text.
    Capture,
}

impl Keep {
    /// A table with this rule for each of these members.
    pub(crate) const fn of_each<const N: usize>(self, members: [&'static str; N]) -> [(&'static str, Self); N] {
        let (mut table, mut at) = ([("", self); N], 0);
        while at < N {
            table[at].0 = members[at];
            at += 1;
        }
        table
    }

    /// A table with more members. The caller declares the length of the whole table.
    pub(crate) const fn extended<const M: usize, const N: usize>(
        table: &[(&'static str, Self)],
        more: [(&'static str, Self); M],
    ) -> [(&'static str, Self); N] {
        let (mut whole, mut at) = ([("", Self::Skip); N], 0);
        while at < N {
            whole[at] = if at < table.len() { table[at] } else { more[at - table.len()] };
            at += 1;
        }
        whole
    }

    /// The rule for the member `name`.
    pub(super) fn member(self, name: &str) -> Self {
        match self {
            Self::Whole => Self::Whole,
            Self::EachMember(rule) => *rule,
            Self::Members(rules) => {
                rules.iter().find(|(member, _)| *member == name).map_or(Self::Skip, |(_, rule)| *rule)
            }
            Self::Except(rules) => {
                rules.iter().find(|(member, _)| *member == name).map_or(Self::Whole, |(_, rule)| *rule)
            }
            Self::Skip | Self::EachElement(_) | Self::Count | Self::Window | Self::Capture => Self::Skip,
        }
    }

    /// Whether this rule enters an object (or else an array).
    pub(super) fn enters(self, object: bool) -> bool {
        match self {
            Self::Whole | Self::Capture => true,
            Self::Members(_) | Self::Except(_) | Self::EachMember(_) => object,
            Self::EachElement(_) | Self::Count | Self::Window => !object,
            Self::Skip => false,
        }
    }

    /// Whether this rule keeps all member names.
    pub(super) fn any_name(self) -> bool {
        matches!(self, Self::Whole | Self::Except(_) | Self::EachMember(_))
    }
}
