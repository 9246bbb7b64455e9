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

/// What weighs the outputs of earlier layers against each other: a norm and one score each.
pub(in crate::archs) fn over_depth(m: &mut Modules, width: u64) {
    m.norm("norm", width);
    m.linear("score", width, 1, false);
}

/// Mixers in low rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::archs) struct LowRank {
    /// Streams.
    pub(in crate::archs) count: u64,
    /// Rank of the matrices that mix what goes in.
    pub(in crate::archs) rank: u64,
    /// Width of one stream.
    pub(in crate::archs) width: u64,
}

impl LowRank {
    const fn all(&self) -> u64 {
        self.count.saturating_mul(self.width)
    }

    /// Mixers around a layer's two parts; they stand for the norms at their entry.
    pub(in crate::archs) fn around_parts(&self, m: &mut Modules) {
        for part in ["attn_hyper_connection", "mlp_hyper_connection"] {
            m.under(part, |m| {
                self.mixer(m);
                m.linear("block_inject_weight", self.all(), self.count, false);
            });
        }
    }

    /// What mixes the streams into one.
    pub(in crate::archs) fn mixer(&self, m: &mut Modules) {
        m.norm("hc_norm", self.all());
        m.linear("input_mix_weight_down", self.all(), self.rank, false);
        m.linear("input_mix_weight_up", self.rank, self.all(), false);
    }
}
