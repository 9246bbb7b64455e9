//! CLIP's and SigLIP's towers.

use super::{Block, Vision};
use crate::archs::built::{Built, Modules, ffn};
use crate::formats::hf_config::Config;

/// CLIP's tower: a token for the class, norms at both ends.
pub(in crate::archs) fn clip(m: &mut Modules, config: &Config<'_>) -> Built {
    let v = Vision::read(config)?;
    m.under("embeddings", |m| {
        m.parameter("class_embedding", &[v.width]);
        m.convolution("patch_embedding", &v.patch_shape(), false);
        m.table("position_embedding", v.patches().saturating_add(1), v.width);
    });
    m.layer_norm("pre_layrnorm", v.width);
    m.under("encoder", |m| Block::CLIP.layers(m, "layers", &v))?;
    m.layer_norm("post_layernorm", v.width);
    Ok(())
}

/// SigLIP's tower, with its pooling head unless the config leaves it out.
pub(in crate::archs) fn siglip(m: &mut Modules, config: &Config<'_>) -> Built {
    without_head(m, config)?;
    if config.flag("vision_use_head")?.unwrap_or(true) {
        pooling_head(m, &Vision::read(config)?);
    }
    Ok(())
}

/// SigLIP's tower without its pooling head.
pub(in crate::archs) fn without_head(m: &mut Modules, config: &Config<'_>) -> Built {
    let v = Vision::read(config)?;
    m.under("embeddings", |m| {
        m.convolution("patch_embedding", &v.patch_shape(), true);
        m.table("position_embedding", v.patches(), v.width);
    });
    m.under("encoder", |m| Block::CLIP.layers(m, "layers", &v))?;
    m.layer_norm("post_layernorm", v.width);
    Ok(())
}

/// What pools an image into one row by attention.
pub(in crate::archs) fn pooling_head(m: &mut Modules, v: &Vision) {
    m.under("head", |m| {
        m.parameter("probe", &[1, 1, v.width]);
        m.under("attention", |m| {
            let all = v.width.saturating_mul(3);
            m.parameter("in_proj_weight", &[all, v.width]);
            m.parameter("in_proj_bias", &[all]);
            m.linear("out_proj", v.width, v.width, true);
        });
        m.layer_norm("layernorm", v.width);
        m.under("mlp", |m| ffn::plain(m, ["fc1", "fc2"], v.width, v.hidden, true));
    });
}

/// CLIP's text encoder: positions that are learnt, and a last norm.
pub(in crate::archs) fn text(m: &mut Modules, config: &Config<'_>) -> Built {
    let v = Vision::read(config)?;
    m.under("embeddings", |m| {
        let [vocab, positions] =
            [config.required(&["vocab_size"]), config.required(&["max_position_embeddings"])];
        m.table("token_embedding", vocab?, v.width);
        m.table("position_embedding", positions?, v.width);
        Ok(())
    })?;
    m.under("encoder", |m| Block::CLIP.layers(m, "layers", &v))?;
    m.layer_norm("final_layer_norm", v.width);
    Ok(())
}
