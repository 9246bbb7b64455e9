//! Kimi Linear: Kimi delta attention, and latent attention in every fourth layer.

use super::{Family, deepseek, kinds_from_words, settle_by_kv_heads};
use crate::archs::facts::{Facts, LayerKind};
use crate::formats::hf_config::{Config, ConfigError};
use crate::model::Recurrent;

pub(super) const FAMILIES: &[Family] = &[Family {
    gguf: &["kimi-linear"],
    model_types: &["kimi_linear"],
    config,
    settle: |f| settle_by_kv_heads(f, LayerKind::Latent),
    ..Family::PLAIN
}];

fn config(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    facts.latent = Some(deepseek::latent(config)?);
    kinds_from_words(config, facts, "linear_attention", (LayerKind::Recurrent, LayerKind::Latent))?;
    facts.recurrent = Some(Recurrent::KimiDelta {
        heads: config.required(&["linear_num_heads"])?,
        head_dim: config.required(&["linear_head_dim"])?,
        conv: config.required(&["linear_conv_kernel_dim"])?,
    });
    if let Some(experts) = &mut facts.experts {
        experts.router_bias = true;
        let listed = config.words("mlp_layer_types")?;
        experts.layers = listed.map(|list| list.iter().map(|word| *word == "sparse").collect());
    }
    Ok(())
}
