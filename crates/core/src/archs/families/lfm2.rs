//! LFM2: short convolutions in most layers, full attention in the rest; dense, or experts after the first.

use super::{Family, kinds_from_words, settle_by_kv_heads};
use crate::archs::blocks::Style;
use crate::archs::built::attention::{self, Biases};
use crate::archs::built::decoder::{self, Names};
use crate::archs::built::{Built, Modules, Text, experts, ffn, recurrent};
use crate::archs::facts::{Facts, LayerKind, PerLayer};
use crate::formats::hf_config::{Config, ConfigError};
use crate::model::{Ffn, Recurrent};

const NAMES: Names = Names { norm: "embedding_norm", ..Names::USUAL };

/// The last norm goes by the name of the first one in converted files.
const STYLE: Style = Style { output_norm: "token_embd_norm", ..Style::PLAIN };

pub(super) const FAMILIES: &[Family] = &[
    Family {
        gguf: &["lfm2"],
        model_types: &["lfm2"],
        style: STYLE,
        config: dense,
        settle,
        body,
        ..Family::PLAIN
    },
    Family {
        gguf: &["lfm2moe"],
        model_types: &["lfm2_moe"],
        style: STYLE,
        config: sparse,
        settle,
        body,
        ..Family::PLAIN
    },
];

fn settle(facts: &mut Facts) {
    facts.qk_norm = true;
    facts.tied = true;
    settle_by_kv_heads(facts, LayerKind::Full);
}

/// Layers by the list of their kinds, or by that of the ones with attention.
fn mixers(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    kinds_from_words(config, facts, &["conv"], (LayerKind::Recurrent, LayerKind::Full))?;
    if facts.kinds.is_empty()
        && let Some(full) = config.numbers("full_attn_idxs")?
    {
        facts.set_kinds(|_, i| if full.contains(&i) { LayerKind::Full } else { LayerKind::Recurrent });
    }
    let conv = config.required(&["conv_L_cache"])?;
    facts.recurrent = Some(Recurrent::ShortConv { width: facts.width, conv });
    Ok(())
}

/// The stated hidden width is that of a part without a gate; the class makes a gated one of its size.
fn dense(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    mixers(config, facts)?;
    if let Some(stated) = config.uint(&["block_ff_dim"])? {
        facts.ffn = PerLayer::All(stated);
    }
    if config.flag("block_auto_adjust_ff_dim")?.unwrap_or(true) {
        let multiple = config.uint(&["block_multiple_of"])?.unwrap_or(256).max(1);
        let adjusted = (facts.ffn.first().saturating_mul(2) / 3).div_ceil(multiple);
        facts.ffn = PerLayer::All(adjusted.saturating_mul(multiple));
    }
    Ok(())
}

fn sparse(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    mixers(config, facts)?;
    if let Some(experts) = &mut facts.experts {
        experts.leading_dense = config.required(&["num_dense_layers"])?;
        experts.router_bias = config.flag("use_expert_bias")?.unwrap_or(false);
    }
    Ok(())
}

fn body(m: &mut Modules, text: &Text<'_>) -> Built {
    let facts = text.facts;
    let bias = text.config.flag("conv_bias")?.unwrap_or(false);
    decoder::named(m, text, &NAMES, |m, i| {
        match (facts.kind(i), &facts.recurrent) {
            (LayerKind::Recurrent, Some(r)) => m.under("conv", |m| recurrent::short_conv(m, r, bias)),
            _ => m.under("self_attn", |m| {
                let a = facts.attention(i);
                attention::named(
                    m,
                    ["q_proj", "k_proj", "v_proj", "out_proj"],
                    facts.width,
                    &a,
                    Biases::NONE,
                );
                m.norm("q_layernorm", a.k_dim);
                m.norm("k_layernorm", a.k_dim);
            }),
        }
        m.under("feed_forward", |m| feed_forward(m, facts, i));
        decoder::norms(m, facts, &["operator_norm", "ffn_norm"]);
        Ok(())
    })
}

fn feed_forward(m: &mut Modules, facts: &Facts, i: u64) {
    match (facts.ffn_of(i), &facts.experts) {
        (Ffn::Experts { .. }, Some(e)) => {
            experts::stacked(m, facts.width, e);
            experts::router(m, "gate", facts.width, e);
        }
        (Ffn::Dense { width, .. }, _) => ffn::gated_as(m, ["w1", "w3", "w2"], facts.width, width, false),
        _ => {}
    }
}
