//! An MCP server on stdio for testing the gateway. It answers in every way that a server can, and fails in every way, too.
//!
//! It runs as a separate process of the test binary or of the benchmark. The protocol is
//! implemented by hand, since no library lets a server break it, and in one loop without a runtime: the benchmark uses
//! it, too, and is to measure the gateway. Unix only, because of the signal and the shell.
//!
//! Unknown arguments are ignored; the tool `arguments` returns them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, StdoutLock, Write};
use std::process::{Command, Stdio};
use std::str::FromStr;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{env, process, thread};

use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::signal::unix::{SignalKind, signal};

/// An object with unparsed values, so that they can be returned byte for byte.
type Fields<'a> = BTreeMap<&'a str, &'a RawValue>;
/// The result as JSON, `None` if it comes later or never, or the error as JSON.
type Answer = Result<Option<String>, String>;

/// The output of a server that logs to stdout: no line is a message.
const NOISE: &[u8] = b"fixture is at work\n\n{\"half\":\n[1,2]\n{\"level\":\"info\"}\n\xff\xfe\xc3\x28\n";
/// One white pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mP4DwABAQEAHLCMmQAAAABJRU5ErkJggg==";

/// Each tool's name, description, and arguments with their types.
const TOOLS: &[(&str, &str, &str)] = &[
    ("echo", "Returns its arguments byte for byte", "value?: any"),
    ("sum", "Adds numbers", "numbers: numbers"),
    ("text", "Returns a text", "text: string"),
    ("texts", "Returns texts", "texts: strings"),
    ("image", "Returns a text and an image", ""),
    ("nothing", "Returns no content", ""),
    ("sleep", "Waits", "ms: natural, answer?: string"),
    ("progress", "Waits and reports progress", "ms: natural, steps: natural, answer?: string"),
    ("sleepers", "Returns how many calls waited at once at most", ""),
    ("cancelled", "Returns the cancelled requests", ""),
    ("big", "Returns this many bytes as text, structured content, JSON or quotes", "bytes: natural, kind?: string"),
    ("fail", "Returns a tool error", "text: string"),
    ("rpc_error", "Returns a JSON-RPC error", "code: integer, message: string, data?: any"),
    ("malformed", "Breaks the protocol", "kind: string"),
    ("panic", "Panics", ""),
    ("crash", "Exits without answering", "code?: natural"),
    ("answer_and_exit", "Answers and exits", ""),
    ("pid", "Returns the ids of its process and of the processes that it started", ""),
    ("grandchild", "Starts a process that keeps stdout open", ""),
    ("daemon", "Starts a process in a session of its own, whose parent exits", "clean?: boolean"),
    ("environment", "Reads a variable", "name: string"),
    ("arguments", "Returns its command line", ""),
    ("directory", "Returns its working directory", ""),
    ("add_tool", "Adds a tool that echoes", "name: string"),
    ("remove_tool", "Removes a tool", "name: string"),
    ("stderr", "Writes to stderr", "text: string"),
    ("input_required", "Requests more input", ""),
    ("flood", "Sends requests to the client for so long", "ms: natural"),
    ("ask_client", "Asks the client for its roots", ""),
];
/// Tools whose schemas cannot be compiled, or only by fetching a document.
const BAD_TOOLS: &[(&str, &str, &str)] = &[
    ("bad_schema", "Has an invalid schema", "a?: no-such-type"),
    ("ref_schema", "Has a schema that is elsewhere", "a?: elsewhere"),
];

/// Runs the server until stdin ends; returns the exit code. The arguments are its flags.
pub fn main(args: &[String]) -> i32 {
    // The server lives as long as the process, so threads can borrow it.
    let server: &'static Server = Box::leak(Box::new(Server::new(args)));
    if let Err(error) = server.start() {
        complain(&format!("fixture: {error}"));
        return 2;
    }
    server.listen();
    while server.has("--ignore-eof") {
        thread::park();
    }
    0
}

struct Server {
    args: Vec<String>,
    state: Mutex<State>,
    /// Signals a cancellation.
    woken: Condvar,
}

#[derive(Default)]
struct State {
    /// The listing of each tool, by name.
    tools: Vec<(String, String)>,
    cancelled: Vec<String>,
    /// Requests to the client, and the calls that wait for the replies.
    asked: BTreeMap<String, String>,
    grandchildren: Vec<u32>,
    /// How many calls wait, and how many waited at once at most.
    sleepers: (usize, usize),
}

/// Output before the first message.
impl Server {
    fn new(args: &[String]) -> Self {
        let server = Self { args: args.to_vec(), state: Mutex::default(), woken: Condvar::new() };
        let bad = if server.has("--bad-schema") { BAD_TOOLS } else { &[] };
        server.state().tools.extend(TOOLS.iter().chain(bad).map(|tool| (tool.0.to_owned(), listed(tool))));
        server
    }

    fn has(&self, flag: &str) -> bool {
        self.args.iter().any(|arg| arg == flag)
    }

    /// Whether it only speaks 2026-07-28, which has no handshake.
    fn is_modern(&self) -> bool {
        self.has("--legacy-error")
    }

    /// The value after a flag.
    fn value<T: FromStr>(&self, flag: &str) -> Option<T> {
        let at = self.args.iter().position(|arg| arg == flag)?;
        self.args.get(at + 1)?.parse().ok()
    }

    /// Does what the flags request at startup, which can include exiting.
    fn start(&self) -> io::Result<()> {
        if let Some(file) = self.value::<String>("--starts") {
            let line = format!("{}\n", process::id());
            File::options().create(true).append(true).open(file)?.write_all(line.as_bytes())?;
        }
        if self.has("--ignore-term") {
            ignore_term()?;
        }
        if self.has("--grandchild") {
            self.spawn("exec sleep 1000")?;
        }
        if self.has("--grandchild-ignores") {
            self.spawn(r#"trap "" TERM; sleep 1000 & wait; sleep 1000"#)?;
        }
        if self.has("--stderr-flood") {
            let line = [&[b'e'; 99], b"\n".as_slice()].concat();
            io::stderr().write_all(&line.repeat(10_000))?;
        }
        if self.has("--noise") {
            self.write(|_| Ok(()));
        }
        let once = self.value::<String>("--crash-once").is_some_and(|file| File::create_new(file).is_ok());
        if once || self.has("--crash-at-start") {
            complain("fixture: told to crash");
            process::exit(self.value("--crash-at-start").unwrap_or(3));
        }
        Ok(())
    }

    /// Starts a process that inherits stdout, and reaps it: a zombie would look alive to a test that waits for its end.
    fn spawn(&self, script: &str) -> io::Result<u32> {
        let mut child = Command::new("sh").args(["-c", script]).stdin(Stdio::null()).spawn()?;
        let pid = child.id();
        self.state().grandchildren.push(pid);
        thread::spawn(move || child.wait());
        Ok(pid)
    }
}

/// Incoming and outgoing messages.
impl Server {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn listen(&'static self) {
        let hang = self.has("--hang");
        let mut input = io::stdin().lock();
        let mut line = Vec::new();
        while input.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
            if !hang {
                self.take(&line);
            }
            line.clear();
        }
    }

    fn take(&'static self, line: &[u8]) {
        let Ok(message) = serde_json::from_slice::<Fields>(line) else {
            return self.answer("null", error(-32700, "Parse error"));
        };
        let method = message.get("method").map(|method| string(method.get()));
        let params = raw(&message, "params");
        match (method.as_deref(), message.get("id")) {
            (Some(method), Some(id)) => self.answer(id.get(), self.request(id.get(), method, params)),
            (Some("notifications/cancelled"), None) => self.cancel(params),
            (None, Some(id)) => self.reply(id.get(), message.get("result").or(message.get("error"))),
            (_, None) => {}
        }
    }

    fn answer(&self, id: &str, answer: Answer) {
        match answer {
            Ok(Some(result)) => self.send(format!("{}{}}}", self.opening(id), &result[1..])),
            Ok(None) => {}
            Err(error) => self.send(format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#)),
        }
    }

    /// A response up to the first field of its result.
    fn opening(&self, id: &str) -> String {
        let complete = if self.is_modern() { r#""resultType":"complete","# } else { "" };
        format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{{complete}"#)
    }

    fn send(&self, message: impl Into<Vec<u8>>) {
        let mut message = message.into();
        // Including the line break: stdout passes a complete line on in one write.
        message.push(b'\n');
        self.write(|out| out.write_all(&message));
    }

    /// Writes without interleaving with other threads. A client that is gone is not an error: stdin ends, too.
    fn write(&self, message: impl FnOnce(&mut StdoutLock) -> io::Result<()>) {
        let mut out = io::stdout().lock();
        let noise = if self.has("--noise") { NOISE } else { b"" };
        _ = message(&mut out).and_then(|()| out.write_all(noise)).and_then(|()| out.flush());
    }

    fn cancel(&self, params: &str) {
        let id = fields(params).ok().and_then(|params| params.get("requestId").map(|id| id.get().to_owned()));
        self.state().cancelled.extend(id);
        self.woken.notify_all();
    }

    /// Answers the call that waits for this reply from the client.
    fn reply(&self, id: &str, reply: Option<&&RawValue>) {
        let Some(call) = self.state().asked.get(id).cloned() else { return };
        self.answer(&call, structured(&format!(r#"{{"reply":{}}}"#, reply.map_or("null", |reply| reply.get()))));
    }
}

/// Requests.
impl Server {
    fn request(&'static self, id: &str, method: &str, params: &str) -> Answer {
        match method {
            "initialize" => self.initialize(params),
            "server/discover" if self.is_modern() => self.discover(),
            "ping" if !self.is_modern() => result(json!({})),
            "tools/list" if self.has("--hang-at-list") => Ok(None),
            "tools/list" if !self.has("--no-tools") => self.list(params),
            "tools/call" if !self.has("--no-tools") => self.call(id, params),
            _ => error(-32601, "Method not found"),
        }
    }

    fn initialize(&self, params: &str) -> Answer {
        self.dawdle();
        if self.is_modern() {
            return error(-32602, "Unsupported protocol version");
        }
        let version = string(raw(&fields(params)?, "protocolVersion"));
        let capabilities = if self.has("--no-tools") { json!({}) } else { json!({"tools": {"listChanged": true}}) };
        let server = json!({"name": "fixture", "version": "1.0.0"});
        result(json!({"protocolVersion": version, "capabilities": capabilities, "serverInfo": server}))
    }

    fn discover(&self) -> Answer {
        self.dawdle();
        result(json!({
            "supportedVersions": ["2026-07-28"],
            "capabilities": if self.has("--no-tools") { json!({}) } else { json!({"tools": {}}) },
            "ttlMs": 0,
            "cacheScope": "private",
            "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "fixture", "version": "1.0.0"}},
        }))
    }

    fn dawdle(&self) {
        thread::sleep(Duration::from_millis(self.value("--slow-start").unwrap_or(0)));
    }

    /// A page of tools. The cursor is the number of tools on earlier pages.
    fn list(&self, params: &str) -> Answer {
        let cursor = fields(params)?.get("cursor").map_or(Ok(0), |cursor| string(cursor.get()).parse::<usize>());
        let cursor = cursor.or_else(|_| unusable("cursor"))?;
        let tools = &self.state().tools;
        let end = cursor.saturating_add(self.value("--page").unwrap_or(usize::MAX)).min(tools.len());
        let Some(page) = tools.get(cursor..end) else { return unusable("cursor") };
        let page = page.iter().map(|(_, listed)| listed.as_str()).collect::<Vec<_>>().join(",");
        let next = if end < tools.len() { format!(r#","nextCursor":"{end}""#) } else { String::new() };
        let cache = if self.is_modern() { r#","ttlMs":0,"cacheScope":"private""# } else { "" };
        Ok(Some(format!(r#"{{"tools":[{page}]{next}{cache}}}"#)))
    }

    fn call(&'static self, id: &str, params: &str) -> Answer {
        let params = fields(params)?;
        let name = string(raw(&params, "name"));
        if !self.state().tools.iter().any(|(known, _)| *known == name) {
            return error(-32602, &format!("Unknown tool: {name}"));
        }
        self.run(&name, &Call { id, arguments: raw(&params, "arguments"), meta: raw(&params, "_meta") })
    }
}

/// Calls a tool. Arguments are only parsed by tools that need them, since an echo must not.
struct Call<'a> {
    id: &'a str,
    arguments: &'a str,
    meta: &'a str,
}

impl Call<'_> {
    fn argument<T>(&self, name: &str, read: impl FnOnce(&Value) -> Option<T>) -> Result<T, String> {
        let arguments = serde_json::from_str::<Value>(self.arguments).unwrap_or_default();
        read(&arguments[name]).map_or_else(|| unusable(name), Ok)
    }

    fn number(&self, name: &str) -> Result<u64, String> {
        self.argument(name, Value::as_u64)
    }

    fn text(&self, name: &str) -> Result<String, String> {
        self.argument(name, |text| text.as_str().map(str::to_owned))
    }

    fn list(&self, name: &str) -> Result<Vec<Value>, String> {
        self.argument(name, |list| list.as_array().cloned())
    }

    fn progress_token(&self) -> Option<Value> {
        serde_json::from_str::<Value>(self.meta).ok()?.get("progressToken").cloned()
    }
}

/// A call that waits.
struct Waiting(&'static Server);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.state().sleepers.0 -= 1;
    }
}

/// Tools.
impl Server {
    fn run(&'static self, name: &str, call: &Call) -> Answer {
        match name {
            "sum" => sum(&call.list("numbers")?),
            "text" => texts([call.text("text")?]),
            "texts" => texts(call.list("texts")?),
            "image" => result(json!({"content": [
                {"type": "text", "text": "a pixel"}, {"type": "image", "mimeType": "image/png", "data": PNG},
            ]})),
            "nothing" => result(json!({"content": []})),
            "sleep" => self.sleep(call, 1, None),
            "progress" => self.sleep(call, call.number("steps")?, call.progress_token()),
            "sleepers" => structured(&json!({"most": self.state().sleepers.1})),
            "cancelled" => self.cancelled(),
            "big" => self.big(call),
            "fail" => result(json!({"content": [{"type": "text", "text": call.text("text")?}], "isError": true})),
            "rpc_error" => Err(call.arguments.to_owned()),
            "malformed" => self.by_hand(call.id, &call.text("kind")?),
            "panic" => panic!("told to panic"),
            "crash" => process::exit(call.number("code").map_or(1, |code| code as i32)),
            "answer_and_exit" => {
                self.answer(call.id, texts(["bye"]));
                process::exit(0)
            }
            "pid" => structured(&json!({"pid": process::id(), "grandchildren": self.state().grandchildren})),
            "grandchild" => match self.spawn("exec sleep 1000") {
                Ok(pid) => structured(&json!({"pid": pid})),
                Err(failure) => error(-32603, &failure.to_string()),
            },
            "daemon" => match daemon(call.argument("clean", Value::as_bool).unwrap_or(false)) {
                Ok(pid) => structured(&json!({"pid": pid})),
                Err(failure) => error(-32603, &failure.to_string()),
            },
            "environment" => structured(&json!({"value": env::var(call.text("name")?).ok()})),
            "arguments" => structured(&json!({"args": self.args})),
            "directory" => structured(&json!({"cwd": env::current_dir().ok()})),
            "add_tool" => self.change(&call.text("name")?, true),
            "remove_tool" => self.change(&call.text("name")?, false),
            "stderr" => {
                complain(&call.text("text")?);
                texts(["written"])
            }
            "input_required" => self.by_hand(call.id, name),
            "flood" => self.flood(call),
            "ask_client" => self.ask(call.id),
            // An echo, or a tool that only exists to be listed.
            _ => structured(call.arguments),
        }
    }

    fn sleep(&'static self, call: &Call, steps: u64, token: Option<Value>) -> Answer {
        let id = call.id.to_owned();
        let answer = call.text("answer").unwrap_or_else(|_| "slept".to_owned());
        let pause = Duration::from_millis(call.number("ms")?).div_f64(steps.max(1) as f64);
        let waiting = {
            let (now, most) = &mut self.state().sleepers;
            *now += 1;
            *most = (*now).max(*most);
            Waiting(self)
        };
        thread::spawn(move || {
            for step in 1..=steps {
                if self.cancelled_within(pause, &id) {
                    return;
                }
                if let Some(token) = &token {
                    let params = json!({"progressToken": token, "progress": step, "total": steps});
                    let notification = json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params});
                    self.send(notification.to_string());
                }
            }
            drop(waiting);
            self.answer(&id, texts([answer]));
        });
        Ok(None)
    }

    fn cancelled_within(&self, pause: Duration, id: &str) -> bool {
        let goes_on = |state: &mut State| state.cancelled.iter().all(|cancelled| cancelled != id);
        let waited = self.woken.wait_timeout_while(self.state(), pause, goes_on);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    fn cancelled(&self) -> Answer {
        let ids = &self.state().cancelled;
        structured(&format!(r#"{{"cancelled":[{}],"count":{}}}"#, ids.join(","), ids.len()))
    }

    /// Writes in pieces, so that no answer is too large, and on a thread, so that the loop keeps reading requests.
    fn big(&'static self, call: &Call) -> Answer {
        let kind = call.text("kind").unwrap_or_default();
        let (frame, before, unit, after) = match kind.as_str() {
            "structured" => (r#"{"data":""}"#, r#""content":[],"structuredContent":{"data":""#, "x", r#""}"#),
            "json" => (r#"{"data":""}"#, r#""content":[{"type":"text","text":"{\"data\":\""#, "x", r#"\"}"}]"#),
            "quotes" => ("", r#""content":[{"type":"text","text":""#, r#"\""#, r#""}]"#),
            _ => ("", r#""content":[{"type":"text","text":""#, "x", r#""}]"#),
        };
        let bytes = call.number("bytes")? as usize;
        let Some(times) = bytes.checked_sub(frame.len()) else { return unusable("bytes") };
        let opening = self.opening(call.id);
        thread::spawn(move || {
            self.write(|out| {
                write!(out, "{opening}{before}")?;
                repeat(out, unit, times)?;
                writeln!(out, "{after}}}}}")
            });
        });
        Ok(None)
    }

    /// Responses that are invalid or incomplete.
    fn by_hand(&self, id: &str, kind: &str) -> Answer {
        let answer = |rest: &str| format!(r#"{{"jsonrpc":"2.0","id":{id}{rest}"#);
        let message = match kind {
            "no_result" => answer("}"),
            "result_string" => answer(r#","result":"a string"}"#),
            "content_string" => answer(r#","result":{"content":"a string"}}"#),
            "truncated" => answer(r#","result":{"content":[{"type":"te"#),
            "input_required" => answer(r#","result":{"resultType":"input_required","requestState":"round-1"}}"#),
            "wrong_id" => r#"{"jsonrpc":"2.0","id":"unknown","result":{"content":[]}}"#.to_owned(),
            "latin_1" => answer(r#","result":{"content":[{"type":"text","text":"café"}]}}"#),
            "latin_1_id_last" => format!(r#"{{"result":{{"content":["café"]}},"jsonrpc":"2.0","id":{id}}}"#),
            "latin_1_without_id" => r#"{"jsonrpc":"2.0","result":{"content":["café"]}}"#.to_owned(),
            "control_character" => answer(",\"result\":{\"content\":[\"a\tb\"]}}"),
            "not_a_number" => answer(r#","result":{"structuredContent":{"mean":NaN}}}"#),
            _ => return unusable("kind"),
        };
        // As Latin-1, which is not UTF-8 unless it is ASCII.
        self.send(message.chars().map(|char| u8::try_from(char).unwrap_or(b'?')).collect::<Vec<_>>());
        Ok(None)
    }

    fn change(&self, name: &str, add: bool) -> Answer {
        let mut state = self.state();
        state.tools.retain(|(known, _)| known != name);
        if add {
            let listed = json!({"name": name, "description": "Was added", "inputSchema": {"type": "object"}});
            state.tools.push((name.to_owned(), listed.to_string()));
        }
        drop(state);
        self.send(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#.to_owned());
        texts([if add { "added" } else { "removed" }])
    }

    /// Reads no reply meanwhile.
    fn flood(&self, call: &Call) -> Answer {
        let end = Instant::now() + Duration::from_millis(call.number("ms")?);
        let pings = r#"{"jsonrpc":"2.0","id":"flood","method":"ping"}
"#
        .repeat(1000);
        while Instant::now() < end {
            self.write(|out| out.write_all(pings.as_bytes()));
        }
        texts(["flooded"])
    }

    fn ask(&self, id: &str) -> Answer {
        let mut state = self.state();
        let question = format!(r#""ask-{}""#, state.asked.len() + 1);
        state.asked.insert(question.clone(), id.to_owned());
        drop(state);
        self.send(format!(r#"{{"jsonrpc":"2.0","id":{question},"method":"roots/list"}}"#));
        Ok(None)
    }
}

/// Starts a process as daemons do: it shares no session, group, parent or pipe with this one, and if it is `clean`, no
/// environment.
fn daemon(clean: bool) -> io::Result<u32> {
    let sleep = "sleep 1000 < /dev/null > /dev/null 2>&1 & echo $!";
    let mut command = Command::new("setsid");
    command.args(["sh", "-c", sleep]).stdin(Stdio::null()).stderr(Stdio::null());
    if clean {
        command.env_clear().env("PATH", env::var("PATH").unwrap_or_default());
    }
    let pid = String::from_utf8_lossy(&command.output()?.stdout).trim().parse();
    pid.map_err(|_| io::Error::other("the process did not start"))
}

/// A tool as listed by `tools/list`.
fn listed((name, description, arguments): &(&str, &str, &str)) -> String {
    let mut schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let mut required = Vec::new();
    for (argument, kind) in arguments.split(", ").filter_map(|argument| argument.split_once(": ")) {
        let name = argument.trim_end_matches('?');
        required.extend((name == argument).then_some(name));
        schema["properties"][name] = match kind {
            "any" => json!({}),
            "natural" => json!({"type": "integer", "minimum": 0}),
            "numbers" => json!({"type": "array", "items": {"type": "number"}, "minItems": 1}),
            "strings" => json!({"type": "array", "items": {"type": "string"}}),
            "elsewhere" => json!({"$ref": "https://example.invalid/schema.json"}),
            _ => json!({"type": kind}),
        };
    }
    schema["required"] = required.into();
    json!({"name": name, "description": description, "inputSchema": schema}).to_string()
}

fn fields(params: &str) -> Result<Fields<'_>, String> {
    serde_json::from_str(params).or_else(|_| error(-32602, "Invalid params"))
}

/// A field, unparsed, or an empty object.
fn raw<'a>(fields: &Fields<'a>, name: &str) -> &'a str {
    fields.get(name).map_or("{}", |value| value.get())
}

/// A string, or an empty string if it is something else.
fn string(raw: &str) -> String {
    serde_json::from_str(raw).unwrap_or_default()
}

fn result(result: Value) -> Answer {
    Ok(Some(result.to_string()))
}

fn error<T>(code: i64, message: &str) -> Result<T, String> {
    Err(json!({"code": code, "message": message}).to_string())
}

fn unusable<T>(name: &str) -> Result<T, String> {
    error(-32602, &format!("{name} is missing or not usable"))
}

fn texts<T: Into<Value>>(texts: impl IntoIterator<Item = T>) -> Answer {
    let blocks: Vec<_> = texts.into_iter().map(|text| json!({"type": "text", "text": text.into()})).collect();
    result(json!({"content": blocks}))
}

/// Structured content, and the same as text for clients that do not support it.
fn structured(content: &(impl ToString + ?Sized)) -> Answer {
    let content = content.to_string();
    let text = serde_json::to_string(&content).unwrap_or_default();
    Ok(Some(format!(r#"{{"content":[{{"type":"text","text":{text}}}],"structuredContent":{content}}}"#)))
}

/// The sum; an integer if all numbers are integers.
fn sum(numbers: &[Value]) -> Answer {
    let whole = numbers.iter().try_fold(0_i64, |sum, number| sum.checked_add(number.as_i64()?));
    let real = || numbers.iter().filter_map(Value::as_f64).sum::<f64>().into();
    structured(&json!({"sum": whole.map_or_else(real, Value::from)}))
}

fn repeat(out: &mut impl Write, unit: &str, times: usize) -> io::Result<()> {
    const UNITS: usize = 32 * 1024;
    let piece = unit.repeat(UNITS);
    for _ in 0..times / UNITS {
        out.write_all(piece.as_bytes())?;
    }
    out.write_all(&piece.as_bytes()[..times % UNITS * unit.len()])
}

fn complain(line: &str) {
    _ = writeln!(io::stderr(), "{line}");
}

/// Ignores the signal. Tokio never restores the old handler, so no task has to listen for it.
fn ignore_term() -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let _inside = runtime.enter();
    signal(SignalKind::terminate()).map(drop)
}
