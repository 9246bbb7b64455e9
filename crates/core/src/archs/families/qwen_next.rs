//! Qwen3-Next and Qwen3.5: gated delta nets, and full attention in every fourth layer.

use super::Family;
use crate::archs::blocks::Style;
use crate::archs::facts::{Facts, LayerKind, state_space};
use crate::formats::hf_config::{Config, ConfigError};
use crate::model::{Recurrent, StateSpace};

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
        ..Family::PLAIN
    },
    Family {
        gguf: &["qwen35"],
        model_types: &["qwen3_5", "qwen3_5_text"],
        style: STYLE,
        config,
        settle,
        ..Family::PLAIN
    },
    Family {
        gguf: &["qwen35moe"],
        model_types: &["qwen3_5_moe", "qwen3_5_moe_text"],
        style: STYLE,
        config,
        settle,
        ..Family::PLAIN
    },
];

fn config(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    let value_heads = config.required(&["linear_num_value_heads"])?;
    facts.recurrent = Some(Recurrent::StateSpace {
        kind: StateSpace::GatedDelta,
        conv: config.required(&["linear_conv_kernel_dim"])?,
        inner: value_heads.saturating_mul(config.required(&["linear_value_head_dim"])?),
        state: config.required(&["linear_key_head_dim"])?,
        groups: config.required(&["linear_num_key_heads"])?,
        rank: value_heads,
    });
    Ok(())
}

fn settle(facts: &mut Facts) {
    state_space(facts, StateSpace::GatedDelta);
    facts.qk_norm = true;
    let interval = if facts.full_attention_interval > 0 { facts.full_attention_interval } else { INTERVAL };
    facts.set_kinds(
        |_, i| {
            if (i + 1).is_multiple_of(interval) { LayerKind::Full } else { LayerKind::Recurrent }
        },
    );
}
