//! Facts from config.json: what almost every family names alike; the rest is the family's own.

use alloc::vec::Vec;

use super::{Experts, Facts, KeyError, KeyProblem, LatentFacts, PerLayer};
use crate::archs::families::Family;
use crate::formats::hf_config::{Config, ConfigError, ConfigProblem};
use crate::model::{Indexer, Recurrent, StateSpace};
use crate::units::Tokens;

/// Reads the facts of a config of this family.
///
/// # Errors
/// A field the family needs is missing, no number, or a number that cannot be meant.
pub(in crate::archs) fn read(config: &Config<'_>, family: &Family) -> Result<Facts, ConfigError> {
    let mut facts = common(config)?;
    facts.arch = family.gguf.first().copied().unwrap_or_default().into();
    facts.check_sizes().map_err(|error| by_field(config, &error))?;
    (family.config)(config, &mut facts)?;
    Ok(facts)
}

/// Whether the settled facts describe a model at all.
///
/// # Errors
/// The first field that does not.
pub(in crate::archs) fn check(config: &Config<'_>, facts: &Facts) -> Result<(), ConfigError> {
    facts.check().map_err(|error| by_field(config, &error))
}

/// The same error, about the field of config.json instead of the key of a GGUF file.
fn by_field(config: &Config<'_>, error: &KeyError) -> ConfigError {
    let field = match error.key.as_str() {
        "block_count" => names::LAYERS,
        "embedding_length" => names::WIDTH,
        "attention.head_count" => names::HEADS,
        "attention.head_count_kv" => names::KV_HEADS,
        "feed_forward_length" => names::FFN,
        "expert_count" => names::EXPERTS,
        "expert_used_count" => names::EXPERTS_USED,
        "expert_feed_forward_length" => names::EXPERT_WIDTH,
        _ => names::HEAD_DIM,
    };
    let problem = match error.problem {
        KeyProblem::OutOfRange { value: 0, .. } => ConfigProblem::Zero,
        KeyProblem::OutOfRange { max, .. } => ConfigProblem::OutOfRange { max },
        KeyProblem::HeadsDoNotDivide { layer, heads, kv_heads } => {
            ConfigProblem::HeadsDoNotDivide { layer, heads, kv_heads }
        }
        KeyProblem::WrongLength { entries, layers } => ConfigProblem::WrongLength { entries, layers },
        KeyProblem::Missing | KeyProblem::WrongType { .. } => ConfigProblem::Missing,
    };
    config.error(field, problem)
}

/// Names that the fields nearly all families have go by.
mod names {
    pub(super) const WIDTH: &[&str] = &["hidden_size", "n_embd", "d_model", "dim", "n_embed"];
    pub(super) const LAYERS: &[&str] =
        &["num_hidden_layers", "n_layer", "num_layers", "n_layers", "encoder_layers"];
    pub(super) const HEADS: &[&str] =
        &["num_attention_heads", "n_head", "n_heads", "num_heads", "encoder_attention_heads"];
    pub(super) const KV_HEADS: &[&str] = &["num_key_value_heads", "num_kv_heads", "multi_query_group_num"];
    pub(super) const HEAD_DIM: &[&str] = &["head_dim", "kv_channels", "d_kv"];
    pub(super) const FFN: &[&str] = &[
        "intermediate_size",
        "n_inner",
        "ffn_dim",
        "ffn_hidden_size",
        "d_ff",
        "hidden_dim",
        "encoder_ffn_dim",
    ];
    pub(super) const EXPERTS: &[&str] =
        &["num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts"];
    pub(super) const EXPERTS_USED: &[&str] =
        &["num_experts_per_tok", "num_experts_per_token", "moe_topk", "moe_k", "top_k_experts"];
    pub(super) const EXPERTS_SHARED: &[&str] =
        &["n_shared_experts", "num_shared_experts", "moe_num_shared_experts"];
    pub(super) const EXPERT_WIDTH: &[&str] =
        &["moe_intermediate_size", "expert_ffn_hidden_size", "intermediate_size"];
    pub(super) const DENSE_FIRST: &[&str] =
        &["first_k_dense_replace", "num_dense_layers", "moe_layer_start_index"];
    pub(super) const CONTEXT: &[&str] = &[
        "max_position_embeddings",
        "n_positions",
        "max_seq_len",
        "seq_length",
        "model_max_length",
        "max_target_positions",
    ];
}

fn common(config: &Config<'_>) -> Result<Facts, ConfigError> {
    let width = config.required(names::WIDTH)?;
    let heads = config.uint(names::HEADS)?.unwrap_or(0);
    let head_dim = config.uint(names::HEAD_DIM)?.unwrap_or(width.checked_div(heads).unwrap_or(0));
    let biased = config.flag("attention_bias")?.unwrap_or(false);
    let layers = layers(config)?;
    Ok(Facts {
        arch: Default::default(),
        layers,
        mtp_layers: 0,
        width,
        vocab: config.required(&["vocab_size", "padded_vocab_size"])?,
        context_length: config.uint(names::CONTEXT)?.map(Tokens),
        heads: PerLayer::All(heads),
        kv_heads: PerLayer::All(config.uint(names::KV_HEADS)?.unwrap_or(heads)),
        k_dim: head_dim,
        v_dim: head_dim,
        window_dims: None,
        ffn: ffn(config, layers)?,
        kinds: Vec::new(),
        window: None,
        window_pattern: None,
        full_attention_interval: config.uint(&["full_attention_interval"])?.unwrap_or(0),
        shared_kv_layers: config.uint(&["num_kv_shared_layers"])?.unwrap_or(0),
        per_layer_width: config.uint(&["hidden_size_per_layer_input"])?.unwrap_or(0),
        experts: experts(config, layers)?,
        latent: None,
        indexer: None,
        scored: Vec::new(),
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
        long_rope: long_rope(config, head_dim)?,
        one_part_a_layer: false,
    })
}

/// Entries of a table of rotary factors in models with one for short and one for long contexts.
fn long_rope(config: &Config<'_>, head_dim: u64) -> Result<u64, ConfigError> {
    // `su` is what the first configs of this kind called it.
    if !matches!(config.rope_type(), Some("longrope" | "su")) {
        return Ok(0);
    }
    let share = config.share("partial_rotary_factor")?.unwrap_or(1.0);
    Ok((head_dim as f64 * share) as u64 / 2)
}

/// The number of layers, or the length of the list that stands for it.
fn layers(config: &Config<'_>) -> Result<u64, ConfigError> {
    match (config.uint(names::LAYERS)?, config.words("layers_block_type")) {
        (None, Ok(Some(list))) => Ok(list.len() as u64),
        _ => config.required(names::LAYERS),
    }
}

/// The hidden width of the dense feed-forward part, which some configs list layer by layer.
fn ffn(config: &Config<'_>, layers: u64) -> Result<PerLayer, ConfigError> {
    let listed = names::FFN.iter().find(|name| config.raw(name).is_some_and(|value| value.is_array()));
    match listed {
        Some(name) => Ok(PerLayer::Each(config.numbers_per_layer(name, layers)?.unwrap_or_default())),
        None => Ok(PerLayer::All(config.uint(names::FFN)?.unwrap_or(0))),
    }
}

/// The hidden width of one expert: what its own field says or its class assumes, before the width of the
/// dense part stands for it.
fn expert_width(config: &Config<'_>) -> Result<u64, ConfigError> {
    for name in names::EXPERT_WIDTH {
        if let Some(width) = config.first_of(&[name])? {
            return Ok(width);
        }
    }
    Err(config.error(names::EXPERT_WIDTH, ConfigProblem::Missing))
}

/// Which layers have experts, where the config lists what each layer has.
fn listed_experts(config: &Config<'_>, layers: u64) -> Result<Option<Vec<bool>>, ConfigError> {
    let words = config.words_per_layer("mlp_layer_types", layers)?;
    Ok(words.map(|list| list.iter().map(|word| *word != "dense").collect()))
}

fn experts(config: &Config<'_>, layers: u64) -> Result<Option<Experts>, ConfigError> {
    let count = config.first_of(names::EXPERTS)?.unwrap_or(0);
    if count == 0 {
        return Ok(None);
    }
    let width = expert_width(config)?;
    let used = config.first_of(names::EXPERTS_USED)?;
    let shared = config.first_of(names::EXPERTS_SHARED)?.unwrap_or(0);
    let shared_width = config.uint(&["shared_expert_intermediate_size", "shared_intermediate_size"])?;
    Ok(Some(Experts {
        count,
        used: used.ok_or_else(|| config.error(names::EXPERTS_USED, ConfigProblem::Missing))?,
        width,
        shared_width: shared_width.unwrap_or(shared.saturating_mul(width)),
        leading_dense: config.uint(names::DENSE_FIRST)?.unwrap_or(0),
        period: config.uint(&["decoder_sparse_step", "expert_layer_period"])?.unwrap_or(1),
        offset: config.uint(&["expert_layer_offset"])?.unwrap_or(0),
        latent_width: config.uint(&["moe_latent_size"])?,
        router_bias: false,
        layers: listed_experts(config, layers)?,
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

/// Mamba 2 of so many channels, by the names that hybrids give its other sizes.
pub(in crate::archs) fn mamba2(config: &Config<'_>, inner: u64) -> Result<Recurrent, ConfigError> {
    Ok(Recurrent::StateSpace {
        kind: StateSpace::Mamba2,
        conv: config.required(&["mamba_d_conv"])?,
        inner,
        state: config.required(&["mamba_d_state"])?,
        groups: config.required(&["mamba_n_groups", "mamba_ngroups"])?,
        rank: config.required(&["mamba_n_heads", "n_mamba_heads"])?,
    })
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
    if let Some(experts) = facts.experts.as_mut().filter(|e| e.layers.is_none()) {
        let sparse = |i: u64| !dense.contains(&i) && (i + 1).is_multiple_of(step);
        experts.layers = Some((0..layers).map(sparse).collect());
    }
    Ok(())
}

/// Latent attention as every family that has it names it.
pub(in crate::archs) fn latent(config: &Config<'_>) -> Result<LatentFacts, ConfigError> {
    let rope_dim = config.required(&["qk_rope_head_dim"])?;
    Ok(LatentFacts {
        q_rank: config.uint(&["q_lora_rank"])?,
        kv_rank: config.required(&["kv_lora_rank"])?,
        rope_dim,
        k_dim: config.required(&["qk_nope_head_dim"])?.saturating_add(rope_dim),
        v_dim: config.required(&["v_head_dim"])?,
    })
}

/// The scorer as every family that has it names it.
pub(in crate::archs) fn indexer(config: &Config<'_>) -> Result<Indexer, ConfigError> {
    Ok(Indexer {
        heads: config.required(&["index_n_heads"])?,
        k_dim: config.required(&["index_head_dim"])?,
        top_k: config.required(&["index_topk"])?,
    })
}

/// A key/value head for each head, all of them together as wide as the stream, whatever other fields say.
pub(in crate::archs) fn even_heads(facts: &mut Facts) {
    facts.kv_heads = facts.heads.clone();
    facts.k_dim = facts.width.checked_div(facts.heads.first()).unwrap_or(0);
    facts.v_dim = facts.k_dim;
}

/// The feed-forward part is as wide as this field says, else four times as wide as the stream.
pub(in crate::archs) fn ffn_width(
    config: &Config<'_>,
    facts: &mut Facts,
    field: &str,
) -> Result<(), ConfigError> {
    let usual = facts.width.saturating_mul(4);
    facts.ffn = PerLayer::All(config.uint(&[field])?.unwrap_or(usual));
    Ok(())
}
