//! The shell installer, from a server on loopback.

use std::path::Path;
use std::process::{Command, Output};

use super::server::{Reply, Server};
use super::{EXECUTION, PACKAGES, VERSION, assert_it_serves, expected_summary, isolated, succeed};

/// Serves the files of a release; `change` may spoil them.
fn release(change: fn(Vec<u8>) -> Vec<u8>) -> Server {
    Server::start(move |request| {
        match std::fs::read(PACKAGES.join("release").join(request.path.trim_start_matches('/'))) {
            Ok(file) => Reply::bytes(200, "application/octet-stream", change(file)),
            Err(_) => Reply::json(404, "{}"),
        }
    })
}

fn install(home: &Path, url: &str) -> Command {
    let mut command = isolated("sh", home);
    command.arg(PACKAGES.join("release/install.sh")).env("N8N_LENS_DOWNLOAD_URL", url);
    command
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[&*output.stdout, &*output.stderr].concat()).into_owned()
}

#[test]
#[ignore = "packs with npm's and Python's tools"]
fn it_installs_the_binary_and_says_how_to_reach_it() {
    let (home, release) = (tempfile::tempdir().unwrap(), release(|file| file));
    let folder = home.path().join(".local/bin");
    let said = succeed(&mut install(home.path(), &release.url()));
    assert!(
        said.contains(&format!("n8n-lens {VERSION} is installed: {}", folder.join("n8n-lens").display())),
        "{said}"
    );
    assert!(said.contains(&format!("export PATH=\"{}:$PATH\"", folder.display())), "{said}");
    assert_eq!(
        succeed(isolated(folder.join("n8n-lens"), home.path()).args(["summary", EXECUTION])),
        expected_summary()
    );
    assert_it_serves(&mut isolated(folder.join("n8n-lens"), home.path()));

    // A second time, over the first, with the folder in PATH.
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let said = succeed(install(home.path(), &release.url()).env("PATH", path));
    assert!(said.contains("run: n8n-lens check") && !said.contains("export PATH"), "{said}");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
}

#[test]
#[ignore = "packs with npm's and Python's tools"]
fn an_archive_that_was_changed_is_not_installed() {
    let home = tempfile::tempdir().unwrap();
    let changed = release(|mut file| {
        file.push(0);
        file
    });
    let output = install(home.path(), &changed.url()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        said(&output).contains("does not have the expected SHA-256, so nothing was installed"),
        "{}",
        said(&output)
    );
    assert!(!home.path().join(".local").exists());
}

#[test]
#[ignore = "packs with npm's and Python's tools"]
fn a_failed_download_is_reported() {
    let home = tempfile::tempdir().unwrap();
    let nothing = Server::start(|_| Reply::json(404, "{}"));
    let output = install(home.path(), &nothing.url()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("could not be downloaded. Check the connection"), "{}", said(&output));
}

/// A folder with a `gh` that is logged in and exits like this when it verifies an archive.
fn with_gh(home: &Path, verdict: &str) -> String {
    use std::os::unix::fs::PermissionsExt;
    let folder = home.join("tools");
    std::fs::create_dir_all(&folder).unwrap();
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *.tgz*) echo \"$*\" >'{}'; {verdict} ;; esac\n",
        home.join("asked").display()
    );
    std::fs::write(folder.join("gh"), script).unwrap();
    std::fs::set_permissions(folder.join("gh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    format!("{}:{}", folder.display(), std::env::var("PATH").unwrap())
}

#[test]
#[ignore = "packs with npm's and Python's tools"]
fn an_archive_that_github_does_not_attest_is_not_installed() {
    let (home, release) = (tempfile::tempdir().unwrap(), release(|file| file));
    let output = install(home.path(), &release.url()).env("PATH", with_gh(home.path(), "exit 1")).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("GitHub does not attest that n8n-lens-"), "{}", said(&output));
    assert!(!home.path().join(".local").exists());

    succeed(install(home.path(), &release.url()).env("PATH", with_gh(home.path(), "exit 0")));
    let asked = std::fs::read_to_string(home.path().join("asked")).unwrap();
    assert!(asked.starts_with("attestation verify ") && asked.contains(&format!("refs/tags/v{VERSION}")), "{asked}");
}

#[test]
#[ignore = "packs with npm's and Python's tools"]
fn an_installer_that_arrives_in_part_does_nothing() {
    let (home, release) = (tempfile::tempdir().unwrap(), release(|file| file));
    let script = std::fs::read_to_string(PACKAGES.join("release/install.sh")).unwrap();
    let cut = home.path().join("install.sh");
    let ends = script.match_indices('\n').map(|(at, _)| at + 1).filter(|end| *end < script.len());
    for end in ends.step_by(5).chain([script.len() - "main\n".len()]) {
        std::fs::write(&cut, &script[..end]).unwrap();
        let mut command = isolated("sh", home.path());
        let _ = command.arg(&cut).env("N8N_LENS_DOWNLOAD_URL", release.url()).output().unwrap();
    }
    assert!(release.requests().is_empty() && !home.path().join(".local").exists());
}
