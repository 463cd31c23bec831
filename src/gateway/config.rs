//! The configuration: `config.yaml`, or the `mcpServers` JSON of Claude Desktop and Cursor.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::program::{Program, own_program};
use super::{limits, wrong_type};
use crate::secrets::without_value;

/// The longest timeout, in milliseconds: a day.
const MAX_TIMEOUT_MS: u64 = 24 * 60 * 60 * 1000;

/// The servers built into n8n-lens, and the arguments that start them.
const BUILTINS: [(&str, &[&str]); 2] = [("n8n", &[]), ("agents", &["coordinate"])];

/// A valid configuration.
#[derive(Default)]
pub struct Config {
    /// The port to listen on.
    pub port: Option<u16>,
    /// The address to listen on.
    pub host: Option<String>,
    /// The timeout of a call, 1 ms to 24 h.
    pub timeout: Option<Duration>,
    /// The servers, by name.
    pub servers: BTreeMap<String, ServerConfig>,
}

/// One server.
#[derive(Clone, PartialEq, Eq)]
pub struct ServerConfig {
    pub(super) source: Source,
    /// The timeout of its calls, 1 ms to 24 h.
    pub(super) timeout: Option<Duration>,
}

/// Where a server comes from. It does not implement `Debug`: environments and headers hold secrets.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Source {
    /// A child process, over its standard input and output.
    Child(Program),
    /// A remote server, over Streamable HTTP.
    Remote {
        url: String,
        /// Sent with every request.
        headers: BTreeMap<String, String>,
    },
}

impl Source {
    /// Adds the variables in `environment` if this is a built-in server; its own ones win.
    pub(super) fn with_builtin(mut self, environment: &BTreeMap<String, String>) -> Self {
        if let Self::Child(program) = &mut self
            && program.is_own()
        {
            for (name, value) in environment {
                program.env.entry(name.clone()).or_insert_with(|| value.clone());
            }
        }
        self
    }
}

/// Why a configuration cannot be used, as a sentence: with line and column if the text is at fault, and without any
/// value from the file.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(String);

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ConfigFile {
    port: Option<u16>,
    host: Option<String>,
    timeout_ms: Option<u64>,
    #[serde(alias = "mcpServers")]
    servers: Option<BTreeMap<String, ServerEntry>>,
    /// Settings of Claude Desktop, whose configuration file also lists MCP servers.
    #[serde(rename = "globalShortcut")]
    _global_shortcut: Option<IgnoredAny>,
    #[serde(rename = "preferences")]
    _preferences: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ServerEntry {
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
    /// Settings of MCP clients, which have no effect here.
    #[serde(rename = "description")]
    _description: Option<IgnoredAny>,
    #[serde(rename = "alwaysAllow", alias = "autoApprove")]
    _approved: Option<IgnoredAny>,
}

impl Config {
    /// Reads the file.
    ///
    /// # Errors
    /// The file does not exist or cannot be read.
    pub fn read(file: &Path) -> Result<Vec<u8>, ConfigError> {
        std::fs::read(file)
            .map_err(|error| ConfigError(format!("The configuration {} cannot be read: {error}.", file.display())))
    }

    /// Parses the content of a configuration file, with the environment of this process.
    ///
    /// # Errors
    /// The content is not UTF-8, or as for [`Config::parse`].
    pub fn from_bytes(text: &[u8]) -> Result<Self, ConfigError> {
        let text = std::str::from_utf8(text).map_err(|_| ConfigError("The configuration is not UTF-8.".to_owned()))?;
        Self::parse(text, |name| std::env::var(name).ok())
    }

    /// Parses a configuration in YAML or JSON, and replaces each `${VAR}` by its value in `environment`.
    ///
    /// ```
    /// # use n8n_lens::gateway::Config;
    /// let config = Config::parse("servers: { files: { command: ./files, env: { TOKEN: \"${TOKEN}\" } } }", |name| {
    ///     (name == "TOKEN").then(|| "secret".to_owned())
    /// })?;
    /// assert!(config.servers.contains_key("files"));
    ///
    /// let error = Config::parse("servers: { files: { command: ./files, timeoutMs: soon } }", |_| None).err();
    /// assert_eq!(
    ///     error.map(|error| error.to_string()).as_deref(),
    ///     Some(
    ///         "The configuration cannot be used: servers.files.timeoutMs: expected a whole number of milliseconds, \
    ///          found a string at line 1, column 50."
    ///     )
    /// );
    /// # Ok::<(), n8n_lens::gateway::ConfigError>(())
    /// ```
    ///
    /// # Errors
    /// The text is not YAML or JSON, a key is unknown or given twice, a value has the wrong type or is out of range,
    /// there are no `servers`, a server's name is invalid or its settings contradict each other, or a variable is not
    /// set.
    pub fn parse(text: &str, environment: impl Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        let file = parse(text)?;
        let Some(entries) = file.servers else {
            return Err(ConfigError("The configuration has no servers. List them under `servers` or `mcpServers`, or write `servers: {}` to start without any.".to_owned()));
        };
        let mut servers = BTreeMap::new();
        for (name, entry) in entries {
            if !limits::is_name(&name, limits::SERVER_CHARS) {
                return Err(ConfigError(format!(
                    "The server name {name:?} is invalid: use at most {} letters, digits, - and _.",
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

/// Parses YAML, and so JSON. The error does not quote the file, which may hold secrets.
fn parse(text: &str) -> Result<ConfigFile, ConfigError> {
    let text = text.trim_start_matches('\u{feff}');
    serde_saphyr::from_str(text).map_err(|error| {
        let why =
            wrong_type::describe::<ConfigFile>(text, &error).unwrap_or_else(|| without_value(&error.without_snippet()));
        // What programmers could do about it.
        let why = ADVICE.iter().fold(why, |why, advice| why.replace(advice, ""));
        ConfigError(format!("The configuration cannot be used: {why}."))
    })
}

/// The parser's advice to programmers.
const ADVICE: [&str; 2] =
    [", set DuplicateKeyPolicy in Options if acceptable", "; use from_str_multiple or from_str_multiple_with_options"];

fn timeout(ms: u64) -> Result<Duration, String> {
    match ms {
        1..=MAX_TIMEOUT_MS => Ok(Duration::from_millis(ms)),
        _ => Err(format!("timeoutMs must be from 1 to {MAX_TIMEOUT_MS}.")),
    }
}

impl ServerEntry {
    fn server(self, environment: &impl Fn(&str) -> Option<String>) -> Result<ServerConfig, String> {
        let timeout = self.timeout_ms.map(timeout).transpose()?;
        Ok(ServerConfig { source: self.source(environment)?, timeout })
    }

    /// Refuses settings that would have no effect.
    fn check_members(&self) -> Result<(), String> {
        let is_remote = self.url.is_some();
        if is_remote && (!self.args.is_empty() || !self.env.is_empty() || self.cwd.is_some()) {
            return Err("args, env and cwd are valid only with command.".to_owned());
        }
        if !is_remote && !self.headers.is_empty() {
            return Err("headers is valid only with url.".to_owned());
        }
        Ok(())
    }

    fn source(self, environment: &impl Fn(&str) -> Option<String>) -> Result<Source, String> {
        let expand = |text: String| expand(&text, environment);
        let expand_all = |values: BTreeMap<String, String>| {
            values.into_iter().map(|(name, value)| Ok((name, expand(value)?))).collect::<Result<_, String>>()
        };
        self.check_members()?;
        if let Some(kind) = self.transport.filter(|kind| !matches!(kind.as_str(), "stdio" | "http" | "streamable-http"))
        {
            return Err(format!("the transport {kind:?} is unknown; use stdio or http."));
        }
        let (command, own) = match (self.builtin, self.command, self.url) {
            (Some(name), None, None) => builtin(&name)?,
            (None, Some(command), None) if !command.trim().is_empty() => (expand(command)?.into(), &[] as &[&str]),
            (None, None, Some(url)) => {
                let (url, headers) = (expand(url)?, expand_all(self.headers)?);
                return match url.starts_with("http://") || url.starts_with("https://") {
                    true => Ok(Source::Remote { url, headers }),
                    false => Err("url must begin with http:// or https://.".to_owned()),
                };
            }
            _ => return Err("exactly one of builtin, command and url is required.".to_owned()),
        };
        let args = own.iter().map(|arg| Ok((*arg).to_owned())).chain(self.args.into_iter().map(expand));
        Ok(Source::Child(Program {
            command,
            args: args.collect::<Result<_, String>>()?,
            env: expand_all(self.env)?,
            cwd: self.cwd.map(expand).transpose()?.map(PathBuf::from),
        }))
    }
}

fn builtin(name: &str) -> Result<(PathBuf, &'static [&'static str]), String> {
    let names = || BUILTINS.map(|(name, _)| name).join(", ");
    let found = BUILTINS.iter().find(|(builtin, _)| *builtin == name);
    let (_, args) = found.ok_or_else(|| format!("the builtin {name:?} is unknown; use one of {}.", names()))?;
    Ok((own_program(), args))
}

/// Replaces `${NAME}`, `${env:NAME}` and `${NAME:-default}` by values from the environment, and `$${` by `${`.
fn expand(text: &str, environment: &impl Fn(&str) -> Option<String>) -> Result<String, String> {
    let (mut expanded, mut rest) = (String::new(), text);
    while let Some(at) = rest.find("${") {
        let (before, after) = (&rest[..at], &rest[at + 2..]);
        if let Some(before) = before.strip_suffix('$') {
            expanded.extend([before, "${"]);
            rest = after;
            continue;
        }
        let (inside, next) = after.split_once('}').ok_or("a ${ is not closed by }; write $${ for a literal ${.")?;
        let (name, default) = inside.split_once(":-").map_or((inside, None), |(name, default)| (name, Some(default)));
        let name = name.strip_prefix("env:").unwrap_or(name);
        let value = environment(name).or_else(|| default.map(str::to_owned));
        expanded.push_str(before);
        expanded.push_str(&value.ok_or_else(|| format!("the environment variable {name} is not set."))?);
        rest = next;
    }
    expanded.push_str(rest);
    Ok(expanded)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Config, String> {
        Config::parse(text, |name| (name == "TOKEN").then(|| "sesame".to_owned())).map_err(|error| error.to_string())
    }

    fn error_of(text: &str) -> String {
        parse(text).err().unwrap_or_else(|| panic!("{text} is accepted"))
    }

    #[test]
    fn both_forms_are_accepted() {
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
    fn errors_give_the_place_in_the_file() {
        let yaml = error_of("servers:\n  a:\n    comand: x\n");
        assert!(yaml.contains("comand") && yaml.contains("line 3, column 5"), "{yaml}");
        let json = error_of("{\"mcpServers\": {\n \"a\": {\"comand\": \"x\"}}}");
        assert!(json.contains("comand") && json.contains("line 2, column"), "{json}");
        for (text, says) in [
            ("", "no servers"),
            ("servers:\n", "no servers"),
            ("port: 99999\nservers: {}", "line 1, column 7"),
            ("servers: {a: {command: x}, a: {command: y}}", "duplicate"),
            ("servers: {a: {}}", "builtin, command and url"),
            ("servers: {a: {command: x, url: \"http://h\"}}", "builtin, command and url"),
            ("servers: {a: {builtin: m8n}}", "use one of n8n, agents"),
            ("servers: {a: {url: \"ftp://h\"}}", "http://"),
            ("{servers: {a: {url: \"http://h\", env: {A: b}}}}", "only with command"),
            ("servers: {a: {command: x, headers: {A: b}}}", "only with url"),
            ("{\"servers\": {\"a\": {\"command\": \"x\"}, \"a\": {\"command\": \"y\"}}}", "duplicate"),
            ("servers: {a: {command: x, type: sse}}", "sse"),
            ("servers: {\"a b\": {command: x}}", "\"a b\""),
            ("servers: {a: {command: x, timeoutMs: 0}}", "timeoutMs"),
            ("servers: {a: {command: x, env: {K: \"${MISSING}\"}}}", "Server 'a': the environment variable MISSING"),
            ("servers: {a: {command: \"${TOKEN\"}}", "not closed by }"),
        ] {
            assert!(error_of(text).contains(says), "{text}: {}", error_of(text));
        }
    }

    #[test]
    fn no_error_shows_a_secret() {
        for text in [
            "servers:\n  a:\n    env: { KEY: hunter2 }\n    comand: x\n",
            "servers: {a: {command: x, env: hunter2}}",
            "servers: {a: {command: x, args: hunter2}}",
            "{\"servers\": {\"a\": {\"command\": \"x\", \"env\": \"hunter2\"}}}",
            "{\t\"servers\": {\n\t\"a\": {\"command\": \"x\", \"args\": \"hunter2\"}}}",
            "servers: {a: {command: x, env: {hunter2}}}",
            "port: hunter2\nservers: {}",
        ] {
            let why = error_of(text);
            assert!(!why.contains("hunter2"), "{text}: {why}");
        }
    }

    #[test]
    fn variables_are_expanded() {
        let expanded = |text| expand(text, &|name| (name == "A").then(|| "${A}$".to_owned()));
        for (text, becomes) in [
            ("a$b $A", "a$b $A"),
            ("${A}", "${A}$"),
            ("x${env:A}y${B:-z}", "x${A}$yz"),
            ("$${A} ${A}", "${A} ${A}$"),
            ("${B:-}", ""),
        ] {
            assert_eq!(expanded(text).as_deref(), Ok(becomes));
        }
        assert!(expanded("${B}").is_err_and(|why| why.contains(" B ")));
    }
}
