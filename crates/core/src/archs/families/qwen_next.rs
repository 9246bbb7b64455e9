//! Qwen3-Next and Qwen3.5: gated delta nets, and full attention in every fourth layer.

use super::{Family, kinds_from_words, settle_intervals};
use crate::archs::blocks::Style;
use crate::archs::built::recurrent::{self, DeltaInput};
use crate::archs::built::{Built, Modules, Text, attention, decoder};
use crate::archs::facts::{Facts, LayerKind, config, state_space};
use crate::formats::hf_config::{Config, ConfigError};
use crate::model::StateSpace;

/// Every so many-th layer is full attention when neither form says (class default).
const INTERVAL: u64 = 4;

const STYLE: Style =
    Style { gated_query: true, ffn_norm: "post_attention_norm.weight", shared_gate: true, ..Style::PLAIN };

pub(super) const FAMILIES: &[Family] = &[
    Family {
        gguf: &["qwen3next"],
        model_types: &["qwen3_next"],
        style: Style { fused_delta_gates: true, ..STYLE },
        config,
        settle,
        body: |m, text| body(m, text, DeltaInput::Fused),
        ..Family::PLAIN
    },
    Family {
        gguf: &["qwen35"],
        model_types: &["qwen3_5", "qwen3_5_text"],
        style: STYLE,
        config,
        settle,
        body: |m, text| body(m, text, DeltaInput::Split),
        ..Family::PLAIN
    },
    Family {
        gguf: &["qwen35moe"],
        model_types: &["qwen3_5_moe", "qwen3_5_moe_text"],
        style: STYLE,
        config,
        settle,
        body: |m, text| body(m, text, DeltaInput::Split),
        ..Family::PLAIN
    },
];

fn config(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    kinds_from_words(config, facts, &["linear_attention"], (LayerKind::Recurrent, LayerKind::Full))?;
    facts.recurrent = Some(config::delta_net(config)?);
    config::sparse_layers(config, facts)
}

fn settle(facts: &mut Facts) {
    state_space(facts, StateSpace::GatedDelta);
    facts.qk_norm = true;
    settle_intervals(facts, INTERVAL);
}

fn body(m: &mut Modules, text: &Text<'_>, input: DeltaInput) -> Built {
    let facts = text.facts;
    decoder::of_layers(m, text, |m, i| {
        match (facts.kind(i), &facts.recurrent) {
            (LayerKind::Recurrent, Some(r)) => {
                m.under("linear_attn", |m| recurrent::gated_delta(m, facts.width, r, input));
            }
            _ => m.under("self_attn", |m| {
                let a = facts.attention(i);
                attention::gated(m, facts.width, &a, decoder::biases(facts));
                attention::head_norms(m, &a);
            }),
        }
        m.under("mlp", |m| decoder::feed_forward_beside_gate(m, facts, i));
        decoder::norms(m, facts, &["input_layernorm", "post_attention_layernorm"]);
        Ok(())
    })
}
