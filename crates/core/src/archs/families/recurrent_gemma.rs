//! RecurrentGemma: gated linear recurrences, and attention in a window in every third layer.

use super::Family;
use crate::archs::built::attention::{self, Biases};
use crate::archs::built::decoder::{self, Names};
use crate::archs::built::{Built, Modules, Text, ffn, recurrent};
use crate::archs::facts::{Facts, LayerKind, PerLayer};
use crate::formats::hf_config::{Config, ConfigError};
use crate::model::{Recurrent, Window};

/// The pattern of layers when a config does not give one (class default).
const PATTERN: &[&str] = &["recurrent", "recurrent", "attention"];

const NAMES: Names = Names { norm: "final_norm", ..Names::USUAL };

pub(super) const FAMILIES: &[Family] =
    &[Family { model_types: &["recurrent_gemma"], builds: false, config, body, ..Family::PLAIN }];

fn config(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    let stated = config.words("block_types")?.filter(|words| !words.is_empty());
    let pattern = stated.as_deref().unwrap_or(PATTERN);
    let kind = |word: &&str| if *word == "recurrent" { LayerKind::Recurrent } else { LayerKind::Window };
    let layers = usize::try_from(facts.layers).unwrap_or(0);
    facts.kinds = pattern.iter().map(kind).cycle().take(layers).collect();
    facts.window = config.uint(&["attention_window_size", "sliding_window"])?.map(Window::Sliding);
    let width = config.uint(&["lru_width"])?.unwrap_or(facts.width);
    facts.recurrent = Some(Recurrent::GatedLinear { width, conv: config.required(&["conv1d_width"])? });
    // The config states both halves of the gated part together.
    facts.ffn = PerLayer::All(facts.ffn.first() / 2);
    Ok(())
}

fn body(m: &mut Modules, text: &Text<'_>) -> Built {
    let facts = text.facts;
    decoder::named(m, text, &NAMES, |m, i| {
        m.under("temporal_block", |m| match (facts.kind(i), &facts.recurrent) {
            (LayerKind::Recurrent, Some(r)) => {
                recurrent::gated_linear(m, facts.width, r, facts.heads.first());
            }
            _ => {
                let biases = Biases { qkv: facts.qkv_bias, output: true };
                attention::separate(m, facts.width, &facts.attention(i), biases);
            }
        });
        m.under("mlp_block", |m| ffn::gated(m, facts.width, facts.ffn.at(i), true));
        decoder::norms(m, facts, &["temporal_pre_norm", "channel_pre_norm"]);
        Ok(())
    })
}
