//! DBRX: sixteen experts in every layer, each kept as a slice of three long matrices.

use super::Family;
use crate::archs::built::layout::{Layout, Projections};
use crate::archs::built::{Built, Modules, Text, experts};
use crate::archs::facts::{Experts, Facts, PerLayer};
use crate::formats::hf_config::{Config, ConfigError};

const DBRX: Layout = Layout {
    table: "wte",
    layers: "blocks",
    norms: &["norm_attn_norm.norm_1", "norm_attn_norm.norm_2"],
    last_norm: "norm_f",
    attention: "norm_attn_norm.attn",
    projections: Projections::Fused(["Wqkv", "out_proj"]),
    ..Layout::LLAMA
};

pub(super) const FAMILIES: &[Family] = &[Family {
    gguf: &["dbrx"],
    model_types: &["dbrx"],
    config,
    body,
    stem: "transformer",
    ..Family::RENAMED
}];

/// Key/value heads and experts have parts of their own, whose classes have these defaults.
fn config(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    let attention = config.part("attn_config", "")?;
    facts.kv_heads = PerLayer::All(attention.uint_or("kv_n_heads", 1)?);
    let ffn = config.part("ffn_config", "")?;
    facts.experts = Some(Experts {
        count: ffn.uint_or("moe_num_experts", 4)?,
        used: ffn.uint_or("moe_top_k", 1)?,
        width: ffn.uint_or("ffn_hidden_size", 3584)?,
        shared_width: 0,
        leading_dense: 0,
        period: 1,
        offset: 0,
        latent_width: None,
        router_bias: false,
        layers: None,
    });
    Ok(())
}

fn body(m: &mut Modules, text: &Text<'_>) -> Built {
    let facts = text.facts;
    DBRX.around(m, text, |m, i| {
        DBRX.mixer(m, facts, i)?;
        m.under("ffn", |m| {
            let Some(e) = &facts.experts else { return };
            experts::router(m, "router.layer", facts.width, e);
            m.under("experts.mlp", |m| experts::sliced(m, facts.width, e));
        });
        DBRX.stream_norms(m, facts);
        Ok(())
    })
}
