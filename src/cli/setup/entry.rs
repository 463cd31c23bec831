//! The entry of n8n-lens in a client's file.

use serde_json::{Map, Value, json};

use super::client::{Client, Reference};
use super::launch::Launch;

/// The name of the entry.
pub(super) const NAME: &str = "n8n-lens";

/// The prompts of VS Code: the variable that each one asks for, its id and its description.
const PROMPTS: [(&str, &str, &str); 2] =
    [("N8N_API_KEY", "n8n-api-key", "n8n API key"), ("N8N_LENS_AUTH_TOKEN", "n8n-lens-token", "n8n-lens token")];

/// The type of a prompt.
const PROMPT: &str = "promptString";

/// The members of an entry that say how to connect. All others belong to the user.
const OWN_MEMBERS: [&str; 13] = [
    "type",
    "command",
    "args",
    "env",
    "env_vars",
    "url",
    "httpUrl",
    "serverUrl",
    "transport",
    "headers",
    "http_headers",
    "env_http_headers",
    "bearer_token_env_var",
];

/// The members that say how to authenticate over HTTP. They stay if nothing replaces them.
const OWN_CREDENTIALS: [&str; 4] = ["headers", "http_headers", "env_http_headers", "bearer_token_env_var"];

/// The variables that an entry sets. All others belong to the user.
const OWN_VARIABLES: [&str; 4] = ["N8N_URL", "N8N_API_KEY", "N8N_API_KEY_FILE", "N8N_LENS_LOCALE"];

/// How a client connects to n8n-lens.
pub(super) enum Server {
    /// It starts a process.
    Stdio { launch: Launch, n8n_url: String, key: Key, locale: &'static str },
    /// It connects to a process that runs.
    Http { url: String, has_token: bool },
}

/// Where the process gets the API key.
pub(super) enum Key {
    /// From a file with this path.
    File(String),
    /// From the client, which gets it from somewhere else.
    Referred,
    /// From the client's file, if the client has no other way.
    Plain(String),
}

/// A client's file with the entry: `document` is the whole content of the file.
///
/// # Errors
/// A member on the path to the entry is not an object.
pub(super) fn added(document: &Value, client: Client, server: &Server) -> Result<Value, String> {
    let mut document = document.clone();
    let servers = object_in(&mut document, client.servers())?;
    let present = match servers.get(NAME) {
        None => Map::new(),
        Some(Value::Object(present)) => present.clone(),
        Some(_) => return Err(not_an_object(NAME)),
    };
    servers.insert(NAME.to_owned(), Value::Object(merged(&present, members(client, server))));
    if client == Client::VsCode {
        update_prompts(&mut document)?;
    }
    Ok(document)
}

/// A client's file without the entry, and without containers that would become empty.
///
/// # Errors
/// As for [`added`].
pub(super) fn removed(document: &Value, client: Client) -> Result<Value, String> {
    let mut without = document.clone();
    let servers = object_in(&mut without, client.servers())?;
    if servers.shift_remove(NAME).is_none() {
        return Ok(document.clone());
    }
    if servers.is_empty()
        && let Value::Object(root) = &mut without
    {
        root.shift_remove(client.servers());
    }
    if client == Client::VsCode {
        update_prompts(&mut without)?;
    }
    Ok(without)
}

fn object_in<'a>(document: &'a mut Value, name: &str) -> Result<&'a mut Map<String, Value>, String> {
    let root = document.as_object_mut().ok_or("its content is not an object")?;
    let member = root.entry(name).or_insert_with(|| json!({}));
    member.as_object_mut().ok_or_else(|| not_an_object(name))
}

fn not_an_object(name: &str) -> String {
    format!("its member '{name}' is not an object")
}

/// The members of a new entry.
pub(super) fn members(client: Client, server: &Server) -> Map<String, Value> {
    match server {
        Server::Stdio { launch, n8n_url, key, locale } => {
            let mut members = started(client, launch);
            let mut variables = Map::from_iter([("N8N_URL".to_owned(), json!(n8n_url))]);
            let key = match key {
                Key::File(path) => Some(("N8N_API_KEY_FILE", path.clone())),
                Key::Plain(key) => Some(("N8N_API_KEY", key.clone())),
                Key::Referred => referred(client, "N8N_API_KEY").map(|reference| ("N8N_API_KEY", reference)),
            };
            let is_passed_on = key.is_none();
            variables.extend(key.map(|(name, value)| (name.to_owned(), json!(value))));
            variables.insert("N8N_LENS_LOCALE".to_owned(), json!(locale));
            members.insert("env".to_owned(), Value::Object(variables));
            if is_passed_on {
                members.insert("env_vars".to_owned(), json!(["N8N_API_KEY"]));
            }
            members
        }
        Server::Http { url, has_token } => {
            let mut members = connected(client, url);
            if *has_token {
                members.extend([match referred(client, "N8N_LENS_AUTH_TOKEN") {
                    Some(token) => ("headers".to_owned(), json!({ "Authorization": format!("Bearer {token}") })),
                    None => ("bearer_token_env_var".to_owned(), json!("N8N_LENS_AUTH_TOKEN")),
                }]);
            }
            members
        }
    }
}

/// The members that connect to a server over HTTP.
fn connected(client: Client, url: &str) -> Map<String, Value> {
    let members: &[(&str, &str)] = match client {
        Client::Gemini => &[("httpUrl", url)],
        Client::Devin => &[("url", url), ("transport", "http")],
        Client::ClaudeCode | Client::VsCode => &[("type", "http"), ("url", url)],
        Client::ClaudeDesktop | Client::Cursor | Client::Codex => &[("url", url)],
    };
    members.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect()
}

/// The members that start a process.
fn started(client: Client, launch: &Launch) -> Map<String, Value> {
    let mut members = Map::new();
    if matches!(client, Client::ClaudeCode | Client::VsCode) {
        members.insert("type".to_owned(), json!("stdio"));
    }
    members.insert("command".to_owned(), json!(launch.command));
    if !launch.arguments.is_empty() {
        members.insert("args".to_owned(), json!(launch.arguments));
    }
    members
}

/// The text that a client's file has in place of a variable's value; `None` if that is not possible.
fn referred(client: Client, variable: &str) -> Option<String> {
    match client.reference() {
        Reference::Variable(before, after) => Some(format!("{before}{variable}{after}")),
        Reference::Prompt => {
            let (_, id, _) = PROMPTS.into_iter().find(|(asked, ..)| *asked == variable)?;
            Some(prompted(id))
        }
        Reference::VariableName | Reference::None => None,
    }
}

/// The texts of VS Code's prompts.
pub(super) fn texts_of_prompts() -> impl Iterator<Item = &'static str> {
    PROMPTS.into_iter().flat_map(|(_, id, description)| [PROMPT, id, description])
}

fn prompted(id: &str) -> String {
    format!("${{input:{id}}}")
}

/// The new members of an entry, merged with the user's own additions to the present one: arguments, variables, headers, options.
fn merged(present: &Map<String, Value>, mut new: Map<String, Value>) -> Map<String, Value> {
    let was_started = present.contains_key("command");
    if new.contains_key("command") {
        extend_list(&mut new, "args", arguments_of_user(present));
        let names = texts(present.get("env_vars")).filter(|name| !OWN_VARIABLES.contains(name));
        extend_list(&mut new, "env_vars", names.collect());
        let variables = present.get("env").and_then(Value::as_object).into_iter().flatten();
        if let Some(Value::Object(env)) = new.get_mut("env") {
            add_missing(env, variables.filter(|(name, _)| !OWN_VARIABLES.contains(&name.as_str())));
        }
    } else if !was_started {
        let headers = present.get("headers").and_then(Value::as_object).into_iter().flatten();
        if let Some(Value::Object(new)) = new.get_mut("headers") {
            add_missing(new, headers);
        }
        add_missing(&mut new, present.iter().filter(|(name, _)| OWN_CREDENTIALS.contains(&name.as_str())));
    }
    add_missing(&mut new, present.iter().filter(|(name, _)| !OWN_MEMBERS.contains(&name.as_str())));
    new
}

fn add_missing<'a>(members: &mut Map<String, Value>, more: impl Iterator<Item = (&'a String, &'a Value)>) {
    for (name, value) in more {
        members.entry(name).or_insert_with(|| value.clone());
    }
}

/// Appends the texts to a list, which is created if it does not exist and there are any texts.
fn extend_list(members: &mut Map<String, Value>, name: &str, more: Vec<&str>) {
    if more.is_empty() {
        return;
    }
    if let Value::Array(list) = members.entry(name).or_insert_with(|| json!([])) {
        list.extend(more.into_iter().map(Value::from));
    }
}

fn texts(list: Option<&Value>) -> impl Iterator<Item = &str> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// The arguments of an entry, such as `--read-only`, without those that start n8n-lens through a launcher.
fn arguments_of_user(present: &Map<String, Value>) -> Vec<&str> {
    let command = present.get("command").and_then(Value::as_str).unwrap_or_default();
    let name = command.rsplit(['/', '\\']).next().unwrap_or_default();
    let arguments = texts(present.get("args"));
    match name.trim_end_matches(".exe") {
        NAME => arguments.collect(),
        "npx" | "uvx" | "cmd" => arguments.skip_while(|argument| !argument.starts_with(NAME)).skip(1).collect(),
        _ => Vec::new(),
    }
}

/// Adds the VS Code prompts that a server refers to, and removes our own that none refers to.
fn update_prompts(document: &mut Value) -> Result<(), String> {
    let servers = document.get(Client::VsCode.servers()).map(Value::to_string).unwrap_or_default();
    let root = document.as_object_mut().ok_or("its content is not an object")?;
    let inputs = root.entry("inputs").or_insert_with(|| json!([]));
    let inputs = inputs.as_array_mut().ok_or("its member 'inputs' is not an array")?;
    for (_, id, description) in PROMPTS {
        let has_id = |input: &Value| input["id"] == id;
        if !servers.contains(&prompted(id)) {
            inputs.retain(|input| !has_id(input));
        } else if !inputs.iter().any(has_id) {
            let input = json!({ "type": PROMPT, "id": id, "description": description, "password": true });
            inputs.push(input);
        }
    }
    if inputs.is_empty() {
        root.shift_remove("inputs");
    }
    Ok(())
}
