//! Nemotron-H: a layer is Mamba 2, attention, a dense feed-forward part without a gate, or experts.

use alloc::vec::Vec;

use super::Family;
use crate::archs::blocks::Style;
use crate::archs::built::attention::{self, Biases};
use crate::archs::built::decoder::{self, Names};
use crate::archs::built::recurrent::{self, StateSpaceStyle};
use crate::archs::built::{Built, Modules, Text, experts, ffn};
use crate::archs::facts::{Experts, Facts, LayerKind, PerLayer};
use crate::formats::hf_config::{Config, ConfigError};
use crate::model::{Ffn, Recurrent, StateSpace};

const STYLE: Style = Style { ffn_norm: "", ..Style::PLAIN };

const NAMES: Names = Names { embedding: "embeddings", layers: "layers", norm: "norm_f" };

pub(super) const FAMILIES: &[Family] = &[Family {
    gguf: &["nemotron_h", "nemotron_h_moe"],
    model_types: &["nemotron_h"],
    style: STYLE,
    config,
    settle,
    body,
    ..Family::PLAIN
}];

/// What a layer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Recurrent,
    Attention,
    Dense,
    Experts,
}

/// The layers by the pattern of letters, or by the list of words that newer configs have.
fn parts(config: &Config<'_>) -> Result<Vec<Part>, ConfigError> {
    if let Some(pattern) = config.text("hybrid_override_pattern")? {
        let part = |c| match c {
            'M' => Part::Recurrent,
            '*' => Part::Attention,
            'E' => Part::Experts,
            _ => Part::Dense,
        };
        return Ok(pattern.chars().map(part).collect());
    }
    let words = match config.words("layers_block_type")? {
        Some(words) => words,
        None => config.words("layer_types")?.unwrap_or_default(),
    };
    let part = |word: &&str| match *word {
        "mamba" | "linear_attention" => Part::Recurrent,
        "attention" | "full_attention" => Part::Attention,
        "moe" => Part::Experts,
        _ => Part::Dense,
    };
    Ok(words.iter().map(part).collect())
}

fn config(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    let parts = parts(config)?;
    facts.layers = parts.len() as u64;
    let (kv, dense) = (facts.kv_heads.first(), facts.ffn.first());
    facts.experts = experts(config, facts, &parts)?;
    let expert_width = facts.experts.as_ref().map_or(0, |e| e.width);
    facts.kv_heads =
        PerLayer::Each(parts.iter().map(|p| if *p == Part::Attention { kv } else { 0 }).collect());
    let ffn = |part: &Part| match part {
        Part::Dense => dense,
        Part::Experts => expert_width,
        Part::Recurrent | Part::Attention => 0,
    };
    facts.ffn = PerLayer::Each(parts.iter().map(ffn).collect());
    let heads = config.required(&["mamba_num_heads"])?;
    facts.recurrent = Some(Recurrent::StateSpace {
        kind: StateSpace::Mamba2,
        conv: config.required(&["conv_kernel"])?,
        inner: heads.saturating_mul(config.required(&["mamba_head_dim"])?),
        state: config.required(&["ssm_state_size"])?,
        groups: config.required(&["n_groups"])?,
        rank: heads,
    });
    Ok(())
}

/// Experts only where the pattern has layers of them: the class has defaults for models without any.
fn experts(config: &Config<'_>, facts: &mut Facts, parts: &[Part]) -> Result<Option<Experts>, ConfigError> {
    if !parts.contains(&Part::Experts) {
        return Ok(None);
    }
    let Some(mut experts) = facts.experts.take() else { return Ok(None) };
    experts.layers = Some(parts.iter().map(|p| *p == Part::Experts).collect());
    experts.shared_width = config.required(&["moe_shared_expert_intermediate_size"])?;
    experts.router_bias = true;
    Ok(Some(experts))
}

fn settle(facts: &mut Facts) {
    facts.gated_ffn = false;
    facts.one_part_a_layer = true;
    facts.set_kinds(|f, i| match (f.kv_heads.at(i), f.ffn.at(i)) {
        (0, 0) => LayerKind::Recurrent,
        (0, _) => LayerKind::None,
        (_, _) => LayerKind::Full,
    });
}

fn body(m: &mut Modules, text: &Text<'_>) -> Built {
    let style = StateSpaceStyle::read(text.config)?;
    let facts = text.facts;
    decoder::named(m, text, &NAMES, |m, i| {
        m.norm("norm", facts.width);
        m.under("mixer", |m| match (facts.kind(i), &facts.recurrent) {
            (LayerKind::Recurrent, Some(r)) => recurrent::state_space(m, facts.width, r, style),
            (LayerKind::Full, _) => attention::separate(m, facts.width, &facts.attention(i), Biases::NONE),
            _ => feed_forward(m, facts, i),
        });
        Ok(())
    })
}

fn feed_forward(m: &mut Modules, facts: &Facts, i: u64) {
    let names = ["up_proj", "down_proj"];
    match (facts.ffn_of(i), &facts.experts) {
        (Ffn::Experts { .. }, Some(e)) => {
            experts::stacked_latent(m, facts.width, e, facts.ffn_bias);
            experts::router(m, "gate", facts.width, e);
            if e.shared_width > 0 {
                m.under("shared_experts", |m| {
                    ffn::plain(m, names, facts.width, e.shared_width, facts.ffn_bias)
                });
            }
        }
        (Ffn::Dense { width, .. }, _) => ffn::plain(m, names, facts.width, width, facts.ffn_bias),
        _ => {}
    }
}
