//! The password file of PostgreSQL's clients: lines of `host:port:database:user:password`.

/// The password for a host, port, database and user: of the first line that matches.
pub(super) fn find(text: &str, wanted: [&str; 4]) -> Option<String> {
    text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let fields = fields(line);
        let (password, names) = fields.split_last()?;
        let matches = |(name, wanted): (&String, &str)| name == "*" || name == wanted;
        let all = names.len() == wanted.len() && names.iter().zip(wanted).all(matches);
        all.then(|| password.clone())
    })
}

/// The fields of a line, in which a backslash escapes a colon or a backslash.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut chars = line.chars();
    while let Some(char) = chars.next() {
        match char {
            ':' if fields.len() < 5 => fields.push(String::new()),
            '\\' => fields.last_mut().map_or((), |field| field.extend(chars.next())),
            char => fields.last_mut().map_or((), |field| field.push(char)),
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::find;

    #[test]
    fn the_first_line_that_matches_counts() {
        let file = "# a comment\nother:5432:n8n:lens:no\nhost:*:n8n:lens:pass\\:word\\\\\n*:*:*:*:last";
        let find = |host, user| find(file, [host, "5432", "n8n", user]);
        assert_eq!(find("host", "lens").as_deref(), Some("pass:word\\"));
        assert_eq!(find("host", "another").as_deref(), Some("last"));
        assert_eq!(find("other", "lens").as_deref(), Some("no"));
    }
}
