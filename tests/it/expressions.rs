//! `check_workflow` on executions with one wrong expression, and on others with none: every wrong one is named
//! with its counts and the first item, and nothing else.
//!
//! The bodies in `fixtures/expressions` come from a real n8n; `make.mjs` in the same folder makes them.

use n8n_lens::budget;
use n8n_lens::execution::lookup::{self, path_text};
use n8n_lens::workflow::Document;
use n8n_lens::workflow::expression::{Reference, Step, Syntax, scan};
use n8n_lens::workflow::parsed::Parsed;
use serde_json::{Value, json};

use crate::fixtures;
use crate::mcp_client::McpClient;
use crate::random::Random;
use crate::workflows::call;

/// The mistake planted in an execution.
struct Planted {
    execution: &'static str,
    rule: &'static str,
    node: &'static str,
    parameter: &'static str,
    reference: &'static str,
    /// How many items have the path, and out of how many.
    have: [u64; 2],
    /// The intended name, if it can be inferred.
    near: &'static str,
    /// The first item that shows it: its node and its number.
    first: (&'static str, u64),
}

const PLANTED: [Planted; 34] = [
    Planted {
        execution: "wrong_after_aggregate",
        rule: "missingField",
        node: "Summary",
        parameter: "/assignments/assignments/1/value",
        reference: "$json.data[0].sku",
        have: [0, 1],
        near: "lines[0].lines.sku",
        first: ("All", 0),
    },
    Planted {
        execution: "wrong_after_error_output",
        rule: "missingField",
        node: "Bad",
        parameter: "/assignments/assignments/1/value",
        reference: "$json.error.statusCode",
        have: [0, 4],
        near: "",
        first: ("Ask", 0),
    },
    Planted {
        execution: "wrong_after_merge",
        rule: "missingField",
        node: "Value",
        parameter: "/assignments/assignments/0/value",
        reference: "$json.net",
        have: [0, 6],
        near: "price.net",
        first: ("Join", 0),
    },
    Planted {
        execution: "wrong_answer_of_child",
        rule: "missingField",
        node: "Booked",
        parameter: "/assignments/assignments/1/value",
        reference: "$json.result.accepted",
        have: [0, 8],
        near: "results.accepted",
        first: ("Book", 0),
    },
    Planted {
        execution: "wrong_below_a_number",
        rule: "missingField",
        node: "First",
        parameter: "/assignments/assignments/0/value",
        reference: "$('Get orders').all()[0].json.total.amount",
        have: [0, 1],
        near: "",
        first: ("Get orders", 0),
    },
    Planted {
        execution: "wrong_body_of_http",
        rule: "missingField",
        node: "Create",
        parameter: "/jsonBody",
        reference: "$json.order_no",
        have: [0, 8],
        near: "orderNo",
        first: ("Get orders", 0),
    },
    Planted {
        execution: "wrong_branch",
        rule: "nodeNotRun",
        node: "Report",
        parameter: "/assignments/assignments/0/value",
        reference: "$('No').first().json.side",
        have: [0, 0],
        near: "",
        first: ("", 0),
    },
    Planted {
        execution: "wrong_case_in_set",
        rule: "missingField",
        node: "Letter",
        parameter: "/assignments/assignments/1/value",
        reference: "$json.customer.Name",
        have: [0, 8],
        near: "customer.name",
        first: ("Get orders", 0),
    },
    Planted {
        execution: "wrong_code_of_loop",
        rule: "missingField",
        node: "Weigh",
        parameter: "/jsCode",
        reference: "$json.customer.address.town",
        have: [0, 8],
        near: "",
        first: ("Get orders", 0),
    },
    Planted {
        execution: "wrong_date",
        rule: "missingField",
        node: "Day",
        parameter: "/date",
        reference: "$json.placed_at",
        have: [0, 8],
        near: "placedAt",
        first: ("Get orders", 0),
    },
    Planted {
        execution: "wrong_field_in_code_each",
        rule: "missingField",
        node: "Label",
        parameter: "/jsCode",
        reference: "$json.customer.adress.city",
        have: [0, 8],
        near: "customer.address.city",
        first: ("Get orders", 0),
    },
    Planted {
        execution: "wrong_field_in_filter",
        rule: "missingField",
        node: "Newer",
        parameter: "/conditions/conditions/0/leftValue",
        reference: "$json.createdAt",
        have: [0, 12],
        near: "created_at",
        first: ("Get tickets", 0),
    },
    Planted {
        execution: "wrong_field_in_if",
        rule: "missingField",
        node: "Paid by card",
        parameter: "/conditions/conditions/0/leftValue",
        reference: "$json.payment.kind",
        have: [0, 8],
        near: "",
        first: ("Get orders", 0),
    },
    Planted {
        execution: "wrong_first_in_code",
        rule: "missingField",
        node: "Sum",
        parameter: "/jsCode",
        reference: "$input.first().json.lines[0].unit_price",
        have: [0, 1],
        near: "lines[0].unitPrice",
        first: ("Get orders", 0),
    },
    Planted {
        execution: "wrong_first_of_node",
        rule: "missingField",
        node: "Link",
        parameter: "/assignments/assignments/0/value",
        reference: "$('Config').first().json.api.baseUri",
        have: [0, 1],
        near: "api.baseUrl",
        first: ("Config", 0),
    },
    Planted {
        execution: "wrong_in_a_list",
        rule: "missingField",
        node: "Tax",
        parameter: "/assignments/assignments/0/value",
        reference: "$json.lines[0].tax_rate",
        have: [0, 8],
        near: "lines[0].taxRate",
        first: ("Get orders", 0),
    },
    Planted {
        execution: "wrong_in_a_sub_node",
        rule: "missingField",
        node: "Memory",
        parameter: "/sessionKey",
        reference: "$json.customer.id",
        have: [0, 1],
        near: "",
        first: ("Question", 0),
    },
    Planted {
        execution: "wrong_in_a_tool",
        rule: "missingField",
        node: "Look up order",
        parameter: "/url",
        reference: "$json.customer.nr",
        have: [0, 1],
        near: "",
        first: ("Question", 0),
    },
    Planted {
        execution: "wrong_in_an_answer",
        rule: "missingField",
        node: "Answer",
        parameter: "/responseBody",
        reference: "$json.state",
        have: [0, 1],
        near: "",
        first: ("Get orders", 0),
    },
    Planted {
        execution: "wrong_in_html",
        rule: "missingField",
        node: "Page",
        parameter: "/html",
        reference: "$json.customer.company_name",
        have: [0, 8],
        near: "",
        first: ("Get orders", 0),
    },
    Planted {
        execution: "wrong_in_json_of_set",
        rule: "missingField",
        node: "Ticket",
        parameter: "/jsonOutput",
        reference: "$json.customer.fullName",
        have: [0, 8],
        near: "",
        first: ("Get orders", 0),
    },
    Planted {
        execution: "wrong_in_pinned",
        rule: "missingField",
        node: "Euro",
        parameter: "/assignments/assignments/0/value",
        reference: "$json.rates.eur",
        have: [0, 6],
        near: "rates.EUR",
        first: ("Get rates", 0),
    },
    Planted {
        execution: "wrong_input_of_child",
        rule: "missingField",
        node: "Book",
        parameter: "/workflowInputs/value/orderNo",
        reference: "$json.OrderNo",
        have: [0, 8],
        near: "orderNo",
        first: ("Get orders", 0),
    },
    Planted {
        execution: "wrong_item_of_all",
        rule: "missingField",
        node: "Pick",
        parameter: "/jsCode",
        reference: "$('Get orders').all()[1].json.payement.method",
        have: [0, 1],
        near: "payment.method",
        first: ("Get orders", 1),
    },
    Planted {
        execution: "wrong_letter_in_switch",
        rule: "missingField",
        node: "By channel",
        parameter: "/rules/values/1/conditions/conditions/0/leftValue",
        reference: "$json.chanel",
        have: [0, 8],
        near: "channel",
        first: ("Get orders", 0),
    },
    Planted {
        execution: "wrong_level_in_loop",
        rule: "missingField",
        node: "Send",
        parameter: "/jsonBody",
        reference: "$json.email",
        have: [0, 8],
        near: "customer.email",
        first: ("One by one", 0),
    },
    Planted {
        execution: "wrong_missing_in_some",
        rule: "missingField",
        node: "Reduce",
        parameter: "/jsCode",
        reference: "$json.voucher.percent",
        have: [7, 10],
        near: "",
        first: ("Get vouchers", 2),
    },
    Planted {
        execution: "wrong_node_in_brackets",
        rule: "missingField",
        node: "Total",
        parameter: "/assignments/assignments/0/value",
        reference: r#"$node["Get orders"].json["totalAmount"]"#,
        have: [0, 8],
        near: "",
        first: ("Get orders", 0),
    },
    Planted {
        execution: "wrong_node_name",
        rule: "unknownNode",
        node: "Note",
        parameter: "/assignments/assignments/0/value",
        reference: "$('Get order')",
        have: [0, 0],
        near: "",
        first: ("", 0),
    },
    Planted {
        execution: "wrong_null_in_some",
        rule: "nullValue",
        node: "Upper",
        parameter: "/assignments/assignments/0/value",
        reference: "$json.name",
        have: [9, 9],
        near: "",
        first: ("Get names", 3),
    },
    Planted {
        execution: "wrong_part_of_url",
        rule: "missingField",
        node: "Get customer",
        parameter: "/url",
        reference: "$json.customer.nubmer",
        have: [0, 8],
        near: "customer.number",
        first: ("Get orders", 0),
    },
    Planted {
        execution: "wrong_prompt_of_agent",
        rule: "missingField",
        node: "Support agent",
        parameter: "/text",
        reference: "$json.chatInput",
        have: [0, 1],
        near: "",
        first: ("Question", 0),
    },
    Planted {
        execution: "wrong_type_of_one",
        rule: "mixedTypes",
        node: "Double",
        parameter: "/assignments/assignments/0/value",
        reference: "$json.amount",
        have: [9, 9],
        near: "",
        first: ("Get rows", 6),
    },
    Planted {
        execution: "wrong_with_optional_chain",
        rule: "missingField",
        node: "Ship to",
        parameter: "/assignments/assignments/0/value",
        reference: "$json.customer?.adress?.city",
        have: [0, 8],
        near: "customer.address.city",
        first: ("Get orders", 0),
    },
];

/// A server that reads executions from files, and the folder in which they are.
fn checking() -> (tempfile::TempDir, McpClient) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().to_str().unwrap().to_owned();
    let options = ["--toolsets", "workflows", "--locale", "en", "--files-root", &root];
    (folder, McpClient::start_with("http://127.0.0.1:9", &options))
}

/// The check of an execution as it ran.
fn check(folder: &tempfile::TempDir, client: &mut McpClient, body: &[u8]) -> Value {
    std::fs::write(folder.path().join("execution.json"), body).unwrap();
    call(client, "check_workflow", json!({"executionId": "execution.json", "maxTokens": 25_000}))
}

fn problems(answer: &Value) -> Vec<Value> {
    answer["data"]["problems"].as_array().cloned().unwrap_or_default()
}

#[test]
fn each_wrong_expression_is_named_and_nothing_else() {
    let (folder, mut client) = checking();
    let (mut wrong, mut right) = (0, 0);
    for (name, body) in fixtures::expressions() {
        let answer = check(&folder, &mut client, &body);
        let tokens = budget::count(&answer.to_string());
        let Some(planted) = PLANTED.iter().find(|planted| planted.execution == name) else {
            assert!(name.starts_with("right_") && problems(&answer).is_empty(), "{name}: {answer}");
            assert_eq!(answer["message"], "No problems.");
            assert!(tokens <= 40, "{name}: {tokens} tokens: {answer}");
            right += 1;
            continue;
        };
        let all = problems(&answer);
        let [problem] = &all[..] else { panic!("{name}: {answer}") };
        let text = |member: &str| problem[member].as_str().unwrap_or_default().to_owned();
        let found = [text("rule"), text("nodeName"), text("parameter"), text("reference"), text("near")];
        assert_eq!(found, [planted.rule, planted.node, planted.parameter, planted.reference, planted.near], "{answer}");
        let [have, items] = planted.have;
        if items > 0 {
            assert_eq!((&problem["have"], &problem["items"]), (&json!(have), &json!(items)), "{answer}");
            let first = (problem["first"]["nodeName"].as_str().unwrap(), problem["first"]["item"].as_u64().unwrap());
            assert_eq!(first, planted.first, "{answer}");
        }
        assert!(tokens <= 120, "{name}: {tokens} tokens: {answer}");
        wrong += 1;
    }
    assert_eq!(wrong, PLANTED.len());
    assert!(wrong >= 30 && right >= 20, "{wrong} wrong, {right} right");
}

/// Possible mistakes in a reference.
const SLIPS: [&str; 5] = ["a letter lost", "two letters swapped", "another case", "a level too many", "a level lost"];

/// A reference with a different end, and the path that it then has.
fn slip(kind: &str, reference: &Reference, written: &str, random: &mut Random) -> Option<(String, Vec<Step>)> {
    let Some(Step::Name(name)) = reference.path.last() else { return None };
    let at = written.rfind(name.as_str())?;
    let (before, after) = (&written[..at], &written[at + name.len()..]);
    let mut path = reference.path.clone();
    let letters: Vec<char> = name.chars().collect();
    let mut slipped = letters.clone();
    let chosen = random.index(letters.len().max(1));
    match kind {
        "a letter lost" if letters.len() > 1 => drop(slipped.remove(chosen)),
        "two letters swapped" if chosen + 1 < letters.len() => slipped.swap(chosen, chosen + 1),
        "another case" => {
            let letter = slipped.get_mut(chosen)?;
            let other =
                if letter.is_lowercase() { letter.to_uppercase().next()? } else { letter.to_lowercase().next()? };
            *letter = other;
        }
        "a level too many" if before.ends_with('.') => {
            path.insert(path.len() - 1, Step::Name("data".to_owned()));
            return Some((format!("{before}data.{name}{after}"), path));
        }
        "a level lost" => {
            let [.., Step::Name(above), _] = &reference.path[..] else { return None };
            let before = before.strip_suffix(&format!("{above}."))?;
            path.remove(path.len() - 2);
            return Some((format!("{before}{name}{after}"), path));
        }
        _ => return None,
    }
    let slipped: String = slipped.into_iter().collect();
    *path.last_mut()? = Step::Name(slipped.clone());
    (slipped != *name && !slipped.starts_with(|first: char| first.is_ascii_digit()))
        .then(|| (format!("{before}{slipped}{after}"), path))
}

fn shown(path: &[Step]) -> String {
    let step = |step: &Step| match step {
        Step::Name(name) => lookup::Step::Name(name.clone()),
        Step::Index(index) => lookup::Step::Index(*index),
    };
    path_text(&path.iter().map(step).collect::<Vec<_>>())
}

/// Whether an item of any node has a path.
fn occurs(body: &Value, path: &[Step]) -> bool {
    let nodes = body["data"]["resultData"]["runData"].as_object().into_iter().flatten();
    let runs = nodes.flat_map(|(_, runs)| runs.as_array()).flatten();
    let lists = runs.flat_map(|run| run["data"]["main"].as_array()).flatten().flat_map(Value::as_array);
    lists.flatten().any(|item| {
        let found = path.iter().try_fold(&item["json"], |value, step| match step {
            Step::Name(name) => value.get(name),
            Step::Index(index) => value.get(*index as usize),
        });
        found.is_some()
    })
}

/// One reference in a workflow.
struct Place {
    node: usize,
    pointer: String,
    text: String,
    reference: Reference,
}

impl Place {
    fn written(&self) -> &str {
        &self.text[self.reference.range.clone()]
    }

    /// The reference with a last name that resembles no other.
    fn unlike(&self) -> Option<String> {
        let Some(Step::Name(name)) = self.reference.path.last() else { return None };
        let at = self.written().rfind(name.as_str())?;
        Some(self.written()[..at].to_owned() + "zqzqzq" + &self.written()[at + name.len()..])
    }
}

/// The body with references rewritten.
fn rewritten(body: &Value, mut changes: Vec<(&Place, String)>) -> Vec<u8> {
    let mut body = body.clone();
    // From the end of a text to its beginning.
    changes.sort_by_key(|(place, _)| std::cmp::Reverse(place.reference.range.start));
    for (place, written) in changes {
        let text = body["workflowData"]["nodes"][place.node]["parameters"].pointer_mut(&place.pointer).unwrap();
        let mut changed = text.as_str().unwrap().to_owned();
        changed.replace_range(place.reference.range.clone(), &written);
        *text = changed.into();
    }
    body.to_string().into_bytes()
}

/// The references of an execution's workflow.
fn places(body: &Value) -> Vec<Place> {
    let Ok(document) = Document::parse(body["workflowData"].to_string().as_bytes()) else { return Vec::new() };
    let nodes = Parsed::of(&document).map(|parsed| parsed.nodes).unwrap_or_default();
    let mut places = Vec::new();
    for (node, texts) in nodes.iter().map(|node| &node.texts).enumerate() {
        for text in texts {
            let Some(syntax) = text.syntax.filter(|syntax| *syntax != Syntax::Template) else { continue };
            let references = scan(&text.text, syntax).references.into_iter().filter(|one| !one.is_written);
            places.extend(references.map(|reference| {
                let (pointer, text) = (text.pointer.clone(), text.text.clone());
                Place { node, pointer, text, reference }
            }));
        }
    }
    places
}

/// The problem of a reference that is written like this.
fn problem_of(answer: &Value, body: &Value, place: &Place, written: &str) -> Option<Value> {
    let node = &body["workflowData"]["nodes"][place.node]["name"];
    problems(answer).into_iter().find(|problem| problem["nodeName"] == *node && problem["reference"] == *written)
}

#[test]
fn slips_in_references_are_found_with_what_was_meant() {
    find_slips(3);
}

mod slow {
    #[test]
    #[ignore = "slow: 7 s"]
    fn slips_in_all_references_are_found_with_what_was_meant() {
        super::find_slips(1);
    }
}

/// Misspells references in every `step`th execution.
fn find_slips(step: usize) {
    let (folder, mut client) = checking();
    let bodies =
        [fixtures::executions(), fixtures::scenarios(), fixtures::questions(), fixtures::expressions()].concat();
    let (mut all, mut right, mut references) = (0, 0, 0);
    for (name, body) in bodies.into_iter().filter(|(_, body)| body.len() < 1_000_000).step_by(step) {
        let body = fixtures::parse(&body);
        let mut random = Random(7);
        let places = places(&body);
        // An answer shows twenty problems.
        for places in places.chunks(15) {
            // Some are not looked up, such as those of nodes that did not run; and some are already wrong.
            let unlike: Vec<_> = places.iter().filter_map(|place| Some((place, place.unlike()?))).collect();
            let answer = check(&folder, &mut client, &rewritten(&body, unlike.clone()));
            let is_looked_up = |place: &Place, written: &str| {
                let problem = problem_of(&answer, &body, place, written);
                let is_missing = problem.is_some_and(|problem| problem["rule"] == "missingField");
                is_missing && occurs(&body, &place.reference.path)
            };
            let places: Vec<_> = unlike.iter().filter(|(place, written)| is_looked_up(place, written)).collect();
            references += places.len();
            for kind in SLIPS {
                let slipped = places.iter().filter_map(|(place, _)| {
                    let (written, path) = slip(kind, &place.reference, place.written(), &mut random)?;
                    (!occurs(&body, &path)).then_some((*place, written))
                });
                let slipped: Vec<_> = slipped.collect();
                let answer = check(&folder, &mut client, &rewritten(&body, slipped.clone()));
                for (place, written) in slipped {
                    let problem = problem_of(&answer, &body, place, &written);
                    let problem = problem.unwrap_or_else(|| panic!("{name}: {kind}: {written} is not found: {answer}"));
                    assert_eq!(problem["have"], 0, "{name}: {kind}: {answer}");
                    let (near, meant) = (problem["near"].as_str().unwrap_or_default(), shown(&place.reference.path));
                    (all, right) = (all + 1, right + usize::from(near == meant));
                    if near != meant {
                        println!("{name}: {kind}: {written} of {meant} is {near:?}");
                    }
                }
            }
        }
    }
    println!("{right} of {all} slips in {references} references");
    assert!(all > 200 && right * 100 >= all * 97, "{right} of {all}");
}
