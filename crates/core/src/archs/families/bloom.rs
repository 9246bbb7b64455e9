//! BLOOM, Falcon and MPT: queries, keys and values as one matrix, positions that cost nothing.

use super::Family;
use crate::archs::built::layout::{Layout, Matrices, Norm, Projections};
use crate::archs::built::{Built, Modules, Text};
use crate::archs::facts::{Facts, PerLayer, config};
use crate::archs::renamed::Fate;
use crate::formats::hf_config::{Config, ConfigError};

const BLOOM: Layout = Layout {
    table: "word_embeddings",
    layers: "h",
    last_norm: "ln_f",
    norm: Norm::ScaleAndShift,
    attention: "self_attention",
    projections: Projections::Fused(["query_key_value", "dense"]),
    matrices: Matrices::Plain(["dense_h_to_4h", "dense_4h_to_h"]),
    ..Layout::LLAMA
};

const MPT: Layout = Layout {
    table: "wte",
    layers: "blocks",
    norms: &["norm_1", "norm_2"],
    last_norm: "norm_f",
    attention: "attn",
    projections: Projections::Fused(["Wqkv", "out_proj"]),
    ffn: "ffn",
    matrices: Matrices::Plain(["up_proj", "down_proj"]),
    ..Layout::LLAMA
};

pub(super) const FAMILIES: &[Family] = &[
    Family {
        gguf: &["bloom"],
        model_types: &["bloom"],
        config: |_, f| {
            (f.qkv_bias, f.output_bias, f.ffn_bias) = (true, true, true);
            even(f);
            Ok(())
        },
        settle: |f| f.gated_ffn = false,
        body: |m, text| {
            m.layer_norm("word_embeddings_layernorm", text.facts.width);
            BLOOM.build(m, text)
        },
        stem: "transformer",
        ..Family::RENAMED
    },
    Family {
        gguf: &["falcon"],
        model_types: &["falcon"],
        renames: Some(&[("ln_attn", Fate::As("attn_norm_2")), ("ln_mlp", Fate::As("attn_norm"))]),
        config: falcon,
        settle: |f| f.gated_ffn = false,
        body: build_falcon,
        stem: "transformer",
        ..Family::RENAMED
    },
    Family {
        gguf: &["mpt"],
        model_types: &["mpt"],
        config: |_, f| {
            even(f);
            Ok(())
        },
        settle: |f| f.gated_ffn = false,
        body: |m, text| MPT.build(m, text),
        stem: "transformer",
        ..Family::RENAMED
    },
];

/// Heads as wide as the stream, and a feed-forward part of one width whatever the config states.
fn even(facts: &mut Facts) {
    config::even_heads(facts);
    facts.ffn = PerLayer::All(facts.width.saturating_mul(4));
}

/// Falcon: grouped key/value heads in the newer form, one or all in the older one.
fn falcon(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    let biased = config.flag("bias")?.unwrap_or(false);
    (facts.qkv_bias, facts.output_bias, facts.ffn_bias) = (biased, biased, biased);
    config::even_heads(facts);
    if config.flag("new_decoder_architecture")?.unwrap_or(false) {
        facts.kv_heads = config.uint(&["num_kv_heads"])?.map_or(facts.heads.clone(), PerLayer::All);
    } else if config.flag("multi_query")?.unwrap_or(false) {
        facts.kv_heads = PerLayer::All(1);
    }
    config::ffn_width(config, facts, "ffn_hidden_size")
}

/// Falcon's norms: one for each part when they run in turn; in parallel, one for both or one each by
/// other names.
fn build_falcon(m: &mut Modules, text: &Text<'_>) -> Built {
    let config = text.config;
    let grouped = config.flag("new_decoder_architecture")?.unwrap_or(false);
    let in_parallel = config.flag("parallel_attn")?.unwrap_or(false);
    let stated = config.uint(&["num_ln_in_parallel_attn"])?;
    let two = stated.map_or(grouped, |count| count == 2);
    let norms: &[&str] = match (in_parallel, two) {
        (false, _) => Layout::LLAMA.norms,
        (true, true) => &["ln_attn", "ln_mlp"],
        (true, false) => &["input_layernorm"],
    };
    Layout { norms, ..BLOOM }.build(m, text)
}
