//! Recurrent mixers: state spaces, delta nets, short convolutions.

use super::Modules;
use crate::model::Recurrent;

/// Which parts of a state-space mixer have biases, and whether it ends in a norm?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::archs) struct StateSpaceStyle {
    /// The convolution.
    pub(in crate::archs) conv_bias: bool,
    /// The input and output projections.
    pub(in crate::archs) proj_bias: bool,
    /// A gated norm before the output projection (Mamba 2).
    pub(in crate::archs) norm: bool,
}

impl StateSpaceStyle {
    /// What nearly every model has.
    pub(in crate::archs) const USUAL: Self = Self { conv_bias: true, proj_bias: false, norm: true };
}

/// Mamba 1, its time step in low rank.
pub(in crate::archs) fn mamba(m: &mut Modules, width: u64, r: &Recurrent, style: StateSpaceStyle) {
    let Recurrent::StateSpace { conv, inner, state, rank, .. } = *r else { return };
    m.parameter("A_log", &[inner, state]);
    m.parameter("D", &[inner]);
    m.convolution("conv1d", &[inner, 1, conv], style.conv_bias);
    m.linear("in_proj", width, inner.saturating_mul(2), style.proj_bias);
    m.linear("x_proj", inner, rank.saturating_add(state.saturating_mul(2)), false);
    m.linear("dt_proj", rank, inner, true);
    m.linear("out_proj", inner, width, style.proj_bias);
}

/// Mamba 2, one decay a head.
pub(in crate::archs) fn mamba2(m: &mut Modules, width: u64, r: &Recurrent, style: StateSpaceStyle) {
    let Recurrent::StateSpace { conv, inner, rank: heads, .. } = *r else { return };
    let convolved = r.convolved();
    for name in ["dt_bias", "A_log", "D"] {
        m.parameter(name, &[heads]);
    }
    m.convolution("conv1d", &[convolved, 1, conv], style.conv_bias);
    m.linear("in_proj", width, inner.saturating_add(convolved).saturating_add(heads), style.proj_bias);
    if style.norm {
        m.norm("norm", inner);
    }
    m.linear("out_proj", inner, width, style.proj_bias);
}

/// How does a gated delta net's input come in?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::archs) enum DeltaInput {
    /// Two matrices: q, k, v and gate; beta and alpha.
    Fused,
    /// Four matrices: q, k and v; gate; beta; alpha.
    Split,
}

/// A gated delta net.
pub(in crate::archs) fn gated_delta(m: &mut Modules, width: u64, r: &Recurrent, input: DeltaInput) {
    let Recurrent::StateSpace { conv, inner, rank: heads, .. } = *r else { return };
    let convolved = r.convolved();
    m.parameter("dt_bias", &[heads]);
    m.parameter("A_log", &[heads]);
    m.convolution("conv1d", &[convolved, 1, conv], false);
    match input {
        DeltaInput::Fused => {
            m.linear("in_proj_qkvz", width, convolved.saturating_add(inner), false);
            m.linear("in_proj_ba", width, heads.saturating_mul(2), false);
        }
        DeltaInput::Split => {
            m.linear("in_proj_qkv", width, convolved, false);
            m.linear("in_proj_z", width, inner, false);
            m.linear("in_proj_b", width, heads, false);
            m.linear("in_proj_a", width, heads, false);
        }
    }
    m.norm("norm", inner.checked_div(heads).unwrap_or(0));
    m.linear("out_proj", inner, width, false);
}

/// RWKV's mixer over time.
pub(in crate::archs) fn wkv(m: &mut Modules, width: u64, r: &Recurrent) {
    let Recurrent::StateSpace { inner, .. } = *r else { return };
    m.parameter("time_decay", &[inner]);
    m.parameter("time_first", &[inner]);
    for name in ["time_mix_key", "time_mix_value", "time_mix_receptance"] {
        m.parameter(name, &[1, 1, width]);
    }
    for name in ["key", "value", "receptance"] {
        m.linear(name, width, inner, false);
    }
    m.linear("output", inner, width, false);
}

/// RWKV's mixer over channels, which stands for the feed-forward part.
pub(in crate::archs) fn channel_mix(m: &mut Modules, width: u64, hidden: u64) {
    for name in ["time_mix_key", "time_mix_receptance"] {
        m.parameter(name, &[1, 1, width]);
    }
    m.linear("key", width, hidden, false);
    m.linear("receptance", width, width, false);
    m.linear("value", hidden, width, false);
}
