//! Quantities for clap: what is wrong, and what to give instead.

use vramplan_core::quantity::{self, QuantityError};
use vramplan_core::quants::Recipe;
use vramplan_core::units::{Bytes, Tokens};

use crate::explain_problem::nearest_recipes;

/// Most sequences or tokens of a batch that a plan takes.
const MOST: u64 = 1 << 20;

/// Reads a number of tokens.
pub(crate) fn tokens(text: &str) -> Result<Tokens, String> {
    quantity::tokens(text).map_err(|error| match error {
        QuantityError::Zero => "a context needs at least 1 token".into(),
        QuantityError::UnknownUnit { unit } => {
            format!("{unit:?} is no unit of tokens: give a number, or 32k, or 1M")
        }
        _ => "give a number of tokens, such as 8192 or 32k".into(),
    })
}

/// Reads an amount of memory.
pub(crate) fn bytes(text: &str) -> Result<Bytes, String> {
    quantity::bytes(text).map_err(|error| match error {
        QuantityError::NoUnit => "give a unit, such as 1G or 512M".into(),
        QuantityError::UnknownUnit { unit } => format!("{unit:?} is no unit of memory: give 1G or 512M"),
        _ => "give an amount of memory, such as 1.5G or 512M".into(),
    })
}

/// Reads the name of a quantisation.
pub(crate) fn recipe(text: &str) -> Result<Recipe, String> {
    text.parse().map_err(|_| {
        if text.to_ascii_uppercase().starts_with("UD-") {
            return format!("no rule makes an uploader's own mix: give its repository as MAKER/NAME:{text}");
        }
        match nearest_recipes(text).join(", ") {
            near if near.is_empty() => "no such quantisation: Q4_K_M, Q8_0, IQ4_XS, F16 are some".into(),
            near => format!("no such quantisation, nearest: {near}"),
        }
    })
}

/// Reads a count of at least one.
pub(crate) fn count(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(0) => Err("at least 1 is needed".into()),
        Ok(n) if n > MOST => Err("that is more than anything can serve".into()),
        Ok(n) => Ok(n),
        Err(_) => Err("give a whole number of at least 1".into()),
    }
}
