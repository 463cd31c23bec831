//! Whether a change of an active workflow goes live with it.
//!
//! By default n8n publishes what it saves, including anything saved earlier and not yet published. A draft is a
//! colleague's unfinished work, so it goes live only on request.

use crate::n8n;
use crate::toolkit::Locale;
use crate::tools::Error;
use crate::workflow::PublishedVersion;

/// The description of the argument `publish` of the tools that change a workflow in n8n.
pub(in crate::tools) const PUBLISH: &str = "Publish the change (default: unless there is an unpublished draft).";

/// What was published before a change, and what the caller wants.
#[derive(Clone, Copy)]
pub(in crate::tools) struct Publishing {
    pub before: PublishedVersion,
    /// The argument `publish`.
    pub wanted: Option<bool>,
}

impl Publishing {
    /// Whether there is a draft that must not be published.
    pub(super) fn keeps_draft(self) -> bool {
        self.before == PublishedVersion::Older && self.wanted != Some(true)
    }

    /// Whether a change is saved without being published.
    pub(super) fn saves_draft(self) -> bool {
        self.keeps_draft() || (self.before == PublishedVersion::Same && self.wanted == Some(false))
    }

    /// The refusal of a change by an n8n that cannot save a draft.
    pub(super) fn refused(self) -> Error {
        let draft = match self.before {
            PublishedVersion::Older => " This workflow has an unpublished draft, which would go live with the change.",
            _ => "",
        };
        Error::FailedPrecondition(format!(
            "{}{draft} Nothing was changed. Call again with publish: true if all of it may go live; otherwise publish or \
             discard the draft in n8n's editor first.",
            n8n::Error::NoDrafts
        ))
    }

    /// What a change did to production; `after` is what is now published.
    pub(super) fn outcome(self, after: PublishedVersion) -> Outcome {
        match (self.before, after) {
            (_, PublishedVersion::None) => Outcome::Inactive,
            (PublishedVersion::Older, PublishedVersion::Older) => Outcome::AddedToDraft,
            (_, PublishedVersion::Older) => Outcome::SavedAsDraft,
            (PublishedVersion::Older, PublishedVersion::Same) => Outcome::LiveWithDraft,
            (_, PublishedVersion::Same) => Outcome::Live,
        }
    }
}

/// What a change did to production.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tools) enum Outcome {
    Inactive,
    Live,
    LiveWithDraft,
    SavedAsDraft,
    AddedToDraft,
}

impl Outcome {
    /// The remark that a message adds about it, in parentheses.
    pub(super) fn remark(self, locale: Locale) -> String {
        let (ja, en) = self.words();
        match en {
            "" => String::new(),
            en => locale.choose(format!("（{ja}）"), format!(" ({en})")),
        }
    }

    /// The note about it.
    pub(in crate::tools) fn note(self) -> Option<String> {
        let (_, en) = self.words();
        let first = en.chars().next()?;
        Some(format!("{}{}.", first.to_ascii_uppercase(), en.split_at(first.len_utf8()).1))
    }

    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Inactive => ("", ""),
            Self::Live => (
                "有効なワークフローのため、変更は本番に即時反映されました",
                "the workflow is active: this change is live in production",
            ),
            Self::LiveWithDraft => (
                "有効なワークフローのため、変更は以前の下書きとともに本番に即時反映されました",
                "the workflow is active: this change and the draft saved before are live in production",
            ),
            Self::SavedAsDraft => (
                "下書きとして保存しました。名前と設定のほかは、本番は変わりません",
                "saved as a draft: production is unchanged, except for a new name or settings",
            ),
            Self::AddedToDraft => (
                "未公開の下書きがあるため、変更は下書きに保存しました。名前と設定のほかは、本番は変わりません。publish: true で下書き全体を公開します",
                "the workflow has an unpublished draft, so this change was saved in it and not published: production is unchanged, \
                 except for a new name or settings; publish: true publishes the whole draft",
            ),
        }
    }
}
