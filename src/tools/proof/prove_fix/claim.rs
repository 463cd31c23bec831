//! The sentence for the agent to repeat: a table derives it from the verdict, per language; it is never free text.

use super::verdict::{Facts, Verdict};
use crate::execution::recording::Recording;
use crate::json::shorten;
use crate::toolkit::Locale;
use crate::tools::executions::short_version;
use crate::tools::proof::differences::Difference;
use crate::tools::proof::recorded::{MESSAGE_CHARS, NAMES};
use crate::tools::proof::revisions::{Kind, Revisions};
use crate::units::counted;

/// The sentence for the agent to repeat.
pub(super) fn claim(locale: Locale, recording: &Recording, revisions: &Revisions, facts: &Facts) -> String {
    let words = Words { recording, revisions, facts };
    match locale {
        Locale::Ja => words.japanese(),
        Locale::En => words.english(),
    }
}

/// The parts of the sentences.
struct Words<'a> {
    recording: &'a Recording,
    revisions: &'a Revisions,
    facts: &'a Facts,
}

impl Words<'_> {
    fn english(&self) -> String {
        const OUTSIDE: &str = "Outside services were not called.";
        let (id, what, failed, now) = (&self.facts.id, self.what_english(), self.failed(), self.fails_now());
        let with = format!("With its recorded data, execution {id}");
        let nothing = |names: String| if names.is_empty() { "nothing".to_owned() } else { names };
        let in_and_out =
            |[received, returned]: [u64; 2]| format!("{} in, {returned} out", counted(received, "item", "items"));
        let items = self.facts.node.as_ref().map(|node| in_and_out(node.items));
        let passes = items.as_ref().filter(|_| self.passed());
        let expected = self.expected(|what, [then, now]| format!("{what} ({then} recorded, {now} now)"));
        match self.facts.verdict {
            Verdict::Fixed if self.facts.failed.is_none() => {
                format!("{with} returns in {what} what was expected, which it had not: {expected}. {OUTSIDE}")
            }
            Verdict::NotMet => format!("{with} does not return in {what} what was expected: {expected}."),
            Verdict::Fixed => {
                format!("{with} no longer fails at {failed} in {what}: {}. {OUTSIDE}", items.unwrap_or_default())
            }
            Verdict::FixedButChanges => format!(
                "{with} no longer fails at {failed} in {what}, but earlier good executions would now return something else: {}. {OUTSIDE}",
                self.changed_good()
            ),
            Verdict::StillFails => format!("{with} still fails at {failed} in {what}, with the same message."),
            Verdict::FailsDifferently => {
                format!("{with} still fails at {failed} in {what}, with another message: {now}.")
            }
            Verdict::FailsElsewhere if self.facts.failed.is_none() => {
                format!("{with}, which had succeeded, fails in {what} at {now}.")
            }
            Verdict::FailsElsewhere if self.passed() => {
                format!("{with} passes {failed} in {what}, but fails at {now}.")
            }
            Verdict::FailsElsewhere if self.facts.node.is_none() => {
                format!("{with} does not reach {failed} in {what}: it fails at {now}.")
            }
            Verdict::FailsElsewhere => format!("{with} fails in {what} at {now}."),
            Verdict::NotReached => format!(
                "{with} does not reach {failed} in {what}: whether the change fixes it was not shown. Ran instead: {}.",
                nothing(list(&self.facts.ran_new))
            ),
            Verdict::ErrorNowInItems => {
                format!("{with} ends in {what}, but {failed} goes on after an error: it is hidden, not fixed.")
            }
            Verdict::Bypassed => {
                format!("{with} ends in {what} because {failed} is disabled: nothing about it was shown.")
            }
            Verdict::Emptied => format!("{with} ends in {what}, but {failed} returned nothing."),
            Verdict::OutputsChanged => {
                format!(
                    "{with} returns something else in {what} at: {}. {OUTSIDE}",
                    nothing(list(&names(&self.facts.differs)))
                )
            }
            Verdict::SameOutputs => format!("{with} returns the same in {what} at every node. {OUTSIDE}"),
            Verdict::NeedsOutside => {
                let passes = passes.map(|items| format!("{failed} passes ({items}), but ")).unwrap_or_default();
                format!(
                    "Nothing is proven: in {what} {passes}{} would need an answer that was not recorded, and outside services are not \
                     called.",
                    nothing(self.asked())
                )
            }
            Verdict::NotTested => format!(
                "Nothing is proven: the change or the failure is in a node that reaches outside, which is answered from the recording: {}.",
                self.untested(|changed| format!("{changed} changed, {failed} failed"))
            ),
            Verdict::NotReproduced => {
                let recorded = self.recorded_failure().map(|failure| format!(" (recorded: {failure})"));
                format!(
                    "Nothing is proven: the unchanged workflow did not do the same again with the recorded data of execution {id}{}.",
                    recorded.unwrap_or_default()
                )
            }
            Verdict::Reproduced => {
                format!("{with} does the same again at every node in the unchanged workflow. {OUTSIDE}")
            }
            Verdict::Unchanged => format!("Nothing is proven: {what} is the workflow that execution {id} ran."),
        }
    }

    fn japanese(&self) -> String {
        const OUTSIDE: &str = "外部サービスは呼び出していません。";
        let (id, what, failed, now) = (&self.facts.id, self.what_japanese(), self.failed(), self.fails_now());
        let with = format!("実行 {id} の記録データによる再実行では、{what}で");
        let nothing = |names: String| if names.is_empty() { "なし".to_owned() } else { names };
        let in_and_out = |[received, returned]: [u64; 2]| format!("入力 {received} 件、出力 {returned} 件");
        let items = self.facts.node.as_ref().map(|node| in_and_out(node.items));
        let passes = items.as_ref().filter(|_| self.passed());
        let expected = self.expected(|what, [then, now]| format!("{what}（記録 {then} 件、今回 {now} 件）"));
        match self.facts.verdict {
            Verdict::Fixed if self.facts.failed.is_none() => {
                format!("{with}、以前は得られなかった期待どおりの値が得られました: {expected}。{OUTSIDE}")
            }
            Verdict::NotMet => format!("{with}期待した値が得られませんでした: {expected}。"),
            Verdict::Fixed => {
                format!("{with} {failed} は失敗しなくなりました（{}）。{OUTSIDE}", items.unwrap_or_default())
            }
            Verdict::FixedButChanges => format!(
                "{with} {failed} は失敗しなくなりましたが、以前に成功した実行の出力が変わります: {}。{OUTSIDE}",
                self.changed_good()
            ),
            Verdict::StillFails => format!("{with} {failed} が同じメッセージで失敗します。"),
            Verdict::FailsDifferently => format!("{with} {failed} が別のメッセージで失敗します: {now}。"),
            Verdict::FailsElsewhere if self.facts.failed.is_none() => {
                format!("{with}、成功していた実行が失敗します: {now}。")
            }
            Verdict::FailsElsewhere if self.passed() => {
                format!("{with} {failed} は通過しましたが、別のノードで失敗します: {now}。")
            }
            Verdict::FailsElsewhere if self.facts.node.is_none() => {
                format!("{with} {failed} に到達せず、別のノードで失敗します: {now}。")
            }
            Verdict::FailsElsewhere => format!("{with}別のノードで失敗します: {now}。"),
            Verdict::NotReached => format!(
                "{with} {failed} に到達しませんでした。変更で直ったかどうかは示されていません。代わりに実行されたノード: {}。",
                nothing(list(&self.facts.ran_new))
            ),
            Verdict::ErrorNowInItems => format!(
                "{with}実行は終了しますが、{failed} はエラーの後も続行します。エラーは隠れただけで、直っていません。"
            ),
            Verdict::Bypassed => {
                format!(
                    "{with}実行は終了しますが、{failed} が無効になっているためです。{failed} については何も示されていません。"
                )
            }
            Verdict::Emptied => format!("{with}実行は終了しますが、{failed} は何も返しませんでした。"),
            Verdict::OutputsChanged => {
                format!(
                    "{with}次のノードの出力が変わりました: {}。{OUTSIDE}",
                    nothing(list(&names(&self.facts.differs)))
                )
            }
            Verdict::SameOutputs => format!("{with}すべてのノードの出力が同じでした。{OUTSIDE}"),
            Verdict::NeedsOutside => {
                let passes = passes.map(|items| format!("{failed} は通過しましたが（{items}）、")).unwrap_or_default();
                format!(
                    "何も証明されていません: {what}で{passes}{} には記録のない応答が必要です。外部サービスは呼び出しません。",
                    nothing(self.asked())
                )
            }
            Verdict::NotTested => format!(
                "何も証明されていません: 変更または失敗は、外部に接続するため記録から応答するノードにあります: {}。",
                self.untested(|changed| format!("変更は {changed}、失敗は {failed}"))
            ),
            Verdict::NotReproduced => {
                let recorded = self.recorded_failure().map(|failure| format!("（記録: {failure}）"));
                format!(
                    "何も証明されていません: 変更前のワークフローが、実行 {id} の記録データで同じ動作をしませんでした{}。",
                    recorded.unwrap_or_default()
                )
            }
            Verdict::Reproduced => {
                format!(
                    "実行 {id} の記録データによる再実行では、変更前のワークフローがすべてのノードで同じ動作をしました。{OUTSIDE}"
                )
            }
            Verdict::Unchanged => format!("何も証明されていません: {what}は実行 {id} のワークフローと同じです。"),
        }
    }

    /// What was tested: `draft 22bbd25a`.
    fn what_english(&self) -> String {
        let what = match self.revisions.kind {
            Kind::Draft => "draft",
            Kind::Published => "published version",
            Kind::Version => "version",
            Kind::File => "the workflow file",
            Kind::Original => "the unchanged workflow",
        };
        self.version().map_or(what.to_owned(), |version| format!("{what} {version}"))
    }

    fn what_japanese(&self) -> String {
        let what = match self.revisions.kind {
            Kind::Draft => "下書き",
            Kind::Published => "公開中のバージョン",
            Kind::Version => "バージョン",
            Kind::File => "ワークフローのファイル",
            Kind::Original => "変更前のワークフロー",
        };
        self.version().map_or(what.to_owned(), |version| format!("{what} {version} "))
    }

    fn version(&self) -> Option<String> {
        self.revisions.version_id.as_deref().map(short_version)
    }

    /// Whether the node that had failed went well.
    fn passed(&self) -> bool {
        self.facts.passed == Some(true)
    }

    fn failed(&self) -> &str {
        self.facts.failed.as_ref().map_or("", |(node, _)| node)
    }

    fn fails_now(&self) -> String {
        self.facts.fails_now.as_ref().map(failure).unwrap_or_default()
    }

    fn recorded_failure(&self) -> Option<String> {
        self.facts.failed.as_ref().filter(|(_, message)| !message.is_empty()).map(failure)
    }

    /// What was expected, and how often it occurred: recorded, and now.
    fn expected(&self, words: impl Fn(&str, [u64; 2]) -> String) -> String {
        self.facts.expected.iter().map(|(what, hits)| words(what, *hits)).collect::<Vec<_>>().join("; ")
    }

    /// The earlier good executions that return something else, with the nodes.
    fn changed_good(&self) -> String {
        let changed = self.facts.good.iter().filter(|good| !good.differs.is_empty());
        changed.map(|good| format!("{} ({})", good.id, list(&good.differs))).collect::<Vec<_>>().join("; ")
    }

    /// The nodes for whose requests there is no recorded answer.
    fn asked(&self) -> String {
        match (self.facts.unanswered.as_slice(), &self.facts.fails_now) {
            ([], Some((node, _))) => node.clone(),
            ([], None) => list(&self.facts.ran_new),
            (unanswered, _) => list(unanswered),
        }
    }

    /// The nodes of the change or of the failure; `both` phrases them if they differ.
    fn untested(&self, both: impl Fn(String) -> String) -> String {
        match (&self.facts.failed, self.revisions.changed.as_slice()) {
            (Some((failed, _)), []) => failed.clone(),
            (Some((failed, _)), changed) if !changed.contains(failed) && self.recording.nodes.contains_key(failed) => {
                both(list(changed))
            }
            (_, changed) => list(changed),
        }
    }
}

fn names(differs: &[Difference]) -> Vec<String> {
    differs.iter().map(|one| one.name.clone()).collect()
}

/// A node and its message: `Price: no price`.
fn failure((node, message): &(String, String)) -> String {
    format!("{node}: {}", shorten(message, MESSAGE_CHARS))
}

fn list(names: &[String]) -> String {
    names.iter().take(NAMES).map(|name| shorten(name, 80)).collect::<Vec<_>>().join(", ")
}
