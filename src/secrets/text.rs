//! Secrets in the text of an error, where n8n and services quote requests.
//!
//! Everything that is not a secret should stay readable, so words are distinguished from tokens.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::REDACTED;
use super::names::{HEADERS, MEMBERS};

/// Authentication schemes (RFC 9110, 11.1), also of services that n8n's nodes call; others are recognised by the token.
const SCHEMES: &str = "basic|bearer|digest|negotiate|token|apikey|bot|ssws|oauth";

/// The text with the secrets masked that it quotes from headers, bodies and URLs of requests.
pub(super) fn hide(text: &str) -> Cow<'_, str> {
    static AUTHORIZATION: Pattern = LazyLock::new(|| {
        // A scheme, a token, and more parameters as AWS and OAuth have them.
        let token = r#"(?:[\w-]+="[^"]*"|[^\s"'\\,;]+)"#;
        let more = r#"(?:[,;]\s*[\w-]+=(?:"[^"]*"|[^\s,"]+))*"#;
        pattern(&format!(
            r#"(?P<name>authorization["'\\]*\s*[:=]\s*["'\\]*)(?:(?P<scheme>[a-z][\w-]*)[ \t]+)?(?P<token>{token}){more}"#
        ))
    });
    static COOKIE: Pattern = LazyLock::new(|| {
        pattern(r#"(?P<name>cookie["'\\]*\s*[:=]\s*)(?:(?P<quote>\\?["'])[^"'\\\r\n]*|[^\s=;,"']+=[^\r\n]*)"#)
    });
    static MEMBER: Pattern = LazyLock::new(|| {
        // Headers that have their own patterns are excluded.
        let own = |name: &&str| !name.ends_with("authorization") && !name.ends_with("cookie");
        let headers = HEADERS.iter().copied().filter(own).map(str::to_owned);
        let members = MEMBERS.iter().map(|name| name.replace('_', "[_-]?"));
        let names = headers.chain(members).collect::<Vec<_>>().join("|");
        pattern(&format!(
            r#"(?P<name>(?:{names})["'\\]*\s*(?P<sign>[:=])\s*(?P<quote>["'\\]*))(?P<value>[^\s"'&,;\\]{{4,}})"#
        ))
    });
    static SCHEME: Pattern =
        LazyLock::new(|| pattern(r"(?-u:\b)(?P<name>(?:bearer|basic)\s+)(?P<token>[a-z0-9._~+/=-]{8,})"));
    static USER: Pattern = LazyLock::new(|| {
        pattern(r#"(?P<name>[a-z][a-z0-9+.-]*://)(?:[^\s/:@"']*:(?P<password>[^\s"'@]+)@|[^\s/?#"']+@)+"#)
    });
    static QUERY: Pattern = LazyLock::new(|| {
        pattern(r#"(?P<name>[?&][\w-]*(?:token|key|secret|signature|sig|password|auth)=)[^&\s"'#\\]+"#)
    });
    // Telegram's addresses: the number of a bot and its token. All letters of Unicode, twenty times, would take a megabyte.
    static BOT: Pattern = LazyLock::new(|| pattern(r"(?P<name>/bot)[0-9]{5,}:[a-z0-9_-]{20,}"));
    let mut hidden = Cow::Borrowed(text);
    replace(&mut hidden, &AUTHORIZATION, |found| !is_prose(found));
    replace(&mut hidden, &COOKIE, |_| true);
    replace(&mut hidden, &MEMBER, |found| {
        let is_prose = &found["sign"] == ":" && found["quote"].is_empty();
        !(is_prose && is_word(&found["value"]))
    });
    replace(&mut hidden, &SCHEME, |found| !is_word(&found["token"]));
    // A number after the colon may be a port.
    replace(&mut hidden, &USER, |found| !found.name("password").is_some_and(|password| is_port(password.as_str())));
    replace(&mut hidden, &QUERY, |_| true);
    replace(&mut hidden, &BOT, |_| true);
    hidden
}

type Pattern = LazyLock<Option<Regex>>;

/// A case-insensitive pattern. All patterns are constants, and a test exercises each.
fn pattern(text: &str) -> Option<Regex> {
    Regex::new(&format!("(?i){text}")).ok()
}

/// Replaces every match after its name, unless `is_secret` says that it is not one.
fn replace(text: &mut Cow<'_, str>, pattern: &Pattern, is_secret: impl Fn(&Captures<'_>) -> bool) {
    let Some(pattern) = pattern.as_ref() else { return };
    let replaced = pattern.replace_all(text, |found: &Captures<'_>| {
        if !is_secret(found) {
            return found[0].to_owned();
        }
        let quote =
            found.name("quote").filter(|quote| quote.start() >= found.name("name").map_or(0, |name| name.end()));
        let end = if found[0].ends_with('@') { "@" } else { "" };
        format!("{}{}{REDACTED}{end}", &found["name"], quote.map_or("", |quote| quote.as_str()))
    });
    if let Cow::Owned(replaced) = replaced {
        *text = Cow::Owned(replaced);
    }
}

/// Whether a match is a sentence, such as `Authorization: required header is missing`.
fn is_prose(found: &Captures<'_>) -> bool {
    let token = &found["token"];
    match found.name("scheme").map(|scheme| scheme.as_str().to_ascii_lowercase()) {
        Some(scheme) if SCHEMES.split('|').any(|known| known == scheme) => {
            // `Bearer authentication failed`
            is_word(token) && ["auth", "cred", "token", "scheme"].iter().any(|word| begins(token, word))
        }
        Some(_) | None => is_word(token),
    }
}

fn begins(token: &str, word: &str) -> bool {
    token.get(..word.len()).is_some_and(|prefix| prefix.eq_ignore_ascii_case(word))
}

/// Whether a text is a word, optionally capitalised or hyphenated: no token looks like one.
fn is_word(token: &str) -> bool {
    let token = token.trim_end_matches(|char: char| ".,;:!?)".contains(char));
    token.len() < 40
        && token.split(['-', '/', '.']).all(|part| {
            let mut letters = part.chars();
            letters.next().is_some_and(|first| first.is_ascii_alphabetic())
                && letters.all(|char| char.is_ascii_lowercase())
        })
}

/// Whether a text begins with a port, such as `443/users/`.
fn is_port(text: &str) -> bool {
    text.split_once('/').is_some_and(|(port, _)| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::hide;

    #[test]
    fn secrets_in_quoted_requests_are_hidden() {
        for (text, hidden) in [
            ("Authorization: Bearer s3cret.s3cret", "Authorization: [redacted]"),
            ("authorization: Bot s3cret.abc", "authorization: [redacted]"),
            ("Authorization: DeepL-Auth-Key s3cret-279a-fx, then", "Authorization: [redacted], then"),
            ("Authorization: Basic abcdefgh", "Authorization: [redacted]"),
            (
                "Authorization: AWS4-HMAC-SHA256 Credential=s3c/a, SignedHeaders=a;b, Signature=s3cret",
                "Authorization: [redacted]",
            ),
            (r#"{"authorization":"Basic s3cret=="}"#, r#"{"authorization":"[redacted]"}"#),
            (r#"{\"authorization\":\"s3cret==\"}"#, r#"{\"authorization\":\"[redacted]\"}"#),
            ("Cookie: a=s3cret; b=s3cret\r\nhost: x", "Cookie: [redacted]\r\nhost: x"),
            (r#"{"cookie":"a=s3cret","error":"quota"}"#, r#"{"cookie":"[redacted]","error":"quota"}"#),
            ("401 - {\"client_secret\":\"sesame\",\"a\":1}", "401 - {\"client_secret\":\"[redacted]\",\"a\":1}"),
            ("body was client_secret=sesame&a=b", "body was client_secret=[redacted]&a=b"),
            ("apikey: s3cret", "apikey: [redacted]"),
            (r#"{"privateKey":"s3cret","token":"s3cret"}"#, r#"{"privateKey":"[redacted]","token":"[redacted]"}"#),
            ("token=s3cret&client-secret=s3cret", "token=[redacted]&client-secret=[redacted]"),
            ("認証はBearer s3cret-abcdef が無効", "認証はBearer [redacted] が無効"),
            ("URLはhttps://u:s3cret@host/です", "URLはhttps://[redacted]@host/です"),
            ("postgres://u:pa@s3cret@host/x", "postgres://[redacted]@host/x"),
            ("postgres://u:pa/s3cret@host", "postgres://[redacted]@host"),
            (
                "GET https://api.telegram.org/bot123456789:AAEs3cretOweik6ad9r_QXMENQ/getMe",
                "GET https://api.telegram.org/bot[redacted]/getMe",
            ),
            (
                "GET /a?api_token=s3cret&b=1&X-Amz-Signature=s3cret",
                "GET /a?api_token=[redacted]&b=1&X-Amz-Signature=[redacted]",
            ),
        ] {
            assert_eq!(hide(text), hidden);
        }
    }

    #[test]
    fn ordinary_words_are_kept() {
        for text in [
            "Please use Basic authentication. Then",
            "Basic Authentication for Basic subscription-tier",
            "Authorization: required header is missing",
            "Invalid authorization: credentials were rejected",
            "Authorization: Bearer authentication failed",
            "api-key: undefined, password: incorrect",
            "Rejected cookie: domain mismatch for example.com, check it",
            "GET https://registry.example.com:4873/@scope/pkg - 404",
            "the token is a key",
            "max_tokens: 4096, total_tokens=5123, nextPageToken",
            "Unexpected token '<', \"<!DOCTYPE \"... is not valid JSON",
            "Invalid token: expired",
        ] {
            assert_eq!(hide(text), text);
        }
    }
}
