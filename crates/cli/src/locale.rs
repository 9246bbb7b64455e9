//! Words for people, from Fluent files; numbers come here already formatted.

use fluent_bundle::{FluentArgs, FluentBundle, FluentResource, FluentValue};
use unic_langid::LanguageIdentifier;

const ENGLISH: &str = include_str!("../locales/en.ftl");

/// A message by its key, with its arguments.
#[derive(Debug)]
pub(crate) struct Message<'a> {
    key: &'a str,
    args: Vec<(&'a str, FluentValue<'static>)>,
}

impl<'a> Message<'a> {
    /// The message under `key`, without arguments.
    pub(crate) fn new(key: &'a str) -> Self {
        Self { key, args: Vec::new() }
    }

    /// Adds an argument.
    pub(crate) fn with(mut self, name: &'a str, value: impl ToString) -> Self {
        self.args.push((name, FluentValue::from(value.to_string())));
        self
    }

    /// Adds a number that decides between singular and plural.
    pub(crate) fn count(mut self, name: &'a str, value: u64) -> Self {
        self.args.push((name, FluentValue::from(value)));
        self
    }
}

/// The words of one language.
pub(crate) struct Locale {
    bundle: FluentBundle<FluentResource>,
}

impl Locale {
    /// English.
    pub(crate) fn english() -> Self {
        let mut bundle =
            FluentBundle::new(vec!["en".parse().unwrap_or_else(|_| LanguageIdentifier::default())]);
        // Marks around arguments would end up in copied commands and in columns.
        bundle.set_use_isolating(false);
        let resource = FluentResource::try_new(ENGLISH.to_owned()).unwrap_or_else(|(resource, _)| resource);
        bundle.add_resource_overriding(resource);
        Self { bundle }
    }

    /// The words of a message. A key that is missing shows as itself: a test holds that none is.
    pub(crate) fn text(&self, message: &Message<'_>) -> String {
        let pattern = self.bundle.get_message(message.key).and_then(|m| m.value());
        let Some(pattern) = pattern else { return message.key.to_owned() };
        let mut args = FluentArgs::new();
        for (name, value) in &message.args {
            args.set(*name, value.clone());
        }
        self.bundle.format_pattern(pattern, Some(&args), &mut Vec::new()).into_owned()
    }

    /// The words under a key without arguments.
    pub(crate) fn word(&self, key: &str) -> String {
        self.text(&Message::new(key))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    #[test]
    fn the_file_parses_and_arguments_are_put_in_plain() {
        assert!(FluentResource::try_new(ENGLISH.to_owned()).is_ok());
        let locale = Locale::english();
        let text = locale.text(&Message::new("error-unknown-hardware").with("name", "rtx-509"));
        assert_eq!(text, "no hardware is called \"rtx-509\"");
        assert_eq!(locale.word("no-such-key"), "no-such-key");
    }

    /// Every key that the sources use is in the file, and every key of the file is used. What looks
    /// like a key is one: a word that some key starts with, and more behind a dash.
    #[test]
    fn keys_are_complete() {
        let keys: BTreeSet<&str> = ENGLISH
            .lines()
            .filter(|l| l.starts_with(|c: char| c.is_ascii_lowercase()))
            .filter_map(|l| l.split_once(" =").map(|(key, _)| key))
            .collect();
        let stems: BTreeSet<&str> =
            keys.iter().filter_map(|key| key.split_once('-')).map(|(s, _)| s).collect();
        let is_key = |text: &str| {
            let plain = text.chars().all(|c| c.is_ascii_lowercase() || c == '-');
            plain && text.split_once('-').is_some_and(|(stem, rest)| !rest.is_empty() && stems.contains(stem))
        };
        let sources = sources(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src")));
        let quoted = sources.iter().flat_map(|source| source.split('"').skip(1).step_by(2));
        let used: BTreeSet<&str> = quoted.filter(|text| is_key(text)).collect();
        let unused: Vec<_> = keys.iter().filter(|key| is_key(key) && !used.contains(*key)).collect();
        assert!(unused.is_empty(), "unused keys: {unused:?}");
        let missing: Vec<_> = used.difference(&keys).collect();
        assert!(missing.is_empty(), "missing keys: {missing:?}");
    }

    fn sources(dir: &Path) -> Vec<String> {
        let mut list = Vec::new();
        for entry in std::fs::read_dir(dir).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                list.extend(sources(&path));
            } else if path.extension().is_some_and(|e| e == "rs") {
                list.push(std::fs::read_to_string(path).unwrap());
            }
        }
        list
    }
}
