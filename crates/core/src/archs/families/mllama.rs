//! Llama 3.2 Vision: some layers attend to the image instead of to the text.

use super::{Family, Ties, Whole, Wrapper};
use crate::archs::built::attention::{self, Biases};
use crate::archs::built::towers::mllama;
use crate::archs::built::{Built, Modules, Text, decoder, ffn};
use crate::archs::facts::{Facts, LayerKind, PerLayer};
use crate::formats::hf_config::{Config, ConfigError};

/// Rows of the embedding beyond the vocabulary, for markers of images.
const MARKERS: u64 = 8;

pub(super) const FAMILIES: &[Family] = &[Family {
    model_types: &["mllama_text_model"],
    config,
    settle: |f| f.rope_factors = true,
    body,
    ..Family::READ_ONLY
}];

pub(super) const WRAPPERS: &[Wrapper] = &[Wrapper {
    model_types: &["mllama"],
    text: "mllama_text_model",
    body: seeing,
    ties: Ties::Never,
    ..Wrapper::PLAIN
}];

fn config(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    (facts.qkv_bias, facts.output_bias, facts.ffn_bias) = (false, false, false);
    // Every fifth layer from the fourth on, unless the config lists them (class default).
    let listed = config.numbers("cross_attention_layers")?;
    let crossing = |i: u64| match &listed {
        Some(list) => list.contains(&i),
        None => i % 5 == 3,
    };
    facts.cross = PerLayer::Each((0..facts.layers).map(|i| u64::from(crossing(i))).collect());
    facts.set_kinds(|_, i| if crossing(i) { LayerKind::None } else { LayerKind::Full });
    Ok(())
}

fn body(m: &mut Modules, text: &Text<'_>) -> Built {
    let facts = text.facts;
    let vocab = facts.vocab.saturating_add(MARKERS);
    let rows = Facts { vocab, ..facts.clone() };
    decoder::of_layers(m, &Text { facts: &rows, config: text.config }, |m, i| {
        if facts.cross.at(i) == 0 {
            return decoder::layer(m, text, i);
        }
        let a = facts.attention(i);
        m.under("cross_attn", |m| {
            attention::separate(m, facts.width, &a, Biases::NONE);
            attention::head_norms(m, &a);
        });
        m.parameter("cross_attn_attn_gate", &[1]);
        m.parameter("cross_attn_mlp_gate", &[1]);
        m.under("mlp", |m| ffn::gated(m, facts.width, facts.ffn.at(i), false));
        decoder::norms(m, facts, &["input_layernorm", "post_attention_layernorm"]);
        Ok(())
    })
}

fn seeing(m: &mut Modules, whole: &Whole<'_>) -> Built {
    let vision = whole.config.part("vision_config", "mllama_vision_model")?;
    m.under("vision_model", |m| mllama::tower(m, &vision))?;
    whole.language_model(m)?;
    m.linear("multi_modal_projector", mllama::output(&vision)?, whole.text.facts.width, true);
    Ok(())
}
