//! Which spellings of a name are the same? Shared with the build script, which makes the tables.

use alloc::string::String;

/// The name is the row's id.
pub const ID: u8 = 0;
/// The name is the product's, or the last part of a model's hub id.
pub const NAME: u8 = 1;
/// The name is another one that people type or a driver reports.
pub const ALIAS: u8 = 2;
/// The name is what is left without the words that say whose product it is.
pub const TRIMMED: u8 = 3;
/// The driver prints this name, and another row owns it: for detected cards only.
pub const DRIVER: u8 = 4;

/// Words in front of a product's name that only say whose it is, and whose.
const VENDOR_WORDS: [(&str, &str); 7] = [
    ("nvidia-", "NVIDIA"),
    ("geforce-", "NVIDIA"),
    ("amd-", "AMD"),
    ("radeon-", "AMD"),
    ("intel-", "Intel"),
    ("arc-", "Intel"),
    ("apple-", "Apple"),
];

/// Which spelling do all spellings of a name share? Case does not count; spaces, dashes,
/// underscores and colons are one dash; trade mark signs go; dots and slashes stay.
pub fn normalise(name: &str) -> String {
    let mut key = folded(name);
    // What a removed mark leaves may be a mark again.
    loop {
        let again = folded(&key);
        if again == key {
            return key;
        }
        key = again;
    }
}

fn folded(name: &str) -> String {
    let mut key = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(c) = rest.chars().next() {
        if let Some(after) = after_trade_mark(rest) {
            rest = after;
            continue;
        }
        rest = &rest[c.len_utf8()..];
        push(&mut key, c);
    }
    key.truncate(key.trim_end_matches('-').len());
    key
}

fn push(key: &mut String, c: char) {
    if !matches!(c, ' ' | '-' | '_' | ':' | '\t') {
        key.extend(c.to_lowercase());
    } else if !key.is_empty() && !key.ends_with('-') {
        key.push('-');
    }
}

fn after_trade_mark(text: &str) -> Option<&str> {
    ["(R)", "(r)", "(TM)", "(tm)", "®", "™"].iter().find_map(|mark| text.strip_prefix(mark))
}

/// What is left of a normalised product name without the words that say whose product it is, and
/// which vendor did they name? Something is always left.
pub fn trimmed(key: &str) -> (&str, Option<&'static str>) {
    let (mut core, mut vendor) = (key, None);
    while let Some((rest, named)) = without_vendor_word(core) {
        if vendor.is_some_and(|v| v != named) {
            break;
        }
        (core, vendor) = (rest, Some(named));
    }
    (core.strip_suffix("-graphics").unwrap_or(core), vendor)
}

fn without_vendor_word(key: &str) -> Option<(&str, &'static str)> {
    VENDOR_WORDS
        .iter()
        .find_map(|(word, vendor)| key.strip_prefix(word).map(|rest| (rest, *vendor)))
        .filter(|(rest, _)| !rest.is_empty())
}
