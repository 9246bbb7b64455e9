//! OPT: a decoder within a decoder, embeddings that may be narrower than the stream.

use super::Family;
use crate::archs::built::layout::{Layout, Matrices, Norm, Projections, positions};
use crate::archs::built::{Built, Modules, Text};
use crate::archs::facts::{Facts, config};
use crate::formats::hf_config::{Config, ConfigError};

/// Rows of the table of positions before the first position.
const OFFSET: u64 = 2;

const OPT: Layout = Layout {
    norms: &["self_attn_layer_norm", "final_layer_norm"],
    norm: Norm::ScaleAndShift,
    projections: Projections::Separate(["q_proj", "k_proj", "v_proj", "out_proj"]),
    ffn: "",
    matrices: Matrices::Plain(["fc1", "fc2"]),
    ..Layout::LLAMA
};

pub(super) const FAMILIES: &[Family] = &[Family {
    model_types: &["opt"],
    config,
    settle: |f| f.gated_ffn = false,
    body: |m, text| m.under("decoder", |m| decoder(m, text)),
    head,
    ..Family::RENAMED
}];

fn config(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    let biased = config.flag("enable_bias")?.unwrap_or(false);
    (facts.qkv_bias, facts.output_bias, facts.ffn_bias) = (biased, biased, biased);
    config::even_heads(facts);
    config::ffn_width(config, facts, "ffn_dim")
}

/// Width of the embedding.
fn embedded(text: &Text<'_>) -> Result<u64, ConfigError> {
    Ok(text.config.uint(&["word_embed_proj_dim"])?.unwrap_or(text.facts.width))
}

fn decoder(m: &mut Modules, text: &Text<'_>) -> Built {
    let (facts, config) = (text.facts, text.config);
    let (width, embedded) = (facts.width, embedded(text)?);
    let learnt = config.flag("layer_norm_elementwise_affine")?.unwrap_or(true);
    let layout = Layout { norm: if learnt { Norm::ScaleAndShift } else { Norm::Nothing }, ..OPT };
    m.table("embed_tokens", facts.vocab, embedded);
    positions(m, "embed_positions", facts, OFFSET);
    if embedded != width {
        m.linear("project_out", width, embedded, false);
        m.linear("project_in", embedded, width, false);
    }
    m.each("layers", facts.layers, |m, i| layout.layer(m, facts, i))?;
    let at_entry = config.flag("do_layer_norm_before")?.unwrap_or(false);
    let removed = config.flag("_remove_final_layer_norm")?.unwrap_or(false);
    if at_entry && !removed {
        layout.norm.add(m, "final_layer_norm", width);
    }
    Ok(())
}

/// The head reads what is as wide as the embedding.
fn head(m: &mut Modules, text: &Text<'_>, class: &str) -> Built {
    let facts = Facts { width: embedded(text)?, ..text.facts.clone() };
    super::usual_head(m, &Text { facts: &facts, config: text.config }, class)
}
