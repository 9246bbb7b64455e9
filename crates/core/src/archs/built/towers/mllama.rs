//! Llama 3.2 Vision's tower: tiles of an image, local layers, then gated global ones.

use super::super::layout::Projections;
use super::{Block, Vision};
use crate::archs::built::{Built, Modules};
use crate::formats::hf_config::{Config, ConfigError};

const BLOCK: Block = Block {
    norms: ["input_layernorm", "post_attention_layernorm"],
    projections: Projections::Separate(["q_proj", "k_proj", "v_proj", "o_proj"]),
    attention_bias: false,
    ..Block::CLIP
};

/// The tower.
pub(in crate::archs) fn tower(m: &mut Modules, config: &Config<'_>) -> Built {
    let v = Vision::read(config)?;
    let tiles = config.required(&["max_num_tiles"])?;
    // One more for an image that is padding.
    let ratios =
        config.raw("supported_aspect_ratios").and_then(|list| list.as_array()).map_or(8, |l| l.len());
    let rows = (ratios as u64).saturating_add(1);
    let positions = v.patches().saturating_add(1);
    let tile = tiles.saturating_mul(v.width);
    m.parameter("class_embedding", &[v.width]);
    m.convolution("patch_embedding", &v.patch_shape(), false);
    m.under("gated_positional_embedding", |m| {
        m.parameter("gate", &[1]);
        m.parameter("embedding", &[positions, v.width]);
        m.table("tile_embedding", rows, tile.saturating_mul(positions));
    });
    for name in ["pre_tile_positional_embedding", "post_tile_positional_embedding"] {
        m.under(name, |m| {
            m.parameter("gate", &[1]);
            m.table("embedding", rows, tile);
        });
    }
    m.layer_norm("layernorm_pre", v.width);
    m.layer_norm("layernorm_post", v.width);
    m.under("transformer", |m| BLOCK.layers(m, "layers", &v))?;
    let global = config.required(&["num_global_layers"])?;
    m.under("global_transformer", |m| {
        m.each("layers", global, |m, _| {
            m.parameter("gate_attn", &[1]);
            m.parameter("gate_ffn", &[1]);
            BLOCK.build(m, v.width, v.hidden);
            Ok(())
        })
    })
}

/// Width of what the tower gives: its last layer beside some of those before it.
pub(in crate::archs) fn output(config: &Config<'_>) -> Result<u64, ConfigError> {
    match config.uint(&["vision_output_dim"])? {
        Some(width) => Ok(width),
        None => {
            let kept = config.numbers("intermediate_layers_indices")?.map_or(5, |list| list.len() as u64);
            Ok(config.required(&["hidden_size"])?.saturating_mul(kept.saturating_add(1)))
        }
    }
}
