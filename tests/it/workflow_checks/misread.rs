//! References that read other items, or another part of them, than they seem to.

use serde_json::{Value, json};

use super::{check, code, executed, problems_of, set_to, write};

#[test]
fn items_are_all_read_only_if_none_can_have_been_dropped_and_none_doubled() {
    let values = json!([{"v": null}, {"v": 1}, {"v": "2"}]);
    let problems = |way: Value| {
        let mut body = executed(set_to("={{ $('Source').item.json.v }}"), &values, &values);
        let kept = &mut body["workflowData"]["nodes"][1];
        (kept["type"], kept["parameters"]) = (way["type"].clone(), way["parameters"].clone());
        let folder = tempfile::tempdir().unwrap();
        let file = write(folder.path(), "execution.json", body.to_string().as_bytes());
        check(&["--execution", &file]).0["data"]["problems"].as_array().map_or(0, Vec::len)
    };
    for (kind, parameters, expected) in [
        ("set", json!({}), 1),
        ("filter", json!({}), 1),
        ("code", json!({"jsCode": "return $input.all()"}), 0),
        ("httpRequest", json!({}), 0),
        ("splitOut", json!({}), 0),
    ] {
        let way = json!({"type": format!("n8n-nodes-base.{kind}"), "parameters": parameters});
        assert_eq!(problems(way), expected, "{kind}");
    }
    // Nor if the node reads the first item only.
    let once = code("return f($('Source').item.json.v)");
    assert_eq!(problems_of(once, &values, &values), [""; 0]);
}
