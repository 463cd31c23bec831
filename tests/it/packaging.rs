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

/// Files that `packaging/pack` renders, with the version of `Cargo.toml` for `{{version}}`.
const TEMPLATES: [&str; 9] = [
    "Dockerfile",
    "homebrew/n8n-lens.rb",
    "installers/install.ps1",
    "installers/install.sh",
    "mcpb/manifest.json",
    "npm/package.json",
    "npm/platform.json",
    "pypi/wheel.py",
    "server.json",
];

/// A file in `packaging`.
fn packaging(file: &str) -> String {
    text(&format!("packaging/{file}"))
}

#[test]
fn the_version_is_only_in_cargo_toml() {
    for file in TEMPLATES {
        let template = packaging(file);
        assert!(!template.contains(VERSION), "packaging/{file} names a version; write {{{{version}}}}");
        assert!(template.contains("{{version}}") || file.ends_with(".py"), "packaging/{file}");
    }
    let server = json("packaging/server.json");
    assert_eq!(server["version"], "{{version}}");
    for package in server["packages"].as_array().unwrap() {
        // The version of an image is its tag.
        let version = package["version"].as_str().or(package["identifier"].as_str().unwrap().rsplit(':').next());
        assert_eq!(version, Some("{{version}}"), "{package}");
    }
    let launcher = json("packaging/npm/package.json");
    let versions = launcher["optionalDependencies"].as_object().unwrap().values();
    assert!(versions.chain([&launcher["version"]]).all(|version| version == "{{version}}"));
}

#[test]
fn the_packages_name_the_entry_of_the_registry() {
    let server = json("packaging/server.json");
    let name = server["name"].as_str().unwrap();
    let kinds: Vec<_> = server["packages"].as_array().unwrap().iter().map(|package| &package["registryType"]).collect();
    assert_eq!(kinds, ["npm", "pypi", "oci"]);
    assert!(server["description"].as_str().unwrap().len() <= 100);
    // The registry accepts each package only if it names the entry: in package.json, in the description of the wheel,
    // in a label of the image.
    assert_eq!(json("packaging/npm/package.json")["mcpName"], name);
    assert!(packaging("description.md").contains(&format!("<!-- mcp-name: {name} -->")));
    assert!(packaging("Dockerfile").contains(&format!("io.modelcontextprotocol.server.name=\"{name}\"")));
}

#[test]
fn every_target_has_its_packages_and_installers() {
    // The lines of the table in packaging/pack: target, npm platform, wheel.
    let script = packaging("pack");
    let rows = script.lines().filter_map(|line| line.trim().strip_prefix('"')?.strip_suffix('"'));
    let rows: Vec<Vec<_>> =
        rows.map(|row| row.split_whitespace().collect()).filter(|row: &Vec<_>| row.len() == 3).collect();
    assert_eq!(rows.len(), 8, "{rows:?}");
    let mut platforms: Vec<_> = rows.iter().map(|row| format!("@n8n-lens/cli-{}", row[1])).collect();
    platforms.sort();
    platforms.dedup();
    let launcher = json("packaging/npm/package.json");
    assert_eq!(launcher["optionalDependencies"].as_object().unwrap().keys().cloned().collect::<Vec<_>>(), platforms);
    for target in rows.iter().map(|row| row[0]).filter(|target| !target.contains("windows")) {
        assert!(packaging("installers/install.sh").contains(&format!("{target}) echo \"{{{{sha256 {target}}}}}\"")));
        if !target.contains("musl") {
            assert!(packaging("homebrew/n8n-lens.rb").contains(&format!("{{{{sha256 {target}}}}}")), "{target}");
        }
        assert!(script.contains(&format!("={target}")) || target.contains("gnu"), "no bundle for {target}");
    }
}

/// `cargo binstall` finds the archives that `packaging/pack` writes.
#[test]
fn binstall_finds_the_archives() {
    let manifest = text("Cargo.toml");
    let script = packaging("pack");
    assert!(script.contains("name=n8n-lens-$1-v$version") && script.contains("$packages/release/$name.tgz"));
    assert!(manifest.contains("/releases/download/v{ version }/{ name }-{ target }-v{ version }{ archive-suffix }"));
    assert!(manifest.contains("bin-dir = \"{ name }-{ target }-v{ version }/{ bin }{ binary-ext }\""));
    assert!(script.contains("$packages/release/$name.zip"));
    assert!(manifest.contains("[package.metadata.binstall.overrides.x86_64-pc-windows-msvc]\npkg-fmt = \"zip\""));
}

const WORKFLOWS: [&str; 2] = [".github/workflows/checks.yml", ".github/workflows/release.yml"];

/// Everything that runs, some of it with publishing rights, is pinned: an action by its commit, a download by its checksum, a crate by its
/// version and its lock file.
#[test]
fn the_workflows_pin_what_they_run() {
    for (name, least) in WORKFLOWS.into_iter().zip([3, 10]) {
        let workflow = text(name);
        let actions: Vec<_> =
            workflow.lines().filter_map(|line| line.trim().trim_start_matches("- ").strip_prefix("uses: ")).collect();
        assert!(actions.len() >= least, "{actions:?}");
        for action in actions {
            let (commit, tag) = action.split_once('@').and_then(|(_, pin)| pin.split_once(" # v")).expect(action);
            assert!(commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit()), "{action}");
            assert!(tag.split('.').count() == 3, "{action}");
        }
        assert_eq!(workflow.matches("sha256sum --check").count(), workflow.matches("curl ").count(), "{name}");
        assert!(!workflow.contains("pipx") && !workflow.contains("npx"), "{name}");
        assert_eq!(workflow.matches("pip install").count(), workflow.matches("--require-hashes").count(), "{name}");
        assert!(workflow.contains("\npermissions: {}\n"), "{name}");
        for installed in
            workflow.lines().chain(packaging("build").lines()).filter(|line| line.contains("cargo install "))
        {
            assert!(installed.contains("--locked") && installed.contains('@'), "{installed}");
        }
    }
    assert!(packaging("build").contains("pip\" install --quiet --disable-pip-version-check --require-hashes"));
}

#[test]
fn what_comes_from_pypi_is_fixed_by_its_sum() {
    for file in ["toolchain.txt", "checks.txt"] {
        let requirements = packaging(file).replace("\\\n", " ");
        let requirements: Vec<_> = requirements.lines().filter(|line| !line.starts_with('#')).collect();
        assert!(requirements.len() > 1, "{file}");
        for line in requirements {
            assert!(line.contains("==") && line.contains("--hash=sha256:"), "{file}: {line}");
        }
    }
}

/// The workflow for changes runs everything that the repository promises, also with the oldest Rust.
#[test]
fn a_change_is_checked_like_a_release() {
    let [checks, release] = WORKFLOWS.map(text);
    for part in ["pull_request:", "push:", "bash .ci/run", "cargo deny check", "s/^rust-version = "] {
        assert!(checks.contains(part), "{part}");
    }
    let rust = |workflow: &str| {
        let line = workflow.lines().find(|line| line.trim_start().starts_with("RUST_VERSION: ")).unwrap();
        line.trim().to_owned()
    };
    assert_eq!(rust(&checks), rust(&release));
    assert!(release.contains("bash .ci/run"));
}

/// Every package with a binary contains the licences of everything linked into it.
#[test]
fn the_licences_of_others_are_packed_with_every_binary() {
    let script = packaging("pack");
    assert_eq!(script.matches("\"${licences[@]}\"").count(), 5, "archive, npm, bundle, image, wheel");
    let packed = json("packaging/npm/platform.json")["files"].to_string();
    assert!(packed.contains("THIRD-PARTY-LICENSES.txt"), "{packed}");
    assert!(packaging("Dockerfile").contains("COPY --chmod=0444 LICENSE THIRD-PARTY-LICENSES.txt "));
    // All targets of a release.
    let crates = packaging("crates.py");
    for line in script.lines().filter(|line| line.trim().starts_with('"') && line.split_whitespace().count() == 3) {
        let target = line.trim().trim_start_matches('"').split_whitespace().next().unwrap();
        assert!(crates.contains(&format!("    \"{target}\",")), "{target}");
    }
}

/// The name refers to the software that it works with.
#[test]
fn it_is_said_that_n8n_gmbh_has_no_part_in_it() {
    for file in ["README.md", "packaging/description.md"] {
        assert!(text(file).contains("not affiliated with n8n GmbH"), "{file}");
    }
}

#[test]
fn the_licence_of_the_parsing_tests_is_next_to_them() {
    let licence = text("fixtures/test_parsing.LICENSE");
    assert!(licence.starts_with("MIT License") && licence.contains("Nicolas Seriot"), "{licence}");
}

#[test]
fn the_shell_installer_runs_only_when_it_is_complete() {
    let script = packaging("installers/install.sh");
    let top: Vec<_> = script.lines().filter(|line| !line.starts_with([' ', '#', '}']) && !line.is_empty()).collect();
    let (last, before) = top.split_last().unwrap();
    assert_eq!(*last, "main");
    for line in before {
        let is_harmless = line.ends_with("() {") || line.contains('=') || *line == "set -eu";
        assert!(is_harmless, "{line}");
    }
    assert!(script.contains("--proto \"$protocols\" --tlsv1.2"));
    assert!(text("README.md").contains("curl --proto '=https' --tlsv1.2 -fsSL https://"));
}

#[test]
#[cfg(unix)]
fn the_smoke_test_of_a_release_accepts_the_binary_and_nothing_else() {
    let smoke = |binary: &str| {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/smoke");
        std::process::Command::new(script).arg(binary).output().unwrap()
    };
    let output = smoke(crate::support::binary());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(smoke("/bin/echo").status.code(), Some(1));
}

#[test]
fn the_registry_entry_and_the_bundle_set_variables_that_the_binary_reads() {
    let help = std::process::Command::new(crate::support::binary()).args(["serve", "--help"]).output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let (manifest, server) = (json("packaging/mcpb/manifest.json"), json("packaging/server.json"));
    let bundled = manifest["server"]["mcp_config"]["env"].as_object().unwrap().keys().map(String::as_str);
    let registered = server["packages"].as_array().unwrap().iter();
    let registered = registered.flat_map(|package| package["environmentVariables"].as_array().unwrap());
    let registered = registered.map(|variable| variable["name"].as_str().unwrap());
    for variable in bundled.chain(registered) {
        assert!(help.contains(&format!("[env: {variable}")), "{variable}");
    }
}

#[test]
fn the_registry_entry_and_the_bundle_set_the_language() {
    let (manifest, server) = (json("packaging/mcpb/manifest.json"), json("packaging/server.json"));
    assert_eq!(manifest["server"]["mcp_config"]["env"]["N8N_LENS_LOCALE"], "${user_config.locale}");
    assert_eq!(manifest["user_config"]["locale"]["default"], "en");
    for package in server["packages"].as_array().unwrap() {
        let mut variables = package["environmentVariables"].as_array().unwrap().iter();
        let locale = variables.find(|variable| variable["name"] == "N8N_LENS_LOCALE").unwrap();
        assert_eq!(locale["default"], "en");
    }
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
