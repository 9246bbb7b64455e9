//! Experts: stacked matrices, their router, and what every token runs through beside them.

use super::Modules;
use crate::archs::facts::Experts;

/// Gated experts as the library stacks them: `[experts, output, input]`.
pub(in crate::archs) fn stacked(m: &mut Modules, width: u64, e: &Experts) {
    m.under("experts", |m| {
        m.parameter("gate_up_proj", &[e.count, e.width.saturating_mul(2), width]);
        m.parameter("down_proj", &[e.count, width, e.width]);
    });
}

/// Experts of two matrices.
fn stacked_plain(m: &mut Modules, width: u64, e: &Experts) {
    m.under("experts", |m| {
        m.parameter("up_proj", &[e.count, e.width, width]);
        m.parameter("down_proj", &[e.count, width, e.width]);
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
    m.weight(name, &[e.count, width]);
}

/// The part that every token runs through, gated, in a module of this name.
pub(in crate::archs) fn shared(m: &mut Modules, name: &str, width: u64, e: &Experts) {
    if e.shared_width > 0 {
        m.under(name, |m| super::ffn::gated(m, width, e.shared_width, false));
    }
}

/// Gated experts as slices of three long matrices.
pub(in crate::archs) fn sliced(m: &mut Modules, width: u64, e: &Experts) {
    let rows = e.count.saturating_mul(e.width);
    for name in ["w1", "v1", "w2"] {
        m.parameter(name, &[rows, width]);
    }
}
