//! What do GGUF file names say of the quantisation?

/// The quantisation that the name of a GGUF file states: `Qwen3-8B-Q4_K_M-00001-of-00002.gguf` says `Q4_K_M`,
/// `UD-IQ2_XXS.gguf` says `UD-IQ2_XXS`. `None` where it states none.
///
/// The last word that looks like one counts: sizes and names of models stand before it.
pub fn tag_of_file(name: &str) -> Option<&str> {
    let file = name.rsplit('/').next().unwrap_or(name);
    let stem = file.strip_suffix(".gguf").unwrap_or(file);
    let words = stem.char_indices().filter(|(_, c)| matches!(c, '-' | '.')).map(|(at, _)| at + 1);
    let starts = core::iter::once(0).chain(words);
    let word = |start: usize| {
        let rest = stem.get(start..)?;
        let end = rest.find(['-', '.']).unwrap_or(rest.len());
        rest.get(..end).filter(|word| is_encoding(word)).map(|word| (start, word.len()))
    };
    let (start, length) = starts.filter_map(word).next_back()?;
    let own =
        |mark: &str| stem.get(..start).is_some_and(|before| before.ends_with(mark)).then_some(mark.len());
    let mark = own("UD-").unwrap_or(0);
    stem.get(start - mark..start + length)
}

/// Whether a word is the name of a number format or a mix of them.
fn is_encoding(word: &str) -> bool {
    let upper = word.to_ascii_uppercase();
    let digit_after = |mark: &str| {
        upper.strip_prefix(mark).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    matches!(upper.as_str(), "F16" | "F32" | "BF16" | "FP16" | "FP32")
        || ["Q", "IQ", "TQ", "MXFP", "NVFP"].iter().any(|mark| digit_after(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_that_is_a_format_counts() {
        assert_eq!(tag_of_file("Qwen3-8B-Q4_K_M.gguf"), Some("Q4_K_M"));
        assert_eq!(tag_of_file("BF16/m-BF16-00001-of-00002.gguf"), Some("BF16"));
        assert_eq!(tag_of_file("Qwen3.6-27B-UD-IQ2_XXS.gguf"), Some("UD-IQ2_XXS"));
        assert_eq!(tag_of_file("model.i1-IQ3_M.gguf"), Some("IQ3_M"));
        assert_eq!(tag_of_file("codellama-7b.q4_0.gguf"), Some("q4_0"));
        assert_eq!(tag_of_file("gpt-oss-20b-MXFP4.gguf"), Some("MXFP4"));
        assert_eq!(tag_of_file("model.gguf"), None);
        assert_eq!(tag_of_file("Qwen3-8B.gguf"), None);
        assert_eq!(tag_of_file(""), None);
    }
}
