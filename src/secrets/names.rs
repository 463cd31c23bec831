//! Names whose values are secrets. `docs/configuration.md` shows them.

/// Headers whose values are secrets of the user or of n8n, in any case.
pub(super) const HEADERS: [&str; 10] = [
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

/// Members of JSON objects whose values are secrets: in the options of a request, in OAuth responses, in keys and
/// connections. In any case, and with hyphens or nothing between their words as well.
pub(super) const MEMBERS: [&str; 26] = [
    "api_key",
    "api_secret",
    "api_token",
    "access_token",
    "auth_token",
    "bearer_token",
    "id_token",
    "refresh_token",
    "session_token",
    "token",
    "jwt",
    "pass",
    "password",
    "passwd",
    "passphrase",
    "secret",
    "client_secret",
    "shared_secret",
    "signing_secret",
    "webhook_secret",
    "secret_key",
    "secret_access_key",
    "encryption_key",
    "private_key",
    "signing_key",
    "connection_string",
];

/// Members that are never shown: they hold credentials, or tokens that resume an execution.
pub(super) const REMOVED: [&str; 5] = ["resumeToken", "resumeUrl", "resumeFormUrl", "runtimeData", "credentials"];

/// A member of items that resumes an execution: n8n signs the URL that does, and its callers send the signature.
pub(super) const SIGNATURE: &str = "signature";

/// Prefixes of environment variables that hold secrets of ours or of n8n: keys, tokens, passwords, and addresses with
/// passwords.
#[cfg(feature = "application")]
const VARIABLES: [&str; 7] = ["N8N_", "GATEWAY_", "DB_", "PG", "QUEUE_", "CREDENTIALS_", "OTEL_EXPORTER_OTLP_"];

/// Whether the value of an environment variable of this name can be a secret of ours or of n8n.
#[cfg(feature = "application")]
pub(super) fn is_secret_variable(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    VARIABLES.iter().any(|prefix| name.starts_with(prefix))
}

/// Whether `name` is a header or member whose value is a secret.
pub(super) fn is_secret(name: &str) -> bool {
    is_one_of(&HEADERS, name) || MEMBERS.iter().any(|known| letters(known).eq(letters(name)))
}

/// Whether the value of a member of an item with this name is masked.
pub(super) fn is_secret_in_items(name: &str) -> bool {
    is_secret(name) || is_one_of(&REMOVED, name) || name.eq_ignore_ascii_case(SIGNATURE)
}

/// Whether a member with this name can hold the name of a secret, as in `{name: 'Authorization', value: …}`.
pub(super) fn holds_a_name(name: &str) -> bool {
    is_one_of(&["name", "key"], name)
}

/// Whether a member with this name holds the secret then.
pub(super) fn holds_the_value(name: &str) -> bool {
    name.eq_ignore_ascii_case("value")
}

/// The letters of a name, without what separates its words.
fn letters(name: &str) -> impl Iterator<Item = u8> {
    name.bytes().filter(|byte| !matches!(byte, b'_' | b'-')).map(|byte| byte.to_ascii_lowercase())
}

/// Whether `name` is one of `names`, ignoring case.
pub(super) fn is_one_of(names: &[&str], name: &str) -> bool {
    names.iter().any(|known| name.eq_ignore_ascii_case(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_lists_them_all() {
        let docs = include_str!("../../docs/configuration.md");
        let (_, section) = docs.split_once("\n## What is masked\n").unwrap();
        let table = section.split("\n## ").next().unwrap().lines().filter(|line| line.starts_with("| "));
        let mut listed: Vec<_> = table.flat_map(|row| row.split('`').skip(1).step_by(2)).collect();
        let mut names = [&HEADERS[..], &MEMBERS, &REMOVED, &[SIGNATURE]].concat();
        listed.sort_unstable();
        names.sort_unstable();
        assert_eq!(listed, names);
    }

    #[test]
    fn a_name_is_recognized_however_its_words_are_joined() {
        for name in
            ["clientSecret", "client_secret", "CLIENT-SECRET", "clientsecret", "PrivateKey", "Token", "x-api-key"]
        {
            assert!(is_secret(name), "{name}");
        }
        for name in ["tokens", "max_tokens", "nextPageToken", "secretary", "key", "keys", ""] {
            assert!(!is_secret(name), "{name}");
        }
    }
}
