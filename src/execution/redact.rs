//! What is hidden: the secrets that n8n's errors carry along, and on request (`--redact`) those in items.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::json::{Beginning, Excerpt};

/// Headers whose values are secrets of the user or of n8n.
const HEADERS: [&str; 10] = [
    "authorization",
    "cookie",
    "set-cookie",
    "x-api-key",
    "x-n8n-api-key",
    "proxy-authorization",
    "x-auth-token",
    "x-access-token",
    "private-token",
    "api-key",
];

/// Members whose values are, too: of the options of a request, and of what OAuth gives.
const MEMBERS: [&str; 10] = [
    "apikey",
    "api_key",
    "password",
    "passwd",
    "access_token",
    "accesstoken",
    "refresh_token",
    "refreshtoken",
    "client_secret",
    "clientsecret",
];

/// These keys are never shown: they hold tokens that resume an execution, or credentials.
const REMOVED: [&str; 5] = ["resumeToken", "resumeUrl", "resumeFormUrl", "runtimeData", "credentials"];

const REDACTED: &str = "[redacted]";

/// Hides the secrets in an error, at any depth.
pub(super) fn error(value: &mut Excerpt) {
    match value {
        Excerpt::Object { kept, total } => {
            let before = kept.len();
            kept.retain(|(name, _)| !is_one_of(&REMOVED, name));
            *total -= (before - kept.len()) as u64;
            hide_pair(kept);
            for (name, value) in kept {
                if is_secret(name) { *value = redacted() } else { error(value) }
            }
        }
        Excerpt::Array { kept, .. } => {
            hide_raw_headers(kept);
            kept.iter_mut().for_each(error);
        }
        Excerpt::Text(beginning) => text(beginning),
        Excerpt::Scalar(_) | Excerpt::Deep { .. } => {}
    }
}

/// Hides the secrets in an item, and removes nothing: what `--redact` asks for.
pub fn item(value: &mut Excerpt) {
    match value {
        Excerpt::Object { kept, .. } => {
            hide_pair(kept);
            for (name, value) in kept {
                // n8n signs the address that resumes an execution: whoever called it brought the signature.
                let resumes = is_one_of(&REMOVED, name) || name.eq_ignore_ascii_case("signature");
                if resumes || is_secret(name) { *value = redacted() } else { item(value) }
            }
        }
        Excerpt::Array { kept, .. } => {
            hide_raw_headers(kept);
            kept.iter_mut().for_each(item);
        }
        Excerpt::Scalar(_) | Excerpt::Text(_) | Excerpt::Deep { .. } => {}
    }
}

/// Hides what a text says of a request: headers, tokens behind their scheme, passwords and keys in addresses.
pub(super) fn text(text: &mut Beginning) {
    if let Cow::Owned(hidden) = hide(&text.kept) {
        let (before, after) = (text.kept.chars().count() as u64, hidden.chars().count() as u64);
        text.chars = (text.chars - before.min(text.chars)) + after;
        text.kept = hidden;
    }
}

fn hide(text: &str) -> Cow<'_, str> {
    /// A header, also as JSON has it. Cookies have parts; other values end at the next space, but for a scheme.
    static HEADER: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let one_word: Vec<_> = HEADERS.iter().filter(|name| !name.ends_with("cookie")).copied().collect();
        let word = format!(
            r#"(?P<other>\b(?:{})["'\\]*\s*[:=]\s*["'\\]*)(?:(?:bearer|basic|token|digest)\s+[^\s"',;\\]+|[^\s"',;\\]{{8,}})"#,
            one_word.join("|")
        );
        Regex::new(&format!(r#"(?i){word}|(?P<cookie>\b(?:set-)?cookie["'\\]*\s*[:=]\s*)[^\r\n]+"#)).ok()
    });
    /// A token behind its scheme, wherever that stands.
    static SCHEME: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"(?i)\b(?P<scheme>(?:bearer|basic)\s+)(?P<token>[a-z0-9._~+/=-]{8,})").ok());
    /// `https://user:password@host`, `?token=…`
    static ADDRESS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let names = "token|key|api_?key|access_token|refresh_token|client_secret|password|secret|signature|sig";
        let user = r#"(?P<user>\b[a-z][a-z0-9+.-]*://)[^\s/?#@"']+@"#;
        Regex::new(&format!(r#"(?i){user}|(?P<query>[?&](?:{names})=)[^&\s"'#\\]+"#)).ok()
    });
    let mut hidden = Cow::Borrowed(text);
    replace(&mut hidden, &HEADER, |found| {
        let name = found.name("other").or(found.name("cookie")).map_or("", |name| name.as_str());
        format!("{name}{REDACTED}")
    });
    replace(&mut hidden, &SCHEME, |found| {
        // `Basic authentication` is no secret.
        let is_word = found["token"].bytes().all(|byte| byte.is_ascii_lowercase());
        if is_word { found[0].to_owned() } else { format!("{}{REDACTED}", &found["scheme"]) }
    });
    replace(&mut hidden, &ADDRESS, |found| match found.name("user") {
        Some(scheme) => format!("{}{REDACTED}@", scheme.as_str()),
        None => format!("{}{REDACTED}", &found["query"]),
    });
    hidden
}

fn replace(text: &mut Cow<'_, str>, pattern: &Option<Regex>, with: impl Fn(&Captures<'_>) -> String) {
    if let Some(pattern) = pattern
        && let Cow::Owned(replaced) = pattern.replace_all(text, with)
    {
        *text = Cow::Owned(replaced);
    }
}

/// `{name: 'Authorization', value: …}`, also with `key` for the name.
fn hide_pair(members: &mut [(String, Excerpt)]) {
    let is_name = |name: &str| is_one_of(&["name", "key"], name);
    let secret = members.iter().any(|(name, value)| is_name(name) && is_text(value, is_secret));
    for (_, value) in members.iter_mut().filter(|(name, _)| secret && name.eq_ignore_ascii_case("value")) {
        *value = redacted();
    }
}

/// `['Authorization', …]`, as Node.js has it in `rawHeaders`.
fn hide_raw_headers(elements: &mut [Excerpt]) {
    for at in 1..elements.len() {
        if is_text(&elements[at - 1], |text| is_one_of(&HEADERS, text)) {
            elements[at] = redacted();
        }
    }
}

fn is_text(value: &Excerpt, like: impl Fn(&str) -> bool) -> bool {
    matches!(value, Excerpt::Text(text) if like(&text.kept))
}

fn is_secret(name: &str) -> bool {
    is_one_of(&HEADERS, name) || is_one_of(&MEMBERS, name)
}

fn is_one_of(names: &[&str], name: &str) -> bool {
    names.iter().any(|known| name.eq_ignore_ascii_case(known))
}

fn redacted() -> Excerpt {
    Excerpt::Text(REDACTED.to_owned().into())
}
