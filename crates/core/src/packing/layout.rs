//! One packed matrix: which tensors stand for it, of which shapes and formats?

use alloc::vec;
use alloc::vec::Vec;

use crate::dtype::Format;

/// How is the matrix of a linear layer stored?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// In the model's own format.
    Plain,
    /// 8-bit floats.
    Fp8 {
        /// What shares a scale.
        scales: Scales,
        /// A scale of activations lies beside it.
        input_scale: bool,
    },
    /// 8-bit integers, a scale a row.
    Int8,
    /// Whole words of packed integers, groups of inputs sharing a scale (compressed-tensors).
    Words {
        /// Bits of a weight: 4 or 8.
        bits: u64,
        /// Inputs that share a scale; `None` for a whole row.
        group: Option<u64>,
        /// Groups have zero points.
        zeros: bool,
    },
    /// GPTQ: words along inputs, packed zero points, the group of every input.
    Gptq {
        /// Bits of a weight.
        bits: u64,
        /// Inputs that share a scale; `None` for all.
        group: Option<u64>,
    },
    /// AWQ: words along outputs, packed zero points.
    Awq {
        /// Bits of a weight.
        bits: u64,
        /// Inputs that share a scale; `None` for all.
        group: Option<u64>,
    },
    /// 4-bit floats, an 8-bit exponent for 32 of them.
    Mxfp4,
    /// 8-bit floats, an 8-bit exponent for 32 of them.
    Mxfp8,
    /// 4-bit floats, an 8-bit scale for 16 of them and a scale of all.
    Nvfp4,
    /// bitsandbytes in 4 bits: one for every 64 weights, itself quantised where `nested`.
    Bnb4 {
        /// The scales are quantised again.
        nested: bool,
    },
    /// bitsandbytes in 8 bits: a scale a row.
    Bnb8,
    /// MLX: words along inputs, a scale and an offset a group.
    Mlx {
        /// Bits of a weight.
        bits: u64,
        /// Inputs that share a scale.
        group: u64,
        /// What lies beside a group.
        mode: MlxMode,
    },
    /// torchao weights of 4 bits: a scale and a zero point a group.
    TorchaoInt4 {
        /// Inputs that share a scale.
        group: u64,
    },
}

/// What lies beside a group of MLX?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MlxMode {
    /// A scale and an offset in the model's format.
    Affine,
    /// One byte.
    Byte,
}

/// What shares a scale of 8-bit floats?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scales {
    /// The whole matrix.
    Tensor,
    /// A row of it, its scale in this format.
    Row(Format),
    /// A block of so many rows and inputs.
    Block(u64, u64),
}

/// One tensor of a packed matrix: what its name ends in, its shape, its format.
pub type Piece = (&'static str, Vec<u64>, Format);

impl Layout {
    /// The tensors that stand for a matrix `[outputs, inputs]`; `base` is the model's own format.
    ///
    /// Sources: huggingface/transformers v5 `integrations/`, vllm-project/compressed-tensors
    /// `compressors/`, NVIDIA/TensorRT-Model-Optimizer `torch/export/`, ml-explore/mlx `nn/layers/quantized.py`,
    /// bitsandbytes-foundation/bitsandbytes `functional.py:QuantState`.
    pub fn pieces(self, outputs: u64, inputs: u64, base: Format) -> Vec<Piece> {
        let groups = |group: Option<u64>| inputs.div_ceil(group.filter(|g| *g > 0).unwrap_or(inputs).max(1));
        match self {
            Self::Plain => vec![("weight", vec![outputs, inputs], base)],
            Self::Fp8 { scales, input_scale } => fp8(outputs, inputs, scales, input_scale),
            Self::Int8 => {
                vec![("weight", vec![outputs, inputs], Format::I8), ("weight_scale", vec![outputs, 1], base)]
            }
            Self::Words { bits, group, zeros } => {
                let groups = groups(group);
                let mut pieces = vec![
                    ("weight_packed", vec![outputs, words(inputs, bits)], Format::I32),
                    ("weight_scale", vec![outputs, groups], base),
                    ("weight_shape", vec![2], Format::I64),
                ];
                if zeros {
                    pieces.push(("weight_zero_point", vec![words(outputs, bits), groups], Format::I32));
                }
                pieces
            }
            Self::Gptq { bits, group } => vec![
                ("qweight", vec![words(inputs, bits), outputs], Format::I32),
                ("qzeros", vec![groups(group), words(outputs, bits)], Format::I32),
                ("scales", vec![groups(group), outputs], Format::F16),
                ("g_idx", vec![inputs], Format::I32),
            ],
            Self::Awq { bits, group } => vec![
                ("qweight", vec![inputs, words(outputs, bits)], Format::I32),
                ("qzeros", vec![groups(group), words(outputs, bits)], Format::I32),
                ("scales", vec![groups(group), outputs], Format::F16),
            ],
            Self::Mxfp4 => vec![
                ("weight_packed", vec![outputs, inputs.div_ceil(2)], Format::U8),
                ("weight_scale", vec![outputs, groups(Some(32))], Format::U8),
            ],
            Self::Mxfp8 => vec![
                ("weight", vec![outputs, inputs], Format::Fp8E4M3),
                ("weight_scale", vec![outputs, groups(Some(32))], Format::U8),
            ],
            Self::Nvfp4 => vec![
                ("weight", vec![outputs, inputs.div_ceil(2)], Format::U8),
                ("weight_scale", vec![outputs, groups(Some(16))], Format::Fp8E4M3),
                ("weight_scale_2", vec![1], Format::F32),
                ("input_scale", vec![1], Format::F32),
            ],
            Self::Bnb4 { nested } => bnb4(outputs.saturating_mul(inputs), nested),
            Self::Bnb8 => {
                vec![("weight", vec![outputs, inputs], Format::I8), ("SCB", vec![outputs], Format::F32)]
            }
            Self::Mlx { bits, group, mode } => mlx(outputs, inputs, (bits, group, mode), base),
            Self::TorchaoInt4 { group } => vec![
                ("weight", vec![outputs, inputs.div_ceil(2)], Format::U8),
                ("scale_and_zero", vec![groups(Some(group)), outputs, 2], Format::Bf16),
            ],
        }
    }

    /// Whether rows of so many inputs can be packed like this; others stay as they are.
    pub const fn takes(self, inputs: u64) -> bool {
        match self {
            Self::Mlx { group, .. } => group > 0 && inputs.is_multiple_of(group),
            _ => true,
        }
    }
}

/// 32-bit words that hold so many numbers of so many bits.
const fn words(numbers: u64, bits: u64) -> u64 {
    numbers.saturating_mul(bits).div_ceil(32)
}

fn fp8(outputs: u64, inputs: u64, scales: Scales, input_scale: bool) -> Vec<Piece> {
    let mut pieces = vec![("weight", vec![outputs, inputs], Format::Fp8E4M3)];
    pieces.push(match scales {
        Scales::Tensor => ("weight_scale", vec![1], Format::F32),
        Scales::Row(format) => ("weight_scale", vec![outputs, 1], format),
        Scales::Block(rows, columns) => {
            let shape = vec![outputs.div_ceil(rows.max(1)), inputs.div_ceil(columns.max(1))];
            ("weight_scale_inv", shape, Format::F32)
        }
    });
    if input_scale {
        pieces.push(("input_scale", vec![1], Format::F32));
    }
    pieces
}

/// Weights that share a scale, and scales that do.
const BNB_BLOCKS: (u64, u64) = (64, 256);

/// Bytes of the record of sizes and types that lies beside every matrix, as far as it does not depend on
/// the model's name: between 80 and 90.
const BNB_RECORD: u64 = 84;

fn bnb4(weights: u64, nested: bool) -> Vec<Piece> {
    let (block, nested_block) = BNB_BLOCKS;
    let scales = weights.div_ceil(block);
    let mut pieces = vec![("weight", vec![weights.div_ceil(2), 1], Format::U8)];
    if nested {
        pieces.push(("weight.absmax", vec![scales], Format::U8));
        pieces.push(("weight.nested_absmax", vec![scales.div_ceil(nested_block)], Format::F32));
        pieces.push(("weight.nested_quant_map", vec![256], Format::F32));
    } else {
        pieces.push(("weight.absmax", vec![scales], Format::F32));
    }
    pieces.push(("weight.quant_map", vec![16], Format::F32));
    pieces.push(("weight.quant_state", vec![BNB_RECORD], Format::U8));
    pieces
}

fn mlx(outputs: u64, inputs: u64, (bits, group, mode): (u64, u64, MlxMode), base: Format) -> Vec<Piece> {
    let groups = inputs / group.max(1);
    let mut pieces = vec![("weight", vec![outputs, words(inputs, bits)], Format::U32)];
    match mode {
        MlxMode::Affine => {
            pieces.push(("scales", vec![outputs, groups], base));
            pieces.push(("biases", vec![outputs, groups], base));
        }
        MlxMode::Byte => pieces.push(("scales", vec![outputs, groups], Format::U8)),
    }
    pieces
}
