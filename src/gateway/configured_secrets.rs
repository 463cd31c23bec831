//! Values that the configuration passes to a server, which may be secrets and which the server may reveal.
//!
//! For a child: the values of its variables, and arguments that do not read like words, paths or versions; after an option such
//! as `--token`, any argument. For a remote server: its headers, and the secrets in its URL. Of a value that is a URL, the
//! password and the parameters; of one with several lines, each line.

use std::collections::BTreeMap;

use super::program::Program;
use crate::secrets::{Redactor, Secret};

/// Shorter values are unlikely to be secrets, and would match inside ordinary words.
const MIN_BYTES: usize = 8;

/// The same, if the name suggests a secret.
const MIN_NAMED_BYTES: usize = 6;

/// Parts of the names of options and variables whose values are secrets.
const SECRET_NAMES: [&str; 9] = ["auth", "cookie", "cred", "dsn", "key", "pass", "pwd", "secret", "token"];

/// The longest number in a word, such as that of a version or a port, in digits.
const NUMBER_DIGITS: usize = 5;

/// Hides the secrets that are sent to a remote server.
pub(super) fn of_remote(url: &str, headers: &BTreeMap<String, String>) -> Redactor {
    let mut values = Vec::new();
    push(url, true, &mut values);
    for (name, value) in headers {
        push(value, is_secret_name(name), &mut values);
        // Without the scheme, such as `Bearer …`.
        push(value.rsplit(' ').next().unwrap_or_default(), is_secret_name(name), &mut values);
    }
    let secrets: Vec<_> = values.into_iter().map(Secret::new).collect();
    Redactor::new(&secrets)
}

/// Hides the secrets that the program is started with.
pub(super) fn of_program(program: &Program) -> Redactor {
    let mut values = Vec::new();
    for (name, value) in &program.env {
        push(value, is_secret_name(name), &mut values);
    }
    let mut option = "";
    for argument in &program.args {
        let (name, value) = match argument.split_once('=') {
            Some((name, value)) if name.starts_with('-') => (name, value),
            _ if argument.starts_with("--") => ("", ""),
            _ => (option, argument.as_str()),
        };
        if is_secret_name(name) || !is_readable(value) {
            push(value, is_secret_name(name), &mut values);
        }
        option = if argument.starts_with('-') { argument } else { "" };
    }
    let secrets: Vec<_> = values.into_iter().map(Secret::new).collect();
    Redactor::new(&secrets)
}

/// Adds a value, and its parts.
fn push(value: &str, is_named: bool, values: &mut Vec<String>) {
    let least = if is_named { MIN_NAMED_BYTES } else { MIN_BYTES };
    let lines = value.lines().map(|line| line.trim().to_owned());
    let parts = std::iter::once(value.to_owned()).chain(lines).chain(in_url(value));
    values.extend(parts.filter(|part| part.len() >= least));
}

/// The password and the parameters of a URL, both as written and decoded.
fn in_url(value: &str) -> Vec<String> {
    let Ok(url) = reqwest::Url::parse(value) else { return Vec::new() };
    let password = url.password().unwrap_or_default();
    let decoded = percent_encoding::percent_decode_str(password).decode_utf8_lossy().into_owned();
    let spelled = url.query().unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
    let spelled = spelled.map(|(_, value)| value.to_owned());
    let parameters = url.query_pairs().map(|(_, value)| value.into_owned());
    [password.to_owned(), decoded].into_iter().chain(spelled).chain(parameters).collect()
}

fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET_NAMES.iter().any(|part| name.contains(part))
}

/// Whether a value consists of words and short numbers, such as `/srv/data`, `@scope/server-files` or `python3.12`.
fn is_readable(value: &str) -> bool {
    value.split(|char: char| !char.is_alphanumeric()).all(|part| {
        let word = part.trim_end_matches(|char: char| char.is_ascii_digit());
        let rest = word.strip_prefix(|char: char| char.is_uppercase()).unwrap_or(word);
        part.len() - word.len() <= NUMBER_DIGITS
            && rest.chars().all(|char| char.is_alphabetic() && !char.is_uppercase())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redacted(args: &[&str], env: &[(&str, &str)], text: &str) -> String {
        let owned = |text: &&str| (*text).to_owned();
        let program = Program {
            command: "x".into(),
            args: args.iter().map(owned).collect(),
            env: env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            cwd: None,
        };
        of_program(&program).redact(text)
    }

    #[test]
    fn secrets_in_arguments_are_hidden() {
        for args in [
            ["x", "s3cret-Kq7Zr2Lm9Xw4"].as_slice(),
            &["--key", "s3cret-Kq7Zr2Lm9Xw4"],
            &["--api-key=s3cret-Kq7Zr2Lm9Xw4"],
            &["-p", "s3cret-Kq7Zr2Lm9Xw4"],
            &["postgres://lens:s3cret-Kq7Zr2Lm9Xw4@localhost/db"],
            &["https://localhost/mcp?a=b&token=s3cret-Kq7Zr2Lm9Xw4"],
        ] {
            assert_eq!(redacted(args, &[], "given s3cret-Kq7Zr2Lm9Xw4."), "given [redacted].", "{args:?}");
        }
        assert_eq!(redacted(&["--token", "sesame"], &[], "open sesame!"), "open [redacted]!");
        assert_eq!(redacted(&["--password=open-sesame"], &[], "open-sesame!"), "[redacted]!");
        assert_eq!(redacted(&["postgres://lens:p%40ssw0rd-9@localhost/db"], &[], "as p@ssw0rd-9"), "as [redacted]");
    }

    #[test]
    fn secrets_of_remote_servers_are_hidden() {
        let headers = [("Authorization".to_owned(), "Bearer t0ken-Kq7Zr2Lm9Xw4".to_owned())].into();
        let redactor = of_remote("http://lens:open-sesame@localhost/mcp?key=k3y-Hs8Tb3Nc6Yd1", &headers);
        for text in ["t0ken-Kq7Zr2Lm9Xw4", "open-sesame", "k3y-Hs8Tb3Nc6Yd1"] {
            assert_eq!(redactor.redact(&format!("given {text}.")), "given [redacted].");
        }
    }

    #[test]
    fn ordinary_arguments_are_shown() {
        for args in [
            ["-y", "@modelcontextprotocol/server-filesystem", "/srv/data"].as_slice(),
            &["--verbose-logging", "/home/me/server2/index.js"],
            &["--port=8080", "C:\\Program Files\\Node", "mcp-server-time==2025.7.1"],
        ] {
            let text = format!("cannot find {}", args.join(" "));
            assert_eq!(redacted(args, &[], &text), text);
        }
    }

    #[test]
    fn secrets_in_variables_are_hidden() {
        assert_eq!(
            redacted(&[], &[("A", "any-value"), ("PASSWORD", "sesame")], "any-value sesame"),
            "[redacted] [redacted]"
        );
        let key = [("KEY", "-----BEGIN KEY-----\nMIIEvQIBADANBg\nkqhkiG9w0BAQ\n-----END KEY-----")];
        assert_eq!(redacted(&[], &key, "MIIEvQIBADANBg"), "[redacted]");
        let url = [("DATABASE_URL", "postgres://lens:p4ssword-Lc9D@localhost/db")];
        assert_eq!(redacted(&[], &url, "password p4ssword-Lc9D failed"), "password [redacted] failed");
    }
}
