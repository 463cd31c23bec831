//! The sentences of what the tools answered.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::{Value, json};

use super::Cause;
use super::sentence::{Sentence, counted, number, place};
use crate::json::shorten;
use crate::toolkit::{Audience, Locale};
use crate::tools::Error;

/// Sentences, and names in a sentence, at most.
const MOST: usize = 5;

/// Outliers of an execution that succeeded, and facts that divide the items of its nodes, at most.
const OUTLIERS: usize = 3;

/// In which language sentences are written, and for whom.
#[derive(Clone, Copy)]
pub(in crate::tools::view) struct Wording {
    pub locale: Locale,
    /// `None` if what tools say is reworded later.
    pub audience: Option<&'static Audience>,
}

impl Wording {
    /// What n8n replaced with a message of its own, unless it is known: mostly what the other side said.
    pub(super) fn answered(self, error: &Value, said: &str) -> Option<Sentence> {
        let text = error["messages"][0].as_str()?;
        let before = match is_response(text) {
            true => self.locale.choose("応答:", "Response:"),
            false => self.locale.choose("元のメッセージ:", "Original message:"),
        };
        let is_new = !text.is_empty() && !said.contains(text);
        is_new.then(|| Sentence::default().text(format!("{before} {}", shorten(text, 400))))
    }

    /// The item that a node was processing, with its outliers; if it is not known which, the outliers of all of them. `fields`: of
    /// the input.
    pub(super) fn items(self, node: &str, answer: &Value, fields: Option<&Value>) -> Vec<Sentence> {
        let total = known_source(answer).and_then(|source| source["total"].as_u64());
        let total = total.or(answer["input"]["total"].as_u64()).unwrap_or(0);
        let item = item_of(answer).or((total == 1).then_some(0)).filter(|item| *item < total);
        let here = item.map(|item| {
            let to = place(node, &json!({"run": answer["run"]["index"], "side": "input", "item": item}));
            Sentence::default().link(self.item_word(0, item), to)
        });
        let only = here.iter().map(|here| {
            let (ja, one, many) = (
                " を処理中でした（全 {} 件）",
                " was being processed ({} item in total)",
                " was being processed ({} items in total)",
            );
            here.clone().text(counted(self.locale, total, ja, one, many))
        });
        let only: Vec<_> = only.collect();
        let Some((Source { node: name, run, output }, fields)) = source(answer).zip(fields) else { return only };
        let count = fields["items"].as_u64().unwrap_or(0);
        let outliers = || fields["fields"].as_array().into_iter().flatten().filter(|field| field["odd"].is_object());
        if let (Some(here), Some(item)) = (&here, item) {
            let own = outliers().filter(|field| field["odd"]["item"].as_u64() == Some(item)).take(MOST);
            let own: Vec<_> = own
                .map(|field| here.clone().text(": ").then(self.outlier(field, &field["odd"], Some(count))))
                .collect();
            return if own.is_empty() { only } else { own };
        }
        let lines = outliers().take(MOST).map(|field| {
            let at = field["odd"]["item"].as_u64().unwrap_or(0);
            let to = place(name, &json!({"run": run, "out": output, "item": at}));
            let before = self.locale.choose("入力の外れ値: ", "Outlier in the input: ");
            let link = Sentence::default().text(before).link(self.item_word(run, at), to).text(": ");
            link.then(self.outlier(field, &field["odd"], Some(count)))
        });
        lines.collect()
    }

    /// Whether the workflow is the one that was good the last time, or that of the execution that this one retries.
    pub(super) fn edited(self, answer: &Value, retry_of: Option<&str>) -> Option<Sentence> {
        let other = answer["with"].as_str()?;
        let is_retried = retry_of == Some(other);
        let workflow = &answer["workflow"];
        let (names, more) = edited_nodes(workflow);
        let connections = workflow["connections"] == true;
        let than = |sentence: Sentence| sentence.link(format!("#{other}"), json!({ "id": other }));
        if names.is_empty() && !connections {
            // Settings, pinned data and the versions of nodes are not compared.
            let same = match is_retried {
                true => (
                    "パラメーターと接続は再試行元と同じです ",
                    "Parameters and connections are the same as in the run that it retries ",
                ),
                false => (
                    "パラメーターと接続は前回の成功と同じです ",
                    "Parameters and connections are the same as in the last good run ",
                ),
            };
            // Workflows, or parts of them, may not have been compared.
            let is_whole = !answer["truncated"].is_object();
            return is_whole.then(|| than(Sentence::default().text(self.locale.choose(same.0, same.1))));
        }
        let edited = match is_retried {
            true => (
                "再試行元のあとにワークフローが編集されました ",
                "The workflow has been edited since the run that it retries ",
            ),
            false => (
                "前回の成功のあとにワークフローが編集されました ",
                "The workflow has been edited since the last good run ",
            ),
        };
        let edited = self.locale.choose(edited.0, edited.1);
        let mut sentence = than(Sentence::default().strong(edited)).text(":");
        for (at, name) in names.iter().take(MOST).enumerate() {
            let before = if at == 0 { " " } else { ", " };
            let to = place(name, &json!({"tab": "parameters"}));
            sentence = sentence.text(before).link(shorten(name, 60), to);
        }
        let more = names.len().saturating_sub(MOST) as u64 + more;
        if more > 0 {
            sentence = sentence.text(" +").text(number(more));
        }
        if connections {
            let before = if names.is_empty() { " " } else { ", " };
            sentence = sentence.text(before).text(self.locale.choose("接続", "connections"));
        }
        let compare = self.locale.choose("比較", "Compare");
        Some(sentence.text(" · ").link(compare, json!({"view": "compare"})))
    }

    /// What is unusual in the values of an execution that succeeded.
    pub(super) fn success(self, answer: &Value, told: &HashSet<String>) -> Cause {
        let list = |name: &str| answer[name].as_array().map(Vec::as_slice).unwrap_or_default();
        let is_new = |one: &&Value| !told.contains(one["nodeName"].as_str().unwrap_or_default());
        let mut seen = HashSet::new();
        let values: Vec<_> = list("odd")
            .iter()
            .filter(is_new)
            .filter(|one| seen.insert(format!("{}{}{}{}", one["nodeName"], one["run"], one["output"], one["item"])))
            .collect();
        let splits: Vec<_> = list("splits").iter().filter(is_new).collect();
        let more = values.len().saturating_sub(OUTLIERS) + splits.len().saturating_sub(OUTLIERS);
        let more = (more > 0).then(|| self.more(more as u64, answer["truncated"].is_object()));
        let values = values.iter().take(OUTLIERS).map(|one| self.outlier_of_node(one));
        let odd: Vec<_> = values.chain(splits.iter().take(OUTLIERS).map(|one| split(one))).chain(more).collect();
        // What is listed is cut only where there is something to list.
        let is_empty = list("odd").is_empty() && list("splits").is_empty();
        let unseen = self.unseen(answer, is_empty);
        let nothing = odd.is_empty().then(|| self.nothing(unseen.is_none()));
        Cause { odd, nothing, unseen, ..Cause::default() }
    }

    fn outlier_of_node(self, one: &Value) -> Sentence {
        let name = one["nodeName"].as_str().unwrap_or_default();
        let (run, item) = (one["run"].as_u64().unwrap_or(0), one["item"].as_u64().unwrap_or(0));
        let to = place(name, &json!({"run": run, "out": one["output"].as_u64().unwrap_or(0), "item": item}));
        let link = Sentence::default().strong(name).text(": ").link(self.item_word(run, item), to).text(": ");
        link.then(self.outlier(one, one, None))
    }

    /// That there are more findings; how many, unless the list is cut.
    fn more(self, more: u64, is_cut: bool) -> Sentence {
        let words = match is_cut {
            true => self.locale.choose("ほかの外れ値", "More findings").to_owned(),
            false => counted(self.locale, more, "ほか {} 件", "{} more finding", "{} more findings"),
        };
        Sentence::default().link(words, json!({"view": "outliers"}))
    }

    /// That nothing was found, and what was looked at.
    fn nothing(self, saw_values: bool) -> Sentence {
        let found = self.locale.choose("普通と違う点は見つかりませんでした。", "Nothing unusual was found.");
        let looked = match saw_values {
            true => (
                "失敗したノードも、抜けていそうな接続も、外れ値もありません。",
                "No node failed, no connection seems to be missing, and no value is an outlier.",
            ),
            false => (
                "失敗したノードも、抜けていそうな接続もありません。",
                "No node failed, and no connection seems to be missing.",
            ),
        };
        Sentence::default().strong(found).text(format!(" {}", self.locale.choose(looked.0, looked.1)))
    }

    /// That nothing more could be read, and why.
    pub(in crate::tools::view) fn not_read(self, error: &Error) -> Cause {
        let before = self.locale.choose("調べられませんでした。", "It could not be examined further.");
        let unseen = Sentence::default().text(format!("{before} {}", self.told(&error.to_string())));
        Cause { unseen: Some(unseen), ..Cause::default() }
    }

    /// What a tool says, in the reader's words.
    fn told(self, message: &str) -> Cow<'_, str> {
        self.audience.map_or(message.into(), |audience| audience.tell(message))
    }

    /// Which values were not looked at, and why. `is_empty`: the answer lists nothing.
    fn unseen(self, answer: &Value, is_empty: bool) -> Option<Sentence> {
        let notes = answer["notes"].as_array().into_iter().flatten().filter_map(Value::as_str).collect::<Vec<_>>();
        let (before, reason) = match answer["truncated"]["reason"].as_str().filter(|_| is_empty) {
            _ if !notes.is_empty() => (("値は調べていません。", "Values were not examined."), notes.join(" ")),
            Some(reason) => (("一部の値は調べていません。", "Not all values were examined."), reason.to_owned()),
            None => return None,
        };
        let (before, reason) = (self.locale.choose(before.0, before.1), self.told(&reason));
        Some(Sentence::default().text(format!("{before} {reason}")))
    }

    fn item_word(self, run: u64, item: u64) -> String {
        let run = match run {
            0 => String::new(),
            run => format!("{} {} · ", self.locale.choose("ラン", "Run"), number(run)),
        };
        format!("{run}{} {}", self.locale.choose("アイテム", "Item"), number(item))
    }
}

/// The nodes that were changed, added or removed as far as the comparison lists them, and how many it leaves out.
fn edited_nodes(workflow: &Value) -> (Vec<&str>, u64) {
    let mut more = workflow["changedMore"].as_u64().unwrap_or(0);
    let lists = ["changed", "added", "removed"].map(|list| workflow[list].as_array());
    let nodes = lists.into_iter().flatten().flatten();
    let mut names: Vec<_> = nodes.filter_map(|node| node.as_str().or_else(|| node["nodeName"].as_str())).collect();
    names.retain(|name| {
        // `…[+3 nodes]`
        let rest = name.strip_prefix("…[+").and_then(|rest| rest.strip_suffix(" nodes]")?.parse().ok());
        more += rest.unwrap_or(0);
        rest.is_none()
    });
    (names, more)
}

/// Whether n8n has written this from a response: `429 - {"error":"rate limit"}`.
fn is_response(text: &str) -> bool {
    let status = text.split_once(" - ").map_or("", |(status, _)| status);
    status.len() == 3 && status.bytes().all(|byte| byte.is_ascii_digit())
}

/// Where the items of an input came from.
pub(super) struct Source<'a> {
    pub node: &'a str,
    pub run: u64,
    pub output: u64,
}

/// The first known source of the input of a node.
pub(super) fn source(answer: &Value) -> Option<Source<'_>> {
    let source = known_source(answer)?;
    let number = |member: &str| source[member].as_u64().unwrap_or(0);
    Some(Source { node: source["nodeName"].as_str()?, run: number("runIndex"), output: number("outputIndex") })
}

fn known_source(answer: &Value) -> Option<&Value> {
    answer["input"]["sources"].as_array()?.iter().find(|source| source["nodeName"].is_string())
}

/// What divides the items of a node, as a sentence that leads to its fields.
fn split(one: &Value) -> Sentence {
    let text = |member: &str| one[member].as_str().unwrap_or_default();
    let name = text("nodeName");
    Sentence::default()
        .strong(name)
        .text(": ")
        .link(shorten(text("split"), 300), place(name, &json!({"tab": "fields"})))
}

/// The item that an error names: n8n keeps its number in the context, or writes it at the end of a message of a Code node.
/// A Code node that runs once names an item that it returned, not one of its input.
fn item_of(answer: &Value) -> Option<u64> {
    if runs_once(answer) {
        return None;
    }
    let error = &answer["error"];
    let in_message = || {
        let (_, inside) = error["message"].as_str()?.trim_end().strip_suffix(']')?.rsplit_once('[')?;
        // `[item 7]`, `[line 3, for item 7]`
        let (before, item) = inside.rsplit_once("item ")?;
        let line = before.strip_prefix("line ").and_then(|before| before.strip_suffix(", for "));
        let is_n8ns = before.is_empty() || line.is_some_and(|line| line.parse::<u64>().is_ok());
        is_n8ns.then(|| item.parse().ok())?
    };
    error["context"]["itemIndex"].as_u64().or_else(in_message)
}

/// Whether it is a Code node that runs once for all its items.
fn runs_once(answer: &Value) -> bool {
    let is_code = answer["nodeType"].as_str().is_some_and(|name| name.ends_with(".code"));
    is_code && answer["parameters"]["mode"] != "runOnceForEachItem"
}

#[cfg(test)]
mod tests {
    use super::*;

    const EN: Wording = Wording { locale: Locale::En, audience: None };
    const JA: Wording = Wording { locale: Locale::Ja, audience: None };

    fn plain(sentences: impl IntoIterator<Item = Sentence>) -> Vec<String> {
        sentences.into_iter().map(|sentence| sentence.plain()).collect()
    }

    fn all(cause: Cause) -> Vec<String> {
        let (found, unseen) = cause.with(Vec::new());
        plain(found.into_iter().chain(unseen))
    }

    /// An answer about a node that failed, whose input came from another one.
    fn failed(error: &Value, total: u64) -> Value {
        let source = json!({"nodeName": "Read", "runIndex": 0, "outputIndex": 0, "total": total});
        json!({"run": {"index": 0}, "nodeType": "n8n-nodes-base.code", "parameters": {"mode": "runOnceForEachItem"}, "error": error,
            "input": {"total": total, "sources": [source]}})
    }

    #[test]
    fn the_item_that_was_worked_on_is_named_with_its_outlier() {
        let field = |odd: Value, more: Value| {
            let mut field = json!({"path": "customer.address", "odd": odd});
            field.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            json!({"items": 500, "fields": [field]})
        };
        let null = json!({"item": 287, "value": null});
        let text = json!({"item": 287, "value": "7"});
        let fields = [
            field(null.clone(), json!({"types": {"object": 499, "null": 1}})),
            field(json!({"item": 287, "missing": true}), json!({"type": "object", "missing": 1})),
            field(text.clone(), json!({"type": "string", "values": [["EUR", 499], ["7", 1]]})),
            field(text.clone(), json!({"type": "string"})),
            field(text.clone(), json!({"types": {"string": 400, "null": 100}, "values": [["EUR", 399], ["7", 1]]})),
            field(text.clone(), json!({"types": {"object": 300, "null": 199, "string": 1}})),
            field(text, json!({"type": "string", "missing": 496, "values": [["7", 1], ["8", 3]]})),
            field(json!({"item": 287, "missing": true}), json!({"type": "object", "missing": 3})),
        ];
        let words = [
            [
                "customer.address is null; it is an object in the other 499",
                "customer.address は null です。ほかの 499 件ではオブジェクトです",
            ],
            [
                "customer.address is missing; the other 499 have it",
                "customer.address がありません。ほかの 499 件にはあります",
            ],
            [
                "customer.address is \"7\"; it is \"EUR\" in the other 499",
                "customer.address は \"7\" です。ほかの 499 件では \"EUR\" です",
            ],
            [
                "customer.address is \"7\"; it is unlike the others",
                "customer.address は \"7\" です。ほかの値とは違います",
            ],
            [
                "customer.address is \"7\"; it is \"EUR\" in 399 others",
                "customer.address は \"7\" です。ほかの 399 件では \"EUR\" です",
            ],
            [
                "customer.address is \"7\"; it is an object in 300 others",
                "customer.address は \"7\" です。ほかの 300 件ではオブジェクトです",
            ],
            [
                "customer.address is \"7\"; 496 others do not have it",
                "customer.address は \"7\" です。ほかの 496 件にはありません",
            ],
            [
                "customer.address is missing; 497 others have it",
                "customer.address がありません。ほかの 497 件にはあります",
            ],
        ];
        for (fields, [english, japanese]) in fields.iter().zip(words) {
            // n8n writes the number of an item into the context, or at the end of the message.
            for error in [
                json!({"context": {"itemIndex": 287}}),
                json!({"message": "A 'json' property isn't an object [item 287]"}),
                json!({"message": "x is not defined [line 3, for item 287]"}),
            ] {
                let said = |wording: Wording| plain(wording.items("Send", &failed(&error, 500), Some(fields)));
                assert_eq!(said(EN), [format!("Item 287: {english}")]);
                assert_eq!(said(JA), [format!("アイテム 287: {japanese}")]);
            }
        }
        let mut once = failed(&json!({"message": "Invalid output format [item 2]", "context": {"itemIndex": 2}}), 500);
        once["parameters"] = json!({});
        let other = |message: &str| failed(&json!({ "message": message }), 500);
        let others = ["no [item] [7]", "Could not find [Order item 7]", "None left [of this, for item 7]"].map(other);
        for unknown in others.into_iter().chain([once]) {
            assert_eq!(
                plain(EN.items("Send", &unknown, Some(&fields[0]))),
                ["Outlier in the input: Item 287: customer.address is null; it is an object in the other 499"]
            );
        }
        let alone = |wording: Wording| plain(wording.items("Send", &failed(&json!({}), 1), None));
        assert_eq!(alone(EN), ["Item 0 was being processed (1 item in total)"]);
        assert_eq!(alone(JA), ["アイテム 0 を処理中でした（全 1 件）"]);
        assert_eq!(plain(EN.items("Send", &failed(&json!({"context": {"itemIndex": 9}}), 2), None)), [""; 0]);
    }

    #[test]
    fn an_edit_is_told_since_the_run_that_is_compared() {
        let edits =
            json!({"with": "7", "workflow": {"changed": [{"nodeName": "Send", "paths": []}], "connections": true}});
        let same = json!({"with": "7"});
        let said = |wording: Wording, answer: &Value, retry_of| plain(wording.edited(answer, retry_of)).concat();
        for (retry_of, english, japanese, alike) in [
            (
                None,
                "The workflow has been edited since the last good run #7: Send, connections · Compare",
                "前回の成功のあとにワークフローが編集されました #7: Send, 接続 · 比較",
                "Parameters and connections are the same as in the last good run #7",
            ),
            (
                Some("7"),
                "The workflow has been edited since the run that it retries #7: Send, connections · Compare",
                "再試行元のあとにワークフローが編集されました #7: Send, 接続 · 比較",
                "Parameters and connections are the same as in the run that it retries #7",
            ),
        ] {
            assert_eq!(said(EN, &edits, retry_of), english);
            assert_eq!(said(JA, &edits, retry_of), japanese);
            assert_eq!(said(EN, &same, retry_of), alike);
        }
        let workflow = json!({"changed": [{"nodeName": "A"}], "changedMore": 2, "added": ["B", "C", "D", "E", "F", "…[+1200 nodes]"]});
        let cut = json!({"with": "7", "workflow": workflow, "truncated": {"reason": "…"}});
        assert!(said(EN, &cut, None).contains(": A, B, C, D, E +1,203 · Compare"), "{}", said(EN, &cut, None));
        let fields = json!({"with": "7", "workflow": {"added": ["A"]}, "truncated": {"reason": "…"}});
        assert!(said(EN, &fields, None).contains(": A · Compare"), "only lists of fields were cut");
        assert_eq!(said(EN, &json!({"with": "7", "truncated": {"reason": "…"}}), None), "", "not all was compared");
        // What it retries may be deleted by now: then it was compared with a good run.
        assert!(said(EN, &same, Some("6")).contains("the last good run"));
        assert_eq!(said(EN, &json!({}), None), "");
    }

    #[test]
    fn elements_of_lists_are_not_counted_as_items() {
        let said = |odd: Value, more: Value| {
            let mut field = json!({"path": "lines[].tax", "odd": odd});
            field.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let error = json!({"context": {"itemIndex": 287}});
            plain(EN.items("Send", &failed(&error, 500), Some(&json!({"items": 500, "fields": [field]}))))
        };
        let missing = json!({"item": 287, "missing": true});
        assert_eq!(
            said(missing, json!({"type": "number", "missing": 1})),
            ["Item 287: lines[].tax is missing; others have it"]
        );
        let null = json!({"item": 287, "value": null});
        let kinds = json!({"types": {"number": 1498, "null": 1}});
        assert_eq!(said(null, kinds), ["Item 287: lines[].tax is null; it is a number in 1,498 others"]);
    }

    #[test]
    fn only_what_the_other_side_answered_is_a_response() {
        let said = |text: &str| EN.answered(&json!({"messages": [text]}), "").map(|sentence| sentence.plain()).unwrap();
        assert_eq!(said(r#"429 - {"error":"rate limit"}"#), r#"Response: 429 - {"error":"rate limit"}"#);
        assert_eq!(said("connect ECONNREFUSED 127.0.0.1:1"), "Original message: connect ECONNREFUSED 127.0.0.1:1");
    }

    #[test]
    fn nothing_unusual_is_only_said_of_what_was_looked_at() {
        let found = |answer: Value| {
            let cause = EN.success(&answer, &HashSet::from(["Told".to_owned()]));
            all(cause)
        };
        let flow = "No node failed, and no connection seems to be missing.";
        assert_eq!(
            found(json!({"items": 3, "odd": []})),
            [
                "Nothing unusual was found. No node failed, no connection seems to be missing, and no value is an outlier."
            ]
        );
        for (answer, unseen) in [
            (json!({"notes": ["n8n redacted the data."]}), "Values were not examined. n8n redacted the data."),
            (
                json!({"truncated": {"reason": "1 item of more than 1 MiB was not read."}}),
                "Not all values were examined. 1 item of more than 1 MiB was not read.",
            ),
        ] {
            assert_eq!(found(answer), [format!("Nothing unusual was found. {flow}"), unseen.to_owned()]);
        }
        let odd = |node: &str, item: u64| json!({"nodeName": node, "item": item, "path": "a", "value": null});
        let split =
            |node: &str| json!({"nodeName": node, "items": 9, "split": "a: 5 numbers, 4 texts (item 5: \"x\")"});
        let many: Vec<_> = (0..5).map(|item| odd("Read", item)).collect();
        assert_eq!(
            found(
                json!({"odd": [odd("Told", 1), odd("Read", 1), odd("Read", 1)], "splits": [split("Told"), split("Write")]})
            ),
            ["Read: Item 1: a is null", "Write: a: 5 numbers, 4 texts (item 5: \"x\")"]
        );
        assert_eq!(found(json!({ "odd": many }))[3], "2 more findings");
        assert_eq!(found(json!({"odd": many, "truncated": {"reason": "9 more outliers."}}))[3], "More findings");
        assert_eq!(
            all(JA.success(&json!({"notes": ["n8n redacted the data."]}), &HashSet::new())),
            [
                "普通と違う点は見つかりませんでした。 失敗したノードも、抜けていそうな接続もありません。",
                "値は調べていません。 n8n redacted the data."
            ]
        );
    }
}
