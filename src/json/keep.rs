//! Tables of what a projection reads.

/// What the pruning filter does with one JSON value, and below it.
///
/// A projection states its table once, as a constant, next to the code that reads it. Whatever is
/// not named in a table is [`Keep::Skip`].
#[derive(Clone, Copy, Debug)]
pub enum Keep {
    /// Not shown: a container or a string becomes `0`; a number or a literal stays (it costs little,
    /// and tells `null` from a value).
    Skip,
    /// The whole value, as text.
    Whole,
    /// An object, member by member; others are named `""` and skipped. An array is skipped; a string
    /// is kept, since some errors are one.
    Members(&'static [(&'static str, Keep)]),
    /// An object, every member whole but these.
    Except(&'static [(&'static str, Keep)]),
    /// Every member of an object, with its name. An array is skipped.
    EachMember(&'static Keep),
    /// Every element of an array. An object is skipped.
    EachElement(&'static Keep),
    /// An array of which only the number of elements is wanted: that number stands for it.
    Count,
    /// An array whose elements inside the pruner's window are captured. The others are counted: in
    /// their place stands the number of them, negative.
    Window,
    /// The value leaves beside the text, as raw JSON; in the text stands `1`. One that is larger than
    /// [`CAPTURE_BYTES`](super::CAPTURE_BYTES) stays in the text.
    Capture,
}

impl Keep {
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

    /// Whether an object (or an array) is entered under this rule.
    pub(super) fn enters(self, object: bool) -> bool {
        match self {
            Self::Whole | Self::Capture => true,
            Self::Members(_) | Self::Except(_) | Self::EachMember(_) => object,
            Self::EachElement(_) | Self::Count | Self::Window => !object,
            Self::Skip => false,
        }
    }

    /// Whether member names are passed on whatever they are.
    pub(super) fn any_name(self) -> bool {
        matches!(self, Self::Whole | Self::Except(_) | Self::EachMember(_))
    }
}
