//! Parameters that n8n evaluates only for the first item.

use serde_json::{Value, json};

use super::{check, executed, problems_of, write};

#[test]
fn only_the_first_item_counts_where_n8n_evaluates_once() {
    let values = json!([{"a": "x"}, {"b": "y"}]);
    let node =
        |node_type: &str, parameters: Value| json!({"type": node_type, "typeVersion": 1, "parameters": parameters});
    let base = |kind: &str, parameters: Value| node(&format!("n8n-nodes-base.{kind}"), parameters);
    let value = "={{ $json.a }}";
    for (asking, is_once) in [
        (base("form", json!({"title": value})), true),
        (base("removeDuplicates", json!({"fieldsToCompare": value})), true),
        (base("removeDuplicates", json!({"dedupeField": value})), false),
        (base("convertToFile", json!({"options": {"fileName": value}})), true),
        (base("convertToFile", json!({"operation": "toJson", "options": {"fileName": value}})), true),
        (base("convertToFile", json!({"operation": "toJson", "mode": "each", "options": {"fileName": value}})), false),
        (base("convertToFile", json!({"operation": "toBinary", "options": {"fileName": value}})), false),
        (base("wait", json!({"amount": value})), true),
        (base("executeWorkflow", json!({"workflowId": {"value": value}})), true),
        (base("executeWorkflow", json!({"mode": "each", "workflowId": {"value": value}})), false),
        (base("executeWorkflow", json!({"workflowInputs": {"value": {"a": value}}})), false),
        (base("itemLists", json!({"operation": "limit", "maxItems": value})), true),
        (base("itemLists", json!({"operation": "splitOutItems", "fieldToSplitOut": value})), false),
        (base("itemLists", json!({"fieldToSplitOut": value})), false),
        (base("executeCommand", json!({"command": value})), true),
        (base("executeCommand", json!({"executeOnce": false, "command": value})), false),
        (base("spreadsheetFile", json!({"operation": "toFile", "options": {"fileName": value}})), true),
        (base("spreadsheetFile", json!({"options": {"sheetName": value}})), false),
        (base("googleSheets", json!({"sheetName": {"value": value}})), true),
        (base("googleSheets", json!({"resource": "spreadsheet", "documentId": {"value": value}})), false),
        (base("googleSheets", json!({"columns": {"value": {"sheetName": value}}})), false),
        (base("airtable", json!({"base": {"value": value}})), true),
        (base("airtable", json!({"resource": "base", "base": {"value": value}})), false),
        (base("supabase", json!({"tableId": value})), true),
        (base("xml", json!({"dataPropertyName": value})), true),
        (base("set", json!({"amount": value})), false),
    ] {
        assert_eq!(problems_of(asking.clone(), &values, &values).is_empty(), is_once, "{asking}");
    }
    // Which input a Merge reads is not known; a model is asked for once, a tool for each call.
    for (name, node_type, kind, has_problem) in [
        ("Model", "lmChatOpenAi", "ai_languageModel", false),
        ("Memory", "memoryBufferWindow", "ai_memory", false),
        ("Parser", "outputParserStructured", "ai_outputParser", true),
    ] {
        let mut body = executed(node("@n8n/n8n-nodes-langchain.agent", json!({})), &values, &values);
        let sub = json!({"name": name, "type": format!("@n8n/n8n-nodes-langchain.{node_type}"), "parameters": {"value": value}});
        body["workflowData"]["nodes"].as_array_mut().unwrap().push(sub);
        body["workflowData"]["connections"][name] = json!({kind: [[{"node": "Use", "type": kind, "index": 0}]]});
        let folder = tempfile::tempdir().unwrap();
        let file = write(folder.path(), "execution.json", body.to_string().as_bytes());
        let (answer, _) = check(&["--execution", &file]);
        assert_eq!(answer["data"]["problems"].is_array(), has_problem, "{name}: {answer}");
    }
    let mut merge = executed(base("merge", json!({"value": "={{ $json.gone }}"})), &values, &values);
    merge["workflowData"]["connections"]["No"]["main"][0][0]["index"] = json!(1);
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "execution.json", merge.to_string().as_bytes());
    assert!(check(&["--execution", &file]).0["data"]["problems"].is_null());
}
