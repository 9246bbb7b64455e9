//! GLM 5.3 Flash: Kimi delta attention in most layers, latent attention with a scorer in the rest, several
//! residual streams; with its tower.

use super::{Family, Whole, Wrapper, kinds_from_words, settle_by_kv_heads};
use crate::archs::built::recurrent::{self, DecayShape, DeltaGates};
use crate::archs::built::towers::glm;
use crate::archs::built::{Built, Modules, Text, attention, decoder, streams};
use crate::archs::facts::{Facts, LayerKind, config};
use crate::formats::hf_config::{Config, ConfigError};
use crate::model::Recurrent;

pub(super) const FAMILIES: &[Family] = &[Family {
    gguf: &["glm5-next"],
    model_types: &["glm5_next_text"],
    config: read,
    settle: |f| {
        settle_by_kv_heads(f, LayerKind::Latent);
        f.correct_router();
    },
    body,
    ..Family::RENAMED
}];

pub(super) const WRAPPERS: &[Wrapper] =
    &[Wrapper { model_types: &["glm5_next"], text: "glm5_next_text", body: seeing, ..Wrapper::PLAIN }];

fn read(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    facts.latent = Some(config::latent(config)?);
    facts.indexer = Some(config::indexer(config)?);
    facts.ffn_bias = false;
    facts.lead_with_dense(3);
    kinds_from_words(config, facts, &["linear_attention"], (LayerKind::Recurrent, LayerKind::Latent))?;
    if facts.kinds.is_empty() {
        facts.set_every(4, LayerKind::Latent, LayerKind::Recurrent);
    }
    if let Some(words) = config.words_per_layer("indexer_types", facts.layers)? {
        facts.scored = words.iter().map(|word| *word == "full").collect();
    }
    facts.recurrent = Some(Recurrent::KimiDelta {
        heads: config.required(&["linear_num_heads"])?,
        head_dim: config.required(&["linear_head_dim"])?,
        conv: config.required(&["linear_conv_kernel_dim"])?,
    });
    Ok(())
}

fn body(m: &mut Modules, text: &Text<'_>) -> Built {
    let (facts, config) = (text.facts, text.config);
    let count = config.required(&["hc_mult"])?;
    let pooled = config.uint(&["index_kpool"])?.unwrap_or(0);
    decoder::of_layers(m, text, |m, i| {
        m.under("self_attn", |m| match (facts.kind(i), &facts.recurrent) {
            (LayerKind::Recurrent, Some(r)) => {
                recurrent::kimi_delta(m, facts.width, r, DecayShape::Vector, DeltaGates::LowRank)
            }
            _ => {
                decoder::attend(m, facts, i);
                if let Some(indexer) = facts.indexer_of(i).filter(|_| pooled > 0) {
                    m.under("indexer", |m| attention::pooled_keys(m, facts.width, &indexer, pooled));
                }
            }
        });
        m.under("mlp", |m| decoder::feed_forward(m, facts, i));
        decoder::norms(m, facts, &["input_layernorm", "post_attention_layernorm"]);
        streams::around_parts(m, count, facts.width);
        Ok(())
    })
}

fn seeing(m: &mut Modules, whole: &Whole<'_>) -> Built {
    let vision = whole.config.part("vision_config", "glm5_next_vision")?;
    m.under("visual", |m| glm::glm5(m, &vision))?;
    whole.language_model(m)
}
