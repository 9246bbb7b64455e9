//! DeepSeek V2 to V3.2 and their like: latent attention, many small experts, dense first layers.

use super::Family;
use crate::archs::facts::{Facts, LatentFacts};
use crate::formats::hf_config::{Config, ConfigError};
use crate::model::Indexer;

pub(super) const FAMILIES: &[Family] = &[
    Family {
        gguf: &["deepseek2"],
        model_types: &["deepseek_v2", "deepseek_v3", "kimi_k2"],
        config,
        settle,
        ..Family::PLAIN
    },
    Family {
        gguf: &["deepseek32"],
        model_types: &["deepseek_v32"],
        config: |c, f| {
            config(c, f)?;
            f.indexer = Some(Indexer {
                heads: c.required(&["index_n_heads"])?,
                k_dim: c.required(&["index_head_dim"])?,
                top_k: c.required(&["index_topk"])?,
            });
            Ok(())
        },
        settle,
        ..Family::PLAIN
    },
];

/// Reads latent attention and the router's correction bias.
fn config(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    facts.latent = Some(latent(config)?);
    if let Some(experts) = &mut facts.experts {
        experts.router_bias = config.text("topk_method")? == Some("noaux_tc");
    }
    Ok(())
}

/// Latent attention as every family that has it names it.
pub(super) fn latent(config: &Config<'_>) -> Result<LatentFacts, ConfigError> {
    let rope_dim = config.required(&["qk_rope_head_dim"])?;
    Ok(LatentFacts {
        q_rank: config.uint(&["q_lora_rank"])?,
        kv_rank: config.required(&["kv_lora_rank"])?,
        rope_dim,
        k_dim: config.required(&["qk_nope_head_dim"])?.saturating_add(rope_dim),
        v_dim: config.required(&["v_head_dim"])?,
    })
}

/// The smallest of these models has full queries although its file states a rank.
fn settle(facts: &mut Facts) {
    const LAYERS_OF_LITE: [u64; 2] = [26, 27];
    let lite = LAYERS_OF_LITE.contains(&facts.layers);
    if let Some(latent) = facts.latent.as_mut().filter(|_| lite) {
        latent.q_rank = None;
    }
}
