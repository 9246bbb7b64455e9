//! Quantities as people type them: tokens such as `32k`, memory such as `1.5G`.
//!
//! Memory is sold in powers of two: `G`, `GB` and `GiB` all mean 2^30. `k` is 1,024 tokens, which is
//! how context lengths are named.

use alloc::string::String;

use crate::units::{Bytes, Tokens};

/// Digits kept behind a decimal point.
const FRACTION_DIGITS: usize = 6;

/// Why is a text no quantity?
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuantityError {
    /// It does not start with a number.
    #[error("no number")]
    NoNumber,
    /// The number is larger than could be meant, or has more decimals.
    #[error("a number that cannot be meant")]
    BadNumber,
    /// Nothing at all is too little.
    #[error("nothing")]
    Zero,
    /// The number has no unit and needs one.
    #[error("no unit")]
    NoUnit,
    /// The unit is none of these.
    #[error("{unit:?} is no unit here")]
    UnknownUnit {
        /// The unit.
        unit: String,
    },
}

/// Reads a number of tokens, at least one: `8192`, `32k`, `1M`.
///
/// # Errors
/// What is wrong with the text.
pub fn tokens(text: &str) -> Result<Tokens, QuantityError> {
    let (number, unit) = split(text)?;
    let factor = match unit.to_ascii_lowercase().as_str() {
        "" => 1,
        "k" => 1 << 10,
        "m" => 1 << 20,
        _ => return Err(QuantityError::UnknownUnit { unit: unit.into() }),
    };
    match scaled(number, factor)? {
        0 => Err(QuantityError::Zero),
        tokens => Ok(Tokens(tokens)),
    }
}

/// Reads an amount of memory: `1G`, `1.5GiB`, `512M`.
///
/// # Errors
/// What is wrong with the text.
pub fn bytes(text: &str) -> Result<Bytes, QuantityError> {
    let (number, unit) = split(text)?;
    let shift = match unit.to_ascii_lowercase().as_str() {
        "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        "" => return Err(QuantityError::NoUnit),
        _ => return Err(QuantityError::UnknownUnit { unit: unit.into() }),
    };
    scaled(number, 1 << shift).map(Bytes)
}

/// A number and what follows it.
fn split(text: &str) -> Result<(&str, &str), QuantityError> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ',').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    if number.is_empty() { Err(QuantityError::NoNumber) } else { Ok((number, unit.trim())) }
}

/// `number * factor` in whole numbers, rounded down.
fn scaled(number: &str, factor: u64) -> Result<u64, QuantityError> {
    decimal(&number.replace(',', ""), factor).ok_or(QuantityError::BadNumber)
}

fn decimal(number: &str, factor: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let value = whole.parse::<u64>().ok()?.checked_mul(factor)?;
    if fraction.is_empty() {
        return Some(value);
    }
    if fraction.len() > FRACTION_DIGITS {
        return None;
    }
    let scale = 10_u64.pow(u32::try_from(fraction.len()).ok()?);
    value.checked_add(fraction.parse::<u64>().ok()?.checked_mul(factor)? / scale)
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
        assert_eq!(tokens("0"), Err(QuantityError::Zero));
        assert_eq!(tokens("banana"), Err(QuantityError::NoNumber));
        assert_eq!(tokens("5q"), Err(QuantityError::UnknownUnit { unit: "q".into() }));
        for bad in ["-5", "", "k", "1.2.3", "99999999999999999999", "1e18", "NaN", ".", ","] {
            assert!(tokens(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn memory_is_in_powers_of_two() {
        assert_eq!(bytes("1G"), Ok(Bytes(1 << 30)));
        assert_eq!(bytes("1GB"), Ok(Bytes(1 << 30)));
        assert_eq!(bytes("0.5 GiB"), Ok(Bytes(1 << 29)));
        assert_eq!(bytes("512M"), Ok(Bytes(512 << 20)));
        assert_eq!(bytes("12"), Err(QuantityError::NoUnit));
        for bad in ["-1G", "G", "1X", "99999999999T", "1.1234567G"] {
            assert!(bytes(bad).is_err(), "{bad}");
        }
    }
}
