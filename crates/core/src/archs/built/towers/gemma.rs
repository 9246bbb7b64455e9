//! The encoders of Gemma 3n and Gemma 4: a vision transformer with norms at both ends of both parts, and
//! conformers for sound.

use super::Vision;
use crate::archs::built::{Built, Modules};
use crate::formats::hf_config::{Config, ConfigError};

/// Gemma 4's vision transformer: its matrices may be clipped, which makes each a module around one.
pub(in crate::archs) fn vision(m: &mut Modules, config: &Config<'_>) -> Built {
    let v = Vision::read(config)?;
    let head = config.required(&["head_dim"])?;
    let heads = v.heads.saturating_mul(head);
    let kv_heads = config.uint(&["num_key_value_heads"])?.unwrap_or(v.heads).saturating_mul(head);
    let biased = config.flag("attention_bias")?.unwrap_or(false);
    let positions = config.required(&["position_embedding_size"])?;
    let clipped = config.flag("use_clipped_linears")?.unwrap_or(false);
    if config.flag("standardize")?.unwrap_or(false) {
        ["std_bias", "std_scale"].iter().for_each(|name| m.buffer(name, &[v.width]));
    }
    m.under("patch_embedder", |m| {
        m.parameter("position_embedding_table", &[2, positions, v.width]);
        m.linear("input_proj", v.patch_values(), v.width, false);
    });
    m.under("encoder", |m| {
        m.each("layers", v.layers, |m, _| {
            m.under("self_attn", |m| {
                for (name, rows) in [("q_proj", heads), ("k_proj", kv_heads), ("v_proj", kv_heads)] {
                    clippable(m, name, [v.width, rows], biased, clipped);
                }
                clippable(m, "o_proj", [heads, v.width], biased, clipped);
                ["q_norm", "k_norm"].iter().for_each(|name| m.norm(name, head));
            });
            m.under("mlp", |m| {
                for name in ["gate_proj", "up_proj"] {
                    clippable(m, name, [v.width, v.hidden], false, clipped);
                }
                clippable(m, "down_proj", [v.hidden, v.width], false, clipped);
            });
            for name in [
                "input_layernorm",
                "post_attention_layernorm",
                "pre_feedforward_layernorm",
                "post_feedforward_layernorm",
            ] {
                m.norm(name, v.width);
            }
            Ok(())
        })
    })
}

/// A module around a matrix `[input, output]`; files hold its four limits where it is clipped.
fn clippable(m: &mut Modules, name: &str, [input, output]: [u64; 2], bias: bool, clipped: bool) {
    m.under(name, |m| {
        m.linear("linear", input, output, bias);
        if clipped {
            ["input_min", "input_max", "output_min", "output_max"]
                .iter()
                .for_each(|name| m.buffer(name, &[]));
        }
    });
}

/// Gemma 4's patches without a tower: norms and one matrix.
pub(in crate::archs) fn patches_alone(m: &mut Modules, config: &Config<'_>, text_width: u64) -> Built {
    let width = config.required(&["mm_embed_dim"])?;
    let side = config.required(&["patch_size"])?.saturating_mul(config.required(&["pooling_kernel_size"])?);
    let values = side.saturating_mul(side).saturating_mul(3);
    m.parameter("pos_embedding", &[config.required(&["mm_posemb_size"])?, 2, width]);
    m.layer_norm("patch_ln1", values);
    m.linear("patch_dense", values, width, true);
    m.layer_norm("patch_ln2", width);
    m.layer_norm("pos_norm", width);
    m.linear("multimodal_embedder.embedding_projection", width, text_width, false);
    Ok(())
}

/// How a conformer calls its modules.
struct Names {
    subsampled: [&'static str; 2],
    feed_forward: [&'static str; 2],
}

const NAMES_3N: Names =
    Names { subsampled: ["conv_0", "conv_1"], feed_forward: ["ffw_layer_start", "ffw_layer_end"] };

const NAMES_4: Names =
    Names { subsampled: ["layer0", "layer1"], feed_forward: ["feed_forward1", "feed_forward2"] };

/// Sizes of a conformer.
struct Conformer {
    width: u64,
    layers: u64,
    head: u64,
    kernel: u64,
    /// Channels of the two convolutions that shorten the input.
    channels: [u64; 2],
    /// Mel bins.
    bins: u64,
    /// Whether its matrices stand in modules that may clip; then whether they do.
    clipped: Option<bool>,
}

/// Mel bins of both encoders.
const BINS: u64 = 128;

/// Gemma 3n's encoder of sound.
pub(in crate::archs) fn sound_3n(m: &mut Modules, config: &Config<'_>) -> Built {
    let width = config.required(&["hidden_size"])?;
    let c = Conformer {
        width,
        layers: config.required(&["conf_num_hidden_layers"])?,
        head: width.checked_div(config.required(&["conf_num_attention_heads"])?).unwrap_or(0),
        kernel: config.required(&["conf_conv_kernel_size"])?,
        channels: channels(config, "sscp_conv_channel_size")?,
        bins: config.uint(&["input_feat_size"])?.unwrap_or(BINS),
        clipped: None,
    };
    c.shorten(m, &NAMES_3N);
    m.each("conformer", c.layers, |m, _| {
        c.around_attention(m, &NAMES_3N);
        m.under("attention", |m| {
            m.norm("pre_attn_norm", width);
            m.under("attn", |m| {
                m.parameter("per_dim_scale", &[c.head]);
                m.linear("relative_position_embedding.pos_proj", width, width, false);
                ["q_proj", "k_proj", "v_proj"].iter().for_each(|name| m.linear(name, width, width, false));
            });
            m.linear("post", width, width, false);
            m.norm("post_norm", width);
        });
        m.norm("norm", width);
        Ok(())
    })
}

/// Gemma 4's encoder of sound.
pub(in crate::archs) fn sound_4(m: &mut Modules, config: &Config<'_>) -> Built {
    let width = config.required(&["hidden_size"])?;
    let clipped = config.flag("use_clipped_linears")?.unwrap_or(true);
    let c = Conformer {
        width,
        layers: config.required(&["num_hidden_layers"])?,
        head: width.checked_div(config.required(&["num_attention_heads"])?).unwrap_or(0),
        kernel: config.required(&["conv_kernel_size"])?,
        channels: channels(config, "subsampling_conv_channels")?,
        bins: BINS,
        clipped: Some(clipped),
    };
    c.shorten(m, &NAMES_4);
    m.each("layers", c.layers, |m, _| {
        c.around_attention(m, &NAMES_4);
        m.under("self_attn", |m| {
            m.parameter("per_dim_scale", &[c.head]);
            for name in ["q_proj", "k_proj", "v_proj", "post"] {
                clippable(m, name, [width, width], false, clipped);
            }
            m.linear("relative_k_proj", width, width, false);
        });
        ["norm_pre_attn", "norm_post_attn", "norm_out"].iter().for_each(|name| m.norm(name, width));
        Ok(())
    })?;
    m.linear("output_proj", width, sound_4_output(config)?, true);
    Ok(())
}

/// Width of what Gemma 4's encoder of sound gives.
pub(in crate::archs) fn sound_4_output(config: &Config<'_>) -> Result<u64, ConfigError> {
    config.uint_or("output_proj_dims", 1536)
}

fn channels(config: &Config<'_>, name: &str) -> Result<[u64; 2], ConfigError> {
    let list = config.numbers(name)?.unwrap_or_default();
    Ok([list.first().copied().unwrap_or(BINS), list.get(1).copied().unwrap_or(32)])
}

impl Conformer {
    /// Two convolutions that leave a quarter of the bins, and the matrix after them.
    fn shorten(&self, m: &mut Modules, names: &Names) {
        let [first, second] = self.channels;
        m.under("subsample_conv_projection", |m| {
            for (name, from, to) in [(names.subsampled[0], 1, first), (names.subsampled[1], first, second)] {
                m.under(name, |m| {
                    m.convolution("conv", &[to, from, 3, 3], false);
                    m.norm("norm", to);
                });
            }
            m.linear("input_proj_linear", second.saturating_mul(self.bins / 4), self.width, false);
        });
    }

    /// A feed-forward part at each end, and the short convolution.
    fn around_attention(&self, m: &mut Modules, names: &Names) {
        let (width, hidden) = (self.width, self.width.saturating_mul(4));
        let matrix = |m: &mut Modules, name: &str, from: u64, to: u64| match self.clipped {
            None => m.linear(name, from, to, false),
            Some(clipped) => clippable(m, name, [from, to], false, clipped),
        };
        for name in names.feed_forward {
            m.under(name, |m| {
                m.norm("pre_layer_norm", width);
                matrix(m, "ffw_layer_1", width, hidden);
                matrix(m, "ffw_layer_2", hidden, width);
                m.norm("post_layer_norm", width);
            });
        }
        m.under("lconv1d", |m| {
            m.norm("pre_layer_norm", width);
            matrix(m, "linear_start", width, width.saturating_mul(2));
            m.convolution("depthwise_conv1d", &[width, 1, self.kernel], false);
            m.norm("conv_norm", width);
            matrix(m, "linear_end", width, width);
        });
    }
}
