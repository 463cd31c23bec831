//! Sixteen questions whose causes are not outliers: a description answers most of them, one more call the others.
//!
//! The bodies in `fixtures/questions` come from a real n8n; `make.mjs` in the same folder makes them. The calls are those that an agent
//! made that saw only the tools and had not made the executions. Run this with `--nocapture` for what they cost.

use std::collections::HashMap;

use n8n_lens::budget;
use serde_json::{Value, json};

use crate::fixtures;
use crate::mcp_client::McpClient;
use crate::server;

/// The goal for all questions together.
const MAX_CALLS: usize = 44;
const MAX_TOKENS: usize = 24_000;

/// A question: its execution, the calls after the description, and what shows the cause.
struct Question {
    name: &'static str,
    /// The execution that a call is about, if it is another one; the tool and its arguments.
    calls: &'static [(&'static str, &'static str, &'static str)],
    shows: &'static [&'static str],
}

const QUESTIONS: [Question; 16] = [
    Question {
        name: "amounts_as_text",
        calls: &[],
        shows: &[
            "amount: 609 numbers, 291 texts",
            "amount is a text: just where channel = marketplace, terminal = 4.1.0 (291)",
            "sum += json.amount",
        ],
    },
    Question {
        name: "paid_too_little",
        calls: &[(
            "",
            "search_execution",
            r#"{"nodeName": "Thank you", "path": "received", "below": {"path": "due"}, "limit": 1}"#,
        )],
        shows: &["={{ $json.received }} > 0", r#""total":34"#],
    },
    Question {
        name: "twice_in_the_sheet",
        calls: &[],
        shows: &[
            "orderNo: 1000 different in 1010 (\\\"B-40099\\\" in item 99 and item 100)",
            "since = page[page.length - 1].updatedAt",
        ],
    },
    Question {
        name: "rate_is_missing",
        calls: &[],
        shows: &["SEK 105", "rates[$json.currency] || 0", "\"NOK\":0.087"],
    },
    Question {
        name: "compared_as_text",
        calls: &[(
            "",
            "search_execution",
            r#"{"path": "stock", "below": {"path": "reorderAt"}, "as": "number", "limit": 0}"#,
        )],
        shows: &[
            "stock: 520 numbers as text",
            "={{ $json.stock < $json.reorderAt }} is true",
            r#""nodeName":"Low stock","hits":134,"outputs":[57,77]"#,
        ],
    },
    Question {
        name: "first_for_all",
        calls: &[],
        shows: &["$('Get orders').first().json.customer.email", "to: always olga.dubois0@example.com"],
    },
    Question {
        name: "child_keeps_the_last",
        calls: &[("child_keeps_the_last.child", "describe_execution", "{}")],
        shows: &[r#""in":176,"out":1"#, "priced = { ...json"],
    },
    Question { name: "payload_is_text", calls: &[], shows: &["payload: 60 texts of JSON", "json.payload.lines ?? []"] },
    Question { name: "agent_asks_for_another", calls: &[], shows: &["\"query\":\"999 * 1.19\"", "\"net\":899"] },
    Question {
        name: "nothing_is_wrong",
        calls: &[],
        shows: &[
            r#""out":{"kept":365,"discarded":115}"#,
            r#""out":{"kept":257,"discarded":108}"#,
            "status: active 365, paused 115",
        ],
    },
    Question {
        name: "branches_are_swapped",
        calls: &[],
        shows: &["={{ $json.segment }} = vip", r#""node":"Voucher","type":"set","from":["Is VIP (true)"],"in":93"#],
    },
    Question {
        name: "evening_is_tomorrow",
        calls: &[],
        shows: &[r#""kept":575,"discarded":25"#, "placedAt.slice(0, 10)", "2026-03-09T23:00:00.000+00:00"],
    },
    Question {
        name: "only_the_first_page",
        calls: &[],
        shows: &["\"total\":437", "\"next\":\"/crm/export?page=2\"", r#""out":100"#],
    },
    Question { name: "joined_by_name", calls: &[], shows: &["fieldsToMatchString: name", r#""in":360,"out":256"#] },
    Question {
        name: "empty_is_one_key",
        calls: &[],
        shows: &["email: 91 empty", "fieldsToCompare: email", r#""in":410,"out":320"#],
    },
    Question {
        name: "grams_and_kilograms",
        calls: &[("", "get_execution_fields", r#"{"nodeName": "Get parcels", "path": "weight", "by": "supplier"}"#)],
        shows: &["weight: 0.4 to 28000", r#"{"value":"Beta Trade","items":186,"type":"number","min":400,"max":28000"#],
    },
];

#[test]
fn a_description_and_at_most_one_call_more_show_each_cause() {
    let bodies = fixtures::questions();
    let ids: HashMap<&str, String> = bodies.iter().map(|(name, body)| (name.as_str(), id(body))).collect();
    let served = bodies.iter().map(|(name, body)| (ids[name.as_str()].clone(), body.clone()));
    let n8n = server::n8n(served.collect());
    let mut client = McpClient::start_with(&n8n.url(), &["--locale", "en"]);
    let (mut calls, mut tokens) = (0, 0);
    for question in &QUESTIONS {
        let mut answers = String::new();
        for (of, tool, arguments) in [("", "describe_execution", "{}")].iter().chain(question.calls) {
            let of = if of.is_empty() { question.name } else { of };
            let mut arguments: Value = serde_json::from_str(arguments).unwrap();
            arguments["id"] = json!(ids[of]);
            let answer = client.call(tool, arguments).unwrap();
            (calls, tokens) = (calls + 1, tokens + budget::count(&answer));
            answers += &answer;
        }
        println!("{}: {} calls, {} tokens", question.name, 1 + question.calls.len(), budget::count(&answers));
        for shown in question.shows {
            assert!(answers.contains(shown), "{}: {shown} in {answers}", question.name);
        }
    }
    println!("all: {calls} calls, {tokens} tokens");
    assert!(calls <= MAX_CALLS && tokens <= MAX_TOKENS, "{calls} calls, {tokens} tokens");
}

fn id(body: &[u8]) -> String {
    fixtures::parse(body)["id"].as_str().unwrap().to_owned()
}
