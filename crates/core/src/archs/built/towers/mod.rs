//! Encoders of images and sound, and what joins them to a language model.
//!
//! Most are the same transformer under other names: [`Block`] says what one calls its parts, and each tower
//! adds how pixels or sound come in.

pub(in crate::archs) mod clip;
pub(in crate::archs) mod gemma;
pub(in crate::archs) mod glm;
pub(in crate::archs) mod mllama;
pub(in crate::archs) mod mobilenet;
pub(in crate::archs) mod phi4;
pub(in crate::archs) mod project;
pub(in crate::archs) mod qwen;
pub(in crate::archs) mod vit;
pub(in crate::archs) mod whisper;

use super::layout::{Matrices, Norm, Projections};
use super::{Built, Modules, ffn};
use crate::formats::hf_config::{Config, ConfigError, ConfigProblem};

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
            width: config.required(&["hidden_size", "width"])?,
            hidden: config.uint(&["intermediate_size"])?.unwrap_or(0),
            layers: config.required(&["num_hidden_layers", "depth", "layers"])?,
            heads: config
                .uint(&["num_attention_heads", "num_heads", "attention_heads", "heads"])?
                .unwrap_or(0),
            image: config.first_of(&["image_size"])?.unwrap_or(0),
            patch: config.first_of(&["patch_size"])?.unwrap_or(1).max(1),
            channels: config.uint(&["num_channels", "in_channels"])?.unwrap_or(3),
        })
    }

    /// Patches of an image.
    pub(in crate::archs) const fn patches(&self) -> u64 {
        let side = self.image / self.patch;
        side.saturating_mul(side)
    }

    /// Values of a patch.
    pub(in crate::archs) const fn patch_values(&self) -> u64 {
        self.patch.saturating_mul(self.patch).saturating_mul(self.channels)
    }

    /// Shape of the convolution that cuts an image into patches.
    pub(in crate::archs) const fn patch_shape(&self) -> [u64; 4] {
        [self.width, self.channels, self.patch, self.patch]
    }

    /// Shape of the convolution that cuts `frames` images at once into patches.
    pub(in crate::archs) const fn frames_shape(&self, frames: u64) -> [u64; 5] {
        [self.width, self.channels, frames, self.patch, self.patch]
    }
}

/// What a layer of a tower calls its parts, and which of them have biases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::archs) struct Block {
    /// Its norms.
    pub(in crate::archs) norms: [&'static str; 2],
    /// What they hold.
    pub(in crate::archs) norm: Norm,
    /// The attention module.
    pub(in crate::archs) attention: &'static str,
    /// Its matrices.
    pub(in crate::archs) projections: Projections,
    /// They have biases.
    pub(in crate::archs) attention_bias: bool,
    /// The matrix of the keys has one, too.
    pub(in crate::archs) key_bias: bool,
    /// The feed-forward module; empty where its matrices stand in the layer itself.
    pub(in crate::archs) ffn: &'static str,
    /// Its matrices.
    pub(in crate::archs) matrices: Matrices,
    /// They have biases.
    pub(in crate::archs) ffn_bias: bool,
}

impl Block {
    /// CLIP's and SigLIP's.
    pub(in crate::archs) const CLIP: Self = Self {
        norms: ["layer_norm1", "layer_norm2"],
        norm: Norm::ScaleAndShift,
        attention: "self_attn",
        projections: Projections::Separate(["q_proj", "k_proj", "v_proj", "out_proj"]),
        attention_bias: true,
        key_bias: true,
        ffn: "mlp",
        matrices: Matrices::Plain(["fc1", "fc2"]),
        ffn_bias: true,
    };

    /// The blocks that Qwen's towers and many after them are made of.
    pub(in crate::archs) const FUSED: Self = Self {
        norms: ["norm1", "norm2"],
        attention: "attn",
        projections: Projections::Fused(["qkv", "proj"]),
        ..Self::CLIP
    };

    /// Builds one layer.
    pub(in crate::archs) fn build(&self, m: &mut Modules, width: u64, hidden: u64) {
        self.build_wider(m, width, width, hidden);
    }

    /// Builds one layer whose attention has a width `inner` of its own.
    pub(in crate::archs) fn build_wider(&self, m: &mut Modules, width: u64, inner: u64, hidden: u64) {
        self.attend(m, width, inner);
        m.under(self.ffn, |m| match self.matrices {
            Matrices::Gated => ffn::gated(m, width, hidden, self.ffn_bias),
            Matrices::GatedAs(names) => ffn::gated_as(m, names, width, hidden, self.ffn_bias),
            Matrices::FusedGate(names) => ffn::fused_gate(m, names, width, hidden, self.ffn_bias),
            Matrices::Plain(names) => ffn::plain(m, names, width, hidden, self.ffn_bias),
        });
        self.norms.iter().for_each(|name| self.norm.add(m, name, width));
    }

    /// Builds the attention module of a layer.
    pub(in crate::archs) fn attend(&self, m: &mut Modules, width: u64, inner: u64) {
        m.under(self.attention, |m| match self.projections {
            Projections::Separate([q, k, v, o]) => {
                let key_bias = self.attention_bias && self.key_bias;
                for (name, bias) in [(q, self.attention_bias), (k, key_bias), (v, self.attention_bias)] {
                    m.linear(name, width, inner, bias);
                }
                m.linear(o, inner, width, self.attention_bias);
            }
            Projections::Fused([qkv, o]) => {
                m.linear(qkv, width, inner.saturating_mul(3), self.attention_bias);
                m.linear(o, inner, width, self.attention_bias);
            }
        });
    }

    /// Builds all layers of a tower.
    pub(in crate::archs) fn layers(&self, m: &mut Modules, name: &str, v: &Vision) -> Built {
        m.each(name, v.layers, |m, _| {
            self.build(m, v.width, v.hidden);
            Ok(())
        })
    }
}

/// A vision tower of whichever type its part of the config states.
pub(in crate::archs) fn vision(m: &mut Modules, config: &Config<'_>, default: &str) -> Built {
    let stated = config.model_type();
    match if stated.is_empty() { default } else { stated } {
        "clip_vision_model" => clip::clip(m, config),
        "siglip_vision_model" => clip::siglip(m, config),
        "idefics3" | "idefics3_vision" => clip::without_head(m, config),
        "pixtral" => vit::pixtral(m, config),
        "internvl_vision" => vit::internvl(m, config),
        _ => Err(config.error(&["model_type"], ConfigProblem::UnknownPart)),
    }
}
