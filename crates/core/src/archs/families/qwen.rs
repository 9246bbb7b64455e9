//! Qwen 2 and 3 with attention in every layer: biases of queries, keys and values, or their norms.

use super::{Family, windows_from_layer};
use crate::archs::built::{Built, Modules, Text, decoder};
use crate::archs::facts::{Facts, config};
use crate::formats::hf_config::{Config, ConfigError};

pub(super) const FAMILIES: &[Family] = &[
    Family {
        gguf: &["qwen2"],
        model_types: &["qwen2"],
        config: biased_queries,
        settle: |f| f.qkv_bias = true,
        ..Family::PLAIN
    },
    Family {
        gguf: &["qwen2vl"],
        model_types: &["qwen2_vl_text", "qwen2_5_vl_text"],
        config: biased_queries,
        settle: |f| f.qkv_bias = true,
        ..Family::PLAIN
    },
    Family { gguf: &["qwen3"], model_types: &["qwen3"], settle: normed, ..Family::PLAIN },
    Family { gguf: &["qwen3vl"], model_types: &["qwen3_vl_text"], settle: normed, ..Family::PLAIN },
    Family {
        gguf: &["qwen2moe"],
        model_types: &["qwen2_moe"],
        config: config::sparse_layers,
        settle: |f| f.qkv_bias = true,
        body,
        ..Family::RENAMED
    },
    Family {
        gguf: &["qwen3moe"],
        model_types: &["qwen3_moe"],
        config: config::sparse_layers,
        settle: normed,
        body,
        ..Family::PLAIN
    },
    Family {
        gguf: &["qwen3vlmoe"],
        model_types: &["qwen3_vl_moe_text"],
        config: config::sparse_layers,
        settle: normed,
        body,
        ..Family::PLAIN
    },
];

fn normed(facts: &mut Facts) {
    facts.qk_norm = true;
}

fn body(m: &mut Modules, text: &Text<'_>) -> Built {
    let facts = text.facts;
    decoder::of_layers(m, text, |m, i| {
        m.under("self_attn", |m| decoder::attend(m, facts, i));
        m.under("mlp", |m| decoder::feed_forward_beside_gate(m, facts, i));
        decoder::norms(m, facts, &["input_layernorm", "post_attention_layernorm"]);
        Ok(())
    })
}

/// Biases of queries, keys and values alone. Windows only where they are switched on: in the layers that are
/// listed, else from one layer on.
fn biased_queries(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    (facts.output_bias, facts.ffn_bias) = (false, false);
    if !config.flag("use_sliding_window")?.unwrap_or(false) {
        return Ok(());
    }
    windows_from_layer(config, facts, 0)
}
