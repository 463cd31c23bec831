//! What is unusual about a value, as a sentence: each count in it is true of all that are counted.

use serde_json::Value;

use super::sentence::{Sentence, number};
use super::wording::Wording;
use crate::json::shorten;

impl Wording {
    /// An outlier: `customer.address is null; it is an object in the other 499`. What the others are is known of a field.
    pub(super) fn outlier(self, field: &Value, outlier: &Value, items: Option<u64>) -> Sentence {
        let what = match outlier["missing"] == true {
            true => self.locale.choose("がありません".to_owned(), "is missing".to_owned()),
            false => {
                let value = literal(&outlier["value"]);
                self.locale.choose(format!("は {value} です"), format!("is {value}"))
            }
        };
        let rest = items.and_then(|items| self.others(field, outlier, items));
        let rest = rest.map(|rest| format!("{}{rest}", self.locale.choose("。", "; "))).unwrap_or_default();
        let path = field["path"].as_str().unwrap_or_default();
        Sentence::default().code(path, 80).text(format!(" {what}{rest}"))
    }

    /// What the others are: true of each of those that are counted.
    fn others(self, field: &Value, outlier: &Value, items: u64) -> Option<String> {
        // An item can have several elements of a list, or none.
        let is_of_list = field["path"].as_str().is_some_and(|path| path.contains("[]"));
        let all = (!is_of_list).then(|| items.saturating_sub(1));
        let missing = field["missing"].as_u64().unwrap_or(0);
        if outlier["missing"] == true {
            return Some(match all {
                Some(_) => self.have_it(items.saturating_sub(missing), all),
                None => self.locale.choose("ほかにはあります", "others have it").to_owned(),
            });
        }
        if all.is_some_and(|all| missing > all / 2) {
            return Some(self.lack_it(missing, all));
        }
        let types = field["types"].as_object().into_iter().flatten();
        let kinds = types.map(|(kind, count)| (kind.as_str(), count.as_u64().unwrap_or(0)));
        let own = kind_of(&outlier["value"]);
        let is_alone = kinds.clone().any(|(kind, count)| kind == own && count == 1);
        let most = kinds.filter(|(kind, _)| *kind != own).max_by_key(|(_, count)| *count);
        if let Some((kind, count)) = most.filter(|_| is_alone) {
            return Some(self.are(self.kind(kind), count, all));
        }
        let values = field["values"].as_array().into_iter().flatten();
        let common: Vec<_> = values.filter(|pair| pair[0] != outlier["value"] && !pair[0].is_null()).collect();
        if let [pair] = common[..] {
            let value = literal(&pair[0]);
            let value = self.locale.choose(format!(" {value} "), value);
            return Some(self.are(&value, pair[1].as_u64().unwrap_or(0), all));
        }
        let unlike = self.locale.choose("ほかの値とは違います", "it is unlike the others");
        (field["type"].is_string() || field["types"].is_object()).then(|| unlike.to_owned())
    }

    fn are(self, what: &str, count: u64, all: Option<u64>) -> String {
        self.locale.choose(
            format!("ほかの {} 件では{what}です", number(count)),
            format!("it is {what} in {}", some(count, all)),
        )
    }

    fn have_it(self, count: u64, all: Option<u64>) -> String {
        let have = if count == 1 { "has" } else { "have" };
        self.locale
            .choose(format!("ほかの {} 件にはあります", number(count)), format!("{} {have} it", some(count, all)))
    }

    fn lack_it(self, count: u64, all: Option<u64>) -> String {
        let lack = if count == 1 { "does" } else { "do" };
        self.locale.choose(
            format!("ほかの {} 件にはありません", number(count)),
            format!("{} {lack} not have it", some(count, all)),
        )
    }

    fn kind(self, kind: &str) -> &str {
        match kind {
            "string" => self.locale.choose("テキスト", "a text"),
            "number" => self.locale.choose("数値", "a number"),
            "boolean" => self.locale.choose("真偽値", "true or false"),
            "object" => self.locale.choose("オブジェクト", "an object"),
            "array" => self.locale.choose("リスト", "a list"),
            other => other,
        }
    }
}

/// `the other 499` if these are all others, else `399 others`.
fn some(count: u64, all: Option<u64>) -> String {
    match (all == Some(count), count) {
        (true, 1) => "the other one".to_owned(),
        (true, _) => format!("the other {}", number(count)),
        (false, 1) => "1 other".to_owned(),
        (false, _) => format!("{} others", number(count)),
    }
}

/// The kind of a value, as fields name it.
fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn literal(value: &Value) -> String {
    shorten(&value.to_string(), 60)
}
