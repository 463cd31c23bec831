//! Findings that need more than the summary: request and answer of a failed node, the item that it was working on with its outliers,
//! what was edited since the last good run; and the outliers of an execution that succeeded.
//!
//! All of it comes from the tools, called as any client calls them. None of it is essential: what cannot be read is left out.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::sentence::{Sentence, counted, grouped, place};
use super::{Cause, unescaped};
use crate::json::shorten;
use crate::n8n::Progress;
use crate::toolkit::Locale;
use crate::tools::executions::{compare_executions, get_execution_by_node, get_execution_fields};
use crate::tools::{Context, Tool};

/// The token budget of each question.
const TOKENS: u64 = 8000;

/// The most sentences, and the most names in a sentence.
const MOST: usize = 5;

/// The most outliers of an execution that succeeded.
const ODD: usize = 3;

/// The execution that the questions are about.
pub(in crate::tools::view) struct Asked<'a> {
    pub context: &'a Arc<Context>,
    pub id: &'a str,
    pub ignore_size_limit: bool,
    pub locale: Locale,
}

impl Asked<'_> {
    /// The answer of a tool about this execution; `None` if it has none.
    async fn ask(&self, tool: &'static Tool, arguments: Value) -> Option<Value> {
        let Value::Object(mut given) = arguments else { return None };
        given.insert("id".to_owned(), self.id.into());
        given.insert("maxTokens".to_owned(), TOKENS.into());
        if self.ignore_size_limit {
            given.insert("ignoreDataSizeLimit".to_owned(), true.into());
        }
        let answer = tool.run(self.context.clone(), given, Progress::default()).await.ok()?;
        let mut answer: Map<String, Value> = serde_json::from_str(&answer).ok()?;
        Some(answer.remove("data").unwrap_or(Value::Object(answer)))
    }

    /// Why a node failed. `said`: what the summary already says.
    pub(in crate::tools::view) async fn of_failure(&self, node: &str, said: &[&str]) -> Cause {
        let mut cause = Cause::default();
        if let Some(answer) = self.ask(&get_execution_by_node::TOOL, json!({"nodeName": node, "limit": 1})).await {
            cause.request = request(&answer).map(|request| Sentence::default().code(&request, 300));
            cause.answered = self.answered(&answer["error"], said);
            cause.items = self.items(node, &answer).await;
        }
        cause
    }

    /// What the other side answered, unless the summary says it.
    fn answered(&self, error: &Value, said: &[&str]) -> Option<Sentence> {
        let text = unescaped(error["messages"][0].as_str()?);
        let is_new = !text.is_empty() && !said.iter().any(|said| said.contains(text.as_str()));
        let before = self.locale.choose("応答:", "It answered:");
        is_new.then(|| Sentence::default().text(format!("{before} {}", shorten(&text, 400))))
    }

    /// The item that the node was working on, and its outliers; if the item is not known, the outliers of all items.
    async fn items(&self, node: &str, answer: &Value) -> Vec<Sentence> {
        let (error, input) = (&answer["error"], &answer["input"]);
        let sources = input["sources"].as_array().map(Vec::as_slice).unwrap_or_default();
        let source = sources.iter().find(|source| source["nodeName"].is_string());
        let total = source.and_then(|source| source["total"].as_u64()).or(input["total"].as_u64()).unwrap_or(0);
        let known = error["context"]["itemIndex"].as_u64().or(error["itemIndex"].as_u64());
        let item = known.or((total == 1).then_some(0)).filter(|item| *item < total);
        let here = item.map(|item| {
            let to = place(node, &json!({"run": answer["run"]["index"], "side": "input", "item": item}));
            Sentence::default().link(self.item_word(0, item), to)
        });
        let only = here.iter().map(|here| {
            let of = grouped(total);
            let words =
                self.locale.choose(format!(" を処理中でした（全 {of} 件）"), format!(" was being worked on, of {of}"));
            here.clone().text(words)
        });
        let only: Vec<_> = only.collect();
        let Some(source) = source else { return only };
        let name = source["nodeName"].as_str().unwrap_or_default();
        let (run, output) = (source["runIndex"].as_u64().unwrap_or(0), source["outputIndex"].as_u64().unwrap_or(0));
        let asked = json!({"nodeName": name, "runIndex": run, "outputIndex": output});
        let Some(fields) = self.ask(&get_execution_fields::TOOL, asked).await else { return only };
        let count = fields["items"].as_u64().unwrap_or(0);
        let odd = || fields["fields"].as_array().into_iter().flatten().filter(|field| field["odd"].is_object());
        if let (Some(here), Some(item)) = (&here, item) {
            let own = odd().filter(|field| field["odd"]["item"].as_u64() == Some(item)).take(MOST);
            let own: Vec<_> =
                own.map(|field| here.clone().text(": ").then(self.odd(field, &field["odd"], Some(count)))).collect();
            return if own.is_empty() { only } else { own };
        }
        let lines = odd().take(MOST).map(|field| {
            let at = field["odd"]["item"].as_u64().unwrap_or(0);
            let to = place(name, &json!({"run": run, "out": output, "item": at}));
            let before = self.locale.choose("入力の中で普通と違う値: ", "Unusual in what came in: ");
            let link = Sentence::default().text(before).link(self.item_word(run, at), to).text(" ");
            link.then(self.odd(field, &field["odd"], Some(count)))
        });
        lines.collect()
    }

    /// Whether the workflow has changed since the last good run.
    pub(in crate::tools::view) async fn edited(&self) -> Option<Sentence> {
        let answer = self.ask(&compare_executions::TOOL, json!({})).await?;
        let other = answer["with"].as_str()?;
        let workflow = &answer["workflow"];
        let lists = ["changed", "added", "removed"].map(|list| workflow[list].as_array());
        let names: Vec<_> = lists
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|node| node.as_str().or_else(|| node["nodeName"].as_str()))
            .collect();
        let connections = workflow["connections"] == true;
        let good = |sentence: Sentence| sentence.link(format!("#{other}"), json!({ "id": other }));
        if names.is_empty() && !connections {
            let same = self
                .locale
                .choose("ワークフローは前回の成功と同じです ", "The workflow is the same as in the last good run ");
            return Some(good(Sentence::default().text(same)));
        }
        let edited = self.locale.choose(
            "前回の成功のあとにワークフローが編集されました ",
            "The workflow was edited since the last good run ",
        );
        let mut sentence = good(Sentence::default().strong(edited)).text(":");
        for (at, name) in names.iter().take(MOST).enumerate() {
            let before = if at == 0 { " " } else { ", " };
            let to = place(name, &json!({"tab": "parameters"}));
            sentence = sentence.text(before).link(shorten(name, 60), to);
        }
        if names.len() > MOST {
            sentence = sentence.text(format!(" +{}", names.len() - MOST));
        }
        if connections {
            sentence = sentence.text(self.locale.choose(" 接続が違います。", " Connections differ."));
        }
        let compare = self.locale.choose("比較", "Compare");
        Some(sentence.text(" · ").link(compare, json!({"view": "compare"})))
    }

    /// The outliers of all nodes, one for each item, without those that the sentences about the flow mention; and how many more there are.
    pub(in crate::tools::view) async fn of_success(&self, said: &HashSet<String>) -> Cause {
        let Some(answer) = self.ask(&get_execution_fields::TOOL, json!({})).await else { return Cause::default() };
        let mut seen = HashSet::new();
        let odd = answer["odd"].as_array().into_iter().flatten().filter(|one| {
            let name = one["nodeName"].as_str().unwrap_or_default();
            let key = format!("{name}\n{}\n{}\n{}", one["run"], one["output"], one["item"]);
            !said.contains(name) && seen.insert(key)
        });
        let odd: Vec<_> = odd.collect();
        let sentences = odd.iter().take(ODD).map(|one| {
            let name = one["nodeName"].as_str().unwrap_or_default();
            let (run, item) = (one["run"].as_u64().unwrap_or(0), one["item"].as_u64().unwrap_or(0));
            let to = place(name, &json!({"run": run, "out": one["output"].as_u64().unwrap_or(0), "item": item}));
            let link = Sentence::default().strong(name).text(": ").link(self.item_word(run, item), to).text(" ");
            link.then(self.odd(one, one, None))
        });
        let more = odd.len().saturating_sub(ODD) as u64;
        let more_odd = (more > 0).then(|| {
            let words = counted(self.locale, more, "ほかの珍しい値 {} 件", "{} more odd value", "{} more odd values");
            Sentence::default().link(words, json!({"view": "odd"}))
        });
        Cause { odd: sentences.chain(more_odd).collect(), ..Cause::default() }
    }

    /// An outlier: `customer.address is null; it is an object in the other 499`. The field says what the other values are.
    fn odd(&self, field: &Value, odd: &Value, items: Option<u64>) -> Sentence {
        let what = match odd["missing"] == true {
            true => self.locale.choose("がありません".to_owned(), "is missing".to_owned()),
            false => {
                let value = literal(&odd["value"]);
                self.locale.choose(format!("は {value} です"), format!("is {value}"))
            }
        };
        let rest = items.and_then(|items| self.others(field, odd, items));
        let rest = rest.map(|rest| format!("{}{rest}", self.locale.choose("。", "; "))).unwrap_or_default();
        let path = field["path"].as_str().unwrap_or_default();
        Sentence::default().code(path, 80).text(format!(" {what}{rest}"))
    }

    fn others(&self, field: &Value, odd: &Value, items: u64) -> Option<String> {
        if odd["missing"] == true {
            let others = grouped(items.saturating_sub(field["missing"].as_u64().unwrap_or(0)));
            return Some(
                self.locale
                    .choose(format!("ほかの {others} 件にはあります"), format!("it is there in the other {others}")),
            );
        }
        let kinds = field["types"].as_object().into_iter().flatten();
        let mut kinds: Vec<_> = kinds.map(|(kind, count)| (kind.as_str(), count.as_u64().unwrap_or(0))).collect();
        kinds.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        if let [(kind, count), _, ..] = kinds[..] {
            let (kind, count) = (self.kind(kind), grouped(count));
            return Some(
                self.locale
                    .choose(format!("ほかの {count} 件では{kind}です"), format!("it is {kind} in the other {count}")),
            );
        }
        let values = field["values"].as_array().into_iter().flatten();
        let common: Vec<_> = values.filter(|pair| pair[0] != odd["value"]).collect();
        if let [pair] = common[..] {
            let (value, count) = (literal(&pair[0]), grouped(pair[1].as_u64().unwrap_or(0)));
            return Some(
                self.locale.choose(
                    format!("ほかの {count} 件では {value} です"),
                    format!("it is {value} in the other {count}"),
                ),
            );
        }
        let unlike = self.locale.choose("ほかの値とは違います", "unlike the others");
        field["type"].is_string().then(|| unlike.to_owned())
    }

    fn kind<'k>(&self, kind: &'k str) -> &'k str {
        match kind {
            "string" => self.locale.choose("テキスト", "a text"),
            "number" => self.locale.choose("数値", "a number"),
            "boolean" => self.locale.choose("真偽値", "true or false"),
            "object" => self.locale.choose("オブジェクト", "an object"),
            "array" => self.locale.choose("リスト", "a list"),
            other => other,
        }
    }

    fn item_word(&self, run: u64, item: u64) -> String {
        let run = match run {
            0 => String::new(),
            run => format!("{} {} · ", self.locale.choose("ラン", "Run"), grouped(run)),
        };
        format!("{run}{} {}", self.locale.choose("アイテム", "Item"), grouped(item))
    }
}

fn literal(value: &Value) -> String {
    shorten(&value.to_string(), 60)
}

/// Method and URL of a failed HTTP request: as it was sent, or else from the parameters.
fn request(answer: &Value) -> Option<String> {
    let (sent, parameters) = (&answer["error"]["context"]["request"], &answer["parameters"]);
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let expression = |value: &Value| value.as_str().map(|url| url.strip_prefix('=').unwrap_or(url).to_owned());
    let url = text(&sent["uri"]).or_else(|| text(&sent["url"])).or_else(|| expression(&parameters["url"]));
    let url = url.filter(|url| !url.is_empty())?;
    let method = text(&sent["method"]).or_else(|| text(&parameters["method"])).unwrap_or_else(|| "GET".to_owned());
    Some(format!("{method} {url}"))
}
