//! Names whose values are secrets.

/// Headers whose values are secrets of the user or of n8n.
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

/// Members of JSON objects whose values are secrets: in the options of a request, and in OAuth responses.
pub(super) const MEMBERS: [&str; 10] = [
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

/// Members that are never shown: they hold credentials, or tokens that resume an execution.
pub(super) const REMOVED: [&str; 5] = ["resumeToken", "resumeUrl", "resumeFormUrl", "runtimeData", "credentials"];

/// How the names of environment variables begin that hold secrets of ours or of n8n: keys, tokens, passwords, and
/// addresses with passwords.
const VARIABLES: [&str; 6] = ["N8N_", "GATEWAY_", "DB_", "PG", "QUEUE_", "CREDENTIALS_"];

/// Whether the value of an environment variable of this name can be a secret of ours or of n8n.
pub(super) fn is_secret_variable(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    VARIABLES.iter().any(|prefix| name.starts_with(prefix))
}

/// Whether `name` is a header or member whose value is a secret.
pub(super) fn is_secret(name: &str) -> bool {
    is_one_of(&HEADERS, name) || is_one_of(&MEMBERS, name)
}

/// Whether `name` is one of `names`, ignoring case.
pub(super) fn is_one_of(names: &[&str], name: &str) -> bool {
    names.iter().any(|known| name.eq_ignore_ascii_case(known))
}
