//! MiniCPM 3: latent attention in a small dense model.

use super::Family;
use crate::archs::facts::{Facts, LatentFacts};
use crate::formats::hf_config::{Config, ConfigError};

pub(super) const FAMILIES: &[Family] = &[Family { model_types: &["minicpm3"], config, ..Family::RENAMED }];

/// Latent attention whose values are as wide as heads usually are when nothing is stated.
fn config(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    let usual = facts.width.checked_div(facts.heads.first()).unwrap_or(0);
    let rope_dim = config.required(&["qk_rope_head_dim"])?;
    facts.latent = Some(LatentFacts {
        q_rank: config.uint(&["q_lora_rank"])?,
        kv_rank: config.required(&["kv_lora_rank"])?,
        rope_dim,
        k_dim: config.required(&["qk_nope_head_dim"])?.saturating_add(rope_dim),
        v_dim: config.uint(&["v_head_dim"])?.unwrap_or(usual),
    });
    Ok(())
}
