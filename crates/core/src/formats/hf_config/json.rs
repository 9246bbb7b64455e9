//! The JSON that config files are written in: standard, but for bare `NaN` and `Infinity`.
//!
//! Python's writer emits those three words for floats that JSON has no number for (Mamba 2's
//! `time_step_limit` is one). They are read as the texts of the same name: a field nobody needs may
//! hold them, and a field that must be a number is refused as any other text would be.

use alloc::borrow::Cow;
use alloc::string::String;

use serde_json::Value;

/// The words, longest first where one begins another.
const WORDS: [&str; 3] = ["-Infinity", "Infinity", "NaN"];

/// Parses the text of a config file.
///
/// # Errors
/// The text is no JSON, these words apart.
pub fn parse(text: &str) -> Result<Value, serde_json::Error> {
    serde_json::from_str(&quoted(text))
}

/// The text with its bare words in quotes.
fn quoted(text: &str) -> Cow<'_, str> {
    if !WORDS.iter().any(|word| text.contains(word)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let word = WORDS.iter().find(|word| rest.starts_with(**word));
        let taken = match word {
            Some(word) => {
                out.extend(["\"", word, "\""]);
                word.len()
            }
            None => {
                let token = if next == '"' { string_length(rest) } else { next.len_utf8() };
                out.push_str(&rest[..token]);
                token
            }
        };
        rest = &rest[taken..];
    }
    Cow::Owned(out)
}

/// Bytes of the string that `text` begins with, quotes included; all of it when it does not end.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bare_words_are_read_as_texts() {
        let value = parse(r#"{"a": [0.0, Infinity, -Infinity], "b": NaN, "c": "say \"NaN\" é", "n": 3}"#);
        let value = value.unwrap();
        assert_eq!(value["a"][1], "Infinity");
        assert_eq!(value["a"][2], "-Infinity");
        assert_eq!(value["b"], "NaN");
        assert_eq!(value["c"], "say \"NaN\" é");
        assert_eq!(value["n"], 3);
    }

    #[test]
    fn what_is_no_json_stays_an_error() {
        for text in ["", "{", "{\"a\": NaN", "\"NaN", "\"Infinity\\", "[1,]", "NaNN"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
