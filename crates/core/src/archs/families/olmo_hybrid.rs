//! OLMo Hybrid: gated delta nets normed at their entry, full attention normed at its exit.

use super::{Family, kinds_from_words};
use crate::archs::built::recurrent::{self, DeltaInput};
use crate::archs::built::{Built, Modules, Text, attention, decoder};
use crate::archs::facts::{Facts, LayerKind, config};
use crate::formats::hf_config::{Config, ConfigError};

/// Every so many-th layer is full attention when a config does not list them (class default).
const INTERVAL: u64 = 4;

pub(super) const FAMILIES: &[Family] =
    &[Family { model_types: &["olmo_hybrid"], builds: false, config, settle, body, ..Family::PLAIN }];

fn config(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    kinds_from_words(config, facts, &["linear_attention"], (LayerKind::Recurrent, LayerKind::Full))?;
    facts.recurrent = Some(config::delta_net(config)?);
    Ok(())
}

fn settle(facts: &mut Facts) {
    if facts.kinds.is_empty() {
        facts.set_kinds(|_, i| {
            if (i + 1).is_multiple_of(INTERVAL) { LayerKind::Full } else { LayerKind::Recurrent }
        });
    }
}

fn body(m: &mut Modules, text: &Text<'_>) -> Built {
    let facts = text.facts;
    decoder::of_layers(m, text, |m, i| {
        let entry = match (facts.kind(i), &facts.recurrent) {
            (LayerKind::Recurrent, Some(r)) => {
                m.under("linear_attn", |m| recurrent::gated_delta(m, facts.width, r, DeltaInput::Single));
                "input_layernorm"
            }
            _ => {
                m.under("self_attn", |m| {
                    let a = facts.attention(i);
                    attention::separate(m, facts.width, &a, decoder::biases(facts));
                    attention::wide_norms(m, &a);
                });
                "post_feedforward_layernorm"
            }
        };
        m.under("mlp", |m| decoder::feed_forward(m, facts, i));
        decoder::norms(m, facts, &[entry, "post_attention_layernorm"]);
        Ok(())
    })
}
