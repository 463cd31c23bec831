//! The configuration: `config.yaml`, or the `mcpServers` JSON of Claude Desktop and Cursor.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::limits;
use crate::secrets::without_value;

/// The longest timeout, ms: a day.
const TIMEOUT_MS: u64 = 24 * 60 * 60 * 1000;

/// What runs in this very binary, and how it is started.
const BUILTINS: [(&str, &[&str]); 2] = [("n8n", &[]), ("agents", &["coordinate"])];

/// A configuration that can be used.
#[derive(Default)]
pub struct Config {
    /// The port to listen on.
    pub port: Option<u16>,
    /// The address to listen on.
    pub host: Option<String>,
    /// How long a call may take.
    pub timeout: Option<Duration>,
    /// The servers, by their names.
    pub servers: BTreeMap<String, ServerConfig>,
}

/// One server.
#[derive(Clone, PartialEq, Eq)]
pub struct ServerConfig {
    pub(super) source: Source,
    /// How long one of its calls may take.
    pub(super) timeout: Option<Duration>,
}

/// Where a server is. It does not print itself: environments and headers hold secrets.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Source {
    /// A child process, over its standard input and output.
    Child(Program),
    /// Elsewhere, over Streamable HTTP.
    Remote {
        /// Its address.
        url: String,
        /// What every request brings.
        headers: BTreeMap<String, String>,
    },
}

impl Source {
    /// The same, with variables that it has if it is built in.
    pub(super) fn with_builtin(mut self, environment: &BTreeMap<String, String>) -> Self {
        if let Self::Child(program) = &mut self
            && program.command == super::own_program()
        {
            for (name, value) in environment {
                program.env.entry(name.clone()).or_insert_with(|| value.clone());
            }
        }
        self
    }
}

/// How a child is started.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Program {
    pub(super) command: PathBuf,
    pub(super) args: Vec<String>,
    /// On top of the gateway's own environment.
    pub(super) env: BTreeMap<String, String>,
    pub(super) cwd: Option<PathBuf>,
}

/// Why a configuration cannot be used: a sentence, with line and column where the text is at fault. It
/// holds no value of the file.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(String);

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct File {
    port: Option<u16>,
    host: Option<String>,
    timeout_ms: Option<u64>,
    #[serde(alias = "mcpServers")]
    servers: Option<BTreeMap<String, Entry>>,
    /// Settings of Claude Desktop, in whose file the servers may stand.
    #[serde(rename = "globalShortcut")]
    _global_shortcut: Option<IgnoredAny>,
    #[serde(rename = "preferences")]
    _preferences: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Entry {
    builtin: Option<String>,
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    cwd: Option<String>,
    #[serde(alias = "serverUrl")]
    url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    timeout_ms: Option<u64>,
    #[serde(rename = "type")]
    transport: Option<String>,
    #[serde(default)]
    disabled: bool,
    /// What clients keep there for themselves.
    #[serde(rename = "description")]
    _description: Option<IgnoredAny>,
    #[serde(rename = "alwaysAllow", alias = "autoApprove")]
    _approved: Option<IgnoredAny>,
}

impl Config {
    /// What a file holds.
    ///
    /// # Errors
    /// [`ConfigError`].
    pub fn read(file: &Path) -> Result<Vec<u8>, ConfigError> {
        std::fs::read(file)
            .map_err(|error| ConfigError(format!("The configuration {} cannot be read: {error}.", file.display())))
    }

    /// Takes what a file holds, and the variables of this process.
    ///
    /// # Errors
    /// [`ConfigError`].
    pub fn from_bytes(text: &[u8]) -> Result<Self, ConfigError> {
        let text = std::str::from_utf8(text).map_err(|_| ConfigError("The configuration is not UTF-8.".to_owned()))?;
        Self::parse(text, |name| std::env::var(name).ok())
    }

    /// Takes the text of one, and the environment for its `${VAR}`s.
    ///
    /// # Errors
    /// [`ConfigError`].
    pub fn parse(text: &str, environment: impl Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        let file = parse(text)?;
        let Some(entries) = file.servers else {
            return Err(ConfigError("The configuration has no servers: name them under `servers`, or `mcpServers`; `servers: {}` is none on purpose.".to_owned()));
        };
        let mut servers = BTreeMap::new();
        for (name, entry) in entries {
            if !limits::is_name(&name, limits::SERVER_CHARS) {
                return Err(ConfigError(format!(
                    "The server name {name:?} cannot be called: use letters, digits, - and _, at most {}.",
                    limits::SERVER_CHARS
                )));
            }
            if entry.disabled {
                continue;
            }
            let server = entry.server(&environment).map_err(|why| ConfigError(format!("Server '{name}': {why}")))?;
            servers.insert(name, server);
        }
        let timeout = file.timeout_ms.map(timeout).transpose().map_err(ConfigError)?;
        Ok(Self { port: file.port, host: file.host, timeout, servers })
    }
}

/// JSON is YAML. The error does not show the text of the file, where a secret may stand.
fn parse(text: &str) -> Result<File, ConfigError> {
    let text = text.trim_start_matches('\u{feff}');
    serde_saphyr::from_str(text).map_err(|error| {
        ConfigError(format!("The configuration cannot be used: {}.", without_value(&error.without_snippet())))
    })
}

fn timeout(ms: u64) -> Result<Duration, String> {
    match ms {
        1..=TIMEOUT_MS => Ok(Duration::from_millis(ms)),
        _ => Err(format!("timeoutMs must be 1 to {TIMEOUT_MS}.")),
    }
}

impl Entry {
    fn server(self, environment: &impl Fn(&str) -> Option<String>) -> Result<ServerConfig, String> {
        let timeout = self.timeout_ms.map(timeout).transpose()?;
        Ok(ServerConfig { source: self.source(environment)?, timeout })
    }

    /// What would be passed over in silence is refused.
    fn check_members(&self) -> Result<(), String> {
        let is_remote = self.url.is_some();
        if is_remote && (!self.args.is_empty() || !self.env.is_empty() || self.cwd.is_some()) {
            return Err("args, env and cwd are for a command, not for a url.".to_owned());
        }
        if !is_remote && !self.headers.is_empty() {
            return Err("headers are for a url.".to_owned());
        }
        Ok(())
    }

    fn source(self, environment: &impl Fn(&str) -> Option<String>) -> Result<Source, String> {
        let fill = |text: String| fill(&text, environment);
        let fill_all = |values: BTreeMap<String, String>| {
            values.into_iter().map(|(name, value)| Ok((name, fill(value)?))).collect::<Result<_, String>>()
        };
        self.check_members()?;
        if let Some(kind) = self.transport.filter(|kind| !matches!(kind.as_str(), "stdio" | "http" | "streamable-http"))
        {
            return Err(format!("the transport {kind:?} is not known; use stdio or http."));
        }
        let (command, own) = match (self.builtin, self.command, self.url) {
            (Some(name), None, None) => builtin(&name)?,
            (None, Some(command), None) if !command.trim().is_empty() => (fill(command)?.into(), &[] as &[&str]),
            (None, None, Some(url)) => {
                let (url, headers) = (fill(url)?, fill_all(self.headers)?);
                return match url.starts_with("http://") || url.starts_with("https://") {
                    true => Ok(Source::Remote { url, headers }),
                    false => Err("url must begin with http:// or https://.".to_owned()),
                };
            }
            _ => return Err("give one of builtin, command or url.".to_owned()),
        };
        let args = own.iter().map(|arg| Ok((*arg).to_owned())).chain(self.args.into_iter().map(fill));
        Ok(Source::Child(Program {
            command,
            args: args.collect::<Result<_, String>>()?,
            env: fill_all(self.env)?,
            cwd: self.cwd.map(fill).transpose()?.map(PathBuf::from),
        }))
    }
}

fn builtin(name: &str) -> Result<(PathBuf, &'static [&'static str]), String> {
    let names = || BUILTINS.map(|(name, _)| name).join(", ");
    let found = BUILTINS.iter().find(|(builtin, _)| *builtin == name);
    let (_, args) = found.ok_or_else(|| format!("the builtin {name:?} is not known; there is {}.", names()))?;
    Ok((super::own_program(), args))
}

/// Puts the environment's values for `${NAME}`, `${env:NAME}` and `${NAME:-default}`; `$${` stands for `${`.
fn fill(text: &str, environment: &impl Fn(&str) -> Option<String>) -> Result<String, String> {
    let (mut filled, mut rest) = (String::new(), text);
    while let Some(at) = rest.find("${") {
        let (before, after) = (&rest[..at], &rest[at + 2..]);
        if let Some(before) = before.strip_suffix('$') {
            filled.extend([before, "${"]);
            rest = after;
            continue;
        }
        let (inside, next) = after.split_once('}').ok_or("a ${ has no }; write $${ for the two characters.")?;
        let (name, default) = inside.split_once(":-").map_or((inside, None), |(name, default)| (name, Some(default)));
        let name = name.strip_prefix("env:").unwrap_or(name);
        let value = environment(name).or_else(|| default.map(str::to_owned));
        filled.push_str(before);
        filled.push_str(&value.ok_or_else(|| format!("the environment variable {name} is not set."))?);
        rest = next;
    }
    filled.push_str(rest);
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Config, String> {
        Config::parse(text, |name| (name == "TOKEN").then(|| "sesame".to_owned())).map_err(|error| error.to_string())
    }

    fn refusal(text: &str) -> String {
        parse(text).err().unwrap_or_else(|| panic!("{text} is taken"))
    }

    #[test]
    fn both_forms_are_taken() {
        let yaml = "port: 1\nhost: ::1\ntimeoutMs: 5\nservers:\n  a:\n    command: ./a\n    args: [\"--x\", \"${TOKEN}\"]\n    env: { T: \"<${TOKEN}>\", N: 80 }\n    timeoutMs: 7\n  r: { url: \"http://127.0.0.1:9/mcp\" }\n  n8n: { builtin: n8n }\n";
        let config = parse(yaml).unwrap();
        assert_eq!((config.port, config.host.as_deref()), (Some(1), Some("::1")));
        assert_eq!(config.timeout, Some(Duration::from_millis(5)));
        let Source::Child(program) = &config.servers["a"].source else { panic!() };
        assert_eq!(program.args, ["--x", "sesame"]);
        assert_eq!((program.env["T"].as_str(), program.env["N"].as_str()), ("<sesame>", "80"));
        assert_eq!(config.servers["a"].timeout, Some(Duration::from_millis(7)));
        assert!(matches!(&config.servers["r"].source, Source::Remote { url, .. } if url.ends_with("/mcp")));

        let json = "{\n\t\"mcpServers\": {\n\t\t\"a\": {\"type\": \"stdio\", \"command\": \"./a\", \"args\": [\"\\ud83d\\ude00\"]},\n\t\t\"off\": {\"command\": \"b\", \"disabled\": true}\n\t},\n\t\"globalShortcut\": \"\"\n}";
        let config = parse(json).unwrap();
        assert_eq!(config.servers.keys().collect::<Vec<_>>(), ["a"]);
        let Source::Child(program) = &config.servers["a"].source else { panic!() };
        assert_eq!(program.args, ["😀"]);
    }

    #[test]
    fn faults_are_told_with_their_place() {
        let yaml = refusal("servers:\n  a:\n    comand: x\n");
        assert!(yaml.contains("comand") && yaml.contains("line 3, column 5"), "{yaml}");
        let json = refusal("{\"mcpServers\": {\n \"a\": {\"comand\": \"x\"}}}");
        assert!(json.contains("comand") && json.contains("line 2, column"), "{json}");
        for (text, says) in [
            ("", "no servers"),
            ("servers:\n", "no servers"),
            ("port: 99999\nservers: {}", "line 1, column 7"),
            ("servers: {a: {command: x}, a: {command: y}}", "duplicate"),
            ("servers: {a: {}}", "builtin, command or url"),
            ("servers: {a: {command: x, url: \"http://h\"}}", "builtin, command or url"),
            ("servers: {a: {builtin: m8n}}", "there is n8n, agents"),
            ("servers: {a: {url: \"ftp://h\"}}", "http://"),
            ("{servers: {a: {url: \"http://h\", env: {A: b}}}}", "for a command"),
            ("servers: {a: {command: x, headers: {A: b}}}", "for a url"),
            ("{\"servers\": {\"a\": {\"command\": \"x\"}, \"a\": {\"command\": \"y\"}}}", "duplicate"),
            ("servers: {a: {command: x, type: sse}}", "sse"),
            ("servers: {\"a b\": {command: x}}", "\"a b\""),
            ("servers: {a: {command: x, timeoutMs: 0}}", "timeoutMs"),
            ("servers: {a: {command: x, env: {K: \"${MISSING}\"}}}", "Server 'a': the environment variable MISSING"),
            ("servers: {a: {command: \"${TOKEN\"}}", "has no }"),
        ] {
            assert!(refusal(text).contains(says), "{text}: {}", refusal(text));
        }
    }

    #[test]
    fn no_fault_shows_a_secret() {
        for text in [
            "servers:\n  a:\n    env: { KEY: hunter2 }\n    comand: x\n",
            "servers: {a: {command: x, env: hunter2}}",
            "servers: {a: {command: x, args: hunter2}}",
            "{\"servers\": {\"a\": {\"command\": \"x\", \"env\": \"hunter2\"}}}",
            "{\t\"servers\": {\n\t\"a\": {\"command\": \"x\", \"args\": \"hunter2\"}}}",
            "servers: {a: {command: x, env: {hunter2}}}",
            "port: hunter2\nservers: {}",
        ] {
            let why = refusal(text);
            assert!(!why.contains("hunter2"), "{text}: {why}");
        }
    }

    #[test]
    fn variables_are_filled_in() {
        let filled = |text| fill(text, &|name| (name == "A").then(|| "${A}$".to_owned()));
        for (text, becomes) in [
            ("a$b $A", "a$b $A"),
            ("${A}", "${A}$"),
            ("x${env:A}y${B:-z}", "x${A}$yz"),
            ("$${A} ${A}", "${A} ${A}$"),
            ("${B:-}", ""),
        ] {
            assert_eq!(filled(text).as_deref(), Ok(becomes));
        }
        assert!(filled("${B}").is_err_and(|why| why.contains(" B ")));
    }
}
