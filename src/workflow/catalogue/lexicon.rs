//! How text is split into words, and common words for things that n8n names differently.

/// Words that do not help to find a node.
const FILLER: [&str; 53] = [
    "a", "add", "all", "an", "and", "another", "any", "as", "at", "by", "can", "could", "create", "do", "does", "each",
    "every", "for", "from", "get", "how", "i", "in", "into", "is", "it", "its", "make", "me", "my", "n8n", "need",
    "new", "node", "nodes", "of", "one", "or", "over", "please", "should", "some", "that", "the", "then", "this", "to",
    "use", "using", "via", "want", "with", "without",
];

/// Words that fit so many nodes that they only break ties.
const COMMON: [&str; 33] = [
    "bot", "call", "channel", "data", "day", "delete", "download", "event", "file", "find", "item", "list", "load",
    "manage", "message", "page", "post", "query", "read", "row", "run", "save", "search", "send", "table", "text",
    "ticket", "update", "upload", "value", "work", "workflow", "write",
];

/// Words that ask for a node that starts a workflow.
const TRIGGER_WORDS: [&str; 10] =
    ["arrive", "arrives", "incoming", "listen", "receive", "received", "trigger", "watch", "when", "whenever"];

/// User's word -> words of the catalogue, or bare names of types in lower case. Sorted for binary search.
const SYNONYMS: [(&str, &[&str]); 113] = [
    ("api", &["httprequest"]),
    ("array", &["splitout"]),
    ("bash", &["executecommand"]),
    ("bedingung", &["if"]),
    ("branch", &["if", "switch"]),
    ("bucket", &["s3"]),
    ("button", &["manualtrigger"]),
    ("callback", &["webhook"]),
    ("catch", &["errortrigger"]),
    ("chatgpt", &["openai", "lmchatopenai"]),
    ("claude", &["lmchatanthropic"]),
    ("comment", &["stickynote"]),
    ("concat", &["merge"]),
    ("count", &["summarize"]),
    ("cron", &["scheduletrigger"]),
    ("css", &["html"]),
    ("csv", &["extractfromfile", "converttofile"]),
    ("daily", &["scheduletrigger"]),
    ("database", &["postgres", "mysql"]),
    ("datei", &["file"]),
    ("datenbank", &["postgres", "mysql"]),
    ("day", &["scheduletrigger"]),
    ("decision", &["if", "switch"]),
    ("dedupe", &["removeduplicates"]),
    ("diff", &["comparedatasets"]),
    ("distinct", &["removeduplicates"]),
    ("download", &["httprequest"]),
    ("else", &["if"]),
    ("excel", &["extractfromfile", "microsoftexcel"]),
    ("exception", &["stopanderror"]),
    ("fail", &["errortrigger", "stopanderror"]),
    ("fehler", &["error"]),
    ("fetch", &["httprequest"]),
    ("field", &["set"]),
    ("filtern", &["filter"]),
    ("first", &["limit"]),
    ("flatten", &["splitout"]),
    ("foreach", &["splitinbatches"]),
    ("gpt", &["openai"]),
    ("group", &["aggregate", "summarize"]),
    ("handling", &["errortrigger", "stopanderror"]),
    ("hmac", &["crypto"]),
    ("hook", &["webhook"]),
    ("hour", &["scheduletrigger"]),
    ("iterate", &["splitinbatches"]),
    ("javascript", &["code"]),
    ("join", &["merge"]),
    ("js", &["code"]),
    ("kalender", &["calendar"]),
    ("lesen", &["read"]),
    ("llm", &["chainllm", "model"]),
    ("loeschen", &["delete"]),
    ("loop", &["splitinbatches"]),
    ("mail", &["email", "gmail"]),
    ("map", &["set"]),
    ("mariadb", &["mysql"]),
    ("md5", &["crypto"]),
    ("midnight", &["scheduletrigger"]),
    ("minute", &["scheduletrigger"]),
    ("mongo", &["mongodb"]),
    ("mssql", &["microsoftsql"]),
    ("nachricht", &["message"]),
    ("note", &["stickynote"]),
    ("order", &["sort"]),
    ("pdf", &["extractfromfile"]),
    ("pivot", &["summarize"]),
    ("postgresql", &["postgres"]),
    ("python", &["code"]),
    ("rag", &["chainretrievalqa", "vector"]),
    ("rename", &["renamekeys"]),
    ("reply", &["respondtowebhook", "respond"]),
    ("resize", &["editimage"]),
    ("rest", &["httprequest"]),
    ("return", &["respondtowebhook"]),
    ("route", &["switch"]),
    ("schleife", &["splitinbatches"]),
    ("schreiben", &["write"]),
    ("scrape", &["httprequest", "html"]),
    ("script", &["code"]),
    ("selector", &["html"]),
    ("senden", &["send"]),
    ("shell", &["executecommand"]),
    ("signature", &["crypto"]),
    ("sleep", &["wait"]),
    ("sortieren", &["sort"]),
    ("spreadsheet", &["googlesheets"]),
    ("sql", &["postgres", "mysql", "microsoftsql"]),
    ("subworkflow", &["executeworkflow"]),
    ("sum", &["summarize"]),
    ("summarize", &["chainsummarization"]),
    ("summary", &["chainsummarization"]),
    ("tabelle", &["googlesheets", "table"]),
    ("terminal", &["executecommand"]),
    ("timer", &["scheduletrigger", "wait"]),
    ("timestamp", &["datetime"]),
    ("top", &["limit"]),
    ("translate", &["deepl", "googletranslate"]),
    ("tweet", &["twitter"]),
    ("ubersetzen", &["deepl", "googletranslate"]),
    ("uebersetzen", &["deepl", "googletranslate"]),
    ("unique", &["removeduplicates"]),
    ("unzip", &["compression"]),
    ("url", &["httprequest"]),
    ("uuid", &["crypto"]),
    ("variable", &["set"]),
    ("warten", &["wait"]),
    ("weather", &["openweathermap"]),
    ("web", &["httprequest"]),
    ("website", &["httprequest", "html"]),
    ("weekly", &["scheduletrigger"]),
    ("wenn", &["if"]),
    ("zeitplan", &["scheduletrigger"]),
    ("zip", &["compression"]),
];

/// The sequences of letters and digits, in lower case and without accents.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut plain = String::with_capacity(text.len());
    for letter in text.chars().flat_map(char::to_lowercase) {
        match letter {
            'a'..='z' | '0'..='9' => plain.push(letter),
            _ => plain.push_str(without_accent(letter)),
        }
    }
    plain.split_ascii_whitespace().map(str::to_owned).collect()
}

/// A letter without its accent; a space for anything that separates words.
fn without_accent(letter: char) -> &'static str {
    match letter {
        'ä' => "ae",
        'ö' => "oe",
        'ü' => "ue",
        'ß' => "ss",
        'à' | 'á' | 'â' | 'ã' | 'å' => "a",
        'ç' => "c",
        'è' | 'é' | 'ê' | 'ë' => "e",
        'ì' | 'í' | 'î' | 'ï' => "i",
        'ñ' => "n",
        'ò' | 'ó' | 'ô' | 'õ' => "o",
        'ù' | 'ú' | 'û' => "u",
        _ => " ",
    }
}

/// The words of a name like `httpRequest` or `HTTPRequest`.
pub(super) fn camel_words(name: &str) -> Vec<String> {
    let mut spaced = String::with_capacity(name.len() + 8);
    let mut before = ' ';
    let mut letters = name.chars().peekable();
    while let Some(letter) = letters.next() {
        let starts = letter.is_ascii_uppercase()
            && (before.is_ascii_lowercase()
                || before.is_ascii_digit()
                || (before.is_ascii_uppercase() && letters.peek().is_some_and(char::is_ascii_lowercase)));
        if starts {
            spaced.push(' ');
        }
        spaced.push(letter);
        before = letter;
    }
    words(&spaced)
}

/// All words joined, so that `Split In Batches` and `splitInBatches` are equal.
pub(super) fn compact(text: &str) -> String {
    words(text).concat()
}

/// A word without a plural or gerund ending. A real stemmer would merge too many words.
pub(super) fn stem(word: &str) -> String {
    let cut = |ending: &str, longer_than: usize| word.strip_suffix(ending).filter(|_| word.len() > longer_than);
    let ends_with = |endings: &[&str]| endings.iter().any(|ending| word.ends_with(ending));
    if let Some(start) = cut("ies", 4) {
        return format!("{start}y");
    }
    let verb = cut("ing", 6);
    let sibilant = || cut("es", 4).filter(|_| ends_with(&["ches", "shes", "sses", "xes"]));
    let plural = || cut("s", 3).filter(|_| !ends_with(&["ss", "us", "is"]));
    verb.or_else(sibilant).or_else(plural).unwrap_or(word).to_owned()
}

/// Whether the word does not help to find a node.
pub(super) fn is_filler(word: &str) -> bool {
    FILLER.contains(&word)
}

/// Whether the word fits many nodes.
pub(super) fn is_common(word: &str) -> bool {
    COMMON.contains(&word)
}

/// Whether the word asks for a node that starts a workflow.
pub(super) fn wants_trigger(word: &str) -> bool {
    TRIGGER_WORDS.contains(&word)
}

/// Other meanings of the word; empty if it has none.
pub(super) fn synonyms(word: &str) -> &'static [&'static str] {
    let place = SYNONYMS.binary_search_by_key(&word, |(known, _)| known).ok();
    place.and_then(|place| SYNONYMS.get(place)).map_or(&[], |(_, meant)| meant)
}

/// The words that have synonyms.
pub(super) fn with_synonyms() -> impl Iterator<Item = &'static str> {
    SYNONYMS.iter().map(|(word, _)| *word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_split_into_plain_words() {
        assert_eq!(words("Send-a Größe, élan 42!"), ["send", "a", "groesse", "elan", "42"]);
        assert!(words("送信 …").is_empty());
        assert_eq!(camel_words("awsS3"), ["aws", "s3"]);
        assert_eq!(camel_words("HTTPRequest"), ["http", "request"]);
        assert_eq!(compact("Split In Batches"), compact("splitInBatches").as_str());
    }

    #[test]
    fn plural_and_gerund_endings_are_removed() {
        for (word, expected) in [
            ("batches", "batch"),
            ("boxes", "box"),
            ("axes", "axe"),
            ("queries", "query"),
            ("sheets", "sheet"),
            ("branching", "branch"),
            ("status", "status"),
            ("class", "class"),
            ("ring", "ring"),
            ("gas", "gas"),
            ("", ""),
        ] {
            assert_eq!(stem(word), expected);
        }
    }

    #[test]
    fn the_synonyms_are_sorted_and_plain() {
        assert!(SYNONYMS.is_sorted_by(|a, b| a.0 < b.0));
        for (word, meant) in SYNONYMS {
            assert_eq!(words(word), [word]);
            assert!(!meant.is_empty() && !meant.contains(&word), "{word}");
        }
        assert_eq!(synonyms("cron"), ["scheduletrigger"]);
        assert!(synonyms("unheard").is_empty());
    }
}
