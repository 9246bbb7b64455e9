//! The usual decoder: an embedding, layers of attention and a feed-forward part, a last norm.

use super::attention::{self, Biases};
use super::experts::Routed;
use super::{Built, Modules, Text, experts, ffn};
use crate::archs::facts::Facts;
use crate::model::Ffn;

/// A decoder of usual layers.
pub(in crate::archs) fn usual(m: &mut Modules, text: &Text<'_>) -> Built {
    of_layers(m, text, |m, i| layer(m, text, i))
}

/// What a decoder calls its embedding, its list of layers and its last norm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::archs) struct Names {
    /// The embedding table.
    pub(in crate::archs) embedding: &'static str,
    /// The list of layers.
    pub(in crate::archs) layers: &'static str,
    /// The norm after the last layer.
    pub(in crate::archs) norm: &'static str,
}

impl Names {
    /// What most decoders call them.
    pub(in crate::archs) const USUAL: Self =
        Self { embedding: "embed_tokens", layers: "layers", norm: "norm" };
}

/// A decoder whose layers are built by `layer`.
pub(in crate::archs) fn of_layers(
    m: &mut Modules,
    text: &Text<'_>,
    layer: impl FnMut(&mut Modules, u64) -> Built,
) -> Built {
    named(m, text, &Names::USUAL, layer)
}

/// A decoder whose layers are built by `layer`, without a norm after the last.
pub(in crate::archs) fn of_layers_alone(
    m: &mut Modules,
    text: &Text<'_>,
    layer: impl FnMut(&mut Modules, u64) -> Built,
) -> Built {
    let facts = text.facts;
    m.table(Names::USUAL.embedding, facts.vocab, facts.width);
    m.each(Names::USUAL.layers, facts.layers, layer)
}

/// A decoder with names of its own, whose layers are built by `layer`.
pub(in crate::archs) fn named(
    m: &mut Modules,
    text: &Text<'_>,
    names: &Names,
    layer: impl FnMut(&mut Modules, u64) -> Built,
) -> Built {
    let facts = text.facts;
    m.table(names.embedding, facts.vocab, facts.width);
    m.each(names.layers, facts.layers, layer)?;
    m.norm(names.norm, facts.width);
    Ok(())
}

/// A usual layer: both parts normed at their entry.
pub(in crate::archs) fn layer(m: &mut Modules, text: &Text<'_>, i: u64) -> Built {
    m.under("self_attn", |m| attend(m, text.facts, i));
    m.under("mlp", |m| feed_forward(m, text.facts, i));
    norms(m, text.facts, &["input_layernorm", "post_attention_layernorm"]);
    Ok(())
}

/// Norms of the stream, by name.
pub(in crate::archs) fn norms(m: &mut Modules, facts: &Facts, names: &[&str]) {
    names.iter().for_each(|name| m.norm(name, facts.width));
}

/// Attention as the facts have it, its queries and keys normed by head where they are normed.
pub(in crate::archs) fn attend(m: &mut Modules, facts: &Facts, i: u64) {
    if let Some(latent) = &facts.latent {
        return attention::latent(m, facts, latent, i);
    }
    let a = facts.attention(i);
    attention::separate(m, facts.width, &a, biases(facts));
    if facts.qk_norm {
        attention::head_norms(m, &a);
    }
}

/// The biases that the facts state.
pub(in crate::archs) fn biases(facts: &Facts) -> Biases {
    Biases { qkv: facts.qkv_bias, output: facts.output_bias }
}

/// The feed-forward part as the facts have it: dense, or experts with what is shared.
pub(in crate::archs) fn feed_forward(m: &mut Modules, facts: &Facts, i: u64) {
    feed_forward_as(m, facts, i, &Routed::USUAL);
}

/// The same, but the shared expert has a gate of its own, if there is one.
pub(in crate::archs) fn feed_forward_beside_gate(m: &mut Modules, facts: &Facts, i: u64) {
    let routed = Routed { shared: "shared_expert", shared_gate: true, ..Routed::USUAL };
    feed_forward_as(m, facts, i, &routed);
}

/// The same, its experts laid out like this.
pub(in crate::archs) fn feed_forward_as(m: &mut Modules, facts: &Facts, i: u64, routed: &Routed) {
    let width = facts.width;
    match (facts.ffn_of(i), &facts.experts) {
        (Ffn::Experts { .. }, Some(e)) => experts::routed(m, facts, e, routed),
        (Ffn::Dense { width: hidden, gated: true }, _) => ffn::gated(m, width, hidden, facts.ffn_bias),
        (Ffn::Dense { width: hidden, gated: false }, _) => {
            ffn::plain(m, ["up_proj", "down_proj"], width, hidden, facts.ffn_bias);
        }
        _ => {}
    }
}
