//! T5Gemma: Gemma 2's layers in an encoder and in a decoder that attends to it. The decoder is the language
//! model.

use super::{Family, Whole, Wrapper, head_as, windows};
use crate::archs::built::{Built, Modules, Text, attention, decoder, ffn};
use crate::archs::facts::PerLayer;

const NORMS: [&str; 4] = [
    "pre_self_attn_layernorm",
    "post_self_attn_layernorm",
    "pre_feedforward_layernorm",
    "post_feedforward_layernorm",
];

pub(super) const FAMILIES: &[Family] = &[Family {
    model_types: &["t5_gemma_module"],
    config: |c, f| {
        windows(c, f)?;
        f.cross = PerLayer::All(1);
        Ok(())
    },
    body: |m, text| m.under("decoder", |m| stack(m, text, true)),
    // The head goes by another name, and only its own matrix is a parameter.
    head: |m, text, _| head_as(m, text, "lm_head.out_proj"),
    ..Family::READ_ONLY
}];

pub(super) const WRAPPERS: &[Wrapper] =
    &[Wrapper { model_types: &["t5gemma"], text: "t5_gemma_module", body: both, ..Wrapper::PLAIN }];

fn both(m: &mut Modules, whole: &Whole<'_>) -> Built {
    let part = whole.config.part("encoder", "t5_gemma_module")?;
    let facts = whole.family.read(&part)?;
    m.under("encoder", |m| stack(m, &Text { facts: &facts, config: &part }, false))?;
    (whole.family.body)(m, &whole.text)
}

fn stack(m: &mut Modules, text: &Text<'_>, crosses: bool) -> Built {
    let facts = text.facts;
    decoder::of_layers(m, text, |m, i| {
        let a = facts.attention(i);
        let biases = decoder::biases(facts);
        m.under("self_attn", |m| attention::separate(m, facts.width, &a, biases));
        if crosses {
            m.under("cross_attn", |m| attention::separate(m, facts.width, &a, biases));
            decoder::norms(m, facts, &["pre_cross_attn_layernorm", "post_cross_attn_layernorm"]);
        }
        m.under("mlp", |m| ffn::gated(m, facts.width, facts.ffn.at(i), false));
        decoder::norms(m, facts, &NORMS);
        Ok(())
    })
}
