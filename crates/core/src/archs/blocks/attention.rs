//! Tensors of attention layers.

use super::{Sheet, Style};
use crate::archs::facts::{Facts, LayerKind};
use crate::model::Indexer;

/// Softmax attention with keys and values of its own.
pub(super) fn softmax(sheet: &mut Sheet<'_>, facts: &Facts, style: &Style, i: u64) {
    let a = facts.attention(i);
    let (width, queries) = (facts.width, a.heads.saturating_mul(a.k_dim));
    let attended = a.heads.saturating_mul(a.v_dim);
    if style.fused_qkv {
        let all = queries.saturating_add(a.k_width()).saturating_add(a.v_width());
        sheet.linear("attn_qkv", width, all, facts.qkv_bias);
    } else {
        let q_width = if style.gated_query { queries.saturating_mul(2) } else { queries };
        sheet.linear("attn_q", width, q_width, facts.qkv_bias);
        sheet.linear("attn_k", width, a.k_width(), facts.qkv_bias);
        if !(style.keys_are_values && facts.kind(i) == LayerKind::Full) {
            sheet.linear("attn_v", width, a.v_width(), facts.qkv_bias);
        }
    }
    sheet.linear("attn_output", attended, width, style.output_bias);
    if style.sinks {
        sheet.norm("attn_sinks", a.heads);
    }
    if facts.qk_norm {
        sheet.norm("attn_q_norm", a.k_dim);
        sheet.norm("attn_k_norm", a.k_dim);
    }
    if style.post_norms {
        sheet.norm("post_attention_norm", width);
    }
}

/// Latent attention: a compressed key/value, and per-head matrices back out of it.
pub(super) fn latent(sheet: &mut Sheet<'_>, facts: &Facts, i: u64) {
    let Some(l) = facts.latent else { return };
    let (width, heads) = (facts.width, facts.heads.at(i));
    let queries = heads.saturating_mul(l.k_dim);
    match l.q_rank {
        Some(rank) => {
            sheet.norm("attn_q_a_norm", rank);
            sheet.linear("attn_q_a", width, rank, false);
            sheet.linear("attn_q_b", rank, queries, false);
        }
        None => sheet.linear("attn_q", width, queries, false),
    }
    sheet.norm("attn_kv_a_norm", l.kv_rank);
    sheet.linear("attn_kv_a_mqa", width, l.kv_rank.saturating_add(l.rope_dim), false);
    sheet.add("attn_k_b.weight", &[l.k_dim.saturating_sub(l.rope_dim), l.kv_rank, heads]);
    sheet.add("attn_v_b.weight", &[l.kv_rank, l.v_dim, heads]);
    sheet.linear("attn_output", heads.saturating_mul(l.v_dim), width, false);
    if let (Some(indexer), Some(rank)) = (facts.indexer_of(i), l.q_rank) {
        index_scorer(sheet, indexer, width, rank);
    }
}

/// The scorer of sparse attention.
fn index_scorer(sheet: &mut Sheet<'_>, indexer: Indexer, width: u64, q_rank: u64) {
    sheet.norm("indexer.k_norm", indexer.k_dim);
    sheet.add("indexer.k_norm.bias", &[indexer.k_dim]);
    sheet.linear("indexer.proj", width, indexer.heads, false);
    sheet.linear("indexer.attn_k", width, indexer.k_dim, false);
    sheet.linear("indexer.attn_q_b", q_rank, indexer.heads.saturating_mul(indexer.k_dim), false);
}
