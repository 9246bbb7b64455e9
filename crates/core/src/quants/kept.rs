//! Which tensors does the quantiser leave alone, and what do converters write them as?

use crate::dtype::Format;
use crate::model::Tensor;

use super::Recipe;

/// Parts of names of tensors that are never quantised: small, or read in a way that needs floats.
/// Names ending in `.weight` here are whole last parts. Positions, routers, towers, recurrences.
const NEVER_QUANTISED: &[&str] = &[
    "_norm.weight",
    "ffn_gate_inp.weight",
    "ffn_gate_tid2eid.weight",
    "altup",
    "laurel",
    "per_layer_model_proj",
    "ssm_conv1d",
    "shortconv.conv.weight",
    "indexer.k_proj.weight",
    "indexer.q_proj.weight",
    "time_mix_first.weight",
    "time_mix_w0.weight",
    "time_mix_w1.weight",
    "time_mix_w2.weight",
    "time_mix_v0.weight",
    "time_mix_v1.weight",
    "time_mix_v2.weight",
    "time_mix_a0.weight",
    "time_mix_a1.weight",
    "time_mix_a2.weight",
    "time_mix_g1.weight",
    "time_mix_g2.weight",
    "time_mix_decay_w1.weight",
    "time_mix_decay_w2.weight",
    "time_mix_lerp_fused.weight",
    "attn_rel_b.weight",
    ".position_embd",
    "sam.pos_embd",
    "sam.neck.",
    "sam.net_",
    ".rel_pos",
    ".patch_embd",
    ".patch_merger",
    "a.rvq.codebook",
    "mm.a.code_embd",
];

/// Whole names that are never quantised: position and token-type tables of encoders.
const TABLES: [&str; 2] = ["position_embd.weight", "token_types.weight"];

/// Ends of names that converters write as F32 in a 16-bit file. The short convolution is not among
/// them: recorded files hold it in 16 bits, today's converter writes F32, so it stays as it came.
const WRITTEN_AS_F32: &[&str] = &[
    "_norm.weight",
    "ffn_gate_inp.weight",
    "ffn_gate_inp_shexp.weight",
    "position_embd.weight",
    "token_types.weight",
    "ssm_conv1d.weight",
    "ssm_conv1d_q.weight",
    "ssm_conv1d_k.weight",
    "ssm_conv1d_v.weight",
    "time_mix_first.weight",
    "time_mix_w1.weight",
    "time_mix_w2.weight",
    "time_mix_decay_w1.weight",
    "time_mix_decay_w2.weight",
    "time_mix_lerp_fused.weight",
    "altup_correct_coef.weight",
    "altup_predict_coef.weight",
    "indexer.proj.weight",
];

/// Whether the quantiser may change this tensor.
///
/// Source: ggml-org/llama.cpp v0.5.0 `src/llama-quant.cpp:tensor_allows_quantization`.
pub(super) fn may_quantise(tensor: &Tensor) -> bool {
    let name = tensor.name.as_str();
    tensor.dimensions() >= 2
        && name.ends_with("weight")
        && !TABLES.contains(&name)
        && !NEVER_QUANTISED.iter().any(|mark| name.contains(mark))
}

/// Whether a converter writes this tensor as F32 whatever the file's format.
///
/// Source: ggml-org/llama.cpp v0.5.0 `conversion/base.py:ModelBase.prepare_tensors`.
fn is_written_as_f32(tensor: &Tensor) -> bool {
    let name = tensor.name.as_str();
    tensor.dimensions() < 2
        || !name.ends_with(".weight")
        || WRITTEN_AS_F32.iter().any(|end| name.ends_with(end))
}

/// The format of a tensor that the quantiser leaves alone: F32 where converters write it, else as it came.
pub(super) fn untouched(tensor: &Tensor) -> Format {
    match tensor.format {
        Format::I32 => Format::I32,
        _ if is_written_as_f32(tensor) => Format::F32,
        format if format.is_quantised() => Format::F16,
        format => format,
    }
}

/// The format of a tensor in a file that is not quantised.
pub(super) fn converted(recipe: Recipe, tensor: &Tensor) -> Format {
    let kept = is_written_as_f32(tensor) || tensor.name.ends_with("shortconv.conv.weight");
    if kept { untouched(tensor) } else { recipe.main_format() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Role;

    fn tensor(name: &str, shape: [u64; 4]) -> Tensor {
        Tensor { name: name.into(), shape, format: Format::F16, role: Role::Matrix, layer: None, offset: 0 }
    }

    #[test]
    fn only_matrices_that_lose_little_are_quantised() {
        assert!(may_quantise(&tensor("blk.0.ffn_up.weight", [64, 8, 1, 1])));
        assert!(!may_quantise(&tensor("blk.0.ffn_up.bias", [64, 8, 1, 1])));
        assert!(!may_quantise(&tensor("blk.0.attn_norm.weight", [64, 8, 1, 1])));
        assert!(!may_quantise(&tensor("blk.0.ffn_up.weight", [64, 1, 1, 1])));
        assert!(!may_quantise(&tensor("token_types.weight", [64, 2, 1, 1])));
    }

    #[test]
    fn converters_keep_vectors_and_routers_whole() {
        let f16 = |name, shape| converted(Recipe::F16, &tensor(name, shape));
        assert_eq!(f16("output_norm.weight", [64, 1, 1, 1]), Format::F32);
        assert_eq!(f16("blk.1.ffn_gate_inp.weight", [64, 8, 1, 1]), Format::F32);
        assert_eq!(f16("blk.1.ssm_a", [1, 8, 1, 1]), Format::F32);
        assert_eq!(f16("token_embd.weight", [64, 8, 1, 1]), Format::F16);
    }
}
