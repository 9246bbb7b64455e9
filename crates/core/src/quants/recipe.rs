//! The named mixes of llama.cpp's quantiser.

use core::fmt;
use core::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::dtype::Format;

macro_rules! recipes {
    ($($(#[$doc:meta])* $variant:ident, $name:literal, $file_type:literal, $format:ident;)*) => {
        /// Which named mix was a file made with, or shall it be made with?
        ///
        /// Names and numbers: ggml-org/llama.cpp v0.5.0 `include/llama.h:llama_ftype` and
        /// `tools/quantize/quantize.cpp:QUANT_OPTIONS`; the format most matrices get:
        /// `src/llama-quant.cpp:llama_ftype_get_default_type`.
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
        )]
        pub enum Recipe {
            $($(#[$doc])* #[serde(rename = $name)] $variant,)*
        }

        impl Recipe {
            /// Every recipe there is, in the order of their file numbers.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// What do llama.cpp and the hub call it? Such as `Q4_K_M`.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Which number stands for it in a GGUF file (`general.file_type`)?
            pub const fn file_type(self) -> u32 {
                match self { $(Self::$variant => $file_type,)* }
            }

            /// Which format do matrices get that no rule of the mix names?
            pub const fn main_format(self) -> Format {
                match self { $(Self::$variant => Format::$format,)* }
            }
        }
    };
}

recipes! {
    /// Everything in 32 bits.
    F32, "F32", 0, F32;
    /// Matrices in 16 bits.
    F16, "F16", 1, F16;
    /// 4-bit legacy.
    Q4_0, "Q4_0", 2, Q4_0;
    /// 4-bit legacy with minima.
    Q4_1, "Q4_1", 3, Q4_1;
    /// 8-bit.
    Q8_0, "Q8_0", 7, Q8_0;
    /// 5-bit legacy.
    Q5_0, "Q5_0", 8, Q5_0;
    /// 5-bit legacy with minima.
    Q5_1, "Q5_1", 9, Q5_1;
    /// 2-bit K-quant with 3- and 4-bit parts.
    Q2K, "Q2_K", 10, Q2K;
    /// 3-bit K-quant, small.
    Q3KS, "Q3_K_S", 11, Q3K;
    /// 3-bit K-quant, medium.
    Q3KM, "Q3_K_M", 12, Q3K;
    /// 3-bit K-quant, large.
    Q3KL, "Q3_K_L", 13, Q3K;
    /// 4-bit K-quant, small.
    Q4KS, "Q4_K_S", 14, Q4K;
    /// 4-bit K-quant, medium.
    Q4KM, "Q4_K_M", 15, Q4K;
    /// 5-bit K-quant, small.
    Q5KS, "Q5_K_S", 16, Q5K;
    /// 5-bit K-quant, medium.
    Q5KM, "Q5_K_M", 17, Q5K;
    /// 6-bit K-quant.
    Q6K, "Q6_K", 18, Q6K;
    /// 2.06-bit codebook.
    Iq2Xxs, "IQ2_XXS", 19, Iq2Xxs;
    /// 2.31-bit codebook.
    Iq2Xs, "IQ2_XS", 20, Iq2Xs;
    /// 2-bit K-quant, small.
    Q2KS, "Q2_K_S", 21, Q2K;
    /// 3.3-bit codebooks.
    Iq3Xs, "IQ3_XS", 22, Iq3S;
    /// 3.06-bit codebook.
    Iq3Xxs, "IQ3_XXS", 23, Iq3Xxs;
    /// 1.56-bit codebook.
    Iq1S, "IQ1_S", 24, Iq1S;
    /// 4.5-bit non-linear.
    Iq4Nl, "IQ4_NL", 25, Iq4Nl;
    /// 3.44-bit codebook.
    Iq3S, "IQ3_S", 26, Iq3S;
    /// 3.66-bit codebook mix.
    Iq3M, "IQ3_M", 27, Iq3S;
    /// 2.5-bit codebooks.
    Iq2S, "IQ2_S", 28, Iq2Xs;
    /// 2.7-bit codebooks.
    Iq2M, "IQ2_M", 29, Iq2S;
    /// 4.25-bit non-linear.
    Iq4Xs, "IQ4_XS", 30, Iq4Xs;
    /// 1.75-bit codebook.
    Iq1M, "IQ1_M", 31, Iq1M;
    /// Matrices in 16-bit brain floats.
    Bf16, "BF16", 32, Bf16;
    /// Ternary, 1.69 bits.
    Tq1_0, "TQ1_0", 36, Tq1_0;
    /// Ternary, 2.06 bits.
    Tq2_0, "TQ2_0", 37, Tq2_0;
    /// Experts in MXFP4, other matrices in 8 bits.
    Mxfp4Moe, "MXFP4_MOE", 38, Mxfp4;
    /// 1-bit.
    Q1_0, "Q1_0", 40, Q1_0;
    /// 2-bit, scale for 64 values.
    Q2_0, "Q2_0", 41, Q2_0;
}

/// Short names that stand for a recipe: llama-quantize's own, and how the hub shortens MXFP4_MOE.
const ALIASES: [(&str, Recipe); 4] =
    [("Q3_K", Recipe::Q3KM), ("Q4_K", Recipe::Q4KM), ("Q5_K", Recipe::Q5KM), ("MXFP4", Recipe::Mxfp4Moe)];

impl Recipe {
    /// Which recipe does this `general.file_type` stand for? `None` for numbers that no quantiser writes
    /// (removed formats, NVFP4, guesses).
    pub fn from_file_type(number: u32) -> Option<Self> {
        Self::ALL.iter().copied().find(|r| r.file_type() == number)
    }

    /// Does the quantiser refuse to make this mix without an importance matrix?
    ///
    /// Source: ggml-org/llama.cpp v0.5.0 `src/llama-quant.cpp:tensor_requires_imatrix`.
    pub const fn needs_imatrix(self) -> bool {
        self.is_tiny() || matches!(self, Self::Q2KS | Self::Iq3Xxs | Self::Iq3Xs)
    }

    /// The mixes named for their codebooks (IQ), which are published with an importance matrix.
    pub fn is_codebook(self) -> bool {
        self.name().starts_with("IQ")
    }

    /// The 1- and 2-bit codebook mixes, which have rules of their own.
    pub(super) const fn is_tiny(self) -> bool {
        self.is_below_two_and_a_half_bits() || self.is_two_and_a_half_bits()
    }

    /// The smaller half of the 1- and 2-bit codebook mixes.
    pub(super) const fn is_below_two_and_a_half_bits(self) -> bool {
        matches!(self, Self::Iq1S | Self::Iq1M | Self::Iq2Xxs | Self::Iq2Xs)
    }

    /// The larger half of the 1- and 2-bit codebook mixes.
    pub(super) const fn is_two_and_a_half_bits(self) -> bool {
        matches!(self, Self::Iq2S | Self::Iq2M)
    }
}

impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// No recipe has this name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a quantisation recipe")]
pub struct UnknownRecipe;

impl FromStr for Recipe {
    type Err = UnknownRecipe;

    /// Reads a name or an alias without regard to case: `q4_k_m`, `Q4_K`, `mxfp4`.
    fn from_str(text: &str) -> Result<Self, UnknownRecipe> {
        let named = Self::ALL.iter().map(|r| (r.name(), *r));
        named
            .chain(ALIASES)
            .find(|(name, _)| name.eq_ignore_ascii_case(text))
            .map(|(_, recipe)| recipe)
            .ok_or(UnknownRecipe)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_file_types_are_unique_and_read_back() {
        for recipe in Recipe::ALL.iter().copied() {
            assert_eq!(recipe.name().parse(), Ok(recipe));
            assert_eq!(recipe.name().to_ascii_lowercase().parse(), Ok(recipe));
            assert_eq!(Recipe::from_file_type(recipe.file_type()), Some(recipe));
        }
        assert!(Recipe::ALL.is_sorted_by_key(|r| r.file_type()));
    }

    #[test]
    fn aliases_mean_the_medium_mix() {
        assert_eq!("q4_k".parse(), Ok(Recipe::Q4KM));
        assert_eq!("mxfp4".parse(), Ok(Recipe::Mxfp4Moe));
        assert_eq!("q7_x".parse::<Recipe>(), Err(UnknownRecipe));
        assert_eq!(Recipe::from_file_type(4), None);
    }
}
