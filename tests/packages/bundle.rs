//! The bundle for Claude Desktop.

use std::process::Command;

use serde_json::Value;

use super::{EXECUTION, PACKAGES, VERSION, assert_it_serves, expected_summary, isolated, succeed};

#[test]
#[ignore = "installs the bundle's tool from npm"]
fn the_bundle_serves_as_its_manifest_says() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("bundle");
    let bundle = PACKAGES.join("release").join(format!("n8n-lens-v{VERSION}.mcpb"));
    // packaging/pack has validated it with the same tool.
    succeed(Command::new("npx").args(["--yes", "@anthropic-ai/mcpb@2.1.2", "unpack"]).args([&bundle, &folder]));

    let manifest: Value = serde_json::from_slice(&std::fs::read(folder.join("manifest.json")).unwrap()).unwrap();
    assert_eq!(manifest["version"], VERSION);
    assert_eq!(manifest["compatibility"]["platforms"], serde_json::json!(["darwin", "linux", "win32"]));
    let server = &manifest["server"]["mcp_config"];
    let command = server["command"].as_str().unwrap().replace("${__dirname}", folder.to_str().unwrap());
    let windows = server["platform_overrides"]["win32"]["command"].as_str().unwrap();
    assert!(std::path::Path::new(&windows.replace("${__dirname}", folder.to_str().unwrap())).exists());

    assert_eq!(succeed(isolated(&command, home.path()).args(["summary", EXECUTION])), expected_summary());
    assert_it_serves(&mut isolated(&command, home.path()));
}
