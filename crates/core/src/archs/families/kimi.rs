//! Kimi Linear: Kimi delta attention in most layers, latent attention in the rest. Kimi K2.5: DeepSeek V3's
//! layout behind a vision tower.

use super::{Family, Whole, Wrapper, kinds_from_words, settle_by_kv_heads};
use crate::archs::built::recurrent::{self, DecayShape};
use crate::archs::built::towers::{Vision, vit};
use crate::archs::built::{Built, Modules, Text, decoder};
use crate::archs::facts::{Facts, LayerKind, config};
use crate::formats::hf_config::{Config, ConfigError};
use crate::model::Recurrent;

pub(super) const FAMILIES: &[Family] = &[Family {
    gguf: &["kimi-linear"],
    model_types: &["kimi_linear"],
    config,
    settle: |f| settle_by_kv_heads(f, LayerKind::Latent),
    body,
    ..Family::PLAIN
}];

pub(super) const WRAPPERS: &[Wrapper] =
    &[Wrapper { model_types: &["kimi_k25"], text: "deepseek_v3", body: seeing, ..Wrapper::PLAIN }];

fn config(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    facts.latent = Some(config::latent(config)?);
    // Published configs keep the sizes and the lists of layers in a part of their own; the class has
    // fields of other names.
    let own = config.part("linear_attn_config", "")?;
    kinds_from_words(config, facts, &["linear_attention"], (LayerKind::Recurrent, LayerKind::Latent))?;
    if facts.kinds.is_empty() {
        kinds_by_number(&own, facts)?;
    }
    let size = |name, ours| own.uint(&[name])?.map_or_else(|| config.required(&[ours]), Ok);
    facts.recurrent = Some(Recurrent::KimiDelta {
        heads: size("num_heads", "linear_num_heads")?,
        head_dim: size("head_dim", "linear_head_dim")?,
        conv: size("short_conv_kernel_size", "linear_conv_kernel_dim")?,
    });
    if let Some(experts) = &mut facts.experts {
        experts.router_bias = true;
        let listed = config.words("mlp_layer_types")?;
        experts.layers = listed.map(|list| list.iter().map(|word| *word == "sparse").collect());
        experts.leading_dense = config.uint(&["first_k_dense_replace"])?.unwrap_or(1);
    }
    Ok(())
}

/// Layers with full attention by their numbers, counted from 1; without a list, every fourth after the
/// first (class default).
fn kinds_by_number(own: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    let listed = own.numbers("full_attn_layers")?;
    let full = |i: u64| match &listed {
        Some(numbers) => numbers.contains(&(i + 1)),
        None => i > 0 && i.is_multiple_of(4),
    };
    facts.set_kinds(|_, i| if full(i) { LayerKind::Latent } else { LayerKind::Recurrent });
    Ok(())
}

fn body(m: &mut Modules, text: &Text<'_>) -> Built {
    let facts = text.facts;
    decoder::of_layers(m, text, |m, i| {
        m.under("self_attn", |m| match (facts.kind(i), &facts.recurrent) {
            (LayerKind::Recurrent, Some(r)) => recurrent::kimi_delta(m, facts.width, r, DecayShape::Spread),
            _ => decoder::attend(m, facts, i),
        });
        m.under("mlp", |m| decoder::feed_forward(m, facts, i));
        decoder::norms(m, facts, &["input_layernorm", "post_attention_layernorm"]);
        Ok(())
    })
}

/// Kimi K2.5's tower, and the merger of four patches into a row.
fn seeing(m: &mut Modules, whole: &Whole<'_>) -> Built {
    let vision = whole.config.part("vision_config", "kimi_k25_vision")?;
    m.under("vision_tower", |m| vit::moon(m, &vision))?;
    whole.language_model(m)?;
    let seen = vision.uint(&["mm_hidden_size", "vt_hidden_size", "hidden_size"])?;
    let seen = seen.map_or_else(|| Vision::read(&vision).map(|v| v.width), Ok)?;
    let sides = vision.numbers("merge_kernel_size")?.unwrap_or_default();
    let merged = sides.iter().fold(seen, |width, side| width.saturating_mul(*side));
    m.under("mm_projector", |m| {
        m.layer_norm("pre_norm", seen);
        m.linear("in_proj", merged, merged, true);
        m.linear("out_proj", merged, whole.text.facts.width, true);
    });
    Ok(())
}
