//! Decoders whose layers hold one attention and one feed-forward module: what differs between them is how
//! modules are named, what a norm holds, and which matrices are one.

use super::attention::{self, fused, named};
use super::decoder::{biases, feed_forward_as};
use super::experts::Routed;
use super::{Built, Modules, Text, ffn};
use crate::archs::facts::Facts;
use crate::model::{Attention, Ffn};

/// Norms of the stream at both ends of both parts of a layer.
pub(in crate::archs) const FOUR_NORMS: &[&str] = &[
    "input_layernorm",
    "post_attention_layernorm",
    "pre_feedforward_layernorm",
    "post_feedforward_layernorm",
];

/// What does a norm hold?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::archs) enum Norm {
    /// A scale.
    Scale,
    /// A scale and a shift.
    ScaleAndShift,
    /// Nothing that is learnt.
    Nothing,
}

impl Norm {
    /// Adds the norm of this name.
    pub(in crate::archs) fn add(self, m: &mut Modules, name: &str, width: u64) {
        match self {
            Self::Scale => m.norm(name, width),
            Self::ScaleAndShift => m.layer_norm(name, width),
            Self::Nothing => {}
        }
    }
}

/// Which matrices does attention have?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::archs) enum Projections {
    /// Queries, keys, values and output apart.
    Separate([&'static str; 4]),
    /// Queries, keys and values as one, beside the output.
    Fused([&'static str; 2]),
}

/// How are queries and keys normed, in models that norm them?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::archs) enum QkNorms {
    /// Each head by the same scale.
    Head([&'static str; 2]),
    /// All heads at once.
    Wide([&'static str; 2]),
    /// Each head by its own row of one table.
    Rows([&'static str; 2]),
    /// Each head by a module of its own.
    Modules([&'static str; 2]),
}

/// Which matrices does a dense feed-forward part have?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::archs) enum Matrices {
    /// Gate, up and down.
    Gated,
    /// Gate, up and down by these names.
    GatedAs([&'static str; 3]),
    /// Gate and up as one, beside down.
    FusedGate([&'static str; 2]),
    /// Up and down.
    Plain([&'static str; 2]),
}

/// How a decoder is put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::archs) struct Layout {
    /// The embedding table.
    pub(in crate::archs) table: &'static str,
    /// The layers.
    pub(in crate::archs) layers: &'static str,
    /// The norms of the stream in a layer.
    pub(in crate::archs) norms: &'static [&'static str],
    /// The norm after the last layer.
    pub(in crate::archs) last_norm: &'static str,
    /// What those norms hold.
    pub(in crate::archs) norm: Norm,
    /// The attention module.
    pub(in crate::archs) attention: &'static str,
    /// Its matrices.
    pub(in crate::archs) projections: Projections,
    /// Its norms, where the facts say that it has some.
    pub(in crate::archs) qk_norms: QkNorms,
    /// The feed-forward module.
    pub(in crate::archs) ffn: &'static str,
    /// Its matrices.
    pub(in crate::archs) matrices: Matrices,
    /// Its experts, in layers that have some.
    pub(in crate::archs) routed: Routed,
}

impl Layout {
    /// Llama's.
    pub(in crate::archs) const LLAMA: Self = Self {
        table: "embed_tokens",
        layers: "layers",
        norms: &["input_layernorm", "post_attention_layernorm"],
        last_norm: "norm",
        norm: Norm::Scale,
        attention: "self_attn",
        projections: Projections::Separate(["q_proj", "k_proj", "v_proj", "o_proj"]),
        qk_norms: QkNorms::Head(["q_norm", "k_norm"]),
        ffn: "mlp",
        matrices: Matrices::Gated,
        routed: Routed::USUAL,
    };

    /// Builds the decoder.
    pub(in crate::archs) fn build(&self, m: &mut Modules, text: &Text<'_>) -> Built {
        self.build_with(m, text, |_, _| {})
    }

    /// Builds the decoder, each layer with what `more` adds to it.
    pub(in crate::archs) fn build_with(
        &self,
        m: &mut Modules,
        text: &Text<'_>,
        mut more: impl FnMut(&mut Modules, u64),
    ) -> Built {
        self.around(m, text, |m, i| {
            self.layer(m, text.facts, i)?;
            more(m, i);
            Ok(())
        })
    }

    /// Builds the decoder, each attention module with what `more` adds to it.
    pub(in crate::archs) fn build_attending(
        &self,
        m: &mut Modules,
        text: &Text<'_>,
        more: impl Fn(&mut Modules, &Attention, u64),
    ) -> Built {
        self.build_with(m, text, |m, i| {
            m.under(self.attention, |m| more(m, &text.facts.attention(i), i));
        })
    }

    /// Builds the embedding and the last norm around layers that are built by `layer`.
    pub(in crate::archs) fn around(
        &self,
        m: &mut Modules,
        text: &Text<'_>,
        layer: impl FnMut(&mut Modules, u64) -> Built,
    ) -> Built {
        let facts = text.facts;
        m.table(self.table, facts.vocab, facts.width);
        m.each(self.layers, facts.layers, layer)?;
        self.norm.add(m, self.last_norm, facts.width);
        Ok(())
    }

    /// Builds a layer.
    pub(in crate::archs) fn layer(&self, m: &mut Modules, facts: &Facts, i: u64) -> Built {
        self.mixer(m, facts, i)?;
        m.under(self.ffn, |m| self.feed_forward(m, facts, i));
        self.stream_norms(m, facts);
        Ok(())
    }

    /// Builds the attention module of a layer.
    pub(in crate::archs) fn mixer(&self, m: &mut Modules, facts: &Facts, i: u64) -> Built {
        m.under(self.attention, |m| match &facts.latent {
            Some(latent) => {
                attention::latent(m, facts, latent, i);
                Ok(())
            }
            None => self.attend(m, facts, &facts.attention(i)),
        })
    }

    /// Builds the norms of the stream in a layer.
    pub(in crate::archs) fn stream_norms(&self, m: &mut Modules, facts: &Facts) {
        self.norms.iter().for_each(|name| self.norm.add(m, name, facts.width));
    }

    fn attend(&self, m: &mut Modules, facts: &Facts, a: &Attention) -> Built {
        match self.projections {
            Projections::Separate(names) => named(m, names, facts.width, a, biases(facts)),
            Projections::Fused(names) => fused(m, names, facts.width, a, biases(facts)),
        }
        if facts.qk_norm { self.norm_heads(m, a) } else { Ok(()) }
    }

    fn norm_heads(&self, m: &mut Modules, a: &Attention) -> Built {
        match self.qk_norms {
            QkNorms::Head(names) => names.iter().for_each(|name| self.norm.add(m, name, a.k_dim)),
            QkNorms::Wide([q, k]) => {
                self.norm.add(m, q, attention::q_width(a));
                self.norm.add(m, k, a.k_width());
            }
            QkNorms::Rows([q, k]) => {
                m.weight(q, &[a.heads, a.k_dim]);
                m.weight(k, &[a.kv_heads, a.k_dim]);
            }
            QkNorms::Modules([q, k]) => {
                for (name, heads) in [(q, a.heads), (k, a.kv_heads)] {
                    let one = |m: &mut Modules, _| {
                        m.parameter("weight", &[a.k_dim]);
                        Ok(())
                    };
                    m.under(name, |m| m.each("norms", heads, one))?;
                }
            }
        }
        Ok(())
    }

    fn feed_forward(&self, m: &mut Modules, facts: &Facts, i: u64) {
        let width = facts.width;
        match (facts.ffn_of(i), self.matrices) {
            (Ffn::Dense { width: hidden, .. }, Matrices::FusedGate(names)) => {
                ffn::fused_gate(m, names, width, hidden, facts.ffn_bias);
            }
            (Ffn::Dense { width: hidden, .. }, Matrices::GatedAs(names)) => {
                ffn::gated_as(m, names, width, hidden, facts.ffn_bias);
            }
            (Ffn::Dense { width: hidden, .. }, Matrices::Plain(names)) => {
                ffn::plain(m, names, width, hidden, facts.ffn_bias);
            }
            _ => feed_forward_as(m, facts, i, &self.routed),
        }
    }
}

/// A table of learnt positions, a row for each token of the longest context and some rows `more`.
pub(in crate::archs) fn positions(m: &mut Modules, name: &str, facts: &Facts, more: u64) {
    let rows = facts.context_length.map_or(0, |tokens| tokens.0);
    m.table(name, rows.saturating_add(more), facts.width);
}
