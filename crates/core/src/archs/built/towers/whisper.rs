//! Whisper's encoder, alone or before a decoder.

use super::super::layout::Matrices;
use super::Block;
use crate::archs::built::{Built, Modules};
use crate::formats::hf_config::{Config, ConfigError};

/// A layer of Whisper: the keys have no bias, the feed-forward part stands in the layer itself.
pub(in crate::archs) const BLOCK: Block = Block {
    norms: ["self_attn_layer_norm", "final_layer_norm"],
    key_bias: false,
    ffn: "",
    matrices: Matrices::Plain(["fc1", "fc2"]),
    ..Block::CLIP
};

/// Sizes of an encoder of sound.
#[derive(Clone, Copy, Debug)]
pub(in crate::archs) struct Sound {
    /// Width of the stream.
    pub(in crate::archs) width: u64,
    /// Hidden width of the feed-forward part.
    pub(in crate::archs) hidden: u64,
    /// Layers.
    pub(in crate::archs) layers: u64,
    /// Mel bins.
    pub(in crate::archs) bins: u64,
    /// Positions.
    pub(in crate::archs) positions: u64,
}

impl Sound {
    /// Reads the part of a config that describes the encoder.
    pub(in crate::archs) fn read(config: &Config<'_>) -> Result<Self, ConfigError> {
        Ok(Self {
            width: config.required(&["hidden_size", "d_model"])?,
            hidden: config.required(&["intermediate_size", "encoder_ffn_dim"])?,
            layers: config.required(&["num_hidden_layers", "encoder_layers"])?,
            bins: config.required(&["num_mel_bins"])?,
            positions: config.required(&["max_source_positions"])?,
        })
    }
}

/// The encoder: two convolutions, positions, layers, a norm.
pub(in crate::archs) fn encoder(m: &mut Modules, s: &Sound) -> Built {
    m.convolution("conv1", &[s.width, s.bins, 3], true);
    m.convolution("conv2", &[s.width, s.width, 3], true);
    m.table("embed_positions", s.positions, s.width);
    m.each("layers", s.layers, |m, _| {
        BLOCK.build(m, s.width, s.hidden);
        Ok(())
    })?;
    m.layer_norm("layer_norm", s.width);
    Ok(())
}
