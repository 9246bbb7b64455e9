//! Granite with experts in every layer. Granite 4: Mamba 2 in most layers, attention in the rest, a shared
//! part beside experts or alone.

use super::{Family, kinds_from_words, settle_by_kv_heads};
use crate::archs::built::experts::Routed;
use crate::archs::built::layout::Layout;
use crate::archs::built::recurrent::{self, StateSpaceStyle};
use crate::archs::built::{Built, Modules, Text, decoder, experts, ffn};
use crate::archs::facts::{Facts, LayerKind, PerLayer, config};
use crate::archs::renamed::Fate;
use crate::formats::hf_config::{Config, ConfigError};

const MOE: Layout =
    Layout { ffn: "block_sparse_moe", routed: Routed { router: "router", ..Routed::USUAL }, ..Layout::LLAMA };

pub(super) const FAMILIES: &[Family] = &[
    Family {
        gguf: &["granitemoe"],
        model_types: &["granitemoe"],
        renames: Some(&[("block_sparse_moe.router", Fate::As("ffn_gate_inp"))]),
        body: |m, text| MOE.build(m, text),
        ..Family::RENAMED
    },
    Family {
        gguf: &["granitehybrid"],
        model_types: &["granitemoehybrid"],
        config,
        settle: |f| settle_by_kv_heads(f, LayerKind::Full),
        body,
        ..Family::PLAIN
    },
];

fn config(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    kinds_from_words(config, facts, &["mamba", "linear_attention"], (LayerKind::Recurrent, LayerKind::Full))?;
    let inner = facts.width.saturating_mul(config.required(&["mamba_expand"])?);
    facts.recurrent = Some(config::mamba2(config, inner)?);
    // Without experts the shared part is the whole of it.
    if facts.experts.is_none() {
        facts.ffn = PerLayer::All(config.required(&["shared_intermediate_size"])?);
    }
    Ok(())
}

fn body(m: &mut Modules, text: &Text<'_>) -> Built {
    let style = StateSpaceStyle::read(text.config)?;
    let facts = text.facts;
    decoder::of_layers(m, text, |m, i| {
        match (facts.kind(i), &facts.recurrent) {
            (LayerKind::Recurrent, Some(r)) => {
                m.under("mamba", |m| recurrent::state_space(m, facts.width, r, style));
            }
            _ => m.under("self_attn", |m| decoder::attend(m, facts, i)),
        }
        feed_forward(m, facts);
        decoder::norms(m, facts, &["input_layernorm", "post_attention_layernorm"]);
        Ok(())
    })
}

fn feed_forward(m: &mut Modules, facts: &Facts) {
    let shared = facts.experts.as_ref().map_or(facts.ffn.first(), |e| e.shared_width);
    if let Some(e) = &facts.experts {
        m.under("block_sparse_moe", |m| {
            experts::router(m, "router", facts.width, e);
            experts::stacked(m, facts.width, e);
        });
    }
    if shared > 0 {
        m.under("shared_mlp", |m| {
            ffn::fused_gate(m, ["input_linear", "output_linear"], facts.width, shared, false);
        });
    }
}
