//! Generates the tables from tiktoken-rs, and checks that they are up to date. `UPDATE_GOLDEN=1` writes them.

use std::cmp::Reverse;
use std::path::Path;

use regex::Regex;

use super::super::TOKEN_BYTES;
use super::classes::{BLOCK, Class};
use super::count;
use super::vocabulary::{self, RANK_BYTES, SHORTEST};

#[test]
fn the_vocabulary_is_that_of_tiktoken() {
    let tokens = tokens();
    let table = (0..).find_map(|salt| table(&tokens, salt)).unwrap();
    assert_up_to_date("vocabulary.bin", &table);
    for (rank, token) in (0..).zip(&tokens).filter(|(_, token)| token.len() >= SHORTEST) {
        assert_eq!(vocabulary::rank(token, token.len()), Some(rank), "{token:?}");
    }
}

#[test]
fn the_classes_are_those_of_its_regular_expression() {
    let classes = [
        (Class::Newline, r"^[\r\n]$"),
        (Class::Space, r"^[^\S\r\n]$"),
        (Class::Upper, r"^[\p{Lu}\p{Lt}]$"),
        (Class::Lower, r"^\p{Ll}$"),
        (Class::Letter, r"^[\p{Lm}\p{Lo}]$"),
        (Class::Mark, r"^\p{M}$"),
        (Class::Number, r"^\p{N}$"),
        (Class::Other, r"^[^\s\p{L}\p{M}\p{N}]$"),
    ]
    .map(|(class, pattern)| (class, Regex::new(pattern).unwrap()));
    let class_of = |character: char| {
        let text = character.to_string();
        let mut matching = classes.iter().filter(|(_, pattern)| pattern.is_match(&text));
        let (class, _) = matching.next().unwrap();
        assert!(matching.next().is_none(), "{character:?} is in two classes");
        *class
    };
    // No text contains surrogates.
    let codes: Vec<u8> =
        (0..=0x10_FFFF).map(|code| char::from_u32(code).map_or(Class::Other, class_of) as u8).collect();
    let mut blocks: Vec<&[u8]> = Vec::new();
    let mut table = Vec::new();
    for block in codes.chunks(BLOCK) {
        let known = blocks.iter().position(|known| *known == block).unwrap_or_else(|| {
            blocks.push(block);
            blocks.len() - 1
        });
        table.push(u8::try_from(known).unwrap());
    }
    table.extend(blocks.concat());
    assert_up_to_date("classes.bin", &table);
    for character in '\0'..=char::MAX {
        assert_eq!(Class::of(character), class_of(character), "{character:?}");
    }
}

#[test]
fn every_short_text_is_counted_like_tiktoken_does() {
    const CHARACTERS: [&str; 18] =
        ["A", "ǅ", "a", "s", "ſ", "ʰ", "あ", "\u{301}", "1", "½", " ", "\u{A0}", "\t", "\n", "\r", "/", ".", "'"];
    let mut texts = vec![String::new()];
    for _ in 0..3 {
        let longer = texts.iter().flat_map(|text| CHARACTERS.map(|character| format!("{text}{character}")));
        texts = longer.chain([String::new()]).collect();
        for text in &texts {
            assert_eq!(count(text), tiktoken_rs::o200k_base_singleton().count_ordinary(text), "{text:?}");
        }
    }
}

/// Compares a table with its file, or writes it.
fn assert_up_to_date(name: &str, table: &[u8]) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/budget/tokens").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&file, table).unwrap();
    }
    let is_equal = std::fs::read(file).unwrap() == table;
    assert!(is_equal, "{name} is out of date; run the tests with UPDATE_GOLDEN=1, then again without");
}

/// The tokens by rank.
fn tokens() -> Vec<Vec<u8>> {
    let tokenizer = tiktoken_rs::o200k_base_singleton();
    // The first missing rank separates them from the special tokens.
    (0..).map_while(|rank| tokenizer.decode_bytes(&[rank]).ok()).collect()
}

/// The table with this salt; `None` if a bucket has no seed.
fn table(tokens: &[Vec<u8>], salt: u64) -> Option<Vec<u8>> {
    let of_length = |length: usize| tokens.iter().enumerate().filter(move |(_, token)| token.len() == length);
    let mut table = salt.to_le_bytes().to_vec();
    for length in SHORTEST..=TOKEN_BYTES {
        table.extend((of_length(length).count() as u32).to_le_bytes());
    }
    for length in SHORTEST..=TOKEN_BYTES {
        let tokens: Vec<_> = of_length(length).collect();
        let hashes: Vec<u64> = tokens.iter().map(|(_, token)| vocabulary::hash(token, length, salt)).collect();
        let Hashed { seeds, keys } = perfect_hash(&hashes)?;
        table.extend(seeds.into_iter().flat_map(u16::to_le_bytes));
        for (rank, token) in keys.into_iter().map(|key| tokens[key]) {
            table.extend(&rank.to_le_bytes()[..RANK_BYTES]);
            table.extend(token);
        }
    }
    Some(table)
}

/// The seeds of all buckets, and the key at each place.
struct Hashed {
    seeds: Vec<u16>,
    keys: Vec<usize>,
}

/// Finds seeds so that each key has a place of its own: the largest buckets first, while there is most room.
fn perfect_hash(hashes: &[u64]) -> Option<Hashed> {
    let count = vocabulary::buckets(hashes.len());
    let mut buckets = vec![Vec::new(); count];
    for (key, hash) in hashes.iter().enumerate() {
        buckets[vocabulary::bucket(*hash, count)].push(key);
    }
    let mut seeds = vec![0; buckets.len()];
    let mut places = vec![None; hashes.len()];
    let mut order: Vec<_> = (0..buckets.len()).collect();
    order.sort_by_key(|bucket| Reverse(buckets[*bucket].len()));
    for bucket in order {
        let keys = &buckets[bucket];
        let places_with = |seed| keys.iter().map(move |key| vocabulary::place(hashes[*key], seed, hashes.len()));
        let are_free = |seed: &u16| {
            let mut taken = Vec::new();
            places_with(*seed).all(|place| {
                let is_free = places[place].is_none() && !taken.contains(&place);
                taken.push(place);
                is_free
            })
        };
        let seed = (0..=u16::MAX).find(are_free)?;
        let found: Vec<_> = places_with(seed).collect();
        for (key, place) in keys.iter().zip(found) {
            places[place] = Some(*key);
        }
        seeds[bucket] = seed;
    }
    Some(Hashed { seeds, keys: places.into_iter().collect::<Option<_>>()? })
}
