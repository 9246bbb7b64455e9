//! Attention modules.

use super::Modules;
use crate::archs::facts::{Facts, LatentFacts};
use crate::model::{Attention, Indexer};

/// Which projections of an attention module have biases?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::archs) struct Biases {
    /// Queries, keys and values.
    pub(in crate::archs) qkv: bool,
    /// The output.
    pub(in crate::archs) output: bool,
}

impl Biases {
    /// None of them.
    pub(in crate::archs) const NONE: Self = Self { qkv: false, output: false };
}

/// Queries, keys, values and output as four matrices, named as most models name them.
pub(in crate::archs) fn separate(m: &mut Modules, width: u64, a: &Attention, biases: Biases) {
    named(m, ["q_proj", "k_proj", "v_proj", "o_proj"], width, a, biases);
}

/// Queries, keys, values and output as four matrices of these names.
pub(in crate::archs) fn named(m: &mut Modules, names: [&str; 4], width: u64, a: &Attention, biases: Biases) {
    let [q, k, v, o] = names;
    m.linear(q, width, q_width(a), biases.qkv);
    m.linear(k, width, a.k_width(), biases.qkv);
    m.linear(v, width, a.v_width(), biases.qkv);
    m.linear(o, a.heads.saturating_mul(a.v_dim), width, biases.output);
}

/// Queries, keys and values as one matrix, beside the output.
pub(in crate::archs) fn fused(
    m: &mut Modules,
    [qkv, output]: [&str; 2],
    width: u64,
    a: &Attention,
    biases: Biases,
) {
    let all = q_width(a).saturating_add(a.k_width()).saturating_add(a.v_width());
    m.linear(qkv, width, all, biases.qkv);
    m.linear(output, a.heads.saturating_mul(a.v_dim), width, biases.output);
}

/// Queries beside a gate of the output in one matrix; keys, values and output as usual.
pub(in crate::archs) fn gated(m: &mut Modules, width: u64, a: &Attention, biases: Biases) {
    m.linear("q_proj", width, q_width(a).saturating_mul(2), biases.qkv);
    m.linear("k_proj", width, a.k_width(), biases.qkv);
    m.linear("v_proj", width, a.v_width(), biases.qkv);
    m.linear("o_proj", a.heads.saturating_mul(a.v_dim), width, biases.output);
}

/// Norms of queries and keys, each head by the same scale.
pub(in crate::archs) fn head_norms(m: &mut Modules, a: &Attention) {
    m.norm("q_norm", a.k_dim);
    m.norm("k_norm", a.k_dim);
}

/// Norms of queries and keys over all heads at once.
pub(in crate::archs) fn wide_norms(m: &mut Modules, a: &Attention) {
    m.norm("q_norm", q_width(a));
    m.norm("k_norm", a.k_width());
}

/// Width of all queries together.
pub(in crate::archs) const fn q_width(a: &Attention) -> u64 {
    a.heads.saturating_mul(a.k_dim)
}

/// Latent attention: a compressed query (unless full), a compressed key/value, and the way back.
pub(in crate::archs) fn latent(m: &mut Modules, facts: &Facts, l: &LatentFacts, i: u64) {
    let (width, heads) = (facts.width, facts.heads.at(i));
    let queries = heads.saturating_mul(l.k_dim);
    match l.q_rank {
        Some(rank) => {
            m.linear("q_a_proj", width, rank, facts.qkv_bias);
            m.norm("q_a_layernorm", rank);
            m.linear("q_b_proj", rank, queries, false);
        }
        None => m.linear("q_proj", width, queries, false),
    }
    m.linear("kv_a_proj_with_mqa", width, l.kv_rank.saturating_add(l.rope_dim), facts.qkv_bias);
    m.norm("kv_a_layernorm", l.kv_rank);
    let head = l.k_dim.saturating_sub(l.rope_dim).saturating_add(l.v_dim);
    m.linear("kv_b_proj", l.kv_rank, heads.saturating_mul(head), false);
    m.linear("o_proj", heads.saturating_mul(l.v_dim), width, facts.output_bias);
    if let (Some(indexer), Some(rank)) = (facts.indexer_of(i), l.q_rank) {
        m.under("indexer", |m| index_scorer(m, width, rank, &indexer));
    }
}

/// Sizes of compressed attention that no cache shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::archs) struct CompressedSizes {
    /// Rank of the compressed query.
    pub(in crate::archs) q_rank: u64,
    /// Groups of heads whose outputs are compressed apart.
    pub(in crate::archs) groups: u64,
    /// Rank of one group's compressed output.
    pub(in crate::archs) o_rank: u64,
}

/// Attention over one shared row a token, its history compressed: queries and output in low rank, a sink a
/// head.
pub(in crate::archs) fn compressed(m: &mut Modules, facts: &Facts, i: u64, sizes: &CompressedSizes) {
    let (width, heads, dim) = (facts.width, facts.heads.at(i), facts.k_dim);
    let (all, down) = (heads.saturating_mul(dim), sizes.groups.saturating_mul(sizes.o_rank));
    m.parameter("sinks", &[heads]);
    m.linear("q_a_proj", width, sizes.q_rank, false);
    m.norm("q_a_norm", sizes.q_rank);
    m.linear("q_b_proj", sizes.q_rank, all, false);
    m.linear("kv_proj", width, dim, false);
    m.norm("kv_norm", dim);
    m.linear("o_a_proj", all.checked_div(sizes.groups).unwrap_or(0), down, false);
    m.linear("o_b_proj", down, width, false);
    let ratio = facts.compression.at(i);
    if ratio == 0 {
        return;
    }
    // Layers that pick rows by a scorer overlap the spans of tokens that two neighbouring rows stand for.
    let indexer = facts.indexer_of(i);
    let overlap = if indexer.is_some() { 2 } else { 1 };
    m.under("compressor", |m| {
        compressor(m, width, ratio, [dim, dim.saturating_mul(overlap)]);
        if let Some(indexer) = indexer {
            m.under("indexer", |m| {
                compressor(m, width, ratio, [indexer.k_dim, indexer.k_dim.saturating_mul(overlap)]);
                m.linear("q_b_proj", sizes.q_rank, indexer.heads.saturating_mul(indexer.k_dim), false);
                m.linear("scorer.weights_proj", width, indexer.heads, false);
            });
        }
    });
}

/// What turns `ratio` tokens into one row of `dim` values, through `wide` ones.
fn compressor(m: &mut Modules, width: u64, ratio: u64, [dim, wide]: [u64; 2]) {
    m.parameter("position_bias", &[ratio, wide]);
    m.linear("kv_proj", width, wide, false);
    m.linear("gate_proj", width, wide, false);
    m.norm("kv_norm", dim);
}

/// The scorer of sparse attention, fed from the compressed query.
fn index_scorer(m: &mut Modules, width: u64, q_rank: u64, indexer: &Indexer) {
    m.linear("wq_b", q_rank, indexer.heads.saturating_mul(indexer.k_dim), false);
    m.linear("wk", width, indexer.k_dim, false);
    m.layer_norm("k_norm", indexer.k_dim);
    m.linear("weights_proj", width, indexer.heads, false);
}

/// What pools `tokens` keys of a scorer into one.
pub(in crate::archs) fn pooled_keys(m: &mut Modules, width: u64, indexer: &Indexer, tokens: u64) {
    m.parameter("index_kpool_compress_ape", &[tokens, indexer.k_dim]);
    m.parameter("index_kpool_compress_gate", &[indexer.k_dim, width]);
}
