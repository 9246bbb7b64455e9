//! Tokens such as `32k`, memory such as `1.5G`.
//!
//! Memory is sold in powers of two: `G`, `GB` and `GiB` all mean 2^30. `k` is 1,024 tokens, which is
//! how context lengths are named.

use vramplan_core::units::{Bytes, Tokens};

const NOT_TOKENS: &str = "give a number of tokens, such as 8192 or 32k";
/// Digits kept behind a decimal point.
const FRACTION_DIGITS: usize = 6;

/// Reads a number of tokens.
///
/// # Errors
/// What is wrong with the text, for clap to show.
pub(crate) fn tokens(text: &str) -> Result<Tokens, String> {
    let (number, unit) = split(text);
    if number.is_empty() {
        return Err(NOT_TOKENS.into());
    }
    let factor = match unit.to_ascii_lowercase().as_str() {
        "" => 1,
        "k" => 1 << 10,
        "m" => 1 << 20,
        _ => return Err(format!("{unit:?} is no unit of tokens: give a number, or 32k, or 1M")),
    };
    let tokens = scaled(number, factor).ok_or(NOT_TOKENS)?;
    if tokens == 0 {
        return Err("a context needs at least 1 token".into());
    }
    Ok(Tokens(tokens))
}

/// Reads an amount of memory.
///
/// # Errors
/// What is wrong with the text, for clap to show.
pub(crate) fn bytes(text: &str) -> Result<Bytes, String> {
    let (number, unit) = split(text);
    let shift = match unit.to_ascii_lowercase().as_str() {
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        "b" => 0,
        "" => return Err("give a unit, such as 1G or 512M".into()),
        _ => return Err(format!("{unit:?} is no unit of memory: give 1G or 512M")),
    };
    scaled(number, 1 << shift)
        .map(Bytes)
        .ok_or_else(|| "give an amount of memory, such as 1.5G or 512M".into())
}

/// Reads a count of at least one.
///
/// # Errors
/// What is wrong with the text, for clap to show.
pub(crate) fn count(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(0) => Err("at least 1 is needed".into()),
        Ok(n) if n > 1 << 20 => Err("that is more than anything can serve".into()),
        Ok(n) => Ok(n),
        Err(_) => Err("give a whole number of at least 1".into()),
    }
}

fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ',').unwrap_or(text.len());
    (&text[..end], text[end..].trim())
}

/// `number * factor` in whole numbers, rounded down; `None` for what is no number, or too large to be
/// meant.
fn scaled(number: &str, factor: u64) -> Option<u64> {
    let number = number.replace(',', "");
    let (whole, fraction) = number.split_once('.').unwrap_or((&number, ""));
    if whole.is_empty() || fraction.len() > FRACTION_DIGITS {
        return None;
    }
    let mut value = whole.parse::<u64>().ok()?.checked_mul(factor)?;
    if !fraction.is_empty() {
        let scale = 10_u64.pow(u32::try_from(fraction.len()).ok()?);
        value = value.checked_add(fraction.parse::<u64>().ok()?.checked_mul(factor)? / scale)?;
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_read_as_people_write_them() {
        assert_eq!(tokens("32k"), Ok(Tokens(32_768)));
        assert_eq!(tokens("8192"), Ok(Tokens(8192)));
        assert_eq!(tokens("32,768"), Ok(Tokens(32_768)));
        assert_eq!(tokens("1M"), Ok(Tokens(1 << 20)));
        assert_eq!(tokens("1.5k"), Ok(Tokens(1536)));
        for bad in ["0", "-5", "banana", "", "k", "1.2.3", "99999999999999999999", "5q", "1e18", "NaN"] {
            assert!(tokens(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn memory_is_in_powers_of_two() {
        assert_eq!(bytes("1G"), Ok(Bytes(1 << 30)));
        assert_eq!(bytes("1GB"), Ok(Bytes(1 << 30)));
        assert_eq!(bytes("0.5 GiB"), Ok(Bytes(1 << 29)));
        assert_eq!(bytes("512M"), Ok(Bytes(512 << 20)));
        for bad in ["12", "-1G", "G", "1X", "99999999999T", "1,G,"] {
            assert!(bytes(bad).is_err(), "{bad}");
        }
    }
}
