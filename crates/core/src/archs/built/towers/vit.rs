//! Vision transformers that differ in names and in how an image comes in: Pixtral, InternVL, Llama 4, Kimi,
//! Muse Glimmer, Step 3.7, MiniMax M3, ERNIE 4.5 VL.

use super::super::layout::{Matrices, Norm, Projections};
use super::{Block, Vision};
use crate::archs::built::{Built, Modules};
use crate::formats::hf_config::Config;

/// Pixtral: norms without a shift, a gate, no biases.
pub(in crate::archs) fn pixtral(m: &mut Modules, config: &Config<'_>) -> Built {
    const BLOCK: Block = Block {
        norms: ["attention_norm", "ffn_norm"],
        norm: Norm::Scale,
        attention: "attention",
        projections: Projections::Separate(["q_proj", "k_proj", "v_proj", "o_proj"]),
        attention_bias: false,
        ffn: "feed_forward",
        matrices: Matrices::Gated,
        ffn_bias: false,
        ..Block::CLIP
    };
    let v = Vision::read(config)?;
    m.convolution("patch_conv", &v.patch_shape(), false);
    m.norm("ln_pre", v.width);
    m.under("transformer", |m| BLOCK.layers(m, "layers", &v))
}

/// InternViT: a token for the class, positions as one tensor, a scale after each part.
pub(in crate::archs) fn internvl(m: &mut Modules, config: &Config<'_>) -> Built {
    const NAMES: [&str; 4] = ["q_proj", "k_proj", "v_proj", "projection_layer"];
    let v = Vision::read(config)?;
    let scale_alone = config.text("norm_type")?.is_some_and(|norm| norm != "layer_norm");
    let norm = if scale_alone { Norm::Scale } else { Norm::ScaleAndShift };
    let block = Block {
        norms: ["layernorm_before", "layernorm_after"],
        norm,
        attention: "attention",
        projections: Projections::Separate(NAMES),
        attention_bias: config.flag("attention_bias")?.unwrap_or(false),
        ..Block::CLIP
    };
    let normed = config.flag("use_qk_norm")?.unwrap_or(false);
    m.under("embeddings", |m| -> Built {
        m.parameter("cls_token", &[1, 1, v.width]);
        if config.flag("use_mask_token")?.unwrap_or(false) {
            m.parameter("mask_token", &[1, 1, v.width]);
        }
        if config.flag("use_absolute_position_embeddings")?.unwrap_or(true) {
            m.parameter("position_embeddings", &[1, v.patches().saturating_add(1), v.width]);
        }
        m.convolution("patch_embeddings.projection", &v.patch_shape(), true);
        Ok(())
    })?;
    m.under("encoder", |m| {
        m.each("layer", v.layers, |m, _| {
            block.build(m, v.width, v.hidden);
            // The output has a bias whether or not the others have one.
            if !block.attention_bias {
                m.parameter("attention.projection_layer.bias", &[v.width]);
            }
            if normed {
                m.under("attention", |m| ["q_norm", "k_norm"].iter().for_each(|name| m.norm(name, v.width)));
            }
            scales(m, v.width);
            Ok(())
        })
    })?;
    // Images pooled over all patches need no last norm.
    if !config.flag("use_mean_pooling")?.unwrap_or(true) {
        m.layer_norm("layernorm", v.width);
    }
    Ok(())
}

/// A scale after each of a layer's two parts.
fn scales(m: &mut Modules, width: u64) {
    ["lambda_1", "lambda_2"].iter().for_each(|name| m.parameter(name, &[width]));
}

/// Llama 4's tower: patches as one matrix, a token for the class, an adapter that merges patches.
pub(in crate::archs) fn llama4(m: &mut Modules, config: &Config<'_>) -> Built {
    const BLOCK: Block = Block {
        norms: ["input_layernorm", "post_attention_layernorm"],
        projections: Projections::Separate(["q_proj", "k_proj", "v_proj", "o_proj"]),
        ..Block::CLIP
    };
    let v = Vision::read(config)?;
    m.parameter("class_embedding", &[v.width]);
    m.parameter("positional_embedding_vlm", &[v.patches().saturating_add(1), v.width]);
    m.linear("patch_embedding.linear", v.patch_values(), v.width, false);
    m.layer_norm("layernorm_pre", v.width);
    m.layer_norm("layernorm_post", v.width);
    m.under("model", |m| BLOCK.layers(m, "layers", &v))?;
    let (input, output) =
        (config.uint_or("projector_input_dim", 4096)?, config.uint_or("projector_output_dim", 4096)?);
    m.linear("vision_adapter.mlp.fc1", v.hidden, input, false);
    m.linear("vision_adapter.mlp.fc2", output, output, false);
    Ok(())
}

/// MoonViT: positions as a grid. Its later form norms by scale alone, has no biases, and attention may be
/// wider than the stream.
pub(in crate::archs) fn moon(m: &mut Modules, config: &Config<'_>) -> Built {
    let v = Vision {
        width: config.required(&["vt_hidden_size", "hidden_size"])?,
        hidden: config.required(&["vt_intermediate_size", "intermediate_size"])?,
        layers: config.required(&["vt_num_hidden_layers", "num_hidden_layers"])?,
        ..Vision::read(config)?
    };
    let height = config.required(&["init_pos_emb_height", "pos_emb_height"])?;
    let across = config.required(&["init_pos_emb_width", "pos_emb_width"])?;
    let inner = config.uint(&["qkv_hidden_size"])?.unwrap_or(v.width);
    let by_scale = config.text("norm_type")? == Some("rmsnorm");
    let bias = |name: &str| Ok(config.flag(name)?.unwrap_or(true));
    let block = Block {
        norm: if by_scale { Norm::Scale } else { Norm::ScaleAndShift },
        attention_bias: bias("attn_bias")?,
        ffn_bias: bias("linear_bias")?,
        ..SEPARATE
    };
    let patch_bias = bias("patch_embed_proj_bias")?;
    m.under("patch_embed", |m| {
        m.convolution("proj", &v.patch_shape(), patch_bias);
        m.parameter("pos_emb.position_embeddings", &[height, across, v.width]);
    });
    m.each("layers", v.layers, |m, _| {
        block.build_wider(m, v.width, inner, v.hidden);
        Ok(())
    })?;
    block.norm.add(m, "final_layernorm", v.width);
    Ok(())
}

/// Blocks of four matrices whose last is called as in fused ones.
const SEPARATE: Block =
    Block { projections: Projections::Separate(["q_proj", "k_proj", "v_proj", "proj"]), ..Block::FUSED };

/// Muse Glimmer's tower: two frames a patch as one matrix, positions as a table.
pub(in crate::archs) fn muse(m: &mut Modules, config: &Config<'_>) -> Built {
    let v = Vision::read(config)?;
    let frames = config.uint(&["patch_temporal"])?.unwrap_or(2);
    m.under("patch_embedder", |m| -> Built {
        m.linear("patch_embedding", v.patch_values().saturating_mul(frames), v.width, false);
        m.table("position_embedding_table", config.required(&["max_position_embeddings"])?, v.width);
        Ok(())
    })?;
    m.layer_norm("ln_pre", v.width);
    SEPARATE.layers(m, "layers", &v)?;
    m.layer_norm("ln_post", v.width);
    Ok(())
}

/// Step 3.7's tower: a scale after each part, patches merged by two convolutions.
pub(in crate::archs) fn step(m: &mut Modules, config: &Config<'_>) -> Built {
    const BLOCK: Block = Block { norms: ["layernorm_before", "layernorm_after"], ..Block::CLIP };
    let read = Vision::read(config)?;
    // The hidden width is a ratio, written as a fraction; a field of the usual name is not read.
    let ratio = config.raw("mlp_ratio").and_then(|ratio| ratio.as_f64()).unwrap_or(8960.0 / 1536.0);
    let hidden = (read.width as f64 * ratio) as u64;
    let v = Vision { hidden, ..read };
    m.under("embeddings", |m| -> Built {
        m.convolution("patch_embedding", &v.patch_shape(), false);
        m.table("position_embedding", v.patches(), v.width);
        Ok(())
    })?;
    m.layer_norm("pre_layernorm", v.width);
    m.each("layers", v.layers, |m, _| {
        BLOCK.build(m, v.width, v.hidden);
        scales(m, v.width);
        Ok(())
    })?;
    let (twice, four_times) = (v.width.saturating_mul(2), v.width.saturating_mul(4));
    m.convolution("downsampler1", &[twice, v.width, 3, 3], true);
    m.convolution("downsampler2", &[four_times, twice, 3, 3], true);
    Ok(())
}

/// MiniMax M3's tower: CLIP's layers over patches of two frames.
pub(in crate::archs) fn minimax(m: &mut Modules, config: &Config<'_>) -> Built {
    let v = Vision::read(config)?;
    let frames = config.uint(&["temporal_patch_size"])?.unwrap_or(2);
    m.under("embeddings", |m| m.convolution("proj", &v.frames_shape(frames), false));
    m.layer_norm("pre_layrnorm", v.width);
    Block::CLIP.layers(m, "layers", &v)
}

/// ERNIE 4.5 VL's tower: patches as one matrix.
pub(in crate::archs) fn ernie(m: &mut Modules, config: &Config<'_>) -> Built {
    let v = Vision::read(config)?;
    m.linear("patch_embed.proj", v.patch_values(), v.width, false);
    Block::FUSED.layers(m, "blocks", &v)?;
    m.layer_norm("ln", v.width);
    Ok(())
}
