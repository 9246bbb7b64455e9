//! The towers of Qwen2-VL to Qwen3.5: two frames a patch, four patches merged into a row.

use super::super::layout::{Matrices, Norm};
use super::{Block, Vision};
use crate::archs::built::{Built, Modules};
use crate::formats::hf_config::{Config, ConfigError};

/// Sizes of what merges patches.
struct Merger {
    frames: u64,
    /// Width of merged patches.
    merged: u64,
}

impl Merger {
    fn read(config: &Config<'_>, width: u64) -> Result<Self, ConfigError> {
        let side = config.uint(&["spatial_merge_size"])?.unwrap_or(2);
        Ok(Self {
            frames: config.first_of(&["temporal_patch_size"])?.unwrap_or(2),
            merged: width.saturating_mul(side).saturating_mul(side),
        })
    }
}

/// Qwen2-VL: the tower's own width goes by another name, and its output is the language model's.
pub(in crate::archs) fn qwen2(m: &mut Modules, config: &Config<'_>) -> Built {
    let output = config.required(&["hidden_size"])?;
    let width = config.required(&["embed_dim"])?;
    let hidden = width.saturating_mul(config.required(&["mlp_ratio"])?);
    let v = Vision { width, hidden, ..Vision::read(config)? };
    let merger = Merger::read(config, width)?;
    m.under("patch_embed", |m| m.convolution("proj", &v.frames_shape(merger.frames), false));
    Block::FUSED.layers(m, "blocks", &v)?;
    m.under("merger", |m| {
        m.layer_norm("ln_q", v.width);
        two_layers(m, &merger, output);
    });
    Ok(())
}

/// Qwen2.5-VL: norms without a shift, a gate in the feed-forward part.
pub(in crate::archs) fn qwen2_5(m: &mut Modules, config: &Config<'_>) -> Built {
    const BLOCK: Block = Block { norm: Norm::Scale, matrices: Matrices::Gated, ..Block::FUSED };
    let v = Vision::read(config)?;
    let merger = Merger::read(config, v.width)?;
    m.under("patch_embed", |m| m.convolution("proj", &v.frames_shape(merger.frames), false));
    BLOCK.layers(m, "blocks", &v)?;
    let output = config.required(&["out_hidden_size"])?;
    m.under("merger", |m| {
        m.norm("ln_q", v.width);
        two_layers(m, &merger, output);
    });
    Ok(())
}

fn two_layers(m: &mut Modules, merger: &Merger, output: u64) {
    m.linear("mlp.0", merger.merged, merger.merged, true);
    m.linear("mlp.2", merger.merged, output, true);
}

/// Qwen3-VL and Qwen3.5: positions that are learnt; in the former, some layers pass on what they see.
pub(in crate::archs) fn qwen3(m: &mut Modules, config: &Config<'_>, passes_on: bool) -> Built {
    const MATRICES: [&str; 2] = ["linear_fc1", "linear_fc2"];
    const BLOCK: Block = Block { matrices: Matrices::Plain(MATRICES), ..Block::FUSED };
    let v = Vision::read(config)?;
    let merger = Merger::read(config, v.width)?;
    let output = config.required(&["out_hidden_size"])?;
    m.under("patch_embed", |m| m.convolution("proj", &v.frames_shape(merger.frames), true));
    m.table("pos_embed", config.required(&["num_position_embeddings"])?, v.width);
    BLOCK.layers(m, "blocks", &v)?;
    let merge = |m: &mut Modules, normed: u64| {
        m.layer_norm("norm", normed);
        m.linear(MATRICES[0], merger.merged, merger.merged, true);
        m.linear(MATRICES[1], merger.merged, output, true);
    };
    m.under("merger", |m| merge(m, v.width));
    if !passes_on {
        return Ok(());
    }
    let passing = config.numbers("deepstack_visual_indexes")?.unwrap_or_default();
    m.each("deepstack_merger_list", passing.len() as u64, |m, _| {
        merge(m, merger.merged);
        Ok(())
    })
}
