//! Several residual streams instead of one (hyper-connections): what mixes them around each part of a layer,
//! and what joins them at the end.

use super::Modules;

/// Mixers of `count` streams around a layer's two parts: each gives what goes in, what comes out, and how
/// the streams mix.
pub(in crate::archs) fn around_parts(m: &mut Modules, count: u64, width: u64) {
    let weights = count.saturating_add(2).saturating_mul(count);
    for part in ["attn_hc", "ffn_hc"] {
        m.under(part, |m| {
            m.parameter("fn", &[weights, count.saturating_mul(width)]);
            m.parameter("base", &[weights]);
            m.parameter("scale", &[3]);
        });
    }
}

/// What joins `count` streams into one after the last layer.
pub(in crate::archs) fn joined(m: &mut Modules, count: u64, width: u64) {
    m.under("hc_head", |m| {
        m.parameter("hc_fn", &[count, count.saturating_mul(width)]);
        m.parameter("hc_base", &[count]);
        m.parameter("hc_scale", &[1]);
    });
}
