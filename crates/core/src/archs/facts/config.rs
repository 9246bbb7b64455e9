//! Facts from config.json: what almost every family names alike; the rest is the family's own.

use alloc::vec::Vec;

use super::{Experts, Facts, PerLayer};
use crate::archs::ArchError;
use crate::archs::families::Family;
use crate::formats::hf_config::{Config, ConfigError};
use crate::units::Tokens;

/// Reads the facts of a config of this family.
///
/// # Errors
/// A field the family needs is missing, no number, or a number that cannot be meant.
pub(in crate::archs) fn read(config: &Config<'_>, family: &Family) -> Result<Facts, ArchError> {
    let mut facts = common(config)?;
    facts.arch = family.gguf.first().copied().unwrap_or_default().into();
    facts.check_sizes()?;
    (family.config)(config, &mut facts)?;
    Ok(facts)
}

fn common(config: &Config<'_>) -> Result<Facts, ConfigError> {
    let width = config.required(&["hidden_size", "n_embd", "d_model"])?;
    let heads = config.uint(&["num_attention_heads", "n_head"])?.unwrap_or(0);
    let head_dim = config.uint(&["head_dim"])?.unwrap_or(width.checked_div(heads).unwrap_or(0));
    Ok(Facts {
        arch: Default::default(),
        layers: config.required(&["num_hidden_layers", "n_layer", "num_layers"])?,
        mtp_layers: 0,
        width,
        vocab: config.required(&["vocab_size"])?,
        context_length: config.uint(&["max_position_embeddings", "model_max_length"])?.map(Tokens),
        heads: PerLayer::All(heads),
        kv_heads: PerLayer::All(config.uint(&["num_key_value_heads"])?.unwrap_or(heads)),
        k_dim: head_dim,
        v_dim: head_dim,
        window_dims: None,
        ffn: PerLayer::All(config.uint(&["intermediate_size"])?.unwrap_or(0)),
        kinds: Vec::new(),
        window: None,
        window_pattern: None,
        full_attention_interval: config.uint(&["full_attention_interval"])?.unwrap_or(0),
        shared_kv_layers: config.uint(&["num_kv_shared_layers"])?.unwrap_or(0),
        experts: experts(config)?,
        latent: None,
        indexer: None,
        recurrent: None,
        tied: config.flag("tie_word_embeddings").unwrap_or(false),
        qkv_bias: config.flag("attention_bias").unwrap_or(false),
        qk_norm: false,
        gated_ffn: true,
        rope_factors: config.rope_type() == Some("llama3"),
        one_part_a_layer: false,
    })
}

fn experts(config: &Config<'_>) -> Result<Option<Experts>, ConfigError> {
    let count = config.uint(&["num_experts", "num_local_experts", "n_routed_experts"])?.unwrap_or(0);
    if count == 0 {
        return Ok(None);
    }
    let width = config.required(&["moe_intermediate_size", "intermediate_size"])?;
    let shared = config.uint(&["n_shared_experts", "num_shared_experts"])?.unwrap_or(0);
    let shared_width = config.uint(&["shared_expert_intermediate_size", "shared_intermediate_size"])?;
    Ok(Some(Experts {
        count,
        used: config.required(&["num_experts_per_tok", "num_experts_per_token"])?,
        width,
        shared_width: shared_width.unwrap_or(shared.saturating_mul(width)),
        leading_dense: config.uint(&["first_k_dense_replace"])?.unwrap_or(0),
        period: config.uint(&["decoder_sparse_step", "expert_layer_period"])?.unwrap_or(1),
        offset: config.uint(&["expert_layer_offset"])?.unwrap_or(0),
        latent_width: config.uint(&["moe_latent_size"])?,
        router_bias: false,
        layers: None,
    }))
}
