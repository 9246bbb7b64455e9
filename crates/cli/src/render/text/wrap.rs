//! Commands and lists that do not fit a line.

/// Joins words, continued on new lines with a backslash where a line would get too long; continuation
/// lines are indented by `indent`. No word is split.
pub(super) fn command(words: &[String], width: usize, indent: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for group in groups(words) {
        let margin = if lines.is_empty() { 0 } else { indent };
        let needed = line.len() + 1 + group.len() + margin + 2;
        if !line.is_empty() && needed > width {
            lines.push(format!("{}{line} \\", " ".repeat(margin)));
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&group);
    }
    let margin = if lines.is_empty() { 0 } else { indent };
    lines.push(format!("{}{line}", " ".repeat(margin)));
    lines
}

/// A flag and its value stay on one line.
fn groups(words: &[String]) -> Vec<String> {
    let mut groups: Vec<String> = Vec::new();
    for word in words {
        let is_value = !word.starts_with('-') || word[1..].starts_with(|c: char| c.is_ascii_digit());
        match groups.last_mut() {
            Some(last) if is_value && last.starts_with('-') && !last.contains(' ') => {
                last.push(' ');
                last.push_str(&quoted(word));
            }
            _ => groups.push(quoted(word)),
        }
    }
    groups
}

/// Quotes a word for a POSIX shell where it needs it.
pub(super) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Packs phrases into lines, three spaces apart. A phrase is split only where it has no line to itself.
pub(super) fn phrases(phrases: &[String], width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for phrase in phrases {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 3 + phrase.chars().count() <= width => {
                line.push_str("   ");
                line.push_str(phrase);
            }
            _ => lines.extend(words(phrase, width)),
        }
    }
    lines
}

/// Breaks a text between words.
pub(super) fn words(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Cuts a long text in the middle.
pub(crate) fn middle(text: &str, width: usize) -> String {
    let chars: Vec<char> = text.chars().collect();
    if chars.len() <= width || width < 5 {
        return text.to_owned();
    }
    let head = (width - 3).div_ceil(2);
    let tail = width - 3 - head;
    let start: String = chars[..head].iter().collect();
    let end: String = chars[chars.len() - tail..].iter().collect();
    format!("{start}...{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn commands_wrap_between_flags() {
        let lines = command(&words("llama-server -hf a/b:Q4_K_M -ngl 99 -c 32768"), 36, 2);
        assert_eq!(lines, ["llama-server -hf a/b:Q4_K_M \\", "  -ngl 99 -c 32768"]);
    }

    #[test]
    fn words_are_quoted_where_a_shell_would_split_them() {
        assert_eq!(quoted("model.gguf"), "model.gguf");
        assert_eq!(quoted("my model.gguf"), "'my model.gguf'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted("$(rm)"), "'$(rm)'");
    }

    #[test]
    fn long_names_are_cut_in_the_middle() {
        assert_eq!(middle("abcdefghij", 7), "ab...ij");
        assert_eq!(middle("short", 7), "short");
    }
}
