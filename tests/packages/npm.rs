//! The npm packages: the launcher, and one package for each platform.

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::server::Server;
use super::{EXECUTION, PACKAGES, VERSION, assert_it_serves, expected_summary, isolated, npm_registry, succeed};

/// How long a first `npx` may take, from nothing to the answer. The goal is 5 s for a release on an idle machine.
const COLD_LIMIT: Duration = Duration::from_secs(30);

/// A registry with the packages, and a home folder with an empty cache.
pub struct Npm {
    registry: Server,
    home: TempDir,
}

impl Npm {
    pub fn new() -> Self {
        Self { registry: npm_registry::serve(&PACKAGES.join("npm")), home: tempfile::tempdir().unwrap() }
    }

    fn command(&self, program: &str) -> Command {
        let mut command = isolated(program, self.home.path());
        command.env("npm_config_registry", self.registry.url()).env("npm_config_update_notifier", "false");
        command
    }

    /// `npx -y n8n-lens`
    pub fn npx(&self) -> Command {
        let mut command = self.command("npx");
        command.args(["-y", "n8n-lens"]);
        command
    }

    /// Installs n8n-lens into a folder; returns the path of its launcher.
    pub fn install(&self, options: &[&str]) -> PathBuf {
        let folder = self.home.path().join("project");
        succeed(self.command("npm").args(["install", "n8n-lens", "--no-audit", "--prefix"]).arg(&folder).args(options));
        folder.join("node_modules/n8n-lens/n8n-lens.js")
    }

    /// The launcher, started without npx.
    pub fn node(&self, launcher: &Path) -> Command {
        let mut command = self.command("node");
        command.arg(launcher);
        command
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
#[ignore = "runs npm"]
fn npx_answers_cold() {
    let npm = Npm::new();
    let begun = Instant::now();
    let summary = succeed(npm.npx().args(["summary", EXECUTION]));
    let took = begun.elapsed();
    let bytes = npm.registry.sent();
    println!("npx -y n8n-lens summary: {took:?} cold, with {bytes} bytes from the registry");
    assert_eq!(summary, expected_summary());
    assert!(took < COLD_LIMIT, "{took:?}");

    let begun = Instant::now();
    assert_eq!(succeed(npm.npx().arg("--version")).trim(), format!("n8n-lens {VERSION}"));
    println!("npx -y n8n-lens --version: {:?} from the cache", begun.elapsed());

    let tarballs = npm.registry.requests().into_iter().map(|request| request.path);
    let tarballs: Vec<_> = tarballs.filter(|path| path.ends_with(".tgz") && path.contains("cli-")).collect();
    // npm before 9.6 does not support `libc`.
    assert!(tarballs.iter().all(|path| path.contains("linux-x64") || path.contains("linux-arm64")), "{tarballs:?}");
}

#[test]
#[ignore = "runs npm"]
fn npx_serves_a_client() {
    assert_it_serves(&mut Npm::new().npx());
}

#[test]
#[ignore = "runs npm"]
fn exit_codes_pass_through() {
    let npm = Npm::new();
    let launcher = npm.install(&[]);
    let code = |command: &mut Command| command.output().unwrap().status.code();
    for (arguments, expected) in [(&["--nonsense"][..], 2), (&["summary", "missing.json"], 1), (&["--version"], 0)] {
        assert_eq!(code(npm.npx().args(arguments)), Some(expected), "npx {arguments:?}");
        assert_eq!(code(npm.node(&launcher).args(arguments)), Some(expected), "{arguments:?}");
    }
}

#[test]
#[ignore = "runs npm"]
fn a_missing_platform_package_is_reported() {
    let npm = Npm::new();
    let launcher = npm.install(&["--omit=optional"]);
    let output = npm.node(&launcher).arg("--version").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let message = stderr(&output);
    assert!(message.contains("@n8n-lens/cli-linux-") && message.contains("without --omit=optional"), "{message}");
}

/// Runs the launcher as it runs elsewhere: on another kind of machine, or with another C library.
fn on_another_platform(npm: &Npm, launcher: &Path, script: &str) -> String {
    let script = format!("{script}; require({:?})", launcher.to_str().unwrap());
    let output = npm.command("node").args(["-e", &script]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    stderr(&output)
}

#[test]
#[ignore = "runs npm"]
fn a_platform_without_a_binary_is_reported() {
    let npm = Npm::new();
    let launcher = npm.install(&[]);
    let message = on_another_platform(&npm, &launcher, "Object.defineProperty(process, 'arch', {value: 'riscv64'})");
    assert!(message.contains("no binary for linux-riscv64"), "{message}");
    assert!(message.contains("linux-x64-musl, win32-x64. Build it with Rust: cargo install --git"), "{message}");
}

/// Puts a script where the launcher expects the binary.
fn replace_binary(launcher: &Path, script: &str) {
    let scope = launcher.parent().unwrap().parent().unwrap().join("@n8n-lens");
    for package in std::fs::read_dir(scope).unwrap() {
        std::fs::write(package.unwrap().path().join("n8n-lens"), script).unwrap();
    }
}

/// `n8n-lens setup` then writes a command that also starts with npx.
#[test]
#[ignore = "runs npm"]
fn the_launcher_says_that_it_is_npx() {
    let npm = Npm::new();
    let launcher = npm.install(&[]);
    replace_binary(&launcher, "#!/bin/sh\necho $N8N_LENS_LAUNCHER $#\n");
    assert_eq!(succeed(npm.node(&launcher).args(["summary", "a b"])), "npx 2\n");
}

/// A folder that was installed with glibc, on Alpine: the loader that the binary names does not exist.
#[test]
#[ignore = "runs npm"]
fn a_binary_for_another_c_library_is_reported() {
    let npm = Npm::new();
    let launcher = npm.install(&[]);
    replace_binary(&launcher, "#!/lib/ld-of-another-libc.so\n");
    let message = on_another_platform(&npm, &launcher, "process.argv.push('--version')");
    assert!(message.contains("needs another C library") && message.contains("Install n8n-lens again"), "{message}");
}

/// `npm pack` keeps the files that a user needs, and only those.
#[test]
#[ignore = "runs npm"]
fn packages_contain_what_they_need() {
    let list = |name: &str| {
        let tarball = PACKAGES.join("npm").join(format!("{name}-{VERSION}.tgz"));
        let files = succeed(Command::new("tar").arg("-tzf").arg(tarball));
        let mut files: Vec<_> = files.lines().map(|line| line.trim_start_matches("package/").to_owned()).collect();
        files.sort();
        files
    };
    assert_eq!(list("n8n-lens"), ["LICENSE", "README.md", "n8n-lens.js", "package.json"]);
    assert_eq!(list("n8n-lens-cli-linux-x64"), ["LICENSE", "THIRD-PARTY-LICENSES.txt", "n8n-lens", "package.json"]);
    assert_eq!(list("n8n-lens-cli-win32-x64"), ["LICENSE", "THIRD-PARTY-LICENSES.txt", "n8n-lens.exe", "package.json"]);
}

/// The launcher ends by the same signal as the binary; SIGKILL shows that it is not only exit code 128 + n.
#[test]
#[ignore = "runs npm"]
fn the_end_by_a_signal_passes_through() {
    let npm = Npm::new();
    let launcher = npm.install(&[]);
    for (name, number) in [("TERM", 15), ("INT", 2), ("HUP", 1), ("KILL", 9)] {
        let mut command = npm.node(&launcher);
        // It reads an execution that never comes.
        let mut child = command.args(["summary", "-"]).stdin(std::process::Stdio::piped()).spawn().unwrap();
        let binary = super::launcher::only_child(child.id());
        // A signal that can be passed on goes to the launcher, the other one to the binary.
        super::launcher::kill(if name == "KILL" { binary } else { child.id() }, name);
        let status = child.wait().unwrap();
        assert_eq!(status.signal(), Some(number), "{name}: {status}");
        assert!(!super::launcher::is_running(binary), "{name}");
    }
}
