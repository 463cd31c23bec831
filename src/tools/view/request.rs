//! The HTTP request of a node: as it was sent, if its error has it, or else as its parameters have it. No secrets.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value};

use super::shell::quoted;
use crate::secrets::outgoing;

/// Method and address, for a sentence.
pub(super) fn request(answer: &Value) -> Option<String> {
    // Parameters called `url` of other nodes are no address that they call.
    let is_request = answer["nodeType"].as_str().is_some_and(is_request);
    let wanted = || is_request.then(|| Request::wanted(&answer["parameters"]))?;
    let request = Request::sent(&answer["error"]["context"]["request"]).or_else(wanted)?;
    Some(format!("{} {}", request.method, outgoing::address(&request.url)))
}

/// Whether a node of this type sends what its parameters say.
pub(super) fn is_request(node_type: &str) -> bool {
    node_type.ends_with(".httpRequest")
}

/// The request as a `curl` command; `None` if the parameters are those of an HTTP Request node before version 3, whose headers, query
/// and body are elsewhere.
pub(super) fn curl(parameters: &Value, error: &Value) -> Option<String> {
    let is_old = |name: &String| {
        name.ends_with("ParametersUi")
            || name.ends_with("ParametersJson")
            || matches!(name.as_str(), "jsonParameters" | "sendBinaryData")
    };
    let is_old = parameters.as_object().is_some_and(|all| all.keys().any(is_old));
    let wanted = || (!is_old).then(|| Request::wanted(parameters))?;
    let Request { method, url, headers, body } = Request::sent(&error["context"]["request"]).or_else(wanted)?;
    // Without globbing, brackets and braces in an address are what they are.
    let mut words = vec!["curl -g".to_owned()];
    if method != "GET" || !matches!(body, Body::None) {
        words.push(format!("-X {}", quoted(&method)));
    }
    // Otherwise curl would take it for an option, such as one that reads a file.
    let option = if url.starts_with('-') { "--url " } else { "" };
    words.push(format!("{option}{}", quoted(&outgoing::address(&url))));
    let has = |name: &str| headers.iter().any(|(header, _)| header.eq_ignore_ascii_case(name));
    let content_type = body.content_type().filter(|_| !has("content-type"));
    for (name, value) in &headers {
        let value = outgoing::value(name, value);
        // curl does not send `name:`.
        let header = if value.is_empty() { format!("{name};") } else { format!("{name}: {value}") };
        words.push(format!("-H {}", quoted(&header)));
    }
    words.extend(content_type.map(|kind| format!("-H {}", quoted(&format!("Content-Type: {kind}")))));
    words.extend(body.words());
    Some(words.join(" "))
}

/// A request.
struct Request {
    method: String,
    url: String,
    headers: Vec<(String, String)>,
    body: Body,
}

/// Its body.
enum Body {
    None,
    /// JSON, or a template of it.
    Json(String),
    /// Fields of a form.
    Form(Vec<(String, String)>),
    /// Fields of a form in parts.
    Parts(Vec<(String, Part)>),
    /// A file, by the name of the member of `binary` that holds it.
    File(String),
    /// Any other text, and its type.
    Raw(String, Option<String>),
}

/// A part of a form.
enum Part {
    Text(String),
    /// A file, by the name of the member of `binary` that holds it.
    File(String),
}

impl Part {
    /// For curl. A text is not looked into for the signs of a file.
    fn word(&self, name: &str) -> String {
        let (option, value) = match self {
            Self::Text(text) => ("--form-string", outgoing::value(name, text)),
            Self::File(member) => ("-F", format!("@{member}").into()),
        };
        format!("{option} {}", quoted(&format!("{name}={value}")))
    }
}

impl Body {
    /// The type that curl has to send.
    fn content_type(&self) -> Option<&str> {
        match self {
            Self::Json(_) => Some("application/json"),
            Self::Raw(_, kind) => kind.as_deref(),
            Self::File(_) => Some("application/octet-stream"),
            Self::None | Self::Form(_) | Self::Parts(_) => None,
        }
    }

    fn words(&self) -> Vec<String> {
        let field = |(name, value): &(String, String)| {
            format!("--data-urlencode {}", quoted(&format!("{}={}", encoded(name), outgoing::value(name, value))))
        };
        match self {
            Self::None => Vec::new(),
            Self::Json(text) | Self::Raw(text, _) => vec![format!("--data-raw {}", quoted(&outgoing::body(text)))],
            Self::Form(all) => all.iter().map(field).collect(),
            Self::Parts(all) => all.iter().map(|(name, part)| part.word(name)).collect(),
            Self::File(name) => vec![format!("--data-binary {}", quoted(&format!("@{name}")))],
        }
    }
}

impl Request {
    /// As the error of a node that failed has it.
    fn sent(sent: &Value) -> Option<Self> {
        let url = ["uri", "url"].iter().find_map(|name| text(&sent[name]))?;
        let method = text(&sent["method"]).unwrap_or_else(|| "GET".to_owned());
        let body = match (&sent["form"], &sent["body"]) {
            (Value::Object(form), _) => Body::Form(members(form, as_sent)),
            (_, Value::Null) => Body::None,
            (_, Value::String(body)) => Body::Raw(body.clone(), None),
            (_, body) => Body::Json(body.to_string()),
        };
        let headers = sent["headers"].as_object().map(|object| members(object, as_sent)).unwrap_or_default();
        Some(Self { method, url: with_query(url, &sent_query(sent)), headers, body })
    }

    /// As the parameters of an HTTP Request node have it.
    fn wanted(parameters: &Value) -> Option<Self> {
        let url = text(&parameters["url"])?;
        let method = ["method", "requestMethod"].iter().find_map(|name| text(&parameters[name]));
        let is_on = |name: &str| parameters[name] == true;
        let is = |name: &str, word: &str| parameters[name] == word;
        let query = match is_on("sendQuery") {
            true if is("specifyQuery", "json") => json_members(&parameters["jsonQuery"]),
            true => pairs(&parameters["queryParameters"]),
            false => Vec::new(),
        };
        let headers = match is_on("sendHeaders") {
            true if is("specifyHeaders", "json") => json_members(&parameters["jsonHeaders"]),
            true => pairs(&parameters["headerParameters"]),
            false => Vec::new(),
        };
        let body = if is_on("sendBody") { wanted_body(parameters) } else { Body::None };
        Some(Self { method: method.unwrap_or_else(|| "GET".to_owned()), url: with_query(url, &query), headers, body })
    }
}

/// The query that was sent. n8n writes the elements of lists as `a[]=1`, `a[0]=1` or `a=1` (`parseRequestObject`).
fn sent_query(sent: &Value) -> Vec<(String, String)> {
    let format = sent["qsStringifyOptions"]["arrayFormat"].as_str();
    let format = match (format, &sent["useQuerystring"]) {
        (_, Value::Bool(true)) => "repeat",
        (None, Value::Bool(false)) => "indices",
        (format, _) => format.unwrap_or("brackets"),
    };
    let mut pairs = Vec::new();
    for (name, value) in sent["qs"].as_object().into_iter().flatten() {
        add_query(&mut pairs, name.clone(), value, format);
    }
    pairs
}

fn add_query(pairs: &mut Vec<(String, String)>, name: String, value: &Value, format: &str) {
    match value {
        Value::Object(members) => {
            members.iter().for_each(|(member, value)| add_query(pairs, format!("{name}[{member}]"), value, format));
        }
        Value::Array(elements) => {
            for (at, value) in elements.iter().enumerate() {
                let name = match format {
                    "repeat" => name.clone(),
                    "indices" => format!("{name}[{at}]"),
                    _ => format!("{name}[]"),
                };
                add_query(pairs, name, value, format);
            }
        }
        value => pairs.push((name, as_sent(value))),
    }
}

fn wanted_body(parameters: &Value) -> Body {
    let fields = || pairs(&parameters["bodyParameters"]);
    let is = |name: &str, word: &str| parameters[name] == word;
    let plain = |name: &str| text(&parameters[name]).unwrap_or_default();
    match parameters["contentType"].as_str().unwrap_or("json") {
        "form-urlencoded" if is("specifyBody", "string") => {
            Body::Raw(plain("body"), Some("application/x-www-form-urlencoded".to_owned()))
        }
        "form-urlencoded" => Body::Form(fields()),
        "multipart-form-data" => Body::Parts(parts(&parameters["bodyParameters"])),
        "binaryData" => Body::File(plain("inputDataFieldName")),
        "raw" => Body::Raw(plain("body"), text(&parameters["rawContentType"])),
        _ if is("specifyBody", "json") => Body::Json(text_or_json(&parameters["jsonBody"])),
        _ => Body::Json(
            Value::Object(fields().into_iter().map(|(name, value)| (name, value.into())).collect()).to_string(),
        ),
    }
}

/// The names and values that a node has as a list.
fn pairs(list: &Value) -> Vec<(String, String)> {
    let pair = |entry: &Value| Some((text(&entry["name"])?, text_or_json(&entry["value"])));
    list["parameters"].as_array().into_iter().flatten().filter_map(pair).collect()
}

/// The fields of a form in parts; some of them can be files.
fn parts(list: &Value) -> Vec<(String, Part)> {
    let part = |entry: &Value| {
        let file = text(&entry["inputDataFieldName"]).filter(|_| entry["parameterType"] == "formBinaryData");
        Some((text(&entry["name"])?, file.map_or_else(|| Part::Text(text_or_json(&entry["value"])), Part::File)))
    };
    list["parameters"].as_array().into_iter().flatten().filter_map(part).collect()
}

/// The members of an object that a parameter has as JSON; none of an expression.
fn json_members(value: &Value) -> Vec<(String, String)> {
    let parsed = value.as_str().and_then(|text| serde_json::from_str(text).ok());
    object_members(parsed.as_ref().unwrap_or(value))
}

fn object_members(value: &Value) -> Vec<(String, String)> {
    value.as_object().map(|object| members(object, text_or_json)).unwrap_or_default()
}

fn members(object: &Map<String, Value>, written: fn(&Value) -> String) -> Vec<(String, String)> {
    object.iter().map(|(name, value)| (name.clone(), written(value))).collect()
}

/// What was sent is no template: a sign before it is a part of it.
fn as_sent(value: &Value) -> String {
    value.as_str().map_or_else(|| text_or_json(value), str::to_owned)
}

/// A text, without the sign that n8n writes before an expression; `None` for any other value, and for an empty one.
fn text(value: &Value) -> Option<String> {
    value.as_str().map(|text| text.strip_prefix('=').unwrap_or(text).to_owned()).filter(|text| !text.is_empty())
}

fn text_or_json(value: &Value) -> String {
    match value {
        Value::String(_) => text(value).unwrap_or_default(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn with_query(url: String, query: &[(String, String)]) -> String {
    let pairs: Vec<_> = query.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value))).collect();
    if pairs.is_empty() {
        return url;
    }
    let (before, fragment) = url.split_at(url.find('#').unwrap_or(url.len()));
    let sign = if before.contains('?') { '&' } else { '?' };
    format!("{before}{sign}{}{fragment}", pairs.join("&"))
}

/// All but what stands in an address as it is (RFC 3986, unreserved characters).
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// For an address, or a name in a form; an expression stays readable.
fn encoded(text: &str) -> Cow<'_, str> {
    if text.contains("{{") {
        return text.into();
    }
    utf8_percent_encode(text, RESERVED).into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_request_is_what_the_node_would_send() {
        let url = "https://h.example/a";
        let pairs = |name: &str, value: &str| json!({"parameters": [{"name": name, "value": value}]});
        for (parameters, command) in [
            (json!({"url": url, "sendBody": false, "jsonBody": "{\"a\": 1}"}), "curl -g 'https://h.example/a'"),
            (
                json!({"url": url, "method": "POST", "sendBody": true, "specifyBody": "json", "jsonBody": "={\"a\": {{ $json.a }}}"}),
                "curl -g -X 'POST' 'https://h.example/a' -H 'Content-Type: application/json' --data-raw '{\"a\": {{ $json.a }}}'",
            ),
            (
                json!({"url": url, "method": "POST", "sendBody": true, "contentType": "form-urlencoded", "bodyParameters": pairs("a", "it's")}),
                r"curl -g -X 'POST' 'https://h.example/a' --data-urlencode 'a=it'\''s'",
            ),
            (
                json!({"url": url, "method": "POST", "sendBody": true, "contentType": "form-urlencoded", "bodyParameters": pairs("user_id & name", "a")}),
                "curl -g -X 'POST' 'https://h.example/a' --data-urlencode 'user_id%20%26%20name=a'",
            ),
            (
                json!({"url": url, "sendHeaders": true, "headerParameters": pairs("X-Empty", "")}),
                "curl -g 'https://h.example/a' -H 'X-Empty;'",
            ),
            (
                json!({"url": url, "method": "PUT", "sendBody": true, "contentType": "raw", "rawContentType": "text/xml", "body": "<a/>"}),
                "curl -g -X 'PUT' 'https://h.example/a' -H 'Content-Type: text/xml' --data-raw '<a/>'",
            ),
            (
                json!({"url": url, "method": "POST", "sendBody": true, "bodyParameters": pairs("a", "b")}),
                r#"curl -g -X 'POST' 'https://h.example/a' -H 'Content-Type: application/json' --data-raw '{"a":"b"}'"#,
            ),
            (
                json!({"url": url, "sendHeaders": true, "specifyHeaders": "json", "jsonHeaders": "{\"X-Shop\": \"north\", \"X-Key\": 1}",
                    "sendQuery": true, "specifyQuery": "json", "jsonQuery": "{\"page\": 2, \"q\": \"a b\"}"}),
                "curl -g 'https://h.example/a?page=2&q=a%20b' -H 'X-Shop: north' -H 'X-Key: [redacted]'",
            ),
            (
                json!({"url": url, "sendQuery": true, "queryParameters": pairs("id", "={{ $json.id }}")}),
                "curl -g 'https://h.example/a?id={{ $json.id }}'",
            ),
            (
                json!({"url": url, "method": "POST", "sendBody": true, "contentType": "multipart-form-data", "bodyParameters":
                    {"parameters": [{"parameterType": "formBinaryData", "name": "file", "inputDataFieldName": "data"}, {"name": "handle", "value": "@ann"}]}}),
                "curl -g -X 'POST' 'https://h.example/a' -F 'file=@data' --form-string 'handle=@ann'",
            ),
            (
                json!({"url": "https://h.example/a?filter[id]=1#top", "sendQuery": true, "queryParameters": pairs("b", "c")}),
                "curl -g 'https://h.example/a?filter[id]=1&b=c#top'",
            ),
        ] {
            assert_eq!(curl(&parameters, &Value::Null).as_deref(), Some(command));
        }
        assert_eq!(curl(&json!({}), &Value::Null), None);
        assert_eq!(curl(&json!({"url": "-K/x"}), &Value::Null).as_deref(), Some("curl -g --url '-K/x'"));
        // Version 1 and 2 have headers, query and body in parameters of other names.
        for (name, value) in [("queryParametersUi", pairs("a", "b")), ("sendBinaryData", true.into())] {
            assert_eq!(curl(&json!({"url": url, name: value}), &Value::Null), None);
        }
        let sent = json!({"context": {"request": {"method": "POST", "uri": url, "form": {"formula": "=1+1"}}}});
        assert_eq!(
            curl(&json!({}), &sent).as_deref(),
            Some("curl -g -X 'POST' 'https://h.example/a' --data-urlencode 'formula==1+1'")
        );
    }

    #[test]
    fn lists_in_a_query_are_as_n8n_wrote_them() {
        let sent = |more: Value| {
            let mut request =
                json!({"uri": "https://h.example", "qs": {"page_size": 2, "a": ["=x", "y"], "b": {"c": 1}}});
            request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            curl(&json!({}), &json!({"context": {"request": request}})).unwrap()
        };
        for (more, list) in [
            (json!({}), "a%5B%5D=%3Dx&a%5B%5D=y"),
            (json!({"useQuerystring": true}), "a=%3Dx&a=y"),
            (json!({"useQuerystring": false}), "a%5B0%5D=%3Dx&a%5B1%5D=y"),
            (json!({"useQuerystring": false, "qsStringifyOptions": {"arrayFormat": "repeat"}}), "a=%3Dx&a=y"),
        ] {
            assert_eq!(sent(more), format!("curl -g 'https://h.example?page_size=2&{list}&b%5Bc%5D=1'"));
        }
    }

    #[test]
    fn what_was_sent_comes_before_what_the_parameters_say() {
        let context = json!({"request": {"method": "POST", "uri": "https://h.example/b?token=s3cret", "body": {"pin": 7, "password": "x"}}});
        let error = json!({ "context": context });
        let parameters = json!({"url": "=https://h.example/{{ $json.id }}"});
        let body = r#"{"pin":7,"password":"[redacted]"}"#;
        assert_eq!(
            curl(&parameters, &error).as_deref(),
            Some(&*format!(
                "curl -g -X 'POST' 'https://h.example/b?token=[redacted]' -H 'Content-Type: application/json' --data-raw '{body}'"
            ))
        );
        let of_type = |node_type: &str, error: Value| {
            request(&json!({"nodeType": node_type, "parameters": parameters, "error": error}))
        };
        let request = |error: Value| of_type("n8n-nodes-base.httpRequest", error);
        assert_eq!(of_type("n8n-nodes-base.peekalink", Value::Null), None, "its address is what it asks about");
        assert_eq!(request(error).as_deref(), Some("POST https://h.example/b?token=[redacted]"));
        assert_eq!(request(Value::Null).as_deref(), Some("GET https://h.example/{{ $json.id }}"));
    }
}
