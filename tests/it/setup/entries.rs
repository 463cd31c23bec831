//! The content of an entry.

use serde_json::{Value, json};

use super::{CLIENTS, Home, KEY, URL, binary, file_of, servers};

const MCP: &str = "http://127.0.0.1:3000/mcp";

/// The entry that starts n8n-lens.
fn stdio(client: &str) -> Value {
    let env = |key: &str| json!({ "N8N_URL": URL, "N8N_API_KEY": key, "N8N_LENS_LOCALE": "en" });
    match client {
        "claude-code" => json!({ "type": "stdio", "command": binary(), "env": env("${N8N_API_KEY}") }),
        "claude-desktop" => json!({ "command": binary(), "env": env(KEY) }),
        "cursor" | "devin" => json!({ "command": binary(), "env": env("${env:N8N_API_KEY}") }),
        "vscode" => json!({ "type": "stdio", "command": binary(), "env": env("${input:n8n-api-key}") }),
        "gemini" => json!({ "command": binary(), "env": env("${N8N_API_KEY}") }),
        _ => {
            let env = json!({ "N8N_URL": URL, "N8N_LENS_LOCALE": "en" });
            json!({ "command": binary(), "env": env, "env_vars": ["N8N_API_KEY"] })
        }
    }
}

/// The entry that connects over HTTP, with a token.
fn http(client: &str) -> Value {
    let headers = |token: &str| json!({ "Authorization": format!("Bearer {token}") });
    match client {
        "claude-code" => json!({ "type": "http", "url": MCP, "headers": headers("${N8N_LENS_AUTH_TOKEN}") }),
        "cursor" => json!({ "url": MCP, "headers": headers("${env:N8N_LENS_AUTH_TOKEN}") }),
        "vscode" => json!({ "type": "http", "url": MCP, "headers": headers("${input:n8n-lens-token}") }),
        "codex" => json!({ "url": MCP, "bearer_token_env_var": "N8N_LENS_AUTH_TOKEN" }),
        "gemini" => json!({ "httpUrl": MCP, "headers": headers("${N8N_LENS_AUTH_TOKEN}") }),
        _ => json!({ "url": MCP, "transport": "http", "headers": headers("${env:N8N_LENS_AUTH_TOKEN}") }),
    }
}

/// A prompt of VS Code.
fn prompt(id: &str, description: &str) -> Value {
    json!({ "type": "promptString", "id": id, "description": description, "password": true })
}

#[test]
fn every_client_starts_n8n_lens_in_its_own_form() {
    for (client, file) in CLIENTS {
        let home = Home::new();
        let done = home.write(&[client]);
        assert_eq!(home.entry(client), stdio(client), "{client}");
        let has_key = home.text(file).contains(KEY);
        assert_eq!(has_key, client == "claude-desktop", "{client}");
        assert!(!done.said().contains(KEY), "{}", done.said());
        if has_key {
            assert!(done.out.contains("the API key stands in ") && done.out.contains("--api-key-file"), "{}", done.out);
        }
    }
}

#[test]
fn a_file_with_the_key_that_others_can_read_is_reported() {
    let home = Home::new();
    let path = home.put(file_of("claude-desktop"), "{}");
    for (mode, is_reported) in [(0o644, true), (0o600, false)] {
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
        let done = home.setup(&["claude-desktop"]);
        let expected = format!("Others can read {}: chmod 600 protects it.", path.display());
        assert_eq!(done.out.contains(&expected), is_reported, "{}", done.out);
    }
}

#[test]
fn every_client_connects_over_http_in_its_own_form() {
    let token = [("N8N_LENS_AUTH_TOKEN", "the-token")];
    for (client, file) in CLIENTS.into_iter().filter(|(client, _)| *client != "claude-desktop") {
        let home = Home::new();
        let done = home.write_with(&[client, "--http", MCP], &token);
        assert_eq!(home.entry(client), http(client), "{client}");
        for secret in [KEY, "the-token"] {
            assert!(!home.text(file).contains(secret) && !done.said().contains(secret), "{client}");
        }
        // From one kind to the other and back; without its own token, the entry keeps its credentials.
        let remote = home.text(file);
        home.write(&[client, "--http", MCP]);
        assert_eq!(home.text(file), remote);
        home.write(&[client]);
        assert_eq!(home.entry(client), stdio(client), "{client}");
        home.write(&[client, "--http", MCP]);
        let entry = home.entry(client);
        assert!(entry.get("headers").is_none() && entry.get("bearer_token_env_var").is_none(), "{entry}");
    }
    let done = Home::new().setup(&["claude-desktop", "--http", MCP]);
    assert!(done.refused(2).contains("Leave out --http"), "{}", done.err);
    for url in ["http://user:password@127.0.0.1/mcp", "ftp://127.0.0.1", "127.0.0.1:3000", "http://", "http:// a"] {
        let done = Home::new().setup(&["cursor", "--http", url]);
        assert!(done.refused(2).contains("--http needs an address without a user name and a password"), "{}", done.err);
        assert!(!done.err.contains("user:password"), "{}", done.err);
    }
}

#[test]
fn the_documentation_shows_what_setup_writes() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/clients.md")).unwrap();
    let blocks: Vec<_> = page.split("```").skip(1).step_by(2).filter_map(|block| block.split_once('\n')).collect();
    let documents = blocks.iter().filter_map(|(language, text)| match *language {
        "json" => Some(serde_json::from_str(text).unwrap()),
        "toml" => Some(super::from_toml(text)),
        _ => None,
    });
    let documents: Vec<Value> = documents.collect();
    for (client, _) in CLIENTS.into_iter().filter(|(client, _)| *client != "claude-code") {
        let home = Home::new();
        let (command, key) = ("/absolute/path/to/n8n-lens", "/absolute/path/to/n8n-api-key");
        let mut expected = match client {
            "claude-desktop" => json!({ "env": { "N8N_API_KEY_FILE": key } }),
            client => stdio(client),
        };
        expected["command"] = json!(if client == "claude-desktop" { command } else { "n8n-lens" });
        expected["env"]["N8N_URL"] = json!("https://n8n.example.com");
        expected["env"]["N8N_LENS_LOCALE"] = json!("en");
        let mut all = vec![expected];
        if client != "claude-desktop" {
            home.write_with(&[client, "--http", MCP], &[("N8N_LENS_AUTH_TOKEN", "t")]);
            all.push(home.entry(client));
        }
        for entry in all {
            let is_there = documents.iter().any(|document| document[servers(client)]["n8n-lens"] == entry);
            assert!(is_there, "docs/clients.md has no block for {client} with {entry}");
        }
    }
}

#[test]
fn vs_code_prompts_for_what_is_used_and_for_nothing_else() {
    let home = Home::new();
    let own = prompt("other", "Another secret");
    home.put(file_of("vscode"), json!({ "inputs": [own], "servers": {} }).to_string());
    let document = || home.document("vscode", file_of("vscode"));
    home.write(&["vscode"]);
    let (key, token) = (prompt("n8n-api-key", "n8n API key"), prompt("n8n-lens-token", "n8n-lens token"));
    assert_eq!(document()["inputs"], json!([own, key]));
    home.write_with(&["vscode", "--http", MCP], &[("N8N_LENS_AUTH_TOKEN", "t")]);
    assert_eq!(document()["inputs"], json!([own, token]));
    // Another server that uses the same prompt keeps it.
    home.write(&["vscode"]);
    let mut shared = document();
    shared["servers"]["mine"] = json!({ "command": "x", "env": { "KEY": "${input:n8n-api-key}" } });
    home.put(file_of("vscode"), shared.to_string());
    home.write(&["vscode", "--remove"]);
    assert_eq!(document()["inputs"], json!([own, key]));
}

#[test]
fn a_file_with_the_key_takes_its_place() {
    for (client, file) in CLIENTS {
        let home = Home::new();
        home.put("key.txt", KEY);
        home.write(&[client]);
        let done = home.write_with(&[client, "--api-key-file", "key.txt"], &[("N8N_API_KEY", "")]);
        let expected = json!({ "N8N_URL": URL, "N8N_API_KEY_FILE": home.path("key.txt"), "N8N_LENS_LOCALE": "en" });
        assert_eq!(home.entry(client)["env"], expected, "{client}");
        assert!(home.entry(client).get("env_vars").is_none() && !home.text(file).contains(KEY), "{client}");
        assert!(home.document(client, file).get("inputs").is_none() && !done.said().contains(KEY), "{client}");
    }
}

#[test]
fn what_the_user_has_added_to_the_entry_stays() {
    for (client, file) in CLIENTS {
        let home = Home::new();
        let old = "N8N_URL = \"http://old\"\nN8N_API_KEY = \"old-key\"\nN8N_LENS_READ_ONLY = \"1\"\n";
        let toml = format!(
            "[mcp_servers.n8n-lens]\ncommand = \"n8n-lens\"\nargs = [\"--read-only\"]\nstartup_timeout_sec = 20 # slow\n\n[mcp_servers.n8n-lens.env]\n{old}"
        );
        let env = json!({ "N8N_URL": "http://old", "N8N_API_KEY": "old-key", "N8N_LENS_READ_ONLY": "1" });
        let entry = json!({ "command": "n8n-lens", "args": ["--read-only"], "startup_timeout_sec": "20", "env": env });
        let json = json!({ servers(client): { "n8n-lens": entry } });
        home.put(file, if client == "codex" { toml } else { json.to_string() });
        let shown = home.setup(&[client]).said();
        assert!(!shown.contains("old-key") && !shown.contains(KEY), "{shown}");
        home.write(&[client]);
        let mut expected = stdio(client);
        expected["args"] = json!(["--read-only"]);
        expected["env"]["N8N_LENS_READ_ONLY"] = json!("1");
        let mut entry = home.entry(client);
        assert!(entry["startup_timeout_sec"].as_str().unwrap().starts_with("20"), "{entry}");
        entry.as_object_mut().unwrap().remove("startup_timeout_sec");
        assert_eq!(entry, expected, "{client}");
        assert!(!home.text(file).contains("old-key"), "{client}");
        assert!(client != "codex" || home.text(file).contains("20 # slow"));
    }
}

#[test]
fn the_launcher_that_started_it_starts_it_again() {
    let home = Home::new();
    for (launcher, command, arguments) in
        [("npx", "npx", json!(["-y", "n8n-lens"])), ("uvx", "uvx", json!(["n8n-lens"]))]
    {
        home.write_with(&["gemini"], &[("N8N_LENS_LAUNCHER", launcher)]);
        let entry = home.entry("gemini");
        assert_eq!((&entry["command"], &entry["args"]), (&json!(command), &arguments));
    }
    // An argument of the user stays when the launcher changes.
    let text = home.text(file_of("gemini")).replace("\"n8n-lens\"]", "\"n8n-lens\", \"--read-only\"]");
    home.put(file_of("gemini"), text);
    home.write(&["gemini"]);
    assert_eq!(
        (&home.entry("gemini")["command"], &home.entry("gemini")["args"]),
        (&json!(binary()), &json!(["--read-only"]))
    );

    // A link in PATH stays in place.
    std::os::unix::fs::symlink(binary(), home.path("n8n-lens")).unwrap();
    home.write_with(&["gemini"], &[("PATH", &format!("/nowhere:.:{}", home.path("").display()))]);
    assert_eq!(home.entry("gemini")["command"], json!(home.path("n8n-lens")));
}

#[test]
fn the_language_is_the_users() {
    let home = Home::new();
    for (variables, arguments, expected) in [
        (&[][..], &[][..], "en"),
        (&[("LANG", "ja_JP.UTF-8")], &[], "ja"),
        (&[("LANG", "de_DE.UTF-8")], &[], "en"),
        (&[("LANG", "ja_JP.UTF-8"), ("LC_ALL", "C.UTF-8")], &[], "en"),
        (&[("LANG", "en_US.UTF-8"), ("LC_ALL", "ja_JP")], &[], "ja"),
        (&[("LANG", "ja_JP.UTF-8"), ("N8N_LENS_LOCALE", "en")], &[], "en"),
        (&[("LANG", "ja_JP.UTF-8")], &["--locale", "en"], "en"),
        (&[("LANG", "en_US.UTF-8")], &["--lang", "ja"], "ja"),
    ] {
        home.write_with(&[&["cursor"], arguments].concat(), variables);
        assert_eq!(home.entry("cursor")["env"]["N8N_LENS_LOCALE"], expected, "{variables:?} {arguments:?}");
    }
}

#[test]
fn missing_and_unfit_settings_are_named() {
    for (arguments, variable, expected) in [
        (&["cursor"][..], ("N8N_URL", ""), "N8N_URL is missing"),
        (&["cursor"], ("N8N_URL", "n8n.example.com"), "N8N_URL has no scheme: write https://n8n.example.com"),
        (&["cursor"], ("N8N_URL", "https://me:pass@n8n.example.com"), "N8N_URL contains a user name or a password"),
        (&["claude-desktop"], ("N8N_API_KEY", ""), "N8N_API_KEY is missing"),
        (&["cursor", "--api-key-file", "missing.txt"], ("LANG", "C"), "The file with the API key cannot be read"),
        (&["windsurf"], ("LANG", "C"), "invalid value 'windsurf'"),
        (&["cursor", "--remove", "--http", MCP], ("LANG", "C"), "cannot be used with"),
    ] {
        let done = Home::new().setup_with(arguments, &[variable]);
        assert!(done.refused(2).contains(expected) && !done.err.contains("pass@"), "{}", done.err);
    }
    // Removing an entry needs no settings.
    let home = Home::new();
    home.write(&["cursor"]);
    home.write_with(&["cursor", "--remove"], &[("N8N_URL", ""), ("N8N_API_KEY", "")]);
    assert!(!home.text(file_of("cursor")).contains("n8n-lens"));
}
