//! Executions of hundreds of items with one planted cause each: how many calls and tokens lead an agent to it.
//!
//! The bodies in `fixtures/scenarios` come from a real n8n; `make.mjs` in the same folder makes them. Run this with `--nocapture`
//! for the table in `docs/asking.md`.

use std::collections::HashMap;

use n8n_lens::budget;
use serde_json::{Value, json};

use crate::fixtures;
use crate::mcp_client::McpClient;
use crate::server;

/// The most calls that lead to a cause.
const MAX_CALLS: usize = 3;

/// The goal for thirteen scenarios together.
const THIRTEEN: Cost = Cost { calls: 30, tokens: 9000 };

/// A question about an execution, and two ways to its answer.
struct Scenario {
    /// The body's file.
    name: &'static str,
    /// What a user asks.
    question: &'static str,
    /// The planted problem.
    cause: &'static str,
    /// The short way: each call follows from the question and the answers before it.
    short: &'static [Call],
    /// What the last answer of the short way contains.
    shows: &'static [&'static str],
    /// The long way: after the summary, page after page of these nodes.
    long: &'static [Pages],
}

/// Which of a scenario's executions.
#[derive(Clone, Copy)]
enum Of {
    /// The one that the question is about.
    This,
    /// `NAME.SUFFIX`: the last good one, or that of a child.
    Other(&'static str),
}
use Of::{Other, This};

/// A tool with its arguments, a JSON object without `id`.
type Call = (Of, &'static str, &'static str);

/// A node with its run, and what its page shows when the cause is found.
type Pages = (Of, &'static str, &'static str);

const SUMMARY: &str = "get_execution";
const NODE: &str = "get_execution_by_node";
const SEARCH: &str = "search_execution";
const FIELDS: &str = "get_execution_fields";

const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "merge_by_position",
        question: "The label of order SO-10321 has another customer's name. Why?",
        cause: "A Filter discards SO-10287, which has no lines: after it, the Merge by position adds the parcel of the order before.",
        short: &[
            // In the Filter, the order is item 120 instead of 121: one before it was discarded.
            (This, SEARCH, r#"{"text": "SO-10321"}"#),
            (This, NODE, r#"{"nodeName": "With articles", "limit": 1}"#),
        ],
        shows: &["SO-10287", r#""lines":[]"#, r#""pairedItem":{"item":87}"#],
        long: &[(This, r#"{"nodeName": "With articles"}"#, r#""lines":[]"#)],
    },
    Scenario {
        name: "type_of_one",
        question: "Ticket TK-20417 belongs to warehouse 100, but its team was never notified. Why?",
        cause: "Its warehouse.id is the string \"100\", and the Filter compares with ===.",
        short: &[
            (This, SEARCH, r#"{"text": "TK-20417"}"#),
            (This, NODE, r#"{"nodeName": "Main warehouse", "outputIndex": 1, "offset": 165, "limit": 1}"#),
        ],
        shows: &["TK-20417", r#""id":"100""#, "$json.warehouse.id === 100"],
        long: &[(This, r#"{"nodeName": "Main warehouse"}"#, r#""id":"100""#)],
    },
    Scenario {
        name: "loop_ends_early",
        question: "The newsletter reached 133 of 310 subscribers, although almost all agreed. The run is green. Why?",
        cause: "No subscriber of the seventh batch has agreed: the Filter inside the loop passes nothing on, so the loop ends.",
        short: &[
            // Seven runs of the Filter, six of the node after it.
            (This, SUMMARY, "{}"),
            (This, NODE, r#"{"nodeName": "With consent", "runIndex": 6, "limit": 1}"#),
        ],
        shows: &[r#""outputIndex":0,"total":0"#, r#""newsletter":false"#, r#""subscriberId":5350"#],
        long: &[(This, r#"{"nodeName": "With consent", "runIndex": 6}"#, r#""outputIndex":0,"total":0"#)],
    },
    Scenario {
        name: "child_returns_nothing",
        question: "There are 209 labels for 210 shipments. Which one is missing, and why?",
        cause: "The carrier of SH-30532 is Hermes, which the Filter of the sub-workflow does not know.",
        short: &[
            (This, FIELDS, "{}"),
            // The item names the execution of the sub-workflow.
            (This, NODE, r#"{"nodeName": "Print each", "outputIndex": 1, "limit": 1}"#),
            (Other("child"), SEARCH, r#"{"text": "SH-30532"}"#),
        ],
        // The answer before shows the carrier.
        shows: &[r#""nodeName":"Known carrier","output":1"#, r#""value":"SH-30532""#],
        long: &[
            (This, r#"{"nodeName": "Print each"}"#, "Hermes"),
            (Other("child"), r#"{"nodeName": "Known carrier"}"#, "Hermes"),
        ],
    },
    Scenario {
        name: "renamed_field",
        question: "Since today, members have no e-mail address. The run before was fine. What is different?",
        cause: "The API names the field person.emailAddress instead of person.email.",
        short: &[
            (This, SEARCH, r#"{"path": "email", "limit": 1}"#),
            // Here it comes from Get contacts, at person.email.
            (Other("good"), SEARCH, r#"{"path": "email", "limit": 1}"#),
            (This, FIELDS, r#"{"nodeName": "Get contacts", "path": "person"}"#),
        ],
        shows: &[r#""path":"person.emailAddress""#, "katrin.jansen0@example.com"],
        long: &[
            (Other("good"), r#"{"nodeName": "Get contacts"}"#, r#""email":"#),
            (This, r#"{"nodeName": "Get contacts"}"#, r#""emailAddress":"#),
        ],
    },
    Scenario {
        name: "third_is_wrong",
        question: "The revenue in EUR is wrong in every branch, although no invoice stands out. Why?",
        cause: "112 of 300 invoices are in CHF; their net amount is added up as EUR.",
        short: &[(This, SUMMARY, "{}"), (This, FIELDS, r#"{"nodeName": "Revenue"}"#)],
        shows: &[r#"["CHF",112]"#, r#"["EUR",188]"#, "revenueEur"],
        long: &[(This, r#"{"nodeName": "Revenue"}"#, "CHF")],
    },
    Scenario {
        name: "error_as_item",
        question: "One account has no score in the sheet, and the run is green. Which one, and why?",
        cause: "AC-6287 has no seats (null): the Code node throws, and its onError continues.",
        short: &[
            (This, SEARCH, r#"{"path": "error"}"#),
            (This, NODE, r#"{"nodeName": "Score", "offset": 187, "limit": 1}"#),
        ],
        shows: &["AC-6287", r#""seats":null"#, "Cannot read properties of null"],
        long: &[(This, r#"{"nodeName": "Score"}"#, "Cannot read properties of null")],
    },
    Scenario {
        name: "null_in_nested_array",
        question: "The tax report has no total. Why?",
        cause: "One line of order SO-52211 has taxRate null.",
        short: &[(This, FIELDS, "{}"), (This, NODE, r#"{"nodeName": "Get orders", "offset": 211, "limit": 1}"#)],
        shows: &["SO-52211", r#""taxRate":null"#],
        long: &[(This, r#"{"nodeName": "Get orders"}"#, r#""taxRate":null"#)],
    },
    Scenario {
        name: "date_in_another_format",
        question: "One overdue invoice never gets a reminder. Which one, and why?",
        cause: "RE-2026-1454 was issued on \"14.02.2026\": its due date cannot be computed.",
        short: &[(This, FIELDS, "{}"), (This, NODE, r#"{"nodeName": "Get open items", "offset": 254, "limit": 1}"#)],
        shows: &["RE-2026-1454", r#""issued":"14.02.2026""#],
        long: &[(This, r#"{"nodeName": "Get open items"}"#, "14.02.2026")],
    },
    Scenario {
        name: "almost_duplicates",
        question: "greta.keller@example.com was invited twice, in spite of Remove Duplicates. Why?",
        cause: "The second address is \"Greta.Keller@Example.com \": other letters, and a space.",
        short: &[(This, SEARCH, r#"{"text": "greta.keller@example.com"}"#)],
        shows: &[
            r#""item":56,"path":"email","value":"greta.keller@example.com""#,
            r#""value":"Greta.Keller@Example.com ""#,
        ],
        long: &[(This, r#"{"nodeName": "Remove Duplicates"}"#, "Greta.Keller@Example.com ")],
    },
    Scenario {
        name: "output_leads_nowhere",
        question: "Request RQ-4503 was never answered. Why?",
        cause: "The Switch sends refunds to an output that is connected to nothing: 66 of them.",
        short: &[
            // Nothing after By topic has it.
            (This, SEARCH, r#"{"text": "RQ-4503"}"#),
            (This, NODE, r#"{"nodeName": "By topic", "outputIndex": 2, "offset": 30, "limit": 1}"#),
        ],
        shows: &["RQ-4503", r#""topic":"refund""#, r#""outputIndex":2,"total":66"#, r#""label":"refund""#],
        long: &[(This, r#"{"nodeName": "By topic", "outputIndex": 2}"#, "RQ-4503")],
    },
    Scenario {
        name: "reordered_items",
        question: "The confirmation of order SO-50144 went to another customer. Why?",
        cause: "The Code node sorts and makes new items; n8n pairs them by position, so the expression reads item 11 instead of 44.",
        short: &[
            // Item 44 becomes item 11 at Priority.
            (This, SEARCH, r#"{"text": "SO-50144"}"#),
            (This, NODE, r#"{"nodeName": "Mail", "offset": 11, "limit": 1}"#),
            (This, SEARCH, r#"{"text": "elif.costa11@example.com"}"#),
        ],
        shows: &[
            r#""nodeName":"Get orders","item":11,"path":"customer.email","value":"elif.costa11@example.com""#,
            r#""nodeName":"Mail","item":11,"path":"to""#,
        ],
        long: &[(This, r#"{"nodeName": "Mail"}"#, "SO-50144"), (This, r#"{"nodeName": "Get orders"}"#, "SO-50144")],
    },
    Scenario {
        name: "amount_of_one_customer",
        question: "The revenue of one team is far too high. Which sale is wrong?",
        cause: "Sale V-77341 has the unit price 5969.9, a hundred times too much.",
        short: &[(This, FIELDS, "{}"), (This, NODE, r#"{"nodeName": "Get sales", "offset": 341, "limit": 1}"#)],
        shows: &["V-77341", r#""unitPrice":5969.9"#],
        long: &[(This, r#"{"nodeName": "Get sales"}"#, "5969.9")],
    },
    Scenario {
        name: "dropped_for_one_country",
        question: "Some parcels have no freight cost. Which ones, and why?",
        cause: "The 36 parcels to AT get no zone: the table of the Code node says AU.",
        short: &[(This, SUMMARY, "{}"), (This, FIELDS, r#"{"nodeName": "Freight cost"}"#)],
        shows: &[r#"["AT",36]"#, r#""path":"zone","type":"string","missing":36"#],
        long: &[(This, r#"{"nodeName": "Freight cost"}"#, r#""cost":null"#)],
    },
];

/// What a way costs.
#[derive(Clone, Copy, Default)]
struct Cost {
    calls: usize,
    tokens: usize,
}

impl Cost {
    fn sum(costs: impl Iterator<Item = Cost>) -> Cost {
        costs
            .fold(Cost::default(), |sum, cost| Cost { calls: sum.calls + cost.calls, tokens: sum.tokens + cost.tokens })
    }
}

/// The agent: it calls tools, and pays for the answers.
struct Agent {
    client: McpClient,
    /// Ids by the names of bodies.
    ids: HashMap<String, String>,
    spent: Cost,
}

impl Agent {
    fn id(&self, scenario: &Scenario, of: Of) -> &str {
        match of {
            This => &self.ids[scenario.name],
            Other(suffix) => &self.ids[&format!("{}.{suffix}", scenario.name)],
        }
    }

    fn call(&mut self, scenario: &Scenario, (of, tool, arguments): Call, offset: Option<u64>) -> String {
        let mut arguments: Value = serde_json::from_str(arguments).unwrap();
        arguments["id"] = json!(self.id(scenario, of));
        if let Some(offset) = offset {
            arguments["offset"] = json!(offset);
        }
        let text = self.client.call(tool, arguments).unwrap();
        self.spent.calls += 1;
        self.spent.tokens += budget::count(&text);
        text
    }

    /// The short way. The agent knows only the question and the answers so far.
    fn asks(&mut self, scenario: &Scenario) -> Cost {
        self.spent = Cost::default();
        let (mut known, mut last) = (scenario.question.to_owned(), String::new());
        for call in scenario.short {
            let unknown = unknown_arguments(call.2, &known);
            assert_eq!(unknown, Vec::<String>::new(), "{}: nothing has led to {}", scenario.name, call.2);
            last = self.call(scenario, *call, None);
            known += &last;
        }
        for shown in scenario.shows {
            assert!(last.contains(shown), "{}: {shown} is missing in {last}", scenario.name);
        }
        self.spent
    }

    /// The long way: the summary of each execution, and pages until one shows the cause.
    fn reads(&mut self, scenario: &Scenario) -> Cost {
        self.spent = Cost::default();
        let mut summarized = Vec::new();
        for (of, node, shown) in scenario.long {
            let id = self.id(scenario, *of).to_owned();
            if !summarized.contains(&id) {
                self.call(scenario, (*of, SUMMARY, "{}"), None);
                summarized.push(id);
            }
            let mut offset = None;
            loop {
                let page = self.call(scenario, (*of, NODE, node), offset);
                if page.contains(shown) {
                    break;
                }
                let page: Value = serde_json::from_str(&page).unwrap();
                offset = page["data"]["truncated"]["nextOffset"].as_u64();
                assert!(offset.is_some(), "{}: no page of {node} shows {shown}", scenario.name);
            }
        }
        self.spent
    }
}

/// The names, texts and places in the arguments that do not occur in what is known.
fn unknown_arguments(arguments: &str, known: &str) -> Vec<String> {
    let arguments: Value = serde_json::from_str(arguments).unwrap();
    let texts = ["nodeName", "text"].iter().filter_map(|name| arguments[name].as_str());
    let places = [("offset", "item"), ("outputIndex", "output")];
    let places = places.iter().filter_map(|(name, shown)| Some(format!("\"{shown}\":{},", arguments[name].as_u64()?)));
    texts.map(str::to_owned).chain(places).filter(|argument| !known.contains(&**argument)).collect()
}

fn id(body: &[u8]) -> String {
    fixtures::parse(body)["id"].as_str().unwrap().to_owned()
}

#[test]
fn each_cause_is_found_in_three_calls() {
    let bodies = fixtures::scenarios();
    let ids: HashMap<_, _> = bodies.iter().map(|(name, body)| (name.clone(), id(body))).collect();
    let n8n = server::n8n(bodies.into_iter().map(|(_, body)| (id(&body), body)).collect());
    let client = McpClient::start_with(&n8n.url(), &["--locale", "en"]);
    let mut agent = Agent { client, ids, spent: Cost::default() };

    println!("{:<25} {:>12} {:>12}", "calls, tokens", "before", "after");
    let row = |name: &str, before: Cost, after: Cost| {
        println!("{name:<25} {:>4} {:>7} {:>4} {:>7}", before.calls, before.tokens, after.calls, after.tokens);
    };
    let mut costs = Vec::new();
    for scenario in SCENARIOS {
        let (before, after) = (agent.reads(scenario), agent.asks(scenario));
        row(scenario.name, before, after);
        println!("    {}\n    {}", scenario.question, scenario.cause);
        assert!(after.calls <= MAX_CALLS, "{}", scenario.name);
        costs.push((before, after));
    }
    let after = Cost::sum(costs.iter().map(|(_, after)| *after));
    row("all", Cost::sum(costs.iter().map(|(before, _)| *before)), after);

    // Any thirteen of them: without the cheapest.
    let left_out = costs.len() - 13;
    let without_cheapest = |cost: fn(&Cost) -> usize| {
        let mut all: Vec<_> = costs.iter().map(|(_, after)| cost(after)).collect();
        all.sort_unstable();
        all[left_out..].iter().sum::<usize>()
    };
    let worst = Cost { calls: without_cheapest(|cost| cost.calls), tokens: without_cheapest(|cost| cost.tokens) };
    println!("the dearest thirteen: {} calls, {} tokens", worst.calls, worst.tokens);
    assert!(worst.calls <= THIRTEEN.calls && worst.tokens <= THIRTEEN.tokens);
}
