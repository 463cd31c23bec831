//! The wheels, and the scripts, whose linter is on PyPI.

use std::process::Command;

use super::{EXECUTION, PACKAGES, PYTHON, VERSION, assert_it_serves, expected_summary, isolated, succeed};

#[test]
#[ignore = "runs pip"]
fn pip_installs_the_binary() {
    let home = tempfile::tempdir().unwrap();
    let environment = home.path().join("environment");
    succeed(Command::new("python3").args(["-m", "venv"]).arg(&environment));
    let mut pip = isolated(environment.join("bin/pip"), home.path());
    succeed(pip.args(["install", "--quiet", "--no-index", "--find-links"]).arg(PACKAGES.join("pypi")).arg("n8n-lens"));

    let installed = environment.join("bin/n8n-lens");
    assert_eq!(succeed(isolated(&installed, home.path()).args(["summary", EXECUTION])), expected_summary());
    assert_it_serves(&mut isolated(&installed, home.path()));
    // pip checks the sums of RECORD only when asked to.
    let shown = succeed(isolated(environment.join("bin/pip"), home.path()).args(["show", "--files", "n8n-lens"]));
    assert!(shown.contains(&format!("Version: {VERSION}")) && shown.contains("bin/n8n-lens"), "{shown}");
}

#[test]
#[ignore = "runs uv"]
fn uvx_runs_the_binary() {
    let home = tempfile::tempdir().unwrap();
    let (program, wheels) = (PYTHON.join("bin/uvx"), PACKAGES.join("pypi"));
    let uvx = || {
        let mut uvx = isolated(&program, home.path());
        uvx.args(["--offline", "--no-index", "--find-links"]).arg(&wheels).arg("n8n-lens");
        uvx
    };
    let begun = std::time::Instant::now();
    assert_eq!(succeed(uvx().args(["summary", EXECUTION])), expected_summary());
    println!("uvx n8n-lens summary: {:?} cold", begun.elapsed());
    assert_it_serves(&mut uvx());
    assert_eq!(uvx().arg("--nonsense").output().unwrap().status.code(), Some(2));
}

#[test]
#[ignore = "runs twine"]
fn twine_accepts_the_wheels() {
    let wheels = std::fs::read_dir(PACKAGES.join("pypi")).unwrap().map(|entry| entry.unwrap().path());
    let said = succeed(Command::new(PYTHON.join("bin/twine")).args(["check", "--strict"]).args(wheels));
    assert_eq!(said.matches("PASSED").count(), 7, "{said}");
}

#[test]
#[ignore = "runs shellcheck"]
fn shellcheck_accepts_the_scripts() {
    let root = super::root();
    let scripts = ["packaging/pack", "packaging/smoke", "packaging/installers/install.sh", "packaging/mcpb/n8n-lens"];
    succeed(Command::new(PYTHON.join("bin/shellcheck")).current_dir(root).args(scripts).arg("tests/packages/setup.sh"));
}
