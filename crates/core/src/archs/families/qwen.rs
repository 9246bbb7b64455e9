//! Qwen 2 and 3 with attention in every layer: biases of queries, keys and values, or their norms.

use super::{Family, windows};
use crate::archs::built::{Built, Modules, Text, decoder};
use crate::archs::facts::{Facts, LayerKind, config};
use crate::formats::hf_config::{Config, ConfigError};

pub(super) const FAMILIES: &[Family] = &[
    Family {
        gguf: &["qwen2"],
        model_types: &["qwen2"],
        config: |c, f| {
            (f.output_bias, f.ffn_bias) = (false, false);
            windows_in_last_layers(c, f)
        },
        settle: |f| f.qkv_bias = true,
        ..Family::PLAIN
    },
    Family {
        gguf: &["qwen2vl"],
        model_types: &["qwen2_vl_text", "qwen2_5_vl_text"],
        config: |c, f| {
            (f.output_bias, f.ffn_bias) = (false, false);
            windows_in_last_layers(c, f)
        },
        settle: |f| f.qkv_bias = true,
        ..Family::PLAIN
    },
    Family { gguf: &["qwen3"], model_types: &["qwen3"], settle: normed, ..Family::PLAIN },
    Family { gguf: &["qwen3vl"], model_types: &["qwen3_vl_text"], settle: normed, ..Family::PLAIN },
    Family {
        gguf: &["qwen2moe"],
        model_types: &["qwen2_moe"],
        builds: false,
        config: config::sparse_layers,
        settle: |f| f.qkv_bias = true,
        body,
        ..Family::PLAIN
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

/// Windows only where they are switched on: in the layers that are listed, else from one layer on.
fn windows_in_last_layers(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    if !config.flag("use_sliding_window")?.unwrap_or(false) {
        return Ok(());
    }
    windows(config, facts)?;
    if facts.kinds.is_empty() && facts.window.is_some() {
        let first = config.uint(&["max_window_layers"])?.unwrap_or(0);
        facts.set_kinds(|_, i| if i >= first { LayerKind::Window } else { LayerKind::Full });
    }
    Ok(())
}
