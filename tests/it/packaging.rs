//! The metadata for registries and installers agrees with the binary.

use std::path::Path;

use serde_json::Value;

const VERSION: &str = env!("CARGO_PKG_VERSION");

fn text(file: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap()
}

fn json(file: &str) -> Value {
    serde_json::from_str(&text(file)).unwrap()
}

#[test]
fn the_registry_entry_and_the_bundle_name_this_version() {
    assert_eq!(json("mcpb/manifest.json")["version"], VERSION);
    let server = json("server.json");
    assert_eq!(server["version"], VERSION);
    let image = server["packages"][0]["identifier"].as_str().unwrap();
    assert!(image.ends_with(&format!(":{VERSION}")), "{image}");
    // The registry accepts an image only if its label names the entry.
    let label = format!("io.modelcontextprotocol.server.name=\"{}\"", server["name"].as_str().unwrap());
    assert!(text("Dockerfile").contains(&label));
    assert!(text("Dockerfile").contains(&format!("ARG VERSION={VERSION}")));
}

#[test]
fn the_registry_entry_and_the_bundle_set_variables_that_the_binary_reads() {
    let help = std::process::Command::new(crate::support::binary()).args(["serve", "--help"]).output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let (manifest, server) = (json("mcpb/manifest.json"), json("server.json"));
    let bundled = manifest["server"]["mcp_config"]["env"].as_object().unwrap().keys().map(String::as_str);
    let registered = server["packages"][0]["environmentVariables"].as_array().unwrap().iter();
    let registered = registered.map(|variable| variable["name"].as_str().unwrap());
    for variable in bundled.chain(registered) {
        assert!(help.contains(&format!("[env: {variable}")), "{variable}");
    }
}

#[test]
fn the_registry_entry_and_the_bundle_set_the_language() {
    let (manifest, server) = (json("mcpb/manifest.json"), json("server.json"));
    assert_eq!(manifest["server"]["mcp_config"]["env"]["N8N_LENS_LOCALE"], "${user_config.locale}");
    assert_eq!(manifest["user_config"]["locale"]["default"], "en");
    let variables = server["packages"][0]["environmentVariables"].as_array().unwrap();
    let locale = variables.iter().find(|variable| variable["name"] == "N8N_LENS_LOCALE").unwrap();
    assert_eq!(locale["default"], "en");
}

#[test]
fn empty_settings_count_as_unset() {
    let empty = ["N8N_LENS_LOCALE", "LOG_LEVEL", "N8N_LENS_TOOLS", "N8N_LENS_FILES_ROOT", "N8N_API_KEY_FILE"];
    let mut settings: Vec<_> = empty.into_iter().map(|name| (name, "")).collect();
    settings.push(("N8N_LENS_READ_ONLY", "false"));
    let run = |settings: &[(&str, &str)]| {
        let mut command = std::process::Command::new(crate::support::binary());
        let output = command.arg("tools").env_clear().envs(settings.iter().copied()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(run(&settings).contains("delete_workflow"));
    assert!(!run(&[("N8N_LENS_READ_ONLY", "true")]).contains("delete_workflow"));
}

#[test]
fn an_unexpanded_api_key_is_refused() {
    let mut command = std::process::Command::new(crate::support::binary());
    command.env_clear().env("N8N_URL", "http://127.0.0.1:9").env("N8N_API_KEY", "${N8N_API_KEY}");
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("N8N_API_KEY is an unexpanded"));
}

#[test]
fn an_unexpanded_token_is_refused() {
    let mut command = std::process::Command::new(crate::support::binary());
    command.args(["--transport", "http", "--host", "0.0.0.0", "--port", "0"]);
    command.env_clear().env("N8N_URL", "http://127.0.0.1:9").env("N8N_LENS_AUTH_TOKEN", "${TOKEN}");
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("N8N_LENS_AUTH_TOKEN is an unexpanded"));
}

#[test]
fn every_shell_has_completions() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let mut command = std::process::Command::new(crate::support::binary());
        let output = command.args(["completions", shell]).env_clear().output().unwrap();
        let script = String::from_utf8(output.stdout).unwrap();
        assert!(script.contains("n8n-lens") && script.contains("completions"), "{shell}");
    }
}
