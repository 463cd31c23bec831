//! Commands on a pseudoterminal (`script` of util-linux).

use std::process::{Command, Output, Stdio};

use regex::Regex;

/// What a command prints to a terminal with this many columns, and its exit code. Its input ends at once.
pub fn run(command: &Command, columns: u16) -> Output {
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
    script.output().unwrap()
}

/// What a command prints, with its styles.
pub fn styled(command: &Command, columns: u16) -> String {
    String::from_utf8(run(command, columns).stdout).unwrap().replace("\r\n", "\n")
}

/// What a command prints, without its styles.
pub fn plain(command: &Command, columns: u16) -> String {
    let style = Regex::new("\u{1b}\\[[0-9;]*m").unwrap();
    style.replace_all(&styled(command, columns), "").into_owned()
}
