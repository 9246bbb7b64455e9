//! Jamba: Mamba 1 with attention in one of eight layers and experts in every other.

use super::{Family, settle_by_kv_heads};
use crate::archs::facts::{Facts, LayerKind, state_space};
use crate::formats::hf_config::{Config, ConfigError};
use crate::model::{Recurrent, StateSpace};

pub(super) const FAMILIES: &[Family] =
    &[Family { gguf: &["jamba"], model_types: &["jamba"], config, settle, ..Family::PLAIN }];

fn config(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    let period = config.required(&["attn_layer_period"])?.max(1);
    let offset = config.required(&["attn_layer_offset"])?;
    facts.set_kinds(|_, i| if i % period == offset { LayerKind::Full } else { LayerKind::Recurrent });
    facts.recurrent = Some(Recurrent::StateSpace {
        kind: StateSpace::Mamba,
        conv: config.required(&["mamba_d_conv"])?,
        inner: facts.width.saturating_mul(config.required(&["mamba_expand"])?),
        state: config.required(&["mamba_d_state"])?,
        groups: 0,
        rank: config.required(&["mamba_dt_rank"])?,
    });
    Ok(())
}

/// A file states no period of its expert layers; the class's own is every other layer. Its tensors,
/// once read, say better.
fn settle(facts: &mut Facts) {
    settle_by_kv_heads(facts, LayerKind::Full);
    state_space(facts, StateSpace::Mamba);
    if let Some(experts) = facts.experts.as_mut().filter(|e| e.period == 0) {
        (experts.period, experts.offset) = (2, 1);
    }
}
