//! Answers stay within their budgets, counted exactly, and use them if there is more to show.

use std::io::{BufReader, Read};
use std::ops::Range;

use n8n_lens::budget;
use n8n_lens::execution::node::NodeProjection;
use n8n_lens::execution::summary::SummaryProjection;
use n8n_lens::json::Projection;
use n8n_lens::toolkit::Locale;
use n8n_lens::tools::executions::get_execution_by_node::{self, NodeQuery};
use n8n_lens::tools::executions::summary_answer;
use serde_json::{Value, json};

use crate::generator::{Item, Name, Shape};
use crate::random::Random;
use crate::{fixtures, oracle};

/// The share of a budget that is used if there is more to show.
const USED: f64 = 0.85;

fn summary_text(body: impl Read, offset: u64) -> String {
    let summary = SummaryProjection.read_from(BufReader::with_capacity(65_536, body)).unwrap();
    summary_answer::compose(&summary, None, offset, Locale::Ja, true)
}

fn node_text(body: impl Read, name: &str, max_tokens: usize, limit: u64) -> String {
    let projection = NodeProjection { node: name.to_owned(), window: 0..limit, ..NodeProjection::default() };
    let view = projection.read_from(BufReader::with_capacity(65_536, body)).unwrap();
    let question = NodeQuery { locale: Locale::Ja, ..NodeQuery::new(projection, max_tokens) };
    get_execution_by_node::answer(&view, None, &question).unwrap()
}

/// Checks that an answer is valid, within the limit, and uses it if something was left out; returns the answer.
#[track_caller]
fn check(text: &str, limit: usize, what: &str) -> Value {
    let tokens = budget::count(text);
    assert!(tokens <= limit, "{what}: {tokens} tokens of {limit}");
    let answer: Value = serde_json::from_str(text).unwrap();
    let more = !answer["data"]["truncated"].is_null() || !answer["data"]["omittedNodes"].is_null();
    // Items beyond the item limit do not count.
    let clipped =
        answer["data"]["truncated"]["clippedValues"].as_u64().is_some() || !answer["data"]["omittedNodes"].is_null();
    if more && clipped {
        assert!(
            tokens as f64 >= limit as f64 * USED,
            "{what}: only {tokens} tokens of {limit}: {}",
            &text[..text.floor_char_boundary(3000)]
        );
    }
    answer
}

#[test]
fn every_fixture_summary_fits() {
    for (name, body) in fixtures::executions_of_any_size() {
        check(&summary_text(&body[..], 0), summary_answer::MAX_TOKENS, &name);
    }
}

#[test]
fn every_fixture_node_fits_three_budgets() {
    check_three_budgets(0..60_000);
}

/// All executions with this many bytes.
fn bodies(bytes: Range<usize>) -> impl Iterator<Item = (String, Vec<u8>)> {
    let all = if bytes.end == usize::MAX { fixtures::executions_of_any_size() } else { fixtures::executions() };
    all.into_iter().filter(move |(_, body)| bytes.contains(&body.len()))
}

/// Checks 20 nodes of all executions with this many bytes.
fn check_three_budgets(bytes: Range<usize>) {
    for (name, body) in bodies(bytes) {
        let nodes = oracle::nodes(&fixtures::parse(&body));
        for (node, runs) in nodes.iter().filter(|(_, runs)| *runs > 0).take(20) {
            assert!(*runs > 0);
            for limit in [1000, 4000, 20_000] {
                check(&node_text(&body[..], node, limit, 50), limit, &format!("{name}, {node:?}, {limit}"));
            }
        }
    }
}

#[test]
fn names_of_every_length_fit() {
    names_fit(30, &[Name::Step, Name::Long(5000), long_name("あ"), long_name("\\\"")]);
}

/// A name of 200 characters.
fn long_name(text: &str) -> Name {
    Name::Text(text.repeat(200 / text.chars().count()))
}

/// Checks summaries and nodes of executions with this many nodes, whose names are like these.
fn names_fit(nodes: usize, names: &[Name]) {
    for name in names {
        let shape = || Shape { nodes, runs: 1, items: 1, item: Item::Small, failing: None, name: name.clone() };
        let what = shape().body().node_name(0).chars().take(5).collect::<String>();
        let mut offset = 0;
        let mut seen = 0;
        // Over all pages, every node is listed once.
        while seen < nodes {
            let answer = check(
                &summary_text(shape().body(), offset),
                summary_answer::MAX_TOKENS,
                &format!("{what} from {offset}"),
            );
            let shown = answer["data"]["availableNodes"].as_array().unwrap().len();
            assert!(shown > 0);
            seen += shown;
            match answer["data"]["nextOffset"].as_u64() {
                Some(next) => assert_eq!(next, seen as u64),
                None => assert_eq!(seen, nodes),
            }
            offset = seen as u64;
        }
        for limit in [1000, 20_000] {
            let body = shape().body();
            let node = body.node_name(7);
            check(&node_text(body, &node, limit, 50), limit, &what);
        }
    }
}

#[test]
fn outputs_share_the_budget_fairly() {
    let item = |text: String| json!({"json": {"text": text}});
    for (outputs, limit) in [(4, 2000), (20, 20_000), (300, 1000), (2, 1000)] {
        let output = |at: usize| (0..50).map(|i| item(format!("{at}-{i} ").repeat(100))).collect::<Vec<_>>();
        let body = json!({"id": "1", "status": "success", "data": {"resultData": {"runData": {"Switch": [{"source": [],
            "data": {"main": (0..outputs).map(output).collect::<Vec<_>>()}}]}}}});
        let text = node_text(body.to_string().as_bytes(), "Switch", limit, 50);
        let answer = check(&text, limit, &format!("{outputs} outputs in {limit}"));
        let shown = answer["data"]["output"]["outputs"].as_array().unwrap();
        if outputs <= 20 {
            let returned: Vec<_> = shown.iter().map(|output| output["returned"].as_u64().unwrap()).collect();
            let (least, most) = (returned.iter().min().unwrap(), returned.iter().max().unwrap());
            assert!(*least > 0 && most - least <= 2 + most / 4, "{returned:?}");
        }
    }
}

#[test]
fn more_budget_never_shows_fewer_items() {
    let body = fixtures::execution("i_mid_10mb");
    let mut last = 0;
    for limit in (1000..=25_000).step_by(3000) {
        let answer = check(&node_text(&body[..], "Enrich 注文", limit, 50), limit, &limit.to_string());
        let shown = answer["data"]["output"]["items"].as_array().unwrap().len();
        assert!(shown >= last, "{shown} items in {limit}, {last} in less");
        last = shown;
    }
    assert!(last > 30, "{last}");
}

#[test]
fn pages_of_items_skip_none() {
    page_through(40);
}

/// Reads pages until this many items were shown.
fn page_through(items: u64) {
    let body = fixtures::execution("i_mid_10mb");
    let mut offset = 0;
    let mut ids = Vec::new();
    while offset < items {
        let node = "Generate orders".to_owned();
        let projection = NodeProjection { node, window: offset..offset + 50, ..NodeProjection::default() };
        let view = projection.read_from(&body[..]).unwrap();
        let question = NodeQuery { locale: Locale::Ja, ..NodeQuery::new(projection, 1000) };
        let answer = check(&get_execution_by_node::answer(&view, None, &question).unwrap(), 1000, "a page");
        let items = answer["data"]["output"]["items"].as_array().unwrap();
        let next = answer["data"]["truncated"]["nextOffset"].as_u64().unwrap();
        for item in items.iter().take((next - offset) as usize) {
            ids.push(item["json"]["orderId"].as_u64().unwrap());
        }
        offset = next;
    }
    assert!(ids.windows(2).all(|pair| pair[1] == pair[0] + 1), "{ids:?}");
}

#[test]
fn items_are_dropped_before_keys_are_clipped() {
    let body = Shape { nodes: 2, runs: 1, items: 50, item: Item::Keys(200), failing: None, name: Name::Step }.body();
    let name = body.node_name(1);
    let answer = check(&node_text(body, &name, 1000, 50), 1000, "many keys");
    let shown = answer["data"]["output"]["outputs"][0]["returned"].as_u64().unwrap();
    assert!(shown < 50);
    assert_eq!(answer["data"]["truncated"]["nextOffset"], shown);
}

#[test]
fn every_fixture_is_counted_like_tiktoken_does() {
    count_like_tiktoken([fixtures::executions(), fixtures::scenarios()].concat(), 500_000);
}

/// Counts the tokens of at least so many bytes.
fn count_like_tiktoken(bodies: Vec<(String, Vec<u8>)>, least: usize) {
    let mut bytes = 0;
    for (name, body) in bodies {
        let mut rest = std::str::from_utf8(&body).unwrap();
        while !rest.is_empty() {
            // Longer texts are counted in parts.
            let (part, more) = rest.split_at(rest.floor_char_boundary(budget::ANSWER_BYTES));
            let truth = tiktoken_rs::o200k_base_singleton().count_ordinary(part);
            assert_eq!(budget::count(part), truth, "{name}, from byte {}", body.len() - rest.len());
            bytes += part.len();
            rest = more;
        }
    }
    assert!(bytes > least, "{bytes}");
}

/// A piece of a real body, with some of its characters replaced, and some of the others repeated.
fn changed_piece(random: &mut Random, bodies: &[String]) -> String {
    const BYTES: usize = 64 * 1024;
    const RANGES: [(u32, u32); 8] = [
        (0, 0x7f),
        (0, 0x24f),
        (0x300, 0x36f),
        (0x370, 0x1fff),
        (0x2000, 0x303f),
        (0x3040, 0x9fff),
        (0x1f300, 0x1faff),
        (0, 0x10_ffff),
    ];
    let body = &bodies[random.index(bodies.len())];
    let from = body.floor_char_boundary(random.index(body.len()));
    let rest = &body[from..];
    let changes = random.pick(&[3, 10, 100, 10_000]);
    let mut piece = String::new();
    for char in rest[..rest.floor_char_boundary(BYTES)].chars() {
        if random.index(changes) > 0 {
            piece.push(char);
            continue;
        }
        let (first, last) = random.pick(&RANGES);
        let other = char::from_u32(first + random.index((last - first + 1) as usize) as u32).unwrap_or(' ');
        let times = if random.one_in(8) { random.index(40) } else { 1 };
        piece.extend(std::iter::repeat_n(if random.one_in(4) { char } else { other }, times));
    }
    piece.truncate(piece.floor_char_boundary(budget::ANSWER_BYTES));
    piece
}

#[test]
#[ignore = "long: a gigabyte of text; TEXT_BYTES is another number of bytes, SEED another beginning"]
fn a_gigabyte_is_counted_like_tiktoken_does() {
    let setting = |name: &str| std::env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    let all = fixtures::executions_of_any_size().into_iter().chain(fixtures::scenarios()).chain(fixtures::questions());
    let bodies: Vec<_> =
        all.map(|(_, body)| String::from_utf8(body).unwrap()).filter(|body| !body.is_empty()).collect();
    let most = setting("TEXT_BYTES").unwrap_or(1_000_000_000);
    let (mut random, mut bytes) = (Random(setting("SEED").unwrap_or(30)), 0);
    while bytes < most {
        let piece = changed_piece(&mut random, &bodies);
        let truth = tiktoken_rs::o200k_base_singleton().count_ordinary(&piece);
        assert_eq!(budget::count(&piece), truth, "{piece:?}");
        bytes += piece.len() as u64;
    }
    println!("{bytes} bytes");
}

#[test]
fn a_small_text_needs_no_tokenizer() {
    assert!(budget::fits("{\"a\":1}", 7));
    assert!(!budget::fits(&"a ".repeat(200_000), 20_000));
}

#[test]
fn unbounded_values_cannot_exceed_a_budget() {
    let rare = "\u{20000}\u{2A6D6}𠮷\u{1F9FF}".repeat(50);
    let long = "xyz 日本 ".repeat(20_000);
    let deep = (0..12).fold(json!(1), |value, _| json!({ "日本語鍵漢字".repeat(30): value }));
    let digits: Value = serde_json::from_str(&"7318731873".repeat(15)).unwrap_or_default();
    let body = json!({"id": rare, "workflowId": rare, "status": rare, "mode": rare, "startedAt": rare, "stoppedAt": rare,
        "data": {"resultData": {"error": {"message": rare, "description": rare, "name": rare, "httpCode": rare}, "runData": {"S": [
            {"executionStatus": rare, "error": {"message": "important", "code": digits}, "data": {"main": [[{"json": deep}], [{"json": deep}]]}}]}}},
        "workflowData": {"name": rare, "nodes": [{"name": "S", "type": rare, "typeVersion": 3.2,
            "parameters": {"rules": {"values": [{"renameOutput": true, "outputKey": long}]}}},
            {"name": "S", "type": "n8n-nodes-base.switch", "parameters": {"rules": {"values": [{"renameOutput": true, "outputKey": long}]}}}]}});
    let body = body.to_string();
    let summary = summary_text(body.as_bytes(), 0);
    assert!(budget::count(&summary) <= summary_answer::MAX_TOKENS, "{}", budget::count(&summary));
    for limit in [1000, 5000, 25_000] {
        let text = node_text(body.as_bytes(), "S", limit, 50);
        let tokens = budget::count(&text);
        assert!(tokens <= limit, "{tokens} of {limit}");
        let answer: Value = serde_json::from_str(&text).unwrap();
        assert!(answer["data"]["error"]["message"].as_str().unwrap().starts_with("imp"), "{text}");
        assert!(!answer["data"]["output"]["items"].as_array().unwrap().is_empty());
    }
}

#[test]
fn a_late_output_among_empty_ones_is_shown() {
    let items: Vec<_> = (0..20).map(|i| json!({"json": {"text": format!("{i} ").repeat(700)}})).collect();
    let mut main = vec![json!([]); 59];
    main.push(json!(items));
    let body = json!({"id": "1", "data": {"resultData": {"runData": {"S": [{"data": {"main": main}}]}}}}).to_string();
    let answer = check(&node_text(body.as_bytes(), "S", 1000, 50), 1000, "sixty outputs");
    assert_eq!(answer["data"]["output"]["items"][0]["outputIndex"], 59);
    assert!(answer["data"]["truncated"]["reason"].as_str().unwrap().contains("are not listed"));
}

#[test]
fn every_output_and_input_shows_its_first_item_before_any_shows_a_second() {
    first_items_come_first(0..60_000, &[(2, 1000)]);
}

/// Checks every node of all executions with this many bytes, with these limits of items and tokens.
fn first_items_come_first(bytes: Range<usize>, limits: &[(u64, usize)]) {
    for (name, body) in bodies(bytes) {
        let value = fixtures::parse(&body);
        for (node, _) in oracle::nodes(&value) {
            for &(limit, tokens) in limits {
                let what = format!("{name}, {node}, limit {limit}, {tokens} tokens");
                let answer: Value = serde_json::from_str(&node_text(&body[..], &node, tokens, limit)).unwrap();
                check_parts(&answer["data"], &what);
            }
        }
    }
}

/// Each part with items shows one, and `nextOffset` is there if any part has more.
fn check_parts(data: &Value, what: &str) {
    let (mut shown_of_all, mut more) = (Vec::new(), false);
    for output in data["output"]["outputs"].as_array().unwrap() {
        let (total, shown) = (output["total"].as_u64().unwrap(), output["returned"].as_u64().unwrap());
        shown_of_all.extend((total > 0).then_some(shown));
        more |= shown < total;
    }
    let sources = data["input"]["sources"].as_array().unwrap();
    for source in sources {
        let of_source = |item: &&Value| sources.len() == 1 || item["inputIndex"] == source["inputIndex"];
        let shown = data["input"]["items"].as_array().unwrap().iter().filter(of_source).count() as u64;
        let total = source["total"].as_u64().unwrap();
        shown_of_all.extend((total > 0).then_some(shown));
        more |= shown < total;
    }
    assert!(shown_of_all.iter().all(|shown| *shown > 0), "{what}: {shown_of_all:?} in {data}");
    assert_eq!(data["truncated"]["nextOffset"].is_u64(), more, "{what}: {data}");
}

#[test]
fn an_offset_beyond_the_end_is_said() {
    let body = fixtures::execution("d_branches_merge");
    let projection = NodeProjection { node: "Merge".to_owned(), window: 500..550, ..NodeProjection::default() };
    let view = projection.read_from(&body[..]).unwrap();
    let question = NodeQuery::new(projection, 1000);
    let answer = check(&get_execution_by_node::answer(&view, None, &question).unwrap(), 1000, "beyond the end");
    let reason = answer["data"]["truncated"]["reason"].as_str().unwrap();
    assert!(reason.starts_with("offset 500 is beyond the end: the longest input or output has "), "{reason}");
}

/// Large items of every kind.
mod slow {
    use super::*;

    #[test]
    #[ignore = "slow: 3 s"]
    fn the_large_execution_is_counted_like_tiktoken_does() {
        count_like_tiktoken(fixtures::large(), 10_000_000);
    }

    #[test]
    #[ignore = "slow: 22 s"]
    fn first_items_come_first_within_every_limit() {
        first_items_come_first(0..usize::MAX, &[(1, 1000), (2, 20_000), (50, 1000), (50, 20_000)]);
        first_items_come_first(60_000..usize::MAX, &[(2, 1000)]);
    }

    #[test]
    #[ignore = "slow: 5 s"]
    fn nodes_of_larger_executions_fit_three_budgets() {
        check_three_budgets(60_000..usize::MAX);
    }

    #[test]
    #[ignore = "slow: 4 s"]
    fn names_of_other_lengths_fit() {
        names_fit(
            120,
            &[
                Name::Step,
                Name::Long(5000),
                long_name("あ"),
                long_name("\\\""),
                Name::Long(200),
                long_name("🧿"),
                long_name("0漢字x"),
            ],
        );
    }

    #[test]
    #[ignore = "slow: 5 s"]
    fn many_pages_of_items_skip_none() {
        page_through(200);
    }

    #[test]
    #[ignore = "slow: 8 s"]
    fn texts_of_every_token_density_fit() {
        let letters = ['a', 'q', '0', 'é', 'あ', '漢', '🎉', '\u{1F9FF}', '"', '\\', '\n', '<', '\u{1}'];
        for letter in letters {
            let shape = || Shape {
                nodes: 3,
                runs: 1,
                items: 1,
                item: Item::Letter(letter, 300_000),
                failing: None,
                name: Name::Step,
            };
            for limit in [1000, 20_000, 25_000] {
                let body = shape().body();
                let name = body.node_name(1);
                let answer =
                    check(&node_text(body, &name, limit, 50), limit, &format!("300,000 of {letter:?} in {limit}"));
                assert_eq!(answer["data"]["output"]["total"], 1);
            }
        }
    }

    #[test]
    #[ignore = "slow: 15 s"]
    fn items_of_every_shape_fit() {
        let shapes = [
            ("orders", Item::Order),
            ("small ones", Item::Small),
            ("strings", Item::String(3000)),
            ("arrays", Item::Array(10_000)),
            ("keys", Item::Keys(3_000)),
            ("a long key", Item::Key(20_000)),
        ];
        for (what, item) in shapes {
            let shape = || Shape { nodes: 3, runs: 2, items: 60, item, failing: Some(2), name: Name::Step };
            for limit in [1000, 5000, 25_000] {
                for items in [1, 50] {
                    let body = shape().body();
                    let name = body.node_name(2);
                    check(&node_text(body, &name, limit, items), limit, &format!("{items} items of {what} in {limit}"));
                }
            }
        }
    }
}
