//! Experts: stacked matrices, their router, and what every token runs through beside them.

use super::Modules;
use super::ffn;
use crate::archs::facts::{Experts, Facts};
use crate::model::ParameterKind;

/// How are experts laid out in a feed-forward module?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::archs) struct Routed {
    /// The router's module.
    pub(in crate::archs) router: &'static str,
    /// What corrects the router's scores, where that is a parameter.
    pub(in crate::archs) correction: Correction,
    /// How the experts' matrices are stacked.
    pub(in crate::archs) stack: Stack,
    /// The module that every token runs through, in models that have one.
    pub(in crate::archs) shared: &'static str,
    /// That module has a gate of its own.
    pub(in crate::archs) shared_gate: bool,
}

impl Routed {
    /// As most models have them.
    pub(in crate::archs) const USUAL: Self = Self {
        router: "gate",
        correction: Correction::None,
        stack: Stack::OutputFirst,
        shared: "shared_experts",
        shared_gate: false,
    };
}

/// Where is the correction of the router's scores, if it is a parameter?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::archs) enum Correction {
    /// Nowhere: it is a buffer, or there is none.
    None,
    /// A vector of this name.
    Vector(&'static str),
    /// A matrix of one row of this name.
    Row(&'static str),
}

/// In which order do stacked matrices have their dimensions?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::archs) enum Stack {
    /// `[experts, output, input]`.
    OutputFirst,
    /// `[experts, input, output]`.
    InputFirst,
    /// The same with biases, the router's among them.
    InputFirstBiased,
}

/// A feed-forward module of routed experts, with what every token runs through beside them.
pub(in crate::archs) fn routed(m: &mut Modules, facts: &Facts, e: &Experts, routed: &Routed) {
    let width = facts.width;
    router(m, routed.router, width, e);
    match routed.correction {
        Correction::None => {}
        Correction::Vector(name) => m.parameter(name, &[e.count]),
        Correction::Row(name) => m.parameter(name, &[1, e.count]),
    }
    match routed.stack {
        Stack::OutputFirst => stacked(m, width, e),
        Stack::InputFirst => stacked_input_first(m, width, e, false),
        Stack::InputFirstBiased => {
            m.under(routed.router, |m| m.parameter("bias", &[e.count]));
            stacked_input_first(m, width, e, true);
        }
    }
    if e.shared_width > 0 {
        m.under(routed.shared, |m| ffn::gated(m, width, e.shared_width, facts.ffn_bias));
        if routed.shared_gate {
            m.linear("shared_expert_gate", width, 1, false);
        }
    }
}

/// Gates and what they multiply, joined.
const PAIRS: ParameterKind = ParameterKind::Experts { joined: 2 };

/// Matrices that stand alone.
const SINGLE: ParameterKind = ParameterKind::Experts { joined: 1 };

/// Gated experts as the library stacks them: `[experts, output, input]`.
pub(in crate::archs) fn stacked(m: &mut Modules, width: u64, e: &Experts) {
    m.under("experts", |m| {
        m.add("gate_up_proj", &[e.count, e.width.saturating_mul(2), width], PAIRS);
        m.add("down_proj", &[e.count, width, e.width], SINGLE);
    });
}

/// Gated experts stacked the other way round.
fn stacked_input_first(m: &mut Modules, width: u64, e: &Experts, bias: bool) {
    let both = e.width.saturating_mul(2);
    m.under("experts", |m| {
        m.add("gate_up_proj", &[e.count, width, both], ParameterKind::ExpertsTransposed { joined: 2 });
        m.add("down_proj", &[e.count, e.width, width], ParameterKind::ExpertsTransposed { joined: 1 });
        if bias {
            m.parameter("gate_up_proj_bias", &[e.count, both]);
            m.parameter("down_proj_bias", &[e.count, width]);
        }
    });
}

/// Experts of two matrices.
fn stacked_plain(m: &mut Modules, width: u64, e: &Experts) {
    m.under("experts", |m| {
        m.add("up_proj", &[e.count, e.width, width], SINGLE);
        m.add("down_proj", &[e.count, width, e.width], SINGLE);
    });
}

/// Experts of two matrices that work in a width of their own, if they have one.
pub(in crate::archs) fn stacked_latent(m: &mut Modules, width: u64, e: &Experts, bias: bool) {
    stacked_plain(m, e.latent_width.unwrap_or(width), e);
    if let Some(latent) = e.latent_width {
        m.linear("fc1_latent_proj", width, latent, bias);
        m.linear("fc2_latent_proj", latent, width, bias);
    }
}

/// The router: one score an expert.
pub(in crate::archs) fn router(m: &mut Modules, name: &str, width: u64, e: &Experts) {
    m.under(name, |m| m.add("weight", &[e.count, width], ParameterKind::Router));
}

/// Gated experts as slices of three long matrices.
pub(in crate::archs) fn sliced(m: &mut Modules, width: u64, e: &Experts) {
    let rows = e.count.saturating_mul(e.width);
    for name in ["w1", "v1", "w2"] {
        m.parameter(name, &[rows, width]);
    }
}
