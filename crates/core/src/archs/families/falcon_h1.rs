//! Falcon-H1: Mamba 2 and attention side by side in every layer.

use super::Family;
use crate::archs::blocks::Style;
use crate::archs::facts::{Facts, LayerKind};
use crate::formats::hf_config::{Config, ConfigError};
use crate::model::{Recurrent, StateSpace};

pub(super) const FAMILIES: &[Family] = &[Family {
    gguf: &["falcon-h1"],
    model_types: &["falcon_h1"],
    // The converter writes this norm without the usual ending.
    style: Style { ffn_norm: "ffn_norm", recurrent_norm: false, ..Style::PLAIN },
    config,
    settle: |f| f.set_kinds(|_, _| LayerKind::Parallel),
    ..Family::PLAIN
}];

fn config(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    facts.recurrent = Some(Recurrent::StateSpace {
        kind: StateSpace::Mamba2,
        conv: config.required(&["mamba_d_conv"])?,
        inner: config.required(&["mamba_d_ssm"])?,
        state: config.required(&["mamba_d_state"])?,
        groups: config.required(&["mamba_n_groups"])?,
        rank: config.required(&["mamba_n_heads"])?,
    });
    Ok(())
}
