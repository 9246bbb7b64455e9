//! Facts from GGUF metadata keys, which are the same for every architecture.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{Experts, Facts, LatentFacts, PerLayer};
use crate::model::{Indexer, Recurrent, StateSpace, Window};
use crate::units::Tokens;

/// Where are hyperparameters looked up? GGUF metadata, or anything shaped like it.
pub trait Keys {
    /// The number under `key`; `None` when the key is absent.
    ///
    /// # Errors
    /// The value is no whole number of at least 0.
    fn uint(&self, key: &str) -> Result<Option<u64>, KeyError>;

    /// The number under `key`, or one a layer; truth values count as 0 and 1.
    ///
    /// # Errors
    /// The value is neither.
    fn per_layer(&self, key: &str) -> Result<Option<PerLayer>, KeyError>;
}

/// A key of the metadata is missing or makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {problem}")]
pub struct KeyError {
    /// The key, without its architecture prefix.
    pub key: String,
    /// What is wrong with it.
    pub problem: KeyProblem,
}

/// What is wrong with a key?
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyProblem {
    /// It is not there.
    #[error("missing")]
    Missing,
    /// Its value has another type than the engine reads.
    #[error("not {wanted}")]
    WrongType {
        /// What would be read.
        wanted: &'static str,
    },
    /// Its value cannot be meant.
    #[error("{value} is out of range (1 to {max})")]
    OutOfRange {
        /// The value.
        value: u64,
        /// The largest that could be meant.
        max: u64,
    },
    /// An array has fewer entries than there are layers.
    #[error("{entries} entries for {layers} layers")]
    WrongLength {
        /// Entries.
        entries: u64,
        /// Layers.
        layers: u64,
    },
    /// Query heads cannot be shared out among key/value heads.
    #[error("layer {layer}: {heads} heads do not divide among {kv_heads} key/value heads")]
    HeadsDoNotDivide {
        /// The layer.
        layer: u64,
        /// Query heads.
        heads: u64,
        /// Key/value heads.
        kv_heads: u64,
    },
}

/// Reads keys under one architecture's prefix.
struct Reader<'a> {
    arch: &'a str,
    keys: &'a dyn Keys,
    layers: u64,
}

impl Reader<'_> {
    fn full(&self, key: &str) -> String {
        format!("{}.{key}", self.arch)
    }

    fn uint(&self, key: &str) -> Result<Option<u64>, KeyError> {
        self.keys.uint(&self.full(key))
    }

    fn or_zero(&self, key: &str) -> Result<u64, KeyError> {
        Ok(self.uint(key)?.unwrap_or(0))
    }

    fn required(&self, key: &str) -> Result<u64, KeyError> {
        self.uint(key)?.ok_or_else(|| KeyError { key: self.full(key), problem: KeyProblem::Missing })
    }

    /// A per-layer number whose array, if it is one, covers every layer.
    fn per_layer(&self, key: &str) -> Result<Option<PerLayer>, KeyError> {
        let value = self.keys.per_layer(&self.full(key))?;
        if let Some(PerLayer::Each(list)) = &value {
            let entries = list.len() as u64;
            if entries < self.layers {
                let problem = KeyProblem::WrongLength { entries, layers: self.layers };
                return Err(KeyError { key: self.full(key), problem });
            }
        }
        Ok(value)
    }

    fn numbers(&self, key: &str) -> Result<PerLayer, KeyError> {
        Ok(self.per_layer(key)?.unwrap_or(PerLayer::All(0)))
    }
}

/// Reads the facts of architecture `arch`.
///
/// # Errors
/// A required key is missing, or a key makes no sense.
pub(in crate::archs) fn read(arch: &str, keys: &dyn Keys) -> Result<Facts, KeyError> {
    let mut r = Reader { arch, keys, layers: 0 };
    let stored = r.required("block_count")?;
    let mtp_layers = r.or_zero("nextn_predict_layers")?;
    r.layers = stored.saturating_sub(mtp_layers);
    let heads = r.numbers("attention.head_count")?;
    let width = r.required("embedding_length")?;
    let k_dim = head_width(&r, "attention.key_length", width, &heads)?;
    let v_dim = head_width(&r, "attention.value_length", width, &heads)?;
    Ok(Facts {
        arch: arch.into(),
        layers: r.layers,
        mtp_layers,
        width,
        vocab: r.or_zero("vocab_size")?,
        context_length: r.uint("context_length")?.map(Tokens),
        kv_heads: r.per_layer("attention.head_count_kv")?.unwrap_or_else(|| heads.clone()),
        window_dims: window_dims(&r, k_dim, v_dim)?,
        heads,
        k_dim,
        v_dim,
        ffn: r.numbers("feed_forward_length")?,
        kinds: Vec::new(),
        window: r.uint("attention.sliding_window")?.filter(|w| *w > 0).map(Window::Sliding),
        window_pattern: r.per_layer("attention.sliding_window_pattern")?,
        full_attention_interval: r.or_zero("full_attention_interval")?,
        shared_kv_layers: r.or_zero("attention.shared_kv_layers")?,
        per_layer_width: r.or_zero("embedding_length_per_layer_input")?,
        experts: experts(&r)?,
        latent: latent(&r)?,
        indexer: indexer(&r)?,
        scored: match r.per_layer("attention.indexer.types")? {
            Some(PerLayer::Each(list)) => list.iter().map(|own| *own > 0).collect(),
            _ => Vec::new(),
        },
        compression: r.numbers("attention.compress_ratios")?,
        cross: PerLayer::All(0),
        recurrent: recurrent(&r)?,
        tied: false,
        qkv_bias: false,
        output_bias: false,
        ffn_bias: false,
        qk_norm: false,
        gated_ffn: true,
        rope_factors: false,
        long_rope: 0,
        one_part_a_layer: false,
    })
}

/// A stated head width, else the width of the stream over the heads.
fn head_width(r: &Reader<'_>, key: &str, width: u64, heads: &PerLayer) -> Result<u64, KeyError> {
    let shared = width.checked_div(heads.first()).unwrap_or(0);
    Ok(r.uint(key)?.unwrap_or(shared))
}

fn window_dims(r: &Reader<'_>, k_dim: u64, v_dim: u64) -> Result<Option<(u64, u64)>, KeyError> {
    let k = r.uint("attention.key_length_swa")?;
    let v = r.uint("attention.value_length_swa")?;
    Ok((k.is_some() || v.is_some()).then(|| (k.unwrap_or(k_dim), v.unwrap_or(v_dim))))
}

fn experts(r: &Reader<'_>) -> Result<Option<Experts>, KeyError> {
    let count = r.or_zero("expert_count")?;
    if count == 0 {
        return Ok(None);
    }
    let width = r.numbers("expert_feed_forward_length")?.first();
    let width = if width > 0 { width } else { r.numbers("feed_forward_length")?.first() };
    let shared = r.or_zero("expert_shared_count")?.saturating_mul(width);
    Ok(Some(Experts {
        count,
        used: r.numbers("expert_used_count")?.first(),
        width,
        shared_width: r.uint("expert_shared_feed_forward_length")?.unwrap_or(shared),
        leading_dense: r.or_zero("leading_dense_block_count")?,
        period: r.or_zero("interleave_moe_layer_step")?,
        offset: r.or_zero("interleave_moe_layer_step")?.saturating_sub(1),
        latent_width: r.uint("moe_latent_size")?.filter(|w| *w > 0),
        router_bias: r.or_zero("expert_gating_func")? == 2,
        layers: None,
    }))
}

fn latent(r: &Reader<'_>) -> Result<Option<LatentFacts>, KeyError> {
    let Some(k_dim) = r.uint("attention.key_length_mla")?.filter(|d| *d > 0) else { return Ok(None) };
    Ok(Some(LatentFacts {
        q_rank: r.uint("attention.q_lora_rank")?.filter(|rank| *rank > 0),
        kv_rank: r.required("attention.kv_lora_rank")?,
        rope_dim: r.required("rope.dimension_count")?,
        k_dim,
        v_dim: r.required("attention.value_length_mla")?,
    }))
}

fn indexer(r: &Reader<'_>) -> Result<Option<Indexer>, KeyError> {
    let Some(k_dim) = r.uint("attention.indexer.key_length")?.filter(|d| *d > 0) else { return Ok(None) };
    Ok(Some(Indexer {
        heads: r.or_zero("attention.indexer.head_count")?,
        k_dim,
        top_k: r.or_zero("attention.indexer.top_k")?,
    }))
}

fn recurrent(r: &Reader<'_>) -> Result<Option<Recurrent>, KeyError> {
    if let Some(conv) = r.uint("shortconv.l_cache")? {
        return Ok(Some(Recurrent::ShortConv { width: r.required("embedding_length")?, conv }));
    }
    if let Some(state) = r.uint("wkv.head_size")? {
        let inner = r.required("embedding_length")?;
        // Shifts by one token keep what a convolution over one more than that keeps.
        let conv = r.uint("token_shift_count")?.unwrap_or(2).saturating_add(1);
        let rank = inner.checked_div(state).unwrap_or(0);
        return Ok(Some(Recurrent::StateSpace {
            kind: StateSpace::Wkv,
            conv,
            inner,
            state,
            groups: 0,
            rank,
        }));
    }
    let conv = r.or_zero("ssm.conv_kernel")?;
    if let Some(head_dim) = r.uint("kda.head_dim")? {
        let heads = r.numbers("attention.head_count")?.first();
        return Ok(Some(Recurrent::KimiDelta { heads, head_dim, conv }));
    }
    let Some(state) = r.uint("ssm.state_size")? else { return Ok(None) };
    Ok(Some(Recurrent::StateSpace {
        kind: StateSpace::Mamba2,
        conv,
        inner: r.required("ssm.inner_size")?,
        state,
        groups: r.or_zero("ssm.group_count")?,
        rank: r.or_zero("ssm.time_step_rank")?,
    }))
}
