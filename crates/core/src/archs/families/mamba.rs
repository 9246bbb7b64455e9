//! Mamba 1 and 2: recurrent layers only, and no feed-forward parts.

use super::Family;
use crate::archs::built::decoder::{self, Names};
use crate::archs::built::recurrent::{self, StateSpaceStyle};
use crate::archs::built::{Built, Modules, Text};
use crate::archs::facts::{Facts, LayerKind, PerLayer, config, state_space};
use crate::archs::renamed::{Fate, Names as Renames};
use crate::formats::hf_config::{Config, ConfigError};
use crate::model::{Recurrent, StateSpace};

const NAMES: Names = Names { embedding: "embeddings", layers: "layers", norm: "norm_f" };

/// What converters call the parts of the first Mamba's layer.
const CONVERTED: Renames = &[
    ("norm", Fate::As("attn_norm")),
    ("mixer.A_log", Fate::Bare("ssm_a")),
    ("mixer.D", Fate::Bare("ssm_d")),
    ("mixer.conv1d", Fate::As("ssm_conv1d")),
    ("mixer.in_proj", Fate::As("ssm_in")),
    ("mixer.x_proj", Fate::As("ssm_x")),
    ("mixer.dt_proj", Fate::As("ssm_dt")),
    ("mixer.out_proj", Fate::As("ssm_out")),
];

pub(super) const FAMILIES: &[Family] = &[
    Family {
        gguf: &["mamba"],
        model_types: &["mamba", "falcon_mamba"],
        renames: Some(CONVERTED),
        config: one,
        settle: |f| {
            state_space(f, StateSpace::Mamba);
            recurrent_everywhere(f);
        },
        body,
        stem: "backbone",
        ..Family::RENAMED
    },
    Family {
        gguf: &["mamba2"],
        model_types: &["mamba2"],
        config: two,
        settle: recurrent_everywhere,
        body,
        stem: "backbone",
        ..Family::PLAIN
    },
];

fn recurrent_everywhere(facts: &mut Facts) {
    facts.set_kinds(|_, _| LayerKind::Recurrent);
}

fn one(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    facts.ffn = PerLayer::All(0);
    facts.recurrent = Some(Recurrent::StateSpace {
        kind: StateSpace::Mamba,
        conv: config.required(&["conv_kernel"])?,
        inner: facts.width.saturating_mul(config.required(&["expand"])?),
        state: config.required(&["state_size"])?,
        groups: 0,
        rank: config::time_step_rank(config, "time_step_rank", facts.width)?,
    });
    Ok(())
}

fn two(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    facts.ffn = PerLayer::All(0);
    facts.recurrent = Some(Recurrent::StateSpace {
        kind: StateSpace::Mamba2,
        conv: config.required(&["conv_kernel"])?,
        inner: facts.width.saturating_mul(config.required(&["expand"])?),
        state: config.required(&["state_size"])?,
        groups: config.required(&["n_groups"])?,
        rank: config.required(&["num_heads"])?,
    });
    Ok(())
}

fn body(m: &mut Modules, text: &Text<'_>) -> Built {
    let style = StateSpaceStyle::read(text.config)?;
    let facts = text.facts;
    decoder::named(m, text, &NAMES, |m, _| {
        m.norm("norm", facts.width);
        if let Some(r) = &facts.recurrent {
            m.under("mixer", |m| recurrent::state_space(m, facts.width, r, style));
        }
        Ok(())
    })
}
