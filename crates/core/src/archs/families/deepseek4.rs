//! DeepSeek V4: keys that are values, the last tokens as they are and one row for many before them;
//! several residual streams, experts in every layer.

use super::Family;
use crate::archs::built::attention::CompressedSizes;
use crate::archs::built::{Built, Modules, Text, attention, decoder, streams};
use crate::archs::facts::{Facts, LayerKind, PerLayer, config};
use crate::formats::hf_config::{Config, ConfigError};
use crate::model::Window;

/// Tokens that one row stands for in layers that pick rows by a scorer, and in those that read them all.
const SPARSE: u64 = 4;
const HEAVY: u64 = 128;

pub(super) const FAMILIES: &[Family] = &[Family {
    gguf: &["deepseek4"],
    model_types: &["deepseek_v4"],
    config: read,
    settle: |f| {
        f.set_kinds(|_, _| LayerKind::Compressed);
        if f.scored.is_empty() {
            f.scored = (0..f.layers).map(|i| f.compression.at(i) == SPARSE).collect();
        }
        f.correct_router();
    },
    body,
    ..Family::READ_ONLY
}];

fn read(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    (facts.output_bias, facts.ffn_bias) = (false, false);
    facts.window = config.uint(&["sliding_window"])?.map(Window::Sliding);
    facts.indexer = Some(config::indexer(config)?);
    let rates = config.part("compress_rates", "")?;
    let sparse = rates.uint(&["compressed_sparse_attention"])?.unwrap_or(SPARSE);
    let heavy = rates.uint(&["heavily_compressed_attention"])?.unwrap_or(HEAVY);
    let words = config.words_per_layer("layer_types", facts.layers)?;
    let ratios = config.numbers_per_layer("compress_ratios", facts.layers)?;
    let ratio = |i: u64| {
        let at = usize::try_from(i).unwrap_or(usize::MAX);
        match (&words, &ratios) {
            (Some(words), _) => match words.get(at) {
                Some(&"compressed_sparse_attention") => sparse,
                Some(&"heavily_compressed_attention") => heavy,
                _ => 0,
            },
            (None, Some(ratios)) => ratios.get(at).copied().unwrap_or(0),
            // The class starts with two heavily compressed layers and alternates from there.
            (None, None) if i < 2 || i.is_multiple_of(2) => heavy,
            (None, None) => sparse,
        }
    };
    facts.scored = (0..facts.layers).map(|i| ratio(i) == sparse).collect();
    facts.compression = PerLayer::Each((0..facts.layers).map(ratio).collect());
    Ok(())
}

fn body(m: &mut Modules, text: &Text<'_>) -> Built {
    let (facts, config) = (text.facts, text.config);
    let sizes = CompressedSizes {
        q_rank: config.required(&["q_lora_rank"])?,
        groups: config.required(&["o_groups"])?,
        o_rank: config.required(&["o_lora_rank"])?,
    };
    let count = config.required(&["hc_mult"])?;
    decoder::of_layers(m, text, |m, i| {
        m.under("self_attn", |m| attention::compressed(m, facts, i, &sizes));
        m.under("mlp", |m| decoder::feed_forward(m, facts, i));
        decoder::norms(m, facts, &["input_layernorm", "post_attention_layernorm"]);
        streams::around_parts(m, count, facts.width);
        Ok(())
    })?;
    streams::joined(m, count, facts.width);
    Ok(())
}
