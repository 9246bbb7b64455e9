//! Granite 4 hybrids: Mamba 2 with a few attention layers.

use super::{Family, kinds_from_words, settle_by_kv_heads};
use crate::archs::facts::{Facts, LayerKind};
use crate::formats::hf_config::{Config, ConfigError};
use crate::model::{Recurrent, StateSpace};

pub(super) const FAMILIES: &[Family] = &[Family {
    gguf: &["granitehybrid"],
    model_types: &["granitemoehybrid"],
    config,
    settle: |f| settle_by_kv_heads(f, LayerKind::Full),
    ..Family::PLAIN
}];

fn config(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    kinds_from_words(config, facts, "mamba", (LayerKind::Recurrent, LayerKind::Full))?;
    let heads = config.required(&["mamba_n_heads"])?;
    facts.recurrent = Some(Recurrent::StateSpace {
        kind: StateSpace::Mamba2,
        conv: config.required(&["mamba_d_conv"])?,
        inner: heads.saturating_mul(config.required(&["mamba_d_head"])?),
        state: config.required(&["mamba_d_state"])?,
        groups: config.required(&["mamba_n_groups"])?,
        rank: heads,
    });
    Ok(())
}
