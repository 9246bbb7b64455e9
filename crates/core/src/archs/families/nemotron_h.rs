//! Nemotron-H: each layer is Mamba 2, attention or a feed-forward part, never two of them.

use super::Family;
use crate::archs::blocks::Style;
use crate::archs::facts::{Facts, LayerKind, PerLayer};
use crate::formats::hf_config::{Config, ConfigError};
use crate::model::{Recurrent, StateSpace};

const STYLE: Style = Style { ffn_norm: "", ..Style::PLAIN };

pub(super) const FAMILIES: &[Family] = &[
    Family {
        gguf: &["nemotron_h"],
        model_types: &["nemotron_h"],
        style: STYLE,
        config,
        settle,
        ..Family::PLAIN
    },
    Family { gguf: &["nemotron_h_moe"], style: STYLE, settle, ..Family::PLAIN },
];

fn config(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    let pattern = config.text("hybrid_override_pattern")?.unwrap_or("");
    let (kv, ffn) = (facts.kv_heads.first(), facts.ffn.first());
    let only =
        |mark: char, n: u64| PerLayer::Each(pattern.chars().map(|c| if c == mark { n } else { 0 }).collect());
    facts.kv_heads = only('*', kv);
    facts.ffn = only('-', ffn);
    let heads = config.required(&["mamba_num_heads"])?;
    facts.recurrent = Some(Recurrent::StateSpace {
        kind: StateSpace::Mamba2,
        conv: config.required(&["conv_kernel"])?,
        inner: heads.saturating_mul(config.required(&["mamba_head_dim"])?),
        state: config.required(&["ssm_state_size"])?,
        groups: config.required(&["n_groups"])?,
        rank: heads,
    });
    Ok(())
}

fn settle(facts: &mut Facts) {
    facts.gated_ffn = false;
    facts.one_part_a_layer = true;
    facts.set_kinds(|f, i| match (f.kv_heads.at(i), f.ffn.at(i)) {
        (0, 0) => LayerKind::Recurrent,
        (0, _) => LayerKind::None,
        (_, _) => LayerKind::Full,
    });
}
