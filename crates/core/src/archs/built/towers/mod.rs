//! Encoders of images and sound, and what joins them to a language model.

use super::attention::{self, Biases};
use super::{Built, Modules, ffn};
use crate::formats::hf_config::{Config, ConfigError};

/// Sizes of a vision transformer as most configs name them.
#[derive(Clone, Copy, Debug)]
pub(in crate::archs) struct Vision {
    /// Width of the stream.
    pub(in crate::archs) width: u64,
    /// Hidden width of the feed-forward part.
    pub(in crate::archs) hidden: u64,
    /// Layers.
    pub(in crate::archs) layers: u64,
    /// Heads.
    pub(in crate::archs) heads: u64,
    /// Side of an image in pixels.
    pub(in crate::archs) image: u64,
    /// Side of a patch in pixels.
    pub(in crate::archs) patch: u64,
    /// Colours.
    pub(in crate::archs) channels: u64,
}

impl Vision {
    /// Reads the part of a config that describes the tower.
    pub(in crate::archs) fn read(config: &Config<'_>) -> Result<Self, ConfigError> {
        Ok(Self {
            width: config.required(&["hidden_size"])?,
            hidden: config.required(&["intermediate_size"])?,
            layers: config.required(&["num_hidden_layers"])?,
            heads: config.required(&["num_attention_heads"])?,
            image: config.uint(&["image_size"])?.unwrap_or(0),
            patch: config.required(&["patch_size"])?.max(1),
            channels: config.uint(&["num_channels"])?.unwrap_or(3),
        })
    }

    /// Patches of an image.
    pub(in crate::archs) const fn patches(&self) -> u64 {
        let side = self.image / self.patch;
        side.saturating_mul(side)
    }

    /// Shape of the convolution that cuts an image into patches.
    pub(in crate::archs) const fn patch_shape(&self) -> [u64; 4] {
        [self.width, self.channels, self.patch, self.patch]
    }
}

/// One layer of CLIP's and SigLIP's encoders.
fn clip_layer(m: &mut Modules, width: u64, hidden: u64, heads: u64) {
    let heads = attention::heads(heads, width.checked_div(heads).unwrap_or(0));
    m.under("self_attn", |m| {
        attention::named(m, ["q_proj", "k_proj", "v_proj", "out_proj"], width, &heads, Biases::ALL);
    });
    m.layer_norm("layer_norm1", width);
    m.under("mlp", |m| ffn::plain(m, ["fc1", "fc2"], width, hidden, true));
    m.layer_norm("layer_norm2", width);
}

/// A SigLIP tower without its pooling head.
pub(in crate::archs) fn siglip(m: &mut Modules, v: &Vision) -> Built {
    m.under("embeddings", |m| {
        m.convolution("patch_embedding", &v.patch_shape(), true);
        m.table("position_embedding", v.patches(), v.width);
    });
    m.under("encoder", |m| m.each("layers", v.layers, |m, _| Ok(clip_layer(m, v.width, v.hidden, v.heads))))?;
    m.layer_norm("post_layernorm", v.width);
    Ok(())
}
