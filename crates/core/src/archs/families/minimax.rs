//! MiniMax Text-01 and M1: lightning attention in most layers, full attention in the rest, experts in all.

use super::{Family, kinds_from_words};
use crate::archs::built::{Built, Modules, Text, decoder, recurrent};
use crate::archs::facts::{Facts, LayerKind};
use crate::formats::hf_config::{Config, ConfigError};
use crate::model::Recurrent;

pub(super) const FAMILIES: &[Family] =
    &[Family { model_types: &["minimax"], builds: false, config, settle, body, ..Family::PLAIN }];

fn config(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    kinds_from_words(config, facts, &["linear_attention"], (LayerKind::Recurrent, LayerKind::Full))?;
    facts.recurrent = Some(Recurrent::Lightning { heads: facts.heads.first(), head_dim: facts.k_dim });
    Ok(())
}

/// Full attention in every second layer when a config does not list them (class default).
fn settle(facts: &mut Facts) {
    if facts.kinds.is_empty() {
        facts.set_kinds(|_, i| if i % 2 == 0 { LayerKind::Full } else { LayerKind::Recurrent });
    }
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
