//! Traces of OpenTelemetry, printed and sent to a collector.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::mpsc;

use serde_json::{Value, json};

use super::{bodies, export, number, odd, parsed, printed, reference, save};
use crate::fixtures;
use crate::support::n8n_store::N8nFolder;

/// The spans of requests.
fn spans(requests: &[Value]) -> Vec<Value> {
    let all = |value: &Value, name: &str| value[name].as_array().unwrap().clone();
    let resources = requests.iter().flat_map(|request| all(request, "resourceSpans"));
    let scopes = resources.flat_map(|resource| all(&resource, "scopeSpans"));
    scopes.flat_map(|scope| all(&scope, "spans")).collect()
}

fn exported(store: &N8nFolder, more: &[&str]) -> Vec<Value> {
    spans(&parsed(&printed(&mut export(store.path(), &[&["--format", "otlp"], more].concat()))))
}

/// The values of a span's attributes.
fn attributes(span: &Value) -> HashMap<String, Value> {
    let attributes = span["attributes"].as_array().unwrap().iter();
    let value = |value: &Value| value.as_object().unwrap().values().next().unwrap().clone();
    attributes.map(|it| (it["key"].as_str().unwrap().to_owned(), value(&it["value"]))).collect()
}

fn nanoseconds(span: &Value, name: &str) -> u64 {
    span[name].as_str().unwrap().parse().unwrap()
}

fn is_id(text: &Value, chars: usize) -> bool {
    let text = text.as_str().unwrap();
    text.len() == chars
        && text.bytes().all(|byte| b"0123456789abcdef".contains(&byte))
        && text.bytes().any(|byte| byte != b'0')
}

#[test]
fn every_execution_that_ended_is_a_trace() {
    let store = N8nFolder::wal();
    let mut bodies = bodies();
    bodies.push(odd(bodies.len() as u64 + 1));
    save(&store, &bodies);
    let text = printed(&mut export(store.path(), &["--format", "otlp"]));
    assert_eq!(text, printed(&mut export(store.path(), &["--format", "otlp"])), "a second export is the same");
    let spans = spans(&parsed(&text));
    let mut ids = HashSet::new();
    for span in &spans {
        assert!(is_id(&span["traceId"], 32) && is_id(&span["spanId"], 16), "{span}");
        assert!(ids.insert((span["traceId"].clone(), span["spanId"].clone())), "{span}");
        assert!(nanoseconds(span, "startTimeUnixNano") <= nanoseconds(span, "endTimeUnixNano"), "{span}");
    }
    let ended = |body: &&Value| !matches!(body["status"].as_str(), Some("new" | "running" | "waiting"));
    let roots: Vec<_> = spans.iter().filter(|span| span["name"] == "workflow.execute").collect();
    let ended: Vec<_> = bodies.iter().filter(ended).collect();
    assert_eq!(roots.len(), ended.len());
    for (root, body) in roots.iter().zip(ended) {
        let of_root = attributes(root);
        assert_eq!(of_root["n8n.execution.id"], body["id"]);
        assert_eq!(of_root["n8n.execution.status"], body["status"]);
        assert_eq!(of_root["n8n.execution.is_retry"], json!(body["mode"] == "retry"));
        let start: jiff::Timestamp = body["startedAt"].as_str().unwrap().parse().unwrap();
        assert_eq!(
            u128::from(nanoseconds(root, "startTimeUnixNano")),
            start.as_nanosecond() as u128,
            "{}",
            number(body)
        );
        let failed = matches!(body["status"].as_str(), Some("error" | "crashed"));
        assert_eq!(root["status"]["code"], if failed { 2 } else { 1 });
        // Its runs, each inside it or inside another of its runs.
        let of_trace: Vec<_> = spans.iter().filter(|span| span["traceId"] == root["traceId"]).collect();
        let runs = reference::own_runs(body);
        let timed: Vec<_> = runs.iter().filter(|(_, _, run)| run["startTime"].is_number()).collect();
        assert_eq!(of_trace.len(), timed.len() + 1, "{}", number(body));
        for (span, (node, _, run)) in of_trace[1..].iter().zip(timed) {
            let of_run = attributes(span);
            assert_eq!((span["name"].as_str(), &of_run["n8n.node.name"]), (Some("node.execute"), &json!(node)));
            let main = reference::outputs(run)
                .iter()
                .filter(|(kind, _)| kind == "main")
                .map(|(_, items)| items.len())
                .sum::<usize>();
            assert_eq!(of_run["n8n.node.items.output"], main.to_string());
            assert_eq!(span["status"]["code"], if reference::is_failed(run) { 2 } else { 1 });
            assert!(of_trace.iter().any(|parent| parent["spanId"] == span["parentSpanId"]), "{span}");
        }
    }
}

#[test]
fn sub_nodes_are_children_of_their_agent() {
    let store = N8nFolder::wal();
    save(&store, &[fixtures::parse(&fixtures::execution("l_ai_agent")), odd(90_000)]);
    let spans = exported(&store, &[]);
    let named = |name: &str| {
        spans.iter().filter(|span| attributes(span).get("n8n.node.name") == Some(&json!(name))).collect::<Vec<_>>()
    };
    let (agent, models, tools) = (named("AI Agent"), named("OpenAI Chat Model"), named("Calculator"));
    assert_eq!((agent.len(), models.len(), tools.len()), (1, 2, 1));
    for child in models.iter().chain(&tools) {
        assert_eq!(child["parentSpanId"], agent[0]["spanId"]);
    }
    let model = attributes(models[1]);
    assert_eq!(model["gen_ai.operation.name"], "chat");
    assert_eq!(model["gen_ai.request.model"], "gpt-4.1-mini");
    assert_eq!(
        (&model["gen_ai.usage.input_tokens"], &model["gen_ai.usage.output_tokens"]),
        (&json!("10"), &json!("5"))
    );
    assert_eq!(model["gen_ai.response.finish_reasons"], json!({"values": [{"stringValue": "stop"}]}));
    assert_eq!(model["n8n.node.type_version"], json!(1.2));
    assert_eq!(attributes(tools[0])["gen_ai.tool.name"], "Calculator");
    let of_agent = attributes(agent[0]);
    assert_eq!(
        (&of_agent["gen_ai.operation.name"], &of_agent["n8n.node.items.input"]),
        (&json!("invoke_agent"), &json!("1"))
    );
    // The failed run, without the secret in its message.
    let failed = named("A call");
    let exception = &failed[1]["events"][0];
    assert_eq!(
        (exception["name"].as_str(), &exception["attributes"][0]["value"]["stringValue"]),
        (Some("exception"), &json!("NodeApiError"))
    );
    assert!(!exception.to_string().contains("abcdefghijklmnop"), "{exception}");
    let retry = spans.iter().find(|span| !span["links"].is_null()).unwrap();
    assert_eq!(attributes(retry)["n8n.execution.retry_of"], "1");
    assert!(is_id(&retry["links"][0]["traceId"], 32) && retry["links"][0]["traceId"] != retry["traceId"]);
}

#[test]
fn traces_that_n8n_has_sent_are_left_out() {
    let store = N8nFolder::wal();
    save(&store, &[odd(1), odd(2)]);
    store.run(r#"UPDATE execution_entity SET "tracingContext" = '{"traceparent":"00-aa-bb-01"}' WHERE id = 1"#);
    let ids = |more: &[&str]| -> Vec<Value> {
        let spans = exported(&store, more);
        spans.iter().filter_map(|span| attributes(span).remove("n8n.execution.id")).collect()
    };
    assert_eq!(ids(&[]), ["2"]);
    assert_eq!(ids(&["--with-traced"]), ["1", "2"]);
    assert_eq!(super::rows(store.path(), "executions", &[]).len(), 2, "rows have all executions");
    // n8n 1.x has no such column.
    let old = N8nFolder::rollback();
    save(&old, &[odd(1)]);
    assert!(!exported(&old, &[]).is_empty());
}

/// A request that arrived: its head and its body.
type Arrived = (String, Value);

/// A collector that answers one request after another with these statuses, then with 200.
fn collector(statuses: &'static [u16], more: &'static str) -> (String, mpsc::Receiver<Arrived>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (sender, arrived) = mpsc::channel();
    let mut statuses = statuses.iter().copied();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            loop {
                let mut head = String::new();
                while !head.ends_with("\r\n\r\n") && stream.read_line(&mut head).unwrap() > 0 {}
                let length =
                    head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
                let Some(length) = length else { break };
                let mut body = vec![0; length];
                stream.read_exact(&mut body).unwrap();
                if sender.send((head, serde_json::from_slice(&body).unwrap())).is_err() {
                    return;
                }
                let answer = "{}";
                let status = statuses.next().unwrap_or(200);
                let answer = if status == 200 {
                    answer.to_owned()
                } else {
                    json!({"message": "token sesame-open was refused"}).to_string()
                };
                let answer = if more.is_empty() || status != 200 { answer } else { more.to_owned() };
                write!(
                    stream.get_mut(),
                    "HTTP/1.1 {status} x\r\nretry-after: 0\r\ncontent-length: {}\r\n\r\n{answer}",
                    answer.len()
                )
                .unwrap();
            }
        }
    });
    (address, arrived)
}

#[test]
fn traces_are_sent_to_a_collector() {
    let store = N8nFolder::wal();
    save(&store, &(1..=40).map(odd).collect::<Vec<_>>());
    let (address, arrived) = collector(&[503, 429], "");
    let mut command = export(store.path(), &["--format", "otlp", "--to", &address]);
    let output = command.env("OTEL_EXPORTER_OTLP_HEADERS", "x-token=sesame%2Dopen, x-other=1").output().unwrap();
    assert_eq!(
        (output.status.code(), output.stdout.len()),
        (Some(0), 0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let requests: Vec<_> = arrived.try_iter().collect();
    let head = requests[0].0.to_lowercase();
    assert!(head.starts_with("post /v1/traces http/1.1") && head.contains("x-token: sesame-open"), "{head}");
    assert!(head.contains("content-type: application/json"), "{head}");
    assert_eq!((&requests[0].1, &requests[1].1), (&requests[1].1, &requests[2].1), "it is sent again");
    let sent: Vec<_> = requests[2..].iter().map(|(_, body)| body.clone()).collect();
    assert_eq!(spans(&sent), exported(&store, &[]), "and nothing is sent twice");
}

#[test]
fn a_collector_that_refuses_is_named_without_secrets() {
    let store = N8nFolder::wal();
    save(&store, &[odd(1)]);
    let said = |address: &str| {
        let mut command = export(store.path(), &["--format", "otlp", "--to", address]);
        let output = command.env("OTEL_EXPORTER_OTLP_HEADERS", "x-token=sesame-open").output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    };
    let (address, _arrived) = collector(&[401], "");
    let refused = said(&address.replace("//", "//user:hunter2@"));
    assert!(refused.contains("answered 401") && refused.contains("OTEL_EXPORTER_OTLP_HEADERS"), "{refused}");
    assert!(!refused.contains("hunter2") && !refused.contains("sesame"), "{refused}");
    for (answer, expected) in [
        (r#"{"partialSuccess":{"rejectedSpans":"3","errorMessage":"too old"}}"#, "rejected 3 spans: too old."),
        (r#"{"partialSuccess":{"rejectedSpans":3,"errorMessage":null}}"#, "rejected 3 spans."),
    ] {
        let (address, _arrived) = collector(&[], answer);
        let rejected = said(&address);
        assert!(rejected.contains(expected), "{rejected}");
    }
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let unreachable = said(&format!("http://{free}/v1/traces"));
    assert!(
        unreachable.contains("cannot be reached") && unreachable.contains("No execution was sent"),
        "{unreachable}"
    );
}
