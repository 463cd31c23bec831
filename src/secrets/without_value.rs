//! Error messages of serde without the value that they quote, which may be a secret.

use std::fmt::Display;

/// The message of a serde error without the value that it quotes: `invalid type: string "…", expected a map`
/// becomes `expected a map`.
pub(crate) fn without_value(error: &impl Display) -> String {
    let error = error.to_string();
    let quoted = ["invalid type: ", "invalid value: ", "invalid length ", "unknown variant "];
    let begins = quoted.iter().filter_map(|prefix| error.find(prefix)).min();
    match begins {
        Some(at) => match error[at..].rfind(", expected ") {
            Some(expected) => format!("{}{}", &error[..at], &error[at + expected + 2..]),
            None => format!("{}a value cannot be used", &error[..at]),
        },
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use super::without_value;

    #[test]
    fn values_are_not_quoted() {
        for value in ["\"sesame\"", "\"sesame, expected by nobody\"", "[\"sesame\"]"] {
            let error = serde_json::from_str::<std::collections::BTreeMap<String, bool>>(&format!("{{\"a\":{value}}}"));
            let error = without_value(&error.unwrap_err());
            assert!(error.starts_with("expected a boolean") && !error.contains("sesame"), "{error}");
        }
        assert_eq!(without_value(&"missing field `id` at line 1"), "missing field `id` at line 1");
    }
}
