//! Access to the page: who gets in, what its files and answers contain, which tools it may call. The page itself is tested in a
//! browser (`tests/view`).

use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::fixtures;
use crate::support::generator::{Item, Name, Shape};
use crate::support::http_client::{Answer, HttpServer};
use crate::support::mcp_client::KEY;
use crate::support::server::{self, Reply, Server};
use crate::support::view_server::{ViewServer, recording_opener};
use crate::support::wait::eventually;

/// A real execution that failed.
pub(crate) const ID: &str = "42";

pub(crate) fn n8n() -> Server {
    server::n8n(executions())
}

pub(crate) fn executions() -> HashMap<String, Vec<u8>> {
    let body = fixtures::executions().into_iter().find(|(name, _)| name == "b_http_500").unwrap().1;
    HashMap::from([(ID.to_owned(), body)])
}

pub(crate) fn view(n8n: &Server) -> ViewServer {
    ViewServer::start(&[], &[("N8N_URL", &n8n.url()), ("N8N_API_KEY", KEY)])
}

pub(crate) fn call(tool: &str, arguments: Value) -> String {
    json!({"tool": tool, "arguments": arguments}).to_string()
}

fn get(view: &ViewServer, path: &str, headers: &[(&str, &str)]) -> Answer {
    view.http.send("GET", path, headers, "")
}

/// The lines of an answer to a call; the last one is the result.
pub(crate) fn lines(answer: &Answer) -> Vec<Value> {
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.header("content-type"), Some("application/x-ndjson"));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    // The body is chunked; each chunk holds whole lines.
    let objects = answer.body.lines().filter(|line| line.starts_with('{'));
    objects.map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn the_token_is_good_for_one_browser() {
    let n8n = n8n();
    let view = view(&n8n);
    assert!(view.address.starts_with("http://127.0.0.1:"), "{}", view.address);
    assert_eq!(get(&view, "/view/", &[]).status, 401);
    assert_eq!(get(&view, "/view/?token=guess", &[]).status, 401);
    // Another origin may not use it up.
    assert_eq!(get(&view, view.path(), &[("origin", "http://evil.example")]).status, 403);

    let entered = get(&view, view.path(), &[]);
    // The page continues by itself: a browser that was led here by a file would not send the cookie after a redirect.
    assert_eq!((entered.status, entered.header("location")), (200, None));
    assert!(entered.body.contains("<script src=\"enter.js\">"), "{}", entered.body);
    let port = view.http.authority.rsplit_once(':').unwrap().1;
    let set = entered.header("set-cookie").unwrap();
    assert!(set.starts_with(&format!("n8n-lens-{port}=")), "{set}");
    assert!(set.ends_with("; Path=/view; HttpOnly; SameSite=Strict"), "{set}");
    let cookie = set.split(';').next().unwrap();
    assert!(!cookie.contains(view.path().split_once('=').unwrap().1), "the cookie is another secret");

    assert_eq!(get(&view, view.path(), &[]).status, 401, "a second browser");
    let index = get(&view, "/view/", &[("cookie", &format!("other=1; {cookie}"))]);
    assert_eq!(index.status, 200);
    assert!(index.body.contains("id=\"about\"") && index.body.ends_with("</html>\n"), "{:.300}", index.body);
    let again = get(&view, view.path(), &[("cookie", cookie)]);
    assert_eq!((again.status, again.header("location")), (303, Some("/view/")), "the same browser, by its history");
}

#[test]
fn the_token_is_in_no_command_line_and_the_opener_gets_no_secret() {
    let (n8n, records, home) = (n8n(), recording_opener(), tempfile::tempdir().unwrap());
    let folder = records.path().to_str().unwrap();
    let path = format!("{folder}:/usr/bin:/bin");
    let secret = "s3cret-Kq7Zr2Lm9Xw4";
    let url = n8n.url();
    let store = format!("postgres://lens:{secret}@127.0.0.1:1/db");
    let environment = [
        ("N8N_URL", url.as_str()),
        ("N8N_API_KEY", secret),
        ("N8N_LENS_AUTH_TOKEN", secret),
        ("GATEWAY_TOKEN", secret),
        ("N8N_LENS_DB", &store),
        ("N8N_ENCRYPTION_KEY", secret),
        ("DB_POSTGRESDB_PASSWORD", secret),
        ("PGPASSWORD", secret),
        ("HOME", home.path().to_str().unwrap()),
        ("DISPLAY", ":7"),
        ("PATH", &path),
        ("RECORDS", folder),
    ];
    let view = ViewServer::start_opening(&[ID], &environment);
    eventually("the opener was started", || records.path().join("done").exists());
    let record = |name: &str| std::fs::read_to_string(records.path().join(name)).unwrap();

    let opened = PathBuf::from(record("done").trim_end());
    let token = view.path().split_once('=').unwrap().1;
    assert!(!record("done").contains(token), "the token is in a command line");
    assert_eq!(opened.parent(), Some(home.path()), "where a browser in a sandbox can read it");
    assert_eq!(record("mode").trim_end(), "600");
    assert!(record("file").contains(&format!("url={}\"", view.address)), "{}", record("file"));
    let inherited = record("environment");
    assert!(inherited.contains("DISPLAY=:7"), "{inherited}");
    assert!(!inherited.contains(secret) && !inherited.contains(token), "{inherited}");

    assert!(opened.exists(), "until a browser has read it");
    view.enter();
    eventually("the file is removed once it was used", || !opened.exists());
}

#[test]
fn the_file_for_the_browser_does_not_outlive_the_page() {
    let (n8n, records, home) = (n8n(), recording_opener(), tempfile::tempdir().unwrap());
    std::fs::create_dir_all(home.path().join(".config")).unwrap();
    std::fs::write(home.path().join(".config/user-dirs.dirs"), "XDG_DOWNLOAD_DIR=\"$HOME/Saved\"\n").unwrap();
    std::fs::create_dir(home.path().join("Saved")).unwrap();
    let folder = records.path().to_str().unwrap();
    let path = format!("{folder}:/usr/bin:/bin");
    let mut view = ViewServer::start_opening(
        &[],
        &[
            ("N8N_URL", &n8n.url()),
            ("N8N_API_KEY", KEY),
            ("HOME", home.path().to_str().unwrap()),
            ("PATH", &path),
            ("RECORDS", folder),
        ],
    );
    eventually("the opener was started", || records.path().join("done").exists());
    let files = || home.path().join("Saved").read_dir().unwrap().count();
    assert_eq!(files(), 1);
    let pid = rustix::process::Pid::from_raw(view.http.pid().cast_signed()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(view.http.wait().0, Some(0));
    assert_eq!(files(), 0);
}

#[test]
fn a_person_without_access_gets_a_sentence() {
    let n8n = n8n();
    let view = view(&n8n);
    let refused = |path: &str, headers: &[(&str, &str)]| get(&view, path, headers);
    let page = refused("/view/", &[("accept-language", "en-GB,en;q=0.9")]);
    assert_eq!((page.status, page.header("content-type")), (401, Some("text/html; charset=utf-8")));
    assert!(page.body.contains("<p>This page belongs to the browser that opened it first."), "{}", page.body);
    assert!(page.header("content-security-policy").is_some());
    let japanese = refused("/view/", &[("accept-language", "ja,en;q=0.5")]);
    assert!(japanese.body.contains("<html lang=\"ja\">") && japanese.body.contains("n8n-lens view"), "{japanese:?}");
    let elsewhere = refused("/view/?token=guess", &[("host", "evil.example")]);
    assert_eq!(elsewhere.status, 403);
    assert!(elsewhere.body.contains("--allowed-hosts") && !elsewhere.body.contains("guess"), "{}", elsewhere.body);
    // The page's own requests are answered in JSON.
    assert_eq!(refused("/view/items", &[]).header("content-type"), Some("application/json"));

    let server = HttpServer::start(&n8n.url(), &["--auth-token", "right", "--locale", "en"]);
    let page = server.send("GET", "/view/", &[("accept-language", "ja")], "");
    assert_eq!(page.header("www-authenticate"), Some("Basic realm=\"n8n-lens\", charset=\"UTF-8\""));
    assert!(page.body.contains("<p>Enter the token of this server as the password"), "{}", page.body);
    for server in [&server, &view.http] {
        let root = server.send("GET", "/", &[], "");
        assert_eq!((root.status, root.header("location")), (307, Some("/view/")), "{root:?}");
    }
}

#[test]
fn the_page_of_a_server_for_other_machines_can_call_its_tools() {
    let n8n = n8n();
    let server = HttpServer::start(&n8n.url(), &["--host", "0.0.0.0", "--auth-token", "right"]);
    let question = call("view_overview", json!({"id": ID}));
    let token = ("authorization", "Basic OnJpZ2h0");
    let ask = |host: &str, origin: &str, more: &[(&str, &str)]| {
        let headers = [&[("content-type", "application/json"), ("host", host), ("origin", origin)][..], more].concat();
        server.send("POST", "/view/call", &headers, &question).status
    };
    for (host, origin) in [
        ("192.0.2.7:3000", "http://192.0.2.7:3000"),
        ("lens.example", "https://lens.example"),
        ("LENS.example", "http://lens.example"),
        ("[2001:db8::1]:3000", "http://[2001:db8::1]:3000"),
        ("192.0.2.7:3000", "http://localhost:3000"),
    ] {
        assert_eq!(ask(host, origin, &[token]), 200, "{host}, {origin}");
        // A page whose name resolves to us (DNS rebinding) has no token.
        assert_eq!(ask(host, origin, &[]), 401, "{host}, {origin}");
    }
    for origin in ["http://evil.example", "http://192.0.2.7", "http://192.0.2.7:30000", "null", "192.0.2.7:3000"] {
        assert_eq!(ask("192.0.2.7:3000", origin, &[token]), 403, "{origin}");
    }
    assert_eq!(ask("192.0.2.7:3000", "http://192.0.2.7:3000", &[token, ("host", "evil.example")]), 403, "two hosts");
    // The same applies to MCP, and if names were configured, only those are allowed.
    let bearer = ("authorization", "Bearer right");
    let list = |server: &HttpServer, origin: &str| {
        server.request("tools/list", json!({}), &[bearer, ("host", "192.0.2.7:3000"), ("origin", origin)]).status
    };
    assert_eq!(list(&server, "http://192.0.2.7:3000"), 200);
    assert_eq!(list(&server, "http://evil.example"), 403);
    let named = ["--host", "0.0.0.0", "--auth-token", "right", "--allowed-hosts", "lens.example"];
    let named = HttpServer::start(&n8n.url(), &named);
    assert_eq!(list(&named, "http://192.0.2.7:3000"), 403);
}

#[test]
fn nothing_is_shown_to_other_users_and_other_origins() {
    let n8n = n8n();
    let view = view(&n8n);
    let cookie = view.enter();
    let question = call("view_overview", json!({"id": ID}));
    let json = ("content-type", "application/json");
    let mine = ("cookie", cookie.as_str());
    for path in ["/view/", "/view/enter.js", "/view/items"] {
        assert_eq!(get(&view, path, &[]).status, 401, "{path}");
        assert_eq!(get(&view, path, &[("cookie", &format!("{cookie}0"))]).status, 401, "{path}");
        for foreign in [("origin", "http://evil.example"), ("host", "evil.example"), ("origin", "null")] {
            assert_eq!(get(&view, path, &[mine, json, foreign]).status, 403, "{path}, {foreign:?}");
        }
    }
    let ask = |headers: &[(&str, &str)]| view.http.send("POST", "/view/call", headers, &question);
    assert_eq!(ask(&[json]).status, 401);
    assert_eq!(ask(&[mine, json, ("origin", "http://evil.example")]).status, 403);
    // Requests that a form of another page can send without a preflight.
    assert_eq!(ask(&[mine, ("content-type", "text/plain")]).status, 400);
    assert!(n8n.requests().is_empty(), "n8n was asked");
    let refusal = ask(&[json]);
    assert!(refusal.body.contains("Run n8n-lens view again"), "{}", refusal.body);
    assert!(lines(&ask(&[mine, json])).last().unwrap().get("result").is_some());
}

#[test]
fn every_answer_keeps_other_pages_out() {
    let n8n = n8n();
    let view = view(&n8n);
    let cookie = view.enter();
    for path in ["/view", "/view/", "/view/enter.js", "/view/items", "/view/none.js"] {
        let answer = get(&view, path, &[("cookie", &cookie)]);
        let policy = answer.header("content-security-policy").unwrap_or_else(|| panic!("{path}: {answer:?}"));
        let scripts = if path == "/view/" { "'sha256-" } else { "'self';" };
        assert!(policy.starts_with(&format!("default-src 'none'; script-src {scripts}")), "{policy}");
        assert!(policy.ends_with("frame-ancestors 'none'"), "{policy}");
        assert!(!policy.contains("unsafe") && !policy.contains('*'), "{policy}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"), "{path}");
        assert_eq!(answer.header("cross-origin-resource-policy"), Some("same-origin"), "{path}");
    }
    assert_eq!(get(&view, "/view/none.js", &[("cookie", &cookie)]).status, 404);
    assert_eq!(get(&view, "/view/..%2fmod.rs", &[("cookie", &cookie)]).status, 404);
    let redirect = get(&view, "/view?token=1", &[]);
    assert_eq!((redirect.status, redirect.header("location")), (307, Some("/view/?token=1")));
}

#[test]
fn the_page_is_compressed_and_not_sent_twice() {
    let n8n = n8n();
    let view = view(&n8n);
    let cookie = view.enter();
    let file = |more: &[(&str, &str)]| get(&view, "/view/", &[&[("cookie", cookie.as_str())][..], more].concat());
    let plain = file(&[]);
    assert_eq!(plain.header("content-type"), Some("text/html; charset=utf-8"));
    assert!(plain.body.contains("class Waterfall"));
    let tag = plain.header("etag").unwrap();
    let unchanged = file(&[("if-none-match", tag)]);
    assert_eq!((unchanged.status, unchanged.body.as_str()), (304, ""));
    assert_eq!(file(&[("if-none-match", "W/\"other\"")]).status, 200);
    let compressed = file(&[("accept-encoding", "br, gzip")]);
    assert_eq!(compressed.header("content-encoding"), Some("gzip"));
    let length = |answer: &Answer| answer.header("content-length").unwrap().parse::<usize>().unwrap();
    assert!(length(&compressed) * 2 < length(&plain), "{} of {}", length(&compressed), length(&plain));
}

#[test]
fn the_overview_is_the_whole_picture() {
    let n8n = n8n();
    let view = view(&n8n);
    let cookie = view.enter();
    let about = view.about(&cookie);
    let n8n_url = format!("{}/", n8n.url());
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(
        about,
        json!({"version": version, "locale": null, "n8nUrl": n8n_url, "execution": null, "store": false, "proof": false})
    );

    let answer = lines(&view.call(&cookie, &call("view_overview", json!({"id": ID}))));
    let overview = &answer.last().unwrap()["result"];
    let body = fixtures::parse(&executions()[ID]);
    assert_eq!(overview["execution"]["id"], ID);
    assert_eq!(overview["execution"]["workflowName"], body["workflowData"]["name"]);
    assert_eq!(overview["execution"]["error"]["nodeName"], "HTTP Request");
    assert_eq!(overview["execution"]["items"], 1);
    let names: Vec<_> = overview["nodes"].as_array().unwrap().iter().map(|node| &node["nodeName"]).collect();
    assert_eq!(names, ["Webhook", "HTTP Request"], "in the order of execution");
    let failed = &overview["nodes"][1];
    assert_eq!(
        (&failed["status"], &failed["failedRuns"], &failed["inputItems"]),
        (&json!("error"), &json!(1), &json!(1))
    );
    let run = &body["data"]["resultData"]["runData"]["HTTP Request"][0];
    let from = run["startTime"].as_i64().unwrap() - overview["start"].as_f64().unwrap() as i64;
    let ms = run["executionTime"].as_i64().unwrap();
    assert_eq!(failed["bars"], json!([[from, from + ms, 0, 1, 1, 0, ms]]));
    assert_eq!(
        overview["graph"]["nodes"].as_array().unwrap().len(),
        body["workflowData"]["nodes"].as_array().unwrap().len()
    );
    assert_eq!(overview["graph"]["connections"][0], json!(["Webhook", 0, "HTTP Request", 0, "main"]));

    let part = json!({"id": ID, "start": overview["start"], "from": from, "to": from + 1, "bars": 100});
    let answer = lines(&view.call(&cookie, &call("view_timeline", part)));
    let nodes = answer.last().unwrap()["result"]["nodes"].as_array().unwrap().clone();
    assert!(nodes.contains(&json!(["HTTP Request", failed["bars"]])), "{nodes:?}");
}

/// A page of a saved execution, and its cookie.
pub(crate) fn saved(body: impl Read) -> (tempfile::TempDir, ViewServer, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("saved.json");
    let mut file = std::fs::File::create(&path).unwrap();
    std::io::copy(&mut { body }, &mut file).unwrap();
    let view = ViewServer::start(&[path.to_str().unwrap()], &[]);
    let cookie = view.enter();
    (folder, view, cookie)
}

#[test]
fn a_saved_execution_has_its_own_id_or_none() {
    for id in [json!("1234"), Value::Null] {
        let mut body = fixtures::parse(&executions()[ID]);
        body["id"] = id.clone();
        let (_folder, view, cookie) = saved(body.to_string().as_bytes());
        let overview = lines(&view.call(&cookie, &call("view_overview", json!({"id": "0"})))).pop().unwrap();
        assert_eq!(overview["result"]["execution"]["id"], id);
    }
}

#[test]
fn only_tools_that_read_can_be_called() {
    let n8n = n8n();
    let url = n8n.url();
    let view = view(&n8n);
    let cookie = view.enter();
    let refused = |answer: Answer| (answer.status, answer.body.contains("TOOL_NOT_FOUND"));
    for tool in ["update_workflow", "delete_workflow", "activate_workflow", "no_such_tool"] {
        assert_eq!(refused(view.call(&cookie, &call(tool, json!({"id": "1"})))), (404, true), "{tool}");
    }
    // The page of a server has the tools of that server, except for writing ones.
    let server = HttpServer::start(&url, &["--toolsets", "executions,workflows,builder"]);
    let ask = |tool: &str| {
        let headers = [("content-type", "application/json")];
        server.send("POST", "/view/call", &headers, &call(tool, json!({"id": ID})))
    };
    assert_eq!(ask("view_overview").status, 200);
    assert_eq!(ask("get_workflow").status, 200);
    assert_eq!(refused(ask("update_workflow")), (404, true));
    assert!(n8n.requests().iter().all(|request| request.method == "GET"));

    let answer = lines(&view.call(&cookie, &call("get_execution_by_node", json!({"id": ID}))));
    assert_eq!(answer[0]["error"]["code"], "INVALID_TOOL_PARAMETERS");
    assert!(answer[0]["error"]["message"].as_str().unwrap().contains("'nodeName'"));
}

#[test]
fn the_page_of_a_server_is_behind_its_token() {
    let n8n = n8n();
    let server = HttpServer::start(&n8n.url(), &["--auth-token", "right"]);
    let get = |headers: &[(&str, &str)]| server.send("GET", "/view/", headers, "");
    let refusal = get(&[]);
    assert_eq!(refusal.status, 401);
    assert_eq!(refusal.header("www-authenticate"), Some("Basic realm=\"n8n-lens\", charset=\"UTF-8\""));
    assert_eq!(get(&[("authorization", "Bearer right")]).status, 200);
    // `:right` and `me:right`, then `me:wrong`, as a browser sends them.
    assert_eq!(get(&[("authorization", "Basic OnJpZ2h0")]).status, 200);
    assert_eq!(get(&[("authorization", "Basic bWU6cmlnaHQ=")]).status, 200);
    assert_eq!(get(&[("authorization", "Basic bWU6d3Jvbmc=")]).status, 401);
    // Only the page accepts a password.
    let headers = [("authorization", "Basic OnJpZ2h0"), ("content-type", "application/json")];
    assert_eq!(server.send("POST", "/mcp/tools", &headers, "").status, 401);
}

#[test]
fn progress_comes_while_a_call_runs_and_closing_the_connection_ends_it() {
    let (body, path) = (executions().remove(ID).unwrap(), format!("/api/v1/executions/{ID}"));
    let n8n =
        Server::start(move |request| match request.path == path && request.query("includeData") == Some("true") {
            true => Reply::json(200, body.clone()).pace(1000, Duration::from_millis(200)),
            false => Reply::json(200, json!({"id": ID, "status": "error"}).to_string()),
        });
    let view = view(&n8n);
    let cookie = view.enter();
    let question = call("view_overview", json!({"id": ID}));
    let answer = lines(&view.call(&cookie, &question));
    let read: Vec<_> = answer.iter().filter_map(|line| line["progress"]["bytes"].as_u64()).collect();
    assert!(read.len() > 1 && read.is_sorted(), "{answer:?}");
    assert!(answer.last().unwrap().get("result").is_some(), "{answer:?}");

    eventually("the first download is over", || n8n.open() == 0);
    let headers = [("cookie", cookie.as_str()), ("content-type", "application/json")];
    let mut connection = view.http.open("POST", "/view/call", &headers, &question);
    connection.read_exact(&mut [0; 16]).unwrap();
    eventually("n8n is asked", || n8n.open() == 1);
    drop(connection);
    eventually("the download is dropped", || n8n.open() == 0);
    // Neither read to the end nor kept open until then.
    assert!(n8n.sent() < 2 * executions()[ID].len() as u64, "{}", n8n.sent());
}

#[test]
fn a_saved_execution_needs_no_n8n() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("failed.json");
    std::fs::write(&file, &executions()[ID]).unwrap();
    let view = ViewServer::start(&[file.to_str().unwrap(), "--locale", "ja"], &[]);
    let cookie = view.enter();
    let about = view.about(&cookie);
    assert_eq!((&about["execution"], &about["locale"], &about["n8nUrl"]), (&json!("0"), &json!("ja"), &Value::Null));
    let result = |tool: &str, arguments: Value| lines(&view.call(&cookie, &call(tool, arguments))).pop().unwrap();
    assert_eq!(result("view_overview", json!({"id": "0"}))["result"]["execution"]["error"]["httpCode"], "500");
    let node = result("get_execution_by_node", json!({"id": "0", "nodeName": "Webhook"}));
    assert_eq!(node["result"]["nodeName"], "Webhook", "{node}");
    let list = result("list_executions", json!({}));
    assert!(list["error"]["message"].as_str().unwrap().contains("saved execution"), "{list}");
    std::fs::remove_file(&file).unwrap();
    let gone = result("view_overview", json!({"id": "0"}));
    assert!(gone["error"]["message"].as_str().unwrap().contains("cannot be read"), "{gone}");
}

#[test]
fn an_execution_is_named_in_the_address() {
    let n8n = n8n();
    let view = ViewServer::start(&[ID], &[("N8N_URL", &n8n.url()), ("N8N_API_KEY", KEY)]);
    assert!(view.address.ends_with(&format!("#/{ID}")), "{}", view.address);
}

/// Large pictures.
mod slow {
    use super::*;

    #[test]
    #[ignore = "slow: 11 s"]
    fn a_picture_of_many_nodes_with_long_names_is_bounded() {
        let name = Name::Long(700);
        let shape = Shape { nodes: 20_000, runs: 1, items: 1, item: Item::Small, failing: Some(15_000), name };
        let (_folder, view, cookie) = saved(shape.body());
        let started = Instant::now();
        let answer = view.call(&cookie, &call("view_overview", json!({"id": "0"})));
        assert!(answer.body.len() < 4_000_000, "{} bytes", answer.body.len());
        let overview = lines(&answer).pop().unwrap()["result"].take();
        let nodes = overview["nodes"].as_array().unwrap();
        let ran = nodes.len() as u64 + overview["moreNodes"].as_u64().unwrap();
        assert_eq!((nodes.len(), ran), (1000, 15_001), "later nodes did not run");
        assert_eq!(overview["execution"]["items"], 15_000);
        let failed = nodes.iter().find(|node| node["failedRuns"] == 1).expect("the failed node is shown");
        assert!(failed["nodeName"].as_str().unwrap().starts_with("Step 15001"), "{failed}");
        assert!(nodes.iter().all(|node| node["nodeName"].as_str().unwrap().chars().count() < 230));
        let graph = &overview["graph"];
        assert_eq!((graph["nodes"].as_array().unwrap().len(), &graph["moreNodes"]), (1000, &json!(19_000)));
        let drawn: HashSet<_> = graph["nodes"].as_array().unwrap().iter().map(|node| &node["nodeName"]).collect();
        let links = graph["connections"].as_array().unwrap();
        assert!(links.iter().all(|link| drawn.contains(&link[0]) && drawn.contains(&link[2])));
        assert_eq!(links.len() as u64 + graph["moreConnections"].as_u64().unwrap(), 19_999);

        let all = json!({"id": "0", "start": overview["start"], "from": 0, "to": 1_000_000_000_u64, "bars": 100});
        let answer = lines(&view.call(&cookie, &call("view_timeline", all)));
        let on_axis: HashSet<_> =
            answer.last().unwrap()["result"]["nodes"].as_array().unwrap().iter().map(|node| node[0].clone()).collect();
        assert_eq!(on_axis, nodes.iter().map(|node| node["nodeName"].clone()).collect(), "the same nodes");
        let shown = failed["nodeName"].clone();
        let node = lines(&view.call(&cookie, &call("get_execution_by_node", json!({"id": "0", "nodeName": shown}))));
        assert_eq!(node.last().unwrap()["result"]["status"], "error");
        // This took hours: each node was searched for among all others.
        assert!(started.elapsed() < Duration::from_secs(120), "{:?}", started.elapsed());
    }
}

/// Three runs of a node with two outputs: every kind of value, half a surrogate pair, secrets, a formula.
fn odd_items() -> Value {
    let item = |json: Value| json!({"json": json, "pairedItem": {"item": 0}});
    let run = |index: u64, outputs: Value| {
        json!({"startTime": 1_795_226_662_000_u64 + index, "executionTime": 1, "executionIndex": index, "executionStatus": "success",
            "source": [], "data": {"main": outputs}})
    };
    let first = json!([
        [
            item(json!({"id": 1, "name": "a, \"b\"\nc", "token": "secret-1"})),
            item(json!({"id": 2, "deep": {"list": [1, null]}}))
        ],
        [item(json!({"other": true}))],
    ]);
    let second = json!([[item(json!({"id": -3, "name": "=1+1"})), item(json!({"name": "+49 30 123"}))], []]);
    json!({"id": "7", "status": "success", "mode": "manual", "workflowId": "w",
        "data": {"resultData": {"runData": {"Before": [run(0, json!([[item(json!({"n": 0}))]]))],
            "Split 分岐": [run(1, first), run(2, second), run(3, json!([[], []]))]}}},
        "workflowData": {"id": "w", "name": "w", "nodes": [], "connections": {}}})
}

/// The body of a file.
fn whole(answer: &Answer) -> &str {
    assert_eq!(answer.status, 200, "{answer:?}");
    &answer.body
}

#[test]
fn all_items_of_a_node_are_a_file() {
    let text = odd_items().to_string().replace("secret-1", r"secret \ud83d half");
    let n8n = server::n8n(HashMap::from([("7".to_owned(), text.into_bytes())]));
    let view = view(&n8n);
    let cookie = view.enter();
    let file = |query: &str| get(&view, &format!("/view/items?id=7&{query}"), &[("cookie", &cookie)]);
    let node = "node=Split%20%E5%88%86%E5%B2%90";
    let first = file(&format!("{node}&run=0&format=jsonl"));
    assert_eq!(first.header("content-type"), Some("application/jsonl; charset=utf-8"));
    let named = "attachment; filename=\"7-Split---.jsonl\"; filename*=UTF-8''7%2DSplit%2D%E5%88%86%E5%B2%90%2Ejsonl";
    assert_eq!(first.header("content-disposition"), Some(named));
    // Half a surrogate pair is replaced, as everywhere.
    let expected = [
        json!({"id": 1, "name": "a, \"b\"\nc", "token": "secret \u{fffd} half"}),
        json!({"id": 2, "deep": {"list": [1, null]}}),
    ];
    let items = whole(&first);
    assert!(items.ends_with('\n'), "{items}");
    let items: Vec<Value> = items.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(items, expected);
    assert_eq!(whole(&file(&format!("{node}&output=1&format=jsonl"))), "{\"other\":true}\n");
    assert_eq!(whole(&file(&format!("{node}&run=2&format=jsonl"))), "");
    let all = file(&format!("{node}&format=csv"));
    assert_eq!(
        whole(&all),
        "\u{feff}id,name,token,deep\r\n1,\"a, \"\"b\"\"\nc\",secret \u{fffd} half,\r\n2,,,\"{\"\"list\"\":[1,null]}\"\r\n-3,'=1+1,,\r\n,'+49 30 123,,\r\n"
    );
    for (query, status) in
        [("node=None&format=csv", 422), ("node=Before&run=9&format=csv", 422), ("node=Before&format=xml", 400)]
    {
        assert_eq!(file(query).status, status, "{query}");
    }
    assert_eq!(get(&view, "/view/items?id=7&node=Before&format=csv", &[]).status, 401);
}

#[test]
fn items_that_n8n_redacted_are_not_in_a_file() {
    let mut body = odd_items();
    let hidden = json!({"json": {}, "redaction": {"redacted": true, "reason": "user_requested"}});
    body["data"]["resultData"]["runData"]["Before"][0]["data"]["main"][0] =
        json!([json!({"json": {"a": 1}}), hidden, json!({"json": {"a": 3}}), json!({"json": null}), json!({})]);
    let n8n = server::n8n(HashMap::from([("7".to_owned(), body.to_string().into_bytes())]));
    let view = view(&n8n);
    let cookie = view.enter();
    let file =
        |format: &str| get(&view, &format!("/view/items?id=7&node=Before&format={format}"), &[("cookie", &cookie)]);
    assert_eq!(whole(&file("jsonl")), "{\"a\":1}\n{\"a\":3}\nnull\n{}\n");
    assert_eq!(whole(&file("csv")), "\u{feff}a\r\n1\r\n3\r\n\r\n\r\n");
}

#[test]
fn the_items_of_a_file_are_masked() {
    let folder = tempfile::tempdir().unwrap();
    let body = folder.path().join("body.json");
    std::fs::write(&body, odd_items().to_string()).unwrap();
    let view = ViewServer::start(&[body.to_str().unwrap(), "--redact"], &[]);
    let cookie = view.enter();
    for format in ["csv", "jsonl"] {
        let path = format!("/view/items?id=0&node=Split%20%E5%88%86%E5%B2%90&format={format}");
        let file = get(&view, &path, &[("cookie", &cookie)]);
        let items = whole(&file);
        assert!(items.contains("[redacted]") && !items.contains("secret-1"), "{items}");
    }
}

#[test]
fn a_proof_takes_more_than_being_let_in() {
    let n8n = n8n();
    let environment = [("N8N_URL", n8n.url()), ("N8N_API_KEY", KEY.to_owned())];
    let environment: Vec<_> = environment.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let post = |view: &ViewServer, headers: &[(&str, &str)], body: &str| {
        let json = [("content-type", "application/json")];
        view.http.send("POST", "/view/prove", &[&json, headers].concat(), body)
    };
    let confirmed = json!({"id": ID, "confirmed": true}).to_string();

    let reader = view(&n8n);
    let cookie = reader.enter();
    let origin = format!("http://{}", reader.http.authority);
    assert_eq!(reader.about(&cookie)["proof"], false);
    assert_eq!(post(&reader, &[("cookie", &cookie), ("origin", &origin)], &confirmed).status, 404);

    let prover = ViewServer::start(&["--toolsets", "proof"], &environment);
    let cookie = prover.enter();
    let origin = format!("http://{}", prover.http.authority);
    assert_eq!(prover.about(&cookie)["proof"], true);
    let own = [("cookie", cookie.as_str()), ("origin", origin.as_str())];
    assert_eq!(post(&prover, &own[1..], &confirmed).status, 401, "no cookie");
    assert_eq!(post(&prover, &own[..1], &confirmed).status, 400, "no origin");
    assert_eq!(post(&prover, &[own[0], ("origin", "http://evil.example")], &confirmed).status, 403);
    assert_eq!(post(&prover, &own, &json!({"id": ID, "confirmed": false}).to_string()).status, 400);
    assert_eq!(post(&prover, &own, &json!({"id": ID}).to_string()).status, 400);
    // Neither the tool itself nor the others of its toolset can be called.
    for tool in ["prove_fix", "publish_workflow_version", "retry_execution", "stop_execution"] {
        assert_eq!(prover.call(&cookie, &call(tool, json!({"id": ID}))).status, 404, "{tool}");
    }
    assert!(n8n.requests().iter().all(|request| request.method == "GET"));
    for (language, is_english) in [("en", true), ("ja", false)] {
        let asked = json!({"id": ID, "confirmed": true, "language": language}).to_string();
        let answer = lines(&post(&prover, &own, &asked)).pop().unwrap();
        assert_eq!(answer["result"]["verdict"], "unchanged", "the draft is what ran: {answer}");
        assert_eq!(answer["result"]["claim"].as_str().unwrap().is_ascii(), is_english, "{answer}");
    }
}
