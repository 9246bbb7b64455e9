//! LongCat-Flash: layers of two attention modules and two dense parts each, with experts beside the first
//! pair. Each half counts as a layer; some experts compute nothing.

use super::Family;
use crate::archs::built::{Built, Modules, Text, attention, decoder, ffn};
use crate::archs::facts::{Experts, Facts, config};
use crate::formats::hf_config::{Config, ConfigError};
use crate::model::ParameterKind;

/// Halves of a layer.
const HALVES: u64 = 2;

pub(super) const FAMILIES: &[Family] =
    &[Family { model_types: &["longcat_flash"], config: read, body, ..Family::READ_ONLY }];

fn read(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    facts.layers = config.required(&["num_layers"])?.saturating_mul(HALVES);
    facts.latent = Some(config::latent(config)?);
    facts.ffn_bias = false;
    let dense = facts.ffn.first();
    if let Some(experts) = &mut facts.experts {
        experts.shared_width = dense;
        (experts.period, experts.offset) = (HALVES, 0);
        experts.router_bias = true;
    }
    Ok(())
}

fn body(m: &mut Modules, text: &Text<'_>) -> Built {
    let (facts, config) = (text.facts, text.config);
    let idle = config.uint(&["zero_expert_num"])?.unwrap_or(0);
    let biased = config.flag("router_bias")?.unwrap_or(false);
    let whole = Facts { layers: facts.layers / HALVES, ..facts.clone() };
    decoder::of_layers(m, &Text { facts: &whole, config }, |m, i| {
        for half in 0..HALVES {
            if let Some(latent) = &facts.latent {
                m.under("self_attn", |m| m.numbered(half, |m| attention::latent(m, facts, latent, i)));
            }
            m.under("mlps", |m| {
                m.numbered(half, |m| ffn::gated(m, facts.width, facts.ffn.first(), false));
            });
            for norm in ["input_layernorm", "post_attention_layernorm"] {
                m.under(norm, |m| m.numbered(half, |m| m.parameter("weight", &[facts.width])));
            }
        }
        if let Some(experts) = &facts.experts {
            m.under("mlp", |m| with_idle(m, facts.width, experts, idle, biased));
        }
        Ok(())
    })
}

/// Experts with room in the router, and in the first matrices, for those that compute nothing.
fn with_idle(m: &mut Modules, width: u64, e: &Experts, idle: u64, biased: bool) {
    let all = e.count.saturating_add(idle);
    m.linear("router.classifier", width, all, biased);
    m.under("experts", |m| {
        m.add("gate_up_proj", &[all, e.width.saturating_mul(2), width], ParameterKind::Experts { joined: 2 });
        m.add("down_proj", &[e.count, width, e.width], ParameterKind::Experts { joined: 1 });
    });
}
