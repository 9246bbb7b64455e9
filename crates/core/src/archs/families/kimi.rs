//! Kimi Linear: Kimi delta attention in most layers, latent attention in the rest.

use super::{Family, deepseek, kinds_from_words, settle_by_kv_heads};
use crate::archs::built::{Built, Modules, Text, decoder, recurrent};
use crate::archs::facts::{Facts, LayerKind};
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

fn config(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    facts.latent = Some(deepseek::latent(config)?);
    kinds_from_words(config, facts, &["linear_attention"], (LayerKind::Recurrent, LayerKind::Latent))?;
    facts.recurrent = Some(Recurrent::KimiDelta {
        heads: config.required(&["linear_num_heads"])?,
        head_dim: config.required(&["linear_head_dim"])?,
        conv: config.required(&["linear_conv_kernel_dim"])?,
    });
    if let Some(experts) = &mut facts.experts {
        experts.router_bias = true;
        let listed = config.words("mlp_layer_types")?;
        experts.layers = listed.map(|list| list.iter().map(|word| *word == "sparse").collect());
    }
    Ok(())
}

fn body(m: &mut Modules, text: &Text<'_>) -> Built {
    let facts = text.facts;
    decoder::of_layers(m, text, |m, i| {
        m.under("self_attn", |m| match (facts.kind(i), &facts.recurrent) {
            (LayerKind::Recurrent, Some(r)) => recurrent::kimi_delta(m, facts.width, r),
            _ => decoder::attend(m, facts, i),
        });
        m.under("mlp", |m| decoder::feed_forward(m, facts, i));
        decoder::norms(m, facts, &["input_layernorm", "post_attention_layernorm"]);
        Ok(())
    })
}
