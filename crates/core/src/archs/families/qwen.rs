//! Qwen 2 and 3 with attention in every layer: biases of queries, keys and values, or their norms.

use super::{Family, windows};
use crate::archs::built::{Built, Modules, Text, decoder, experts};
use crate::archs::facts::{Facts, LayerKind};
use crate::formats::hf_config::{Config, ConfigError};
use crate::model::Ffn;

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
    Family { gguf: &["qwen3"], model_types: &["qwen3"], settle: normed, ..Family::PLAIN },
    Family {
        gguf: &["qwen2moe"],
        model_types: &["qwen2_moe"],
        builds: false,
        config: sparse_layers,
        settle: |f| f.qkv_bias = true,
        body,
        ..Family::PLAIN
    },
    Family {
        gguf: &["qwen3moe"],
        model_types: &["qwen3_moe"],
        config: sparse_layers,
        settle: normed,
        body,
        ..Family::PLAIN
    },
];

fn normed(facts: &mut Facts) {
    facts.qk_norm = true;
}

/// Layers with experts: every so many-th, less those listed as dense.
pub(super) fn sparse_layers(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    let dense = config.numbers("mlp_only_layers")?.unwrap_or_default();
    let step = config.uint(&["decoder_sparse_step"])?.unwrap_or(1).max(1);
    let layers = facts.layers;
    if let Some(experts) = &mut facts.experts {
        let sparse = |i: u64| !dense.contains(&i) && (i + 1).is_multiple_of(step);
        experts.layers = Some((0..layers).map(sparse).collect());
    }
    Ok(())
}

fn body(m: &mut Modules, text: &Text<'_>) -> Built {
    let facts = text.facts;
    decoder::of_layers(m, text, |m, i| {
        m.under("self_attn", |m| decoder::attend(m, facts, i));
        m.under("mlp", |m| feed_forward(m, facts, i));
        decoder::norms(m, facts, &["input_layernorm", "post_attention_layernorm"]);
        Ok(())
    })
}

/// Experts beside a shared one with a gate of its own, if there is one; or a dense part.
pub(super) fn feed_forward(m: &mut Modules, facts: &Facts, i: u64) {
    let (Ffn::Experts { .. }, Some(e)) = (facts.ffn_of(i), &facts.experts) else {
        return decoder::feed_forward(m, facts, i);
    };
    experts::router(m, "gate", facts.width, e);
    experts::stacked(m, facts.width, e);
    experts::shared(m, "shared_expert", facts.width, e);
    if e.shared_width > 0 {
        m.weight("shared_expert_gate", &[1, facts.width]);
    }
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
