//! What Phi-4 multimodal sees and hears with: SigLIP, and a conformer.

use super::{Vision, clip};
use crate::archs::built::{Built, Modules, ffn};
use crate::formats::hf_config::Config;

/// Images: the tower, two markers between crops, two matrices into the language model.
pub(in crate::archs) fn images(m: &mut Modules, config: &Config<'_>, text_width: u64) -> Built {
    let v = Vision::read(config)?;
    m.parameter("global_img_feature_extensor", &[1, 1, v.width]);
    m.parameter("sub_img_feature_extensor", &[1, 1, 1, v.width]);
    m.under("img_processor", |m| {
        clip::without_head(m, config)?;
        clip::pooling_head(m, &v);
        Ok(())
    })?;
    m.linear("img_projection_up", v.width, text_width, true);
    m.linear("img_projection_down", text_width, text_width, true);
    Ok(())
}

/// Sound: the conformer, and two matrices into the language model for each kind of prompt.
pub(in crate::archs) fn sound(m: &mut Modules, config: &Config<'_>, text_width: u64) -> Built {
    let width = config.required(&["hidden_size"])?;
    let down = config.uint(&["downsample_rate"])?.unwrap_or(1);
    m.under("encoder", |m| encoder(m, config, width))?;
    for kind in ["speech", "vision_speech"] {
        m.linear(&alloc::format!("up_proj_for_{kind}"), width.saturating_mul(down), text_width, true);
        m.linear(&alloc::format!("down_proj_for_{kind}"), text_width, text_width, true);
    }
    Ok(())
}

fn encoder(m: &mut Modules, config: &Config<'_>, width: u64) -> Built {
    m.under("embed", |m| shortened(m, config, width))?;
    let distance = config.required(&["bias_max_distance"])?;
    let symmetric = config.flag("bias_symmetric")?.unwrap_or(false);
    let buckets = if symmetric { distance } else { distance.saturating_mul(2) };
    let heads = config.required(&["num_attention_heads"])?;
    m.table("relative_attention_bias_layer.bias_values", buckets, heads);
    let hidden = config.required(&["intermediate_size"])?;
    m.each("encoders", config.required(&["num_blocks"])?, |m, _| {
        for name in ["feed_forward_in", "feed_forward_out"] {
            m.under(name, |m| {
                m.layer_norm("layer_norm", width);
                ffn::fused_gate(m, ["gate_up_proj", "down_proj"], width, hidden, true);
            });
        }
        m.under("self_attn", |m| {
            ["q_proj", "k_proj", "v_proj", "o_proj"]
                .iter()
                .for_each(|name| m.linear(name, width, width, true));
        });
        m.under("conv", |m| convolution(m, config, width))?;
        m.layer_norm("layer_norm_att", width);
        m.layer_norm("layer_norm", width);
        Ok(())
    })
}

/// Convolutions that halve the input until one row stands for as many as the config says.
fn shortened(m: &mut Modules, config: &Config<'_>, width: u64) -> Built {
    let channels = config.required(&["nemo_conv_channels"])?;
    let halvings = u64::from(config.required(&["time_reduction"])?.max(1).ilog2());
    m.convolution("conv.0", &[channels, 1, 3, 3], true);
    for i in 0..halvings.saturating_sub(1) {
        // Each is a depthwise and a pointwise convolution and a non-linearity, after the first's own.
        let at = 2 + 3 * i;
        m.convolution(&alloc::format!("conv.{at}"), &[channels, 1, 3, 3], true);
        m.convolution(&alloc::format!("conv.{}", at + 1), &[channels, channels, 1, 1], true);
    }
    let rows = config.uint_or("nemo_final_size", 10)?;
    m.linear("out", channels.saturating_mul(rows), width, true);
    Ok(())
}

/// A conformer's convolution, gated.
fn convolution(m: &mut Modules, config: &Config<'_>, width: u64) -> Built {
    let output = config.required(&["ext_pw_out_channel"])?;
    let kernel = config.required(&["kernel_size"])?;
    let depth = config.required(&["depthwise_separable_out_channel"])?;
    let inner = width.saturating_mul(config.uint_or("depthwise_multiplier", 1)?);
    m.layer_norm("layer_norm", width);
    m.under("glu", |m| {
        m.convolution("ext_pw_conv_1d", &[output.saturating_mul(2), width, 1], true);
        m.parameter("b1", &[1, output, 1]);
        m.parameter("b2", &[1, output, 1]);
    });
    m.under("dw_sep_conv_1d", |m| {
        m.convolution("dw_conv", &[inner, 1, kernel], true);
        m.convolution("pw_conv", &[depth, inner, 1], true);
    });
    m.convolution("ext_pw_conv_1d", &[output, width, 1], true);
    Ok(())
}
