//! Facts from config.json: what almost every family names alike; the rest is the family's own.

use alloc::vec::Vec;

use super::{Experts, Facts, PerLayer};
use crate::archs::ArchError;
use crate::archs::families::Family;
use crate::formats::hf_config::{Config, ConfigError};
use crate::model::{Recurrent, StateSpace};
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

/// Names that the fields nearly all families have go by.
mod names {
    pub(super) const WIDTH: &[&str] = &["hidden_size", "n_embd", "d_model", "dim", "n_embed"];
    pub(super) const LAYERS: &[&str] = &["num_hidden_layers", "n_layer", "num_layers", "n_layers"];
    pub(super) const HEADS: &[&str] = &["num_attention_heads", "n_head", "n_heads", "num_heads"];
    pub(super) const KV_HEADS: &[&str] = &["num_key_value_heads", "num_kv_heads", "multi_query_group_num"];
    pub(super) const HEAD_DIM: &[&str] = &["head_dim", "kv_channels", "d_kv"];
    pub(super) const FFN: &[&str] = &["intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size", "d_ff"];
    pub(super) const CONTEXT: &[&str] =
        &["max_position_embeddings", "n_positions", "max_seq_len", "seq_length", "model_max_length"];
}

fn common(config: &Config<'_>) -> Result<Facts, ConfigError> {
    let width = config.required(names::WIDTH)?;
    let heads = config.uint(names::HEADS)?.unwrap_or(0);
    let head_dim = config.uint(names::HEAD_DIM)?.unwrap_or(width.checked_div(heads).unwrap_or(0));
    let biased = config.flag("attention_bias")?.unwrap_or(false);
    Ok(Facts {
        arch: Default::default(),
        layers: layers(config)?,
        mtp_layers: 0,
        width,
        vocab: config.required(&["vocab_size"])?,
        context_length: config.uint(names::CONTEXT)?.map(Tokens),
        heads: PerLayer::All(heads),
        kv_heads: PerLayer::All(config.uint(names::KV_HEADS)?.unwrap_or(heads)),
        k_dim: head_dim,
        v_dim: head_dim,
        window_dims: None,
        ffn: PerLayer::All(config.uint(names::FFN)?.unwrap_or(0)),
        kinds: Vec::new(),
        window: None,
        window_pattern: None,
        full_attention_interval: config.uint(&["full_attention_interval"])?.unwrap_or(0),
        shared_kv_layers: config.uint(&["num_kv_shared_layers"])?.unwrap_or(0),
        experts: experts(config)?,
        latent: None,
        indexer: None,
        compression: PerLayer::All(0),
        cross: PerLayer::All(0),
        recurrent: None,
        tied: config.tied(false)?,
        qkv_bias: biased,
        output_bias: biased,
        ffn_bias: config.flag("mlp_bias")?.unwrap_or(false),
        qk_norm: false,
        gated_ffn: true,
        rope_factors: config.rope_type() == Some("llama3"),
        one_part_a_layer: false,
    })
}

/// The number of layers, or the length of the list that stands for it.
fn layers(config: &Config<'_>) -> Result<u64, ConfigError> {
    match (config.uint(names::LAYERS)?, config.words("layers_block_type")) {
        (None, Ok(Some(list))) => Ok(list.len() as u64),
        _ => config.required(names::LAYERS),
    }
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

/// Values of the stream that one value of a low-rank time step stands for, unless a config says.
const WIDTH_PER_RANK: u64 = 16;

/// The rank of the time step; the word `auto` leaves it to the width.
pub(in crate::archs) fn time_step_rank(
    config: &Config<'_>,
    name: &'static str,
    width: u64,
) -> Result<u64, ConfigError> {
    match config.text(name) {
        Ok(Some("auto")) => Ok(width.div_ceil(WIDTH_PER_RANK)),
        _ => config.required(&[name]),
    }
}

/// A gated delta net as every class names its sizes.
pub(in crate::archs) fn delta_net(config: &Config<'_>) -> Result<Recurrent, ConfigError> {
    let value_heads = config.required(&["linear_num_value_heads"])?;
    Ok(Recurrent::StateSpace {
        kind: StateSpace::GatedDelta,
        conv: config.required(&["linear_conv_kernel_dim"])?,
        inner: value_heads.saturating_mul(config.required(&["linear_value_head_dim"])?),
        state: config.required(&["linear_key_head_dim"])?,
        groups: config.required(&["linear_num_key_heads"])?,
        rank: value_heads,
    })
}

/// Layers with experts: every so many-th, less those listed as dense.
pub(in crate::archs) fn sparse_layers(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    let dense = config.numbers("mlp_only_layers")?.unwrap_or_default();
    let step = config.uint(&["decoder_sparse_step"])?.unwrap_or(1).max(1);
    let layers = facts.layers;
    if let Some(experts) = &mut facts.experts {
        let sparse = |i: u64| !dense.contains(&i) && (i + 1).is_multiple_of(step);
        experts.layers = Some((0..layers).map(sparse).collect());
    }
    Ok(())
}
