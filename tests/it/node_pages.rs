//! Pages of a node's items: parts, rows, first items, offsets, errors and sub-executions in items.

use n8n_lens::budget;
use n8n_lens::execution::node::NodeProjection;
use n8n_lens::json::Projection;
use n8n_lens::tools::executions::get_execution_by_node::{self, NodeQuery, Part};
use serde_json::{Map, Value, json};

use crate::{fixtures, oracle};

const BUDGETS: [usize; 6] = [300, 600, 1000, 1500, 4000, 20_000];

struct Page<'a> {
    node: &'a str,
    offset: u64,
    limit: u64,
    part: Part,
    max_tokens: usize,
}

impl<'a> Page<'a> {
    fn of(node: &'a str) -> Self {
        Self { node, offset: 0, limit: 50, part: Part::Both, max_tokens: 20_000 }
    }

    fn text(&self, body: &[u8], rows: bool) -> String {
        let window = self.offset..self.offset + self.limit;
        let mut projection = NodeProjection { node: self.node.to_owned(), window, ..NodeProjection::default() };
        let mut view = projection.read_from(body).unwrap();
        if let Some(again) = projection.second_pass(&view) {
            (view, projection) = (again.read_from(body).unwrap(), again);
        }
        let query = NodeQuery { part: self.part, rows, ..NodeQuery::new(projection, self.max_tokens) };
        get_execution_by_node::answer(&view, None, &query).unwrap()
    }

    fn data(&self, body: &Value, rows: bool) -> Value {
        let mut answer: Value = serde_json::from_str(&self.text(body.to_string().as_bytes(), rows)).unwrap();
        answer["data"].take()
    }
}

/// A node `Node` whose outputs have these items, fed by `Source`.
fn execution(outputs: &[Vec<Value>], source: &[Value]) -> Value {
    let feed = |at: usize| json!({"previousNode": "Source", "previousNodeOutput": at});
    json!({"id": "1", "status": "success", "data": {"resultData": {"runData": {
        "Source": [{"data": {"main": [source, source]}}],
        "Node": [{"source": [feed(0), feed(1)], "data": {"main": outputs}}]
    }}}})
}

fn orders(count: usize) -> Vec<Value> {
    let order = |at| json!({"json": {"id": at, "customer": {"name": "Ann"}, "total": 12.5, "note": "as usual"}, "pairedItem": {"item": at}});
    (0..count).map(order).collect()
}

/// The items that the rows stand for.
fn items_of(section: &Value) -> Vec<Value> {
    let Some(table) = section.get("rows") else { return section["items"].as_array().unwrap().clone() };
    let rows = table["rows"].as_array().unwrap().iter().enumerate();
    let item = |(at, row): (usize, &Value)| {
        let mut item = Map::new();
        for (column, cell) in table["columns"].as_array().unwrap().iter().zip(row.as_array().unwrap()) {
            let column = column.as_str().unwrap();
            let lacking = table["missing"][column].as_array().into_iter().flatten();
            if lacking.into_iter().any(|row| *row == at) {
                assert!(cell.is_null(), "{table}");
                continue;
            }
            match column.strip_prefix("json.") {
                Some(name) => {
                    let json = item.entry("json").or_insert_with(|| json!({}));
                    json[name] = cell.clone();
                }
                None => drop(item.insert(column.to_owned(), cell.clone())),
            }
        }
        Value::Object(item)
    };
    rows.map(item).collect()
}

#[test]
fn a_part_has_its_items_and_counts_the_others() {
    let body = execution(&[orders(3)], &orders(2));
    let both = Page::of("Node").data(&body, false);
    let input = Page { part: Part::Input, ..Page::of("Node") }.data(&body, false);
    let output = Page { part: Part::Output, ..Page::of("Node") }.data(&body, false);
    assert_eq!(input["input"], both["input"]);
    assert_eq!(output["output"], both["output"]);
    assert_eq!((&input["output"]["total"], input["output"].get("items")), (&json!(3), None));
    assert_eq!((&output["input"]["total"], output["input"].get("items")), (&json!(4), None));
    assert_eq!(output["input"]["sources"], both["input"]["sources"]);
    assert!(output["truncated"].is_null(), "{output}");
    // A part that was not requested has no next page.
    let input = Page { part: Part::Input, limit: 2, ..Page::of("Node") }.data(&body, false);
    assert!(input["truncated"].is_null(), "{input}");
}

#[test]
fn five_hundred_items_are_a_page_and_each_list_tells_its_offset() {
    let body = execution(&[orders(700), orders(30)], &orders(2));
    let data = Page { offset: 20, limit: 500, part: Part::Output, ..Page::of("Node") }.data(&body, true);
    let outputs = &data["output"]["outputs"];
    assert_eq!(outputs[0], json!({"outputIndex": 0, "total": 700, "offset": 20, "returned": 500}));
    assert_eq!(outputs[1], json!({"outputIndex": 1, "total": 30, "offset": 20, "returned": 10}));
    assert_eq!(data["input"]["sources"][1]["offset"], 20);
    assert_eq!(data["truncated"]["nextOffset"], 520);
}

#[test]
fn rows_stand_for_the_same_items() {
    let mut items = orders(6);
    items[1]["json"]["total"] = json!(null);
    items[2]["json"].as_object_mut().unwrap().remove("total");
    items[4]["binary"] = json!({"file": {"mimeType": "text/plain"}});
    let body = execution(&[items, orders(3)], &orders(4));
    let (items, rows) = (Page::of("Node").data(&body, false), Page::of("Node").data(&body, true));
    for section in ["input", "output"] {
        assert!(rows[section]["items"].is_null(), "{rows}");
        assert_eq!(items_of(&rows[section]), items_of(&items[section]));
    }
    let table = &rows["output"]["rows"];
    assert_eq!(table["columns"][0], "json.id");
    assert_eq!(table["rows"][0][1], json!({"name": "Ann"}));
    assert_eq!(table["missing"]["json.total"], json!([2]));
}

#[test]
fn rows_never_take_more_tokens_than_items() {
    let unlike: Vec<_> = (0..20).map(|at| json!({"json": {format!("key{at}"): at}})).collect();
    let long: Vec<_> = (0..40).map(|at| json!({"json": {"id": at, "text": "long ".repeat(200)}})).collect();
    let mut bodies = vec![
        ("orders".to_owned(), execution(&[orders(40), orders(3)], &orders(50)).to_string().into_bytes()),
        ("unlike".to_owned(), execution(std::slice::from_ref(&unlike), &orders(1)).to_string().into_bytes()),
        ("long".to_owned(), execution(&[long, unlike], &orders(9)).to_string().into_bytes()),
        ("scalars".to_owned(), execution(&[vec![json!(1), json!("a")]], &[]).to_string().into_bytes()),
        ("one".to_owned(), execution(&[orders(1)], &[]).to_string().into_bytes()),
    ];
    bodies.extend(fixtures::executions().into_iter().filter(|(_, body)| body.len() < 35_000));
    let (mut smaller, mut all) = (0, 0);
    for (name, body) in bodies {
        for (node, _) in oracle::nodes(&fixtures::parse(&body)).into_iter().rev().take(1) {
            for max_tokens in BUDGETS {
                let page = Page { max_tokens, limit: 500, ..Page::of(&node) };
                let (items, rows) = (page.text(&body, false), page.text(&body, true));
                let tokens = [&items, &rows].map(|answer| budget::count(answer));
                assert!(tokens[1] <= tokens[0], "{name}, {node}: {} tokens instead of {}", tokens[1], tokens[0]);
                all += 1;
                smaller += usize::from(items != rows);
            }
        }
    }
    assert!(smaller * 5 > all, "only {smaller} of {all} answers have rows");
}

#[test]
fn first_items_come_before_second_ones_and_more_items_have_a_next_offset() {
    let wide =
        |count: usize| (0..count).map(|at| json!({"json": {"at": at, "text": "word ".repeat(60)}})).collect::<Vec<_>>();
    let mut many = vec![wide(5), Vec::new(), orders(1), orders(2)];
    many.extend((0..30).map(|_| orders(3)));
    for outputs in [vec![wide(9), orders(1)], vec![orders(40), wide(1), wide(1), orders(2)], many] {
        let body = execution(&outputs, &wide(6));
        for max_tokens in [1000, 1200, 1500, 4000, 20_000] {
            for (limit, offset) in [(1, 0), (2, 0), (50, 0), (500, 1)] {
                let page = Page { max_tokens, limit, offset, ..Page::of("Node") };
                let data = page.data(&body, false);
                let lists = data["output"]["outputs"].as_array().unwrap().iter();
                let shown: Vec<_> = lists
                    .map(|list| [&list["total"], &list["returned"]].map(|number| number.as_u64().unwrap()))
                    .filter(|[total, _]| *total > offset)
                    .collect();
                let what = format!("{max_tokens} tokens, limit {limit}: {shown:?}");
                let (least, most) = (shown.iter().map(|list| list[1]).min(), shown.iter().map(|list| list[1]).max());
                assert!(least > Some(0) || most <= Some(1), "{what}");
                if shown.iter().any(|[total, returned]| offset + (*returned).max(1) < *total) {
                    assert!(data["truncated"]["nextOffset"].as_u64() > Some(offset), "{what}");
                }
            }
        }
    }
}

#[test]
fn the_stack_of_an_item_has_three_lines() {
    let stack = "Error: no\n at a\n at b\n at c\n at d";
    let own = json!({"json": {}, "error": {"message": "no", "stack": stack}});
    let inside = json!({"json": {"error": {"message": "no", "stack": stack, "code": 5}, "stack": stack}});
    let other = json!({"json": {"error": {"stack": stack}}});
    let data = Page::of("Node").data(&execution(&[vec![own, inside, other]], &[]), false);
    let items = &data["output"]["items"];
    assert_eq!(items[0]["error"]["stack"], "Error: no\n at a\n at b");
    assert_eq!(items[1]["json"]["error"], json!({"message": "no", "stack": "Error: no\n at a\n at b", "code": 5}));
    assert_eq!([&items[1]["json"]["stack"], &items[2]["json"]["error"]["stack"]], [stack, stack]);
}

#[test]
fn sub_executions_of_items_and_runs_have_their_ids() {
    let child = |id: &str| json!({"subExecution": {"executionId": id, "workflowId": "w"}});
    let mut body = execution(&[vec![json!({"json": {}, "metadata": child("51")}), json!({"json": {}})]], &[]);
    body["data"]["resultData"]["runData"]["Node"][0]["metadata"] = child("50");
    let data = Page::of("Node").data(&body, false);
    assert_eq!(data["run"], json!({"index": 0, "total": 1, "failed": [], "subExecution": "50"}));
    assert_eq!(data["output"]["items"][0]["subExecution"], "51");
    assert_eq!(data["output"]["items"][1], json!({"json": {}}));
}
