//! The towers of GLM 4.1V to 4.6V, and of GLM 5 Flash.

use super::super::layout::{Matrices, Norm};
use super::{Block, Vision};
use crate::archs::built::{Built, Modules, ffn};
use crate::formats::hf_config::{Config, ConfigError};

const BLOCK: Block = Block {
    norm: Norm::Scale,
    matrices: Matrices::Gated,
    attention_bias: false,
    ffn_bias: false,
    ..Block::FUSED
};

/// GLM 4.1V and after: positions that are learnt; layers as wide inside as the language model is.
pub(in crate::archs) fn glm4v(m: &mut Modules, config: &Config<'_>) -> Built {
    let read = Vision::read(config)?;
    let output = config.required(&["out_hidden_size"])?;
    let v = Vision { hidden: output, ..read };
    let block = Block { attention_bias: config.flag("attention_bias")?.unwrap_or(false), ..BLOCK };
    m.under("embeddings", |m| m.table("position_embedding", v.patches(), v.width));
    patches(m, config, &v)?;
    m.norm("post_conv_layernorm", v.width);
    block.layers(m, "blocks", &v)?;
    merged(m, config, &v, read.hidden)
}

/// GLM 5 Flash: queries and keys normed by head, biases where the config says so.
pub(in crate::archs) fn glm5(m: &mut Modules, config: &Config<'_>) -> Built {
    let v = Vision::read(config)?;
    let biased = config.flag("attention_bias")?.unwrap_or(false);
    let block = Block { attention_bias: biased, ffn_bias: biased, ..BLOCK };
    let head = v.width.checked_div(v.heads).unwrap_or(0);
    patches(m, config, &v)?;
    m.each("blocks", v.layers, |m, _| {
        block.build(m, v.width, v.hidden);
        m.under("attn", |m| ["q_norm", "k_norm"].iter().for_each(|norm| m.norm(norm, head)));
        Ok(())
    })?;
    merged(m, config, &v, config.required(&["projection_intermediate_size"])?)
}

fn patches(m: &mut Modules, config: &Config<'_>, v: &Vision) -> Built {
    let frames = config.first_of(&["temporal_patch_size"])?.unwrap_or(2);
    m.under("patch_embed", |m| m.convolution("proj", &v.frames_shape(frames), true));
    Ok(())
}

/// Patches merged by a convolution, then projected through a gated part of this hidden width.
fn merged(m: &mut Modules, config: &Config<'_>, v: &Vision, hidden: u64) -> Result<(), ConfigError> {
    let output = config.required(&["out_hidden_size"])?;
    let side = config.uint(&["spatial_merge_size"])?.unwrap_or(2);
    m.norm("post_layernorm", v.width);
    m.convolution("downsample", &[output, v.width, side, side], true);
    m.under("merger", |m| {
        m.linear("proj", output, output, false);
        m.layer_norm("post_projection_norm", output);
        ffn::gated(m, output, hidden, false);
    });
    Ok(())
}
