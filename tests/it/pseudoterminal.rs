//! Commands on a pseudoterminal (`script` of util-linux).

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Output, Stdio};

use regex::Regex;

/// The output of a command on a terminal with this many columns, and its exit code. Its input ends at once.
pub fn run(command: &Command, columns: u16) -> Output {
    script(command, columns).output().unwrap()
}

fn script(command: &Command, columns: u16) -> Command {
    let quoted = |text: &std::ffi::OsStr| format!("'{}'", text.to_str().unwrap().replace('\'', "'\\''"));
    let line: Vec<_> = std::iter::once(command.get_program()).chain(command.get_args()).map(quoted).collect();
    let line = format!("stty rows 40 cols {columns}; exec {}", line.join(" "));
    let mut script = Command::new("script");
    script.args(["-qefc", &line, "/dev/null"]).env_clear().env("TERM", "xterm-256color").stdin(Stdio::null());
    script.env("PATH", std::env::var_os("PATH").unwrap());
    for (name, value) in command.get_envs() {
        script.envs(value.map(|value| (name, value)));
    }
    if let Some(folder) = command.get_current_dir() {
        script.current_dir(folder);
    }
    script
}

/// The output of a command, with its styles.
pub fn styled(command: &Command, columns: u16) -> String {
    String::from_utf8(run(command, columns).stdout).unwrap().replace("\r\n", "\n")
}

/// The output of a command, without its styles.
pub fn plain(command: &Command, columns: u16) -> String {
    let style = Regex::new("\u{1b}\\[[0-9;]*m").unwrap();
    style.replace_all(&styled(command, columns), "").into_owned()
}

/// The output of a command on a terminal where this text is typed, until it has printed `end`.
pub fn typed(command: &Command, text: &str, end: &str) -> String {
    let mut child = script(command, 200).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(text.as_bytes()).unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut shown = String::new();
    while !shown.contains(end) && output.read_line(&mut shown).unwrap() > 0 {}
    // Without its terminal, the command ends.
    child.kill().unwrap();
    child.wait().unwrap();
    shown
}
