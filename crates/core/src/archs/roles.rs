//! Which role does a tensor play, by its GGUF name?

use crate::model::Role;

/// Tables of the input side, read a row a token and always kept on the host side by engines that
/// split a model.
const INPUT_TABLES: &[&str] = &["position_embd", "token_types", "per_layer_token_embd"];

/// Tensors without a layer number that work on the stream before the first layer.
const FIRST_LAYER: &[&str] = &["token_embd_norm", "per_layer_model_proj", "per_layer_proj_norm"];

/// Which role does a tensor play, by its GGUF name, its dimensions and what the architecture calls its
/// last norm?
pub(super) fn role_of(name: &str, dimensions: usize, last_norm: &str) -> Role {
    match name.strip_prefix("blk.").and_then(|rest| rest.split_once('.')) {
        Some((_, part)) => layer_role(part, dimensions),
        None => global_role(name, last_norm),
    }
}

/// Number of the layer a GGUF tensor name speaks of.
pub(super) fn layer_of(name: &str) -> Option<u32> {
    name.strip_prefix("blk.")?.split_once('.')?.0.parse().ok()
}

fn global_role(name: &str, last_norm: &str) -> Role {
    let stem = name.trim_end_matches(".weight").trim_end_matches(".bias");
    match stem {
        "token_embd" => Role::TokenEmbedding,
        "output" => Role::Output,
        _ if stem == last_norm => Role::OutputSide,
        _ if FIRST_LAYER.contains(&stem) => Role::InputNorm,
        _ if stem.starts_with("rope_f") => Role::RopeFactors,
        _ if INPUT_TABLES.contains(&stem) => Role::InputTable,
        _ if is_tower(stem) => Role::Tower,
        _ => Role::OutputSide,
    }
}

fn is_tower(stem: &str) -> bool {
    ["v.", "a.", "mm.", "resampler."].iter().any(|prefix| stem.starts_with(prefix))
}

fn layer_role(part: &str, dimensions: usize) -> Role {
    if part.starts_with("rope_f") {
        Role::RopeFactors
    } else if part.starts_with("ffn_gate_inp") {
        Role::Router
    } else if !part.ends_with(".weight") || is_small(part) {
        Role::Small
    } else if part.contains("_exps") {
        Role::Experts
    } else if dimensions < 2 {
        Role::Small
    } else {
        Role::Matrix
    }
}

/// Tensors of two dimensions that no matrix product uses.
fn is_small(part: &str) -> bool {
    part.contains("norm") || part.contains("conv1d") || part.contains("shortconv.conv")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_follow_the_name() {
        assert_eq!(role_of("token_embd.weight", 2, "output_norm"), Role::TokenEmbedding);
        assert_eq!(role_of("output.weight", 2, "output_norm"), Role::Output);
        assert_eq!(role_of("output_norm.weight", 1, "output_norm"), Role::OutputSide);
        assert_eq!(role_of("blk.3.ffn_gate_exps.weight", 3, "output_norm"), Role::Experts);
        assert_eq!(role_of("blk.3.ffn_gate_exps.bias", 2, "output_norm"), Role::Small);
        assert_eq!(role_of("blk.3.ffn_gate_inp.weight", 2, "output_norm"), Role::Router);
        assert_eq!(role_of("blk.11.attn_q.weight", 2, "output_norm"), Role::Matrix);
        assert_eq!(role_of("blk.11.attn_q_norm.weight", 1, "output_norm"), Role::Small);
        assert_eq!(role_of("blk.11.ssm_conv1d.weight", 2, "output_norm"), Role::Small);
        assert_eq!(role_of("rope_freqs.weight", 1, "output_norm"), Role::RopeFactors);
        assert_eq!(role_of("token_embd_norm.weight", 1, "output_norm"), Role::InputNorm);
        assert_eq!(role_of("token_embd_norm.weight", 1, "token_embd_norm"), Role::OutputSide);
        assert_eq!(role_of("v.patch_embd.weight", 4, "output_norm"), Role::Tower);
        assert_eq!(layer_of("blk.11.attn_q.weight"), Some(11));
        assert_eq!(layer_of("output.weight"), None);
    }
}
