//! Layers of attention or of a state space, each followed by a feed-forward part: Bamba, Falcon-H1, Jamba.

use super::{Family, settle_by_kv_heads};
use crate::archs::blocks::Style;
use crate::archs::built::decoder::{self, Names};
use crate::archs::built::experts::Routed;
use crate::archs::built::recurrent::{self, StateSpaceStyle};
use crate::archs::built::{Built, Modules, Text};
use crate::archs::facts::{Facts, LayerKind, config, state_space};
use crate::formats::hf_config::{Config, ConfigError};
use crate::model::{Recurrent, StateSpace};

const ROUTED: Routed = Routed { router: "router", ..Routed::USUAL };

const NAMES: Names = Names { norm: "final_layernorm", ..Names::USUAL };

pub(super) const FAMILIES: &[Family] = &[
    Family {
        gguf: &["jamba"],
        model_types: &["jamba"],
        config: jamba,
        settle: settle_jamba,
        body: |m, text| body(m, text, true),
        ..Family::PLAIN
    },
    Family {
        gguf: &["falcon-h1"],
        model_types: &["falcon_h1"],
        // The converter writes this norm without the usual ending.
        style: Style { ffn_norm: "ffn_norm", recurrent_norm: false, ..Style::PLAIN },
        config: falcon_h1,
        settle: |f| f.set_kinds(|_, _| LayerKind::Parallel),
        body: |m, text| body(m, text, false),
        ..Family::PLAIN
    },
    // Converted files of it go by the key of Granite's hybrids.
    Family {
        gguf: &["granitehybrid"],
        model_types: &["bamba"],
        config: bamba,
        settle: |f| settle_by_kv_heads(f, LayerKind::Full),
        body: |m, text| body(m, text, false),
        ..Family::PLAIN
    },
];

fn jamba(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    let period = config.required(&["attn_layer_period"])?.max(1);
    let offset = config.required(&["attn_layer_offset"])?;
    facts.set_kinds(|_, i| if i % period == offset { LayerKind::Full } else { LayerKind::Recurrent });
    facts.recurrent = Some(Recurrent::StateSpace {
        kind: StateSpace::Mamba,
        conv: config.required(&["mamba_d_conv"])?,
        inner: facts.width.saturating_mul(config.required(&["mamba_expand"])?),
        state: config.required(&["mamba_d_state"])?,
        groups: 0,
        rank: config::time_step_rank(config, "mamba_dt_rank", facts.width)?,
    });
    // One expert is none.
    facts.experts = facts.experts.take().filter(|e| e.count > 1);
    Ok(())
}

fn settle_jamba(facts: &mut Facts) {
    settle_by_kv_heads(facts, LayerKind::Full);
    state_space(facts, StateSpace::Mamba);
    if let Some(experts) = facts.experts.as_mut().filter(|e| e.period == 0) {
        (experts.period, experts.offset) = (2, 1);
    }
}

fn falcon_h1(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    let inner = match config.uint(&["mamba_d_ssm"])? {
        Some(inner) => inner,
        None => facts.width.saturating_mul(config.required(&["mamba_expand"])?),
    };
    facts.recurrent = Some(config::mamba2(config, inner)?);
    Ok(())
}

fn bamba(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    let attention = config.numbers("attn_layer_indices")?.unwrap_or_default();
    facts.set_kinds(|_, i| if attention.contains(&i) { LayerKind::Full } else { LayerKind::Recurrent });
    let inner = facts.width.saturating_mul(config.required(&["mamba_expand"])?);
    facts.recurrent = Some(config::mamba2(config, inner)?);
    Ok(())
}

fn body(m: &mut Modules, text: &Text<'_>, inner_norms: bool) -> Built {
    let style = StateSpaceStyle { inner_norms, ..StateSpaceStyle::read(text.config)? };
    let facts = text.facts;
    decoder::named(m, text, &NAMES, |m, i| {
        let kind = facts.kind(i);
        if let Some(r) = facts.recurrent.as_ref().filter(|_| kind != LayerKind::Full) {
            m.under("mamba", |m| recurrent::state_space(m, facts.width, r, style));
        }
        if kind != LayerKind::Recurrent {
            m.under("self_attn", |m| decoder::attend(m, facts, i));
        }
        m.under("feed_forward", |m| decoder::feed_forward_as(m, facts, i, &ROUTED));
        decoder::norms(m, facts, &["input_layernorm", "pre_ff_layernorm"]);
        Ok(())
    })
}
