//! MiniMax Text-01 and M1: lightning attention in most layers, full attention in the rest, experts in all.

use super::{Family, kinds_from_words, settle_intervals};
use crate::archs::built::{Built, Modules, Text, decoder, recurrent};
use crate::archs::facts::{Facts, LayerKind};
use crate::formats::hf_config::{Config, ConfigError};
use crate::model::Recurrent;

/// Every so many-th layer is full attention, in files that do not say.
const INTERVAL: u64 = 8;

pub(super) const FAMILIES: &[Family] =
    &[Family { gguf: &["minimax-01"], model_types: &["minimax"], config, settle, body, ..Family::RENAMED }];

fn config(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    kinds_from_words(config, facts, &["linear_attention"], (LayerKind::Recurrent, LayerKind::Full))?;
    if facts.kinds.is_empty() {
        // Every second layer, when a config does not list them (class default).
        facts.set_kinds(|_, i| if i % 2 == 0 { LayerKind::Full } else { LayerKind::Recurrent });
    }
    Ok(())
}

fn settle(facts: &mut Facts) {
    facts.recurrent = Some(Recurrent::Lightning { heads: facts.heads.first(), head_dim: facts.k_dim });
    settle_intervals(facts, INTERVAL);
}

fn body(m: &mut Modules, text: &Text<'_>) -> Built {
    let facts = text.facts;
    decoder::of_layers(m, text, |m, i| {
        m.under("self_attn", |m| match (facts.kind(i), &facts.recurrent) {
            (LayerKind::Recurrent, Some(r)) => recurrent::lightning(m, facts.width, r),
            _ => decoder::attend(m, facts, i),
        });
        m.under("mlp", |m| decoder::feed_forward(m, facts, i));
        decoder::norms(m, facts, &["input_layernorm", "post_attention_layernorm"]);
        Ok(())
    })
}
