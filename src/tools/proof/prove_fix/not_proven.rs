//! What a verdict does not cover, in sentences.

use super::Case;
use super::other_requests::{Answered, answered};
use crate::execution::recording::{RecordedNode, Recording};
use crate::toolkit::Locale;
use crate::tools::proof::differences::Difference;
use crate::tools::proof::revisions::Revisions;
use crate::units::counted;
use crate::workflow::parsed::ParsedNode;
use crate::workflow::replay::{DATE_TIME, depends_on_more_than_items, runs_for_real};

/// What is not proven by the control, which differs from the recording at some nodes, and the changed copy.
pub(super) fn not_proven(
    case: &Case<'_>,
    control: &[Difference],
    now: &Recording,
    differs: &[Difference],
) -> Vec<String> {
    let mut sentences: Vec<_> = of_base(case.locale, case.revisions).into_iter().collect();
    let mut say = |ja: String, en: String| sentences.push(case.locale.choose(ja, en));
    if case.recording.header.retry_of.is_some() {
        say(
            "この実行は再試行です。最初のノードは別のバージョンのワークフローで実行された可能性があります。".to_owned(),
            "The execution is a retry: its first nodes may have run another version of the workflow.".to_owned(),
        );
    }
    // Of the unchanged workflow alone, they are the answer.
    let in_control = if case.revisions.is_original() { &[] } else { control };
    let in_control = in_control.iter().map(|one| one.name.as_str()).collect::<Vec<_>>().join(", ");
    if !in_control.is_empty() {
        say(
            format!("変更前のワークフローが記録と同じ動作をしなかったノード: {in_control}。"),
            format!("The unchanged workflow did not do the same again at: {in_control}."),
        );
    }
    let other_input = with_other_input(case, now).join(", ");
    if !other_input.is_empty() {
        say(
            format!(
                "記録と異なる入力に対して記録から応答したノード: {other_input}。後続の結果はその記録に基づいています。"
            ),
            format!(
                "Answered from the recording, with other input than recorded: {other_input}. What follows rests on their recorded answers."
            ),
        );
    }
    let depends = depend_on_more(case, now, differs).join(", ");
    if !depends.is_empty() {
        say(
            format!("時刻、乱数など、アイテム以外のものに依存するノード: {depends}。"),
            format!("Depend on the time, chance or something else outside of the items: {depends}."),
        );
    }
    let idle: Vec<_> = case.expected.iter().filter(|one| one.is_idle(now)).map(|one| one.words()).collect();
    if !idle.is_empty() {
        let idle = idle.join(", ");
        say(
            format!("アイテムが返されなかったために満たされた期待: {idle}。"),
            format!("Met only because no item was returned there: {idle}."),
        );
    }
    let replaced = with_replaced(case, control, now, differs).join(", ");
    if !replaced.is_empty() {
        say(
            format!(
                "U+FFFD を含むノード: {replaced}。n8n の API は大きなアイテムの文字を U+FFFD に置き換えることがあります。--store を使うと正確に読み取れます。"
            ),
            format!(
                "Contain U+FFFD, which n8n's API puts for some characters of large items: {replaced}. With --store they are read exactly."
            ),
        );
    }
    sentences
}

/// What is unknown without the version that ran.
pub(super) fn of_base(locale: Locale, revisions: &Revisions) -> Option<String> {
    (revisions.is_snapshot && !revisions.is_original()).then(|| {
        locale.choose(
            "実行されたバージョンが n8n にないため、その後にノードから削除されたパラメーターは、変更として検出されないことがあります。",
            "n8n does not have the version that ran, so parameters that were removed from nodes since then may not count as changes.",
        )
        .to_owned()
    })
}

/// The node that had failed received fewer items, as after a filter, or in a loop that ends earlier.
pub(super) fn of_fewer_items(locale: Locale, node: &str, then: u64, now: u64) -> Option<String> {
    (now < then).then(|| {
        locale.choose(
            format!("{node} が受け取ったアイテムは {then} 件から {now} 件に減りました。失敗の原因となったアイテムが含まれていない可能性があります。"),
            format!(
                "{node} received {} instead of {then}: what it failed at may not have reached it.",
                counted(now, "item", "items")
            ),
        )
    })
}

/// An earlier good execution that would now ask for something that was not recorded.
pub(super) fn of_asking_good(locale: Locale, id: &str, nodes: &[String]) -> String {
    let nodes = nodes.join(", ");
    locale.choose(
        format!("以前に成功した実行 {id} は比較できません。{nodes} に記録のない応答が必要です。"),
        format!(
            "The earlier good execution {id} could not be compared: {nodes} would need an answer that was not recorded."
        ),
    )
}

/// Nodes of an earlier good execution that return something else each time.
pub(super) fn of_changing_good(locale: Locale, id: &str, nodes: &[String]) -> String {
    let nodes = nodes.join(", ");
    locale.choose(
        format!("以前に成功した実行 {id} では、時刻や乱数に依存する次のノードを比較していません: {nodes}。"),
        format!(
            "Of the earlier good execution {id}, nodes that depend on the time or chance were not compared: {nodes}."
        ),
    )
}

/// Copies that could not be removed.
pub(super) fn of_left(locale: Locale, left: &[String]) -> Option<String> {
    let ids = left.join(", ");
    (!ids.is_empty()).then(|| {
        locale.choose(
            format!("ワークフローのコピーが n8n に残っています: {ids}。削除してください。10 分後以降の prove_fix も削除します。"),
            format!("A copy was left in n8n: workflow {ids}. Delete it; prove_fix also does, 10 minutes later."),
        )
    })
}

/// The nodes that were answered from the recording, with other input than recorded.
fn with_other_input<'a>(case: &Case<'a>, now: &'a Recording) -> Vec<&'a str> {
    let sorted = |mut runs: Vec<Option<Vec<u64>>>| {
        runs.iter_mut().flatten().for_each(|items| items.sort_unstable());
        runs
    };
    let has_other_input = |one: &Answered<'_>| {
        let [before, after] = one.items(case.recording, now).map(sorted);
        before != after
    };
    answered(case, now).filter(has_other_input).map(|one| one.name).collect()
}

/// The nodes that behaved differently in a copy, and whose items have characters that n8n may have replaced.
fn with_replaced<'a>(
    case: &Case<'a>,
    control: &'a [Difference],
    now: &Recording,
    differs: &'a [Difference],
) -> Vec<&'a str> {
    let is_replaced = |node: Option<&RecordedNode>| {
        node.is_some_and(|node| node.runs.iter().flat_map(|run| &run.outputs).any(|output| output.replaced > 0))
    };
    let mut names: Vec<_> = control.iter().chain(differs).map(|one| one.name.as_str()).collect();
    names.retain(|name| {
        let again = case.revisions.name_now(name).and_then(|name| now.nodes.get(name));
        is_replaced(case.recording.nodes.get(*name)) || is_replaced(again)
    });
    names.sort_unstable();
    names.dedup();
    names
}

/// The nodes that ran for real and depend on more than their items.
pub(super) fn depend_on_more<'a>(case: &Case<'a>, now: &Recording, differs: &[Difference]) -> Vec<&'a str> {
    let Case { revisions, played, .. } = *case;
    let ran_for_real = |node: &&ParsedNode| {
        let is_real = revisions.name_then(&node.name).map_or(runs_for_real(node), |then| !played.contains(then));
        is_real && now.nodes.contains_key(&node.name)
    };
    // One without a date takes the current one, which only its items show.
    let has_other_date = |node: &ParsedNode| {
        node.is(DATE_TIME) && revisions.is_original() && differs.iter().any(|one| one.name == node.name)
    };
    let nodes = revisions.now.workflow.nodes.iter().filter(ran_for_real);
    let depends = nodes.filter(|node| depends_on_more_than_items(node) || has_other_date(node));
    depends.map(|node| node.name.as_str()).collect()
}
