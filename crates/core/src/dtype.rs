//! Number formats of stored tensors and caches: how many bytes does a row take?
//!
//! Every format is a block: `block_elements` values in `block_bytes` bytes. Block sizes of the ggml
//! types are facts of ggml 0.25 (ggml-org/llama.cpp v0.5.0, `ggml/src/ggml-common.h`).

use core::fmt;
use core::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::Bytes;

macro_rules! formats {
    ($($(#[$doc:meta])* $variant:ident, $name:literal, $ggml:expr, $elements:literal, $bytes:literal;)*) => {
        /// Which number format is a tensor or a cache stored in?
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
        )]
        pub enum Format {
            $($(#[$doc])* #[serde(rename = $name)] $variant,)*
        }

        impl Format {
            /// Every format there is, in ggml's order, then the formats that ggml lacks.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The name as llama.cpp and the hub write it, such as `Q4_K`.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The type number in a GGUF tensor table; `None` for formats that GGUF cannot hold.
            pub const fn ggml_id(self) -> Option<u32> {
                match self { $(Self::$variant => $ggml,)* }
            }

            /// Values in one block.
            pub const fn block_elements(self) -> u64 {
                match self { $(Self::$variant => $elements,)* }
            }

            /// Bytes of one block, scales included.
            pub const fn block_bytes(self) -> u64 {
                match self { $(Self::$variant => $bytes,)* }
            }
        }
    };
}

formats! {
    /// 32-bit float.
    F32, "F32", Some(0), 1, 4;
    /// 16-bit float.
    F16, "F16", Some(1), 1, 2;
    /// 4-bit legacy, scale.
    Q4_0, "Q4_0", Some(2), 32, 18;
    /// 4-bit legacy, scale and minimum.
    Q4_1, "Q4_1", Some(3), 32, 20;
    /// 5-bit legacy, scale.
    Q5_0, "Q5_0", Some(6), 32, 22;
    /// 5-bit legacy, scale and minimum.
    Q5_1, "Q5_1", Some(7), 32, 24;
    /// 8-bit legacy, scale.
    Q8_0, "Q8_0", Some(8), 32, 34;
    /// 8-bit intermediate of activations.
    Q8_1, "Q8_1", Some(9), 32, 36;
    /// 2-bit K-quant.
    Q2K, "Q2_K", Some(10), 256, 84;
    /// 3-bit K-quant.
    Q3K, "Q3_K", Some(11), 256, 110;
    /// 4-bit K-quant.
    Q4K, "Q4_K", Some(12), 256, 144;
    /// 5-bit K-quant.
    Q5K, "Q5_K", Some(13), 256, 176;
    /// 6-bit K-quant.
    Q6K, "Q6_K", Some(14), 256, 210;
    /// 8-bit K intermediate of activations.
    Q8K, "Q8_K", Some(15), 256, 292;
    /// 2.06-bit codebook.
    Iq2Xxs, "IQ2_XXS", Some(16), 256, 66;
    /// 2.31-bit codebook.
    Iq2Xs, "IQ2_XS", Some(17), 256, 74;
    /// 3.06-bit codebook.
    Iq3Xxs, "IQ3_XXS", Some(18), 256, 98;
    /// 1.56-bit codebook.
    Iq1S, "IQ1_S", Some(19), 256, 50;
    /// 4.5-bit non-linear, blocks of 32.
    Iq4Nl, "IQ4_NL", Some(20), 32, 18;
    /// 3.44-bit codebook.
    Iq3S, "IQ3_S", Some(21), 256, 110;
    /// 2.56-bit codebook.
    Iq2S, "IQ2_S", Some(22), 256, 82;
    /// 4.25-bit non-linear.
    Iq4Xs, "IQ4_XS", Some(23), 256, 136;
    /// 8-bit integer.
    I8, "I8", Some(24), 1, 1;
    /// 16-bit integer.
    I16, "I16", Some(25), 1, 2;
    /// 32-bit integer.
    I32, "I32", Some(26), 1, 4;
    /// 64-bit integer.
    I64, "I64", Some(27), 1, 8;
    /// 64-bit float.
    F64, "F64", Some(28), 1, 8;
    /// 1.75-bit codebook.
    Iq1M, "IQ1_M", Some(29), 256, 56;
    /// Brain float, 16 bits.
    Bf16, "BF16", Some(30), 1, 2;
    /// Ternary, 1.69 bits.
    Tq1_0, "TQ1_0", Some(34), 256, 54;
    /// Ternary, 2.06 bits.
    Tq2_0, "TQ2_0", Some(35), 256, 66;
    /// 4-bit float of the OCP microscaling standard, 8-bit exponent for 32 values.
    Mxfp4, "MXFP4", Some(39), 32, 17;
    /// NVIDIA's 4-bit float in ggml's layout: one E4M3 scale for 16 values.
    Nvfp4, "NVFP4", Some(40), 64, 36;
    /// 1-bit, scale for 128 values.
    Q1_0, "Q1_0", Some(41), 128, 18;
    /// 2-bit, scale for 64 values.
    Q2_0, "Q2_0", Some(42), 64, 18;
    /// 8-bit float, 4 exponent bits (safetensors).
    Fp8E4M3, "F8_E4M3", None, 1, 1;
    /// 8-bit float, 5 exponent bits (safetensors).
    Fp8E5M2, "F8_E5M2", None, 1, 1;
    /// 8-bit power of two, a block scale (safetensors).
    Fp8E8M0, "F8_E8M0", None, 1, 1;
    /// 4-bit float, two to the byte (safetensors).
    Fp4, "F4", None, 2, 1;
    /// Unsigned 8-bit integer: packed weights and tables (safetensors).
    U8, "U8", None, 1, 1;
    /// Unsigned 16-bit integer (safetensors).
    U16, "U16", None, 1, 2;
    /// Unsigned 32-bit integer: packed weights of GPTQ, AWQ and MLX (safetensors).
    U32, "U32", None, 1, 4;
    /// Unsigned 64-bit integer (safetensors).
    U64, "U64", None, 1, 8;
    /// Truth value (safetensors).
    Bool, "BOOL", None, 1, 1;
}

impl Format {
    /// The format with this number in a GGUF tensor table.
    pub fn from_ggml_id(id: u32) -> Option<Self> {
        Self::ALL.iter().copied().find(|f| f.ggml_id() == Some(id))
    }

    /// Bytes of a row of `elements` values, by whole blocks; `None` when the row does not divide
    /// into blocks.
    pub const fn row_bytes(self, elements: u64) -> Option<Bytes> {
        if !elements.is_multiple_of(self.block_elements()) {
            return None;
        }
        Some(Bytes((elements / self.block_elements()).saturating_mul(self.block_bytes())))
    }

    /// Whether values share scales in blocks: the engines treat those formats apart.
    pub const fn is_quantised(self) -> bool {
        self.block_elements() > 1 && !matches!(self, Self::Fp4)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// No format has this name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a number format")]
pub struct UnknownFormat;

impl FromStr for Format {
    type Err = UnknownFormat;

    /// Reads a name without regard to case: `q8_0`, `BF16`.
    fn from_str(text: &str) -> Result<Self, UnknownFormat> {
        Self::ALL.iter().copied().find(|f| f.name().eq_ignore_ascii_case(text)).ok_or(UnknownFormat)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_rows_have_their_known_bytes() {
        assert_eq!(Format::Q4K.row_bytes(4096), Some(Bytes(2304)));
        assert_eq!(Format::Q8_0.row_bytes(1024), Some(Bytes(1088)));
        assert_eq!(Format::Mxfp4.row_bytes(2880), Some(Bytes(1530)));
        assert_eq!(Format::Nvfp4.row_bytes(64), Some(Bytes(36)));
        assert_eq!(Format::F16.row_bytes(3), Some(Bytes(6)));
    }

    #[test]
    fn a_row_that_is_not_whole_blocks_has_no_size() {
        assert_eq!(Format::Q4K.row_bytes(4000), None);
        assert_eq!(Format::Fp4.row_bytes(3), None);
    }

    #[test]
    fn names_and_numbers_are_unique_and_read_back() {
        for format in Format::ALL.iter().copied() {
            assert_eq!(format.name().parse(), Ok(format));
            assert_eq!(format.name().to_ascii_lowercase().parse(), Ok(format));
            if let Some(id) = format.ggml_id() {
                assert_eq!(Format::from_ggml_id(id), Some(format));
            }
        }
        assert_eq!(Format::from_ggml_id(4), None);
        assert_eq!("q9_9".parse::<Format>(), Err(UnknownFormat));
    }

    proptest::proptest! {
        #[test]
        fn bytes_are_blocks_times_block_size(blocks in 0u64..1 << 40, index in 0usize..Format::ALL.len()) {
            let format = Format::ALL[index];
            let row = format.row_bytes(blocks * format.block_elements());
            assert_eq!(row, Some(Bytes(blocks * format.block_bytes())));
        }
    }
}
