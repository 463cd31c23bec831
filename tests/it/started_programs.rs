//! What programs started by the binary inherit. The browser is tested with the page, servers with the gateway.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// The source files below a folder, with their texts.
fn sources(folder: &Path) -> Vec<(String, String)> {
    let entries = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
    let of = |path: std::path::PathBuf| match path.is_dir() {
        true => sources(&path),
        false => vec![(path.display().to_string(), std::fs::read_to_string(&path).unwrap_or_default())],
    };
    entries.flat_map(of).filter(|(name, _)| name.ends_with(".rs")).collect()
}

/// So that a program added later is not forgotten.
#[test]
fn every_program_is_started_without_our_secrets() {
    let all = sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    // A subcommand of the command line is a `Command` too.
    let starts = regex::Regex::new(r"(?s)process::.*Command::new\(|open::commands\(").unwrap();
    let starting: Vec<_> = all.iter().filter(|(_, text)| starts.is_match(text)).collect();
    assert!(starting.len() >= 4, "{:?}", starting.iter().map(|(name, _)| name).collect::<Vec<_>>());
    for (name, text) in starting {
        assert!(text.contains("secrets::withhold(") || text.contains(".env_clear()"), "{name}");
    }
    for (name, text) in &all {
        assert!(!["open::that", "open::with"].iter().any(|start| text.contains(start)), "{name} withholds nothing");
    }
}

#[test]
fn npm_gets_no_secret() {
    let folder = tempfile::tempdir().unwrap();
    let npm = folder.path().join("npm");
    std::fs::write(&npm, "#!/bin/sh\nenv > \"$RECORDS/environment\"\necho no network >&2\nexit 1\n").unwrap();
    std::fs::set_permissions(&npm, PermissionsExt::from_mode(0o755)).unwrap();
    let secret = "s3cret-Kq7Zr2Lm9Xw4";
    let mut command = Command::new(crate::support::binary());
    command.args(["catalogue", "update"]).env_clear().env("RECORDS", folder.path());
    command.env("PATH", format!("{}:/usr/bin:/bin", folder.path().display())).env("NPM_TOKEN", "for-the-registry");
    for name in [
        "N8N_API_KEY",
        "N8N_LENS_AUTH_TOKEN",
        "N8N_LENS_DB",
        "N8N_LENS_STORE",
        "GATEWAY_TOKEN",
        "DB_POSTGRESDB_PASSWORD",
        "PGPASSWORD",
    ] {
        command.env(name, secret);
    }
    let output = command.output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("no network"), "{output:?}");
    let inherited = std::fs::read_to_string(folder.path().join("environment")).unwrap();
    assert!(inherited.contains("NPM_TOKEN=for-the-registry"), "{inherited}");
    assert!(!inherited.contains(secret), "{inherited}");
}
