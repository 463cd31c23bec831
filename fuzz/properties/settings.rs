//! The gateway's configuration: any text is accepted or refused, and no refusal shows a value.

use std::time::Duration;

use n8n_lens::gateway::Config;
use serde_json::{Map, Value, json};

use super::entropy::Entropy;
use super::split;

/// A text that no refusal may show.
const SECRET: &str = "hunter2";

/// The longest timeout: a day.
const MAX_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

/// The longest name of a server, in characters.
const MAX_NAME_CHARS: usize = 50;

/// Names of servers.
const NAMES: [&str; 6] = ["a", "n8n", "with-dash_0", "a b", "", "ünïcödé"];

/// Parses the bytes as a configuration, and one that is generated from them.
pub fn check(data: &[u8]) {
    // This uses the process's real environment; the result does not matter.
    let _ = Config::from_bytes(data);
    if let Ok(text) = std::str::from_utf8(data) {
        let config = parse(text);
        assert!(is_same(&config, &parse(text)), "parsing twice differs: {text}");
        assert!(is_same(&config, &parse(&format!("\u{feff}{text}"))), "a byte order mark matters: {text}");
    }
    let (_, rest) = split(data);
    let made = file(&mut Entropy::new(rest));
    let compact = parse(&made.to_string());
    let pretty = parse(&serde_json::to_string_pretty(&made).expect("a value is JSON"));
    assert!(is_same(&compact, &pretty), "the layout matters: {made}");
    if let Err(why) = &compact {
        assert!(!why.contains(SECRET), "{why}: {made}");
    }
}

fn environment(name: &str) -> Option<String> {
    match name {
        "TOKEN" => Some("sesame".to_owned()),
        "ODD" => Some("${ODD}\n\"$${".to_owned()),
        "EMPTY" => Some(String::new()),
        _ => None,
    }
}

/// A checked configuration, or why it is refused.
fn parse(text: &str) -> Result<Config, String> {
    let config = Config::parse(text, environment).map_err(|error| error.to_string())?;
    let is_name = |name: &String| {
        (1..=MAX_NAME_CHARS).contains(&name.len())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    };
    assert!(config.servers.keys().all(is_name), "an invalid server name: {text}");
    assert!(
        config.timeout.is_none_or(|timeout| !timeout.is_zero() && timeout <= MAX_TIMEOUT),
        "an invalid timeout: {text}"
    );
    Ok(config)
}

fn is_same(one: &Result<Config, String>, other: &Result<Config, String>) -> bool {
    match (one, other) {
        (Ok(one), Ok(other)) => {
            (one.port, &one.host, one.timeout) == (other.port, &other.host, other.timeout)
                && one.servers == other.servers
        }
        // The reported position depends on the layout.
        (Err(one), Err(other)) => !one.is_empty() && !other.is_empty(),
        _ => false,
    }
}

/// A file in Claude Desktop's format or ours, with occasional mistakes.
fn file(entropy: &mut Entropy<'_>) -> Value {
    let mut file = Map::new();
    let mut servers = Map::new();
    for _ in 0..entropy.below(4) {
        let name = (*entropy.pick(&NAMES)).to_owned();
        servers.insert(name, server(entropy));
    }
    let member = *entropy.pick(&["servers", "mcpServers"]);
    file.insert(member.to_owned(), or_wrong(entropy, servers.into()));
    for (name, value) in [("port", json!(3001)), ("host", json!(SECRET)), ("timeoutMs", json!(5000))] {
        if entropy.one_in(4) {
            file.insert(name.to_owned(), or_wrong(entropy, value));
        }
    }
    if entropy.one_in(12) {
        file.insert("sevrers".to_owned(), json!(SECRET));
    }
    if entropy.one_in(12) {
        file.insert("preferences".to_owned(), json!([SECRET]));
    }
    file.into()
}

fn server(entropy: &mut Entropy<'_>) -> Value {
    let mut server = Map::new();
    let members = match entropy.byte() % 4 {
        0 => vec![("url", json!("https://example.com/mcp")), ("headers", json!({"Authorization": text(entropy)}))],
        1 => vec![("builtin", json!("n8n"))],
        _ => vec![
            ("command", json!(text(entropy))),
            ("args", json!([text(entropy), text(entropy)])),
            ("env", json!({"KEY": text(entropy)})),
            ("cwd", json!(text(entropy))),
        ],
    };
    let common = [
        ("timeoutMs", json!(u64::from(entropy.byte()) * 1_000_000)),
        ("disabled", json!(entropy.one_in(3))),
        ("alwaysAllow", json!([SECRET])),
        ("comand", json!(SECRET)),
    ];
    for (name, value) in members {
        server.insert(name.to_owned(), or_wrong(entropy, value));
    }
    for (name, value) in common {
        if entropy.one_in(8) {
            server.insert(name.to_owned(), or_wrong(entropy, value));
        }
    }
    server.into()
}

/// A text with the secret and with references to variables.
fn text(entropy: &mut Entropy<'_>) -> String {
    let with = [
        "",
        "${TOKEN}",
        "${env:EMPTY}",
        "${MISSING:-}",
        "$${TOKEN}",
        "${ODD}",
        "é\"\\\n\t🎉",
        "${",
        "$",
        "#",
        ": ",
        "- ",
    ];
    format!("{SECRET}{}{}", entropy.pick(&with), entropy.pick(&with))
}

/// The value, or occasionally one of another type with the secret in it.
fn or_wrong(entropy: &mut Entropy<'_>, value: Value) -> Value {
    // The error for an unknown builtin shows its name.
    let is_name = value == "n8n";
    if !entropy.one_in(16) {
        return value;
    }
    match entropy.byte() % 6 {
        0 if !is_name => json!(SECRET),
        1 => json!([SECRET]),
        2 => json!([[], {}]),
        3 => json!({"a": SECRET, "b": [{"c": SECRET}]}),
        4 => json!(-1.5),
        _ => Value::Null,
    }
}
