//! Ling hybrid: Kimi delta attention with gates of full rank in most layers, latent attention with a gate a
//! head in the rest, experts after dense first layers.

use super::{Family, kinds_from_words, settle_by_kv_heads};
use crate::archs::built::recurrent::{self, DecayShape, DeltaGates};
use crate::archs::built::{Built, Modules, Text, decoder};
use crate::archs::facts::{Facts, LayerKind, config};
use crate::formats::hf_config::{Config, ConfigError};
use crate::model::Recurrent;

pub(super) const FAMILIES: &[Family] = &[Family {
    gguf: &["bailingmoe3"],
    model_types: &["bailing_hybrid"],
    config: read,
    settle: |f| {
        settle_by_kv_heads(f, LayerKind::Latent);
        f.correct_router();
    },
    body,
    ..Family::RENAMED
}];

fn read(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    facts.latent = Some(config::latent(config)?);
    facts.ffn_bias = false;
    kinds_from_words(config, facts, &["linear_attention"], (LayerKind::Recurrent, LayerKind::Latent))?;
    if facts.kinds.is_empty() {
        let group = config.required(&["layer_group_size"])?.max(1);
        facts.set_every(group, LayerKind::Latent, LayerKind::Recurrent);
    }
    facts.recurrent = Some(Recurrent::KimiDelta {
        heads: facts.heads.first(),
        head_dim: facts.k_dim,
        conv: config.required(&["short_conv_kernel_size"])?,
    });
    Ok(())
}

fn body(m: &mut Modules, text: &Text<'_>) -> Built {
    let facts = text.facts;
    decoder::of_layers(m, text, |m, i| {
        m.under("self_attn", |m| match (facts.kind(i), &facts.recurrent) {
            (LayerKind::Recurrent, Some(r)) => {
                recurrent::kimi_delta(m, facts.width, r, DecayShape::Vector, DeltaGates::FullRank);
            }
            _ => {
                decoder::attend(m, facts, i);
                m.linear("g_proj", facts.width, facts.heads.at(i), false);
            }
        });
        m.under("mlp", |m| decoder::feed_forward(m, facts, i));
        decoder::norms(m, facts, &["input_layernorm", "post_attention_layernorm"]);
        Ok(())
    })
}
