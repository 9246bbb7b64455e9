//! Recurrent mixers: state spaces, delta nets, short convolutions.

use alloc::format;

use super::Modules;
use crate::formats::hf_config::{Config, ConfigError};
use crate::model::{Recurrent, StateSpace};

/// What differs between state-space mixers of one kind?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::archs) struct StateSpaceStyle {
    /// The convolution has a bias.
    pub(in crate::archs) conv_bias: bool,
    /// The input projection has a bias.
    pub(in crate::archs) in_bias: bool,
    /// The output projection has a bias.
    pub(in crate::archs) out_bias: bool,
    /// Mamba 2: a gated norm before the output projection.
    pub(in crate::archs) norm: bool,
    /// Mamba 1: norms of the time step and of what goes in and out of the state.
    pub(in crate::archs) inner_norms: bool,
}

impl StateSpaceStyle {
    /// Reads the biases under whichever names the class gives them.
    pub(in crate::archs) fn read(config: &Config<'_>) -> Result<Self, ConfigError> {
        let either = |a, b| Ok(config.flag(a)?.or(config.flag(b)?));
        let in_bias = either("use_bias", "mamba_proj_bias")?.unwrap_or(false);
        Ok(Self {
            conv_bias: either("use_conv_bias", "mamba_conv_bias")?.unwrap_or(true),
            in_bias,
            out_bias: config.flag("projectors_bias")?.unwrap_or(in_bias),
            norm: config.flag("mamba_rms_norm")?.unwrap_or(true),
            inner_norms: false,
        })
    }
}

/// A state-space mixer of whichever kind.
pub(in crate::archs) fn state_space(m: &mut Modules, width: u64, r: &Recurrent, style: StateSpaceStyle) {
    match r {
        Recurrent::StateSpace { kind: StateSpace::Mamba, .. } => mamba(m, width, r, style),
        _ => mamba2(m, width, r, style),
    }
}

/// Mamba 1, its time step in low rank.
fn mamba(m: &mut Modules, width: u64, r: &Recurrent, style: StateSpaceStyle) {
    let Recurrent::StateSpace { conv, inner, state, rank, .. } = *r else { return };
    m.parameter("A_log", &[inner, state]);
    m.parameter("D", &[inner]);
    m.convolution("conv1d", &[inner, 1, conv], style.conv_bias);
    m.linear("in_proj", width, inner.saturating_mul(2), style.in_bias);
    m.linear("x_proj", inner, rank.saturating_add(state.saturating_mul(2)), false);
    m.linear("dt_proj", rank, inner, true);
    if style.inner_norms {
        m.norm("dt_layernorm", rank);
        m.norm("b_layernorm", state);
        m.norm("c_layernorm", state);
    }
    m.linear("out_proj", inner, width, style.out_bias);
}

/// Mamba 2, one decay a head.
fn mamba2(m: &mut Modules, width: u64, r: &Recurrent, style: StateSpaceStyle) {
    let Recurrent::StateSpace { conv, inner, rank: heads, .. } = *r else { return };
    let convolved = r.convolved();
    for name in ["dt_bias", "A_log", "D"] {
        m.parameter(name, &[heads]);
    }
    m.convolution("conv1d", &[convolved, 1, conv], style.conv_bias);
    m.linear("in_proj", width, inner.saturating_add(convolved).saturating_add(heads), style.in_bias);
    if style.norm {
        m.norm("norm", inner);
    }
    m.linear("out_proj", inner, width, style.out_bias);
}

/// How does a gated delta net's input come in?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::archs) enum DeltaInput {
    /// Two matrices: q, k, v and gate; beta and alpha.
    Fused,
    /// Four matrices: q, k and v; gate; beta; alpha.
    Split,
    /// Seven matrices, each named for what it gives, and the output named as attention's.
    Single,
}

/// A gated delta net.
pub(in crate::archs) fn gated_delta(m: &mut Modules, width: u64, r: &Recurrent, input: DeltaInput) {
    let Recurrent::StateSpace { conv, inner, rank: heads, .. } = *r else { return };
    let convolved = r.convolved();
    m.parameter("dt_bias", &[heads]);
    m.parameter("A_log", &[heads]);
    m.convolution("conv1d", &[convolved, 1, conv], false);
    let keys = convolved.saturating_sub(inner) / 2;
    let head = inner.checked_div(heads).unwrap_or(0);
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
        DeltaInput::Single => {
            for (name, rows) in
                [("q", keys), ("k", keys), ("v", inner), ("g", inner), ("a", heads), ("b", heads)]
            {
                m.linear(&format!("{name}_proj"), width, rows, false);
            }
        }
    }
    let (norm, output) =
        if input == DeltaInput::Single { ("o_norm", "o_proj") } else { ("norm", "out_proj") };
    m.norm(norm, head);
    m.linear(output, inner, width, false);
}

/// How is the decay of a head stored in Kimi delta attention?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::archs) enum DecayShape {
    /// As a vector.
    Vector,
    /// As a tensor that spreads over batch, context and channels.
    Spread,
}

/// Which matrices do the two gates of Kimi delta attention have?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::archs) enum DeltaGates {
    /// Two each, through a narrow middle.
    LowRank,
    /// One each.
    FullRank,
    /// Two for the gate of what is forgotten, one for that of the output.
    FullRankOutput,
}

/// Kimi delta attention.
pub(in crate::archs) fn kimi_delta(
    m: &mut Modules,
    width: u64,
    r: &Recurrent,
    decay: DecayShape,
    gates: DeltaGates,
) {
    let Recurrent::KimiDelta { heads, head_dim, conv } = *r else { return };
    let inner = heads.saturating_mul(head_dim);
    for name in ["q_proj", "k_proj", "v_proj"] {
        m.linear(name, width, inner, false);
    }
    m.convolution("conv1d", &[r.convolved(), 1, conv], false);
    let gate = |m: &mut Modules, name: &str, in_low_rank: bool| {
        if in_low_rank {
            let [down, up] = ["a", "b"].map(|half| format!("{name}_{half}_proj"));
            low_rank(m, [&down, &up], [width, head_dim, inner]);
        } else {
            m.linear(&format!("{name}_proj"), width, inner, false);
        }
    };
    m.under("forget_gate", |m| {
        m.parameter("dt_bias", &[inner]);
        match decay {
            DecayShape::Vector => m.parameter("A_log", &[heads]),
            DecayShape::Spread => m.parameter("A_log", &[1, 1, heads, 1]),
        }
        gate(m, "f", gates != DeltaGates::FullRank);
    });
    m.linear("b_proj", width, heads, false);
    gate(m, "g", gates == DeltaGates::LowRank);
    m.norm("o_norm", head_dim);
    m.linear("o_proj", inner, width, false);
}

/// Two matrices through a narrow middle.
fn low_rank(m: &mut Modules, [down, up]: [&str; 2], [from, middle, to]: [u64; 3]) {
    m.linear(down, from, middle, false);
    m.linear(up, middle, to, false);
}

/// Lightning attention, its output normed and gated.
pub(in crate::archs) fn lightning(m: &mut Modules, width: u64, r: &Recurrent) {
    let Recurrent::Lightning { heads, head_dim } = *r else { return };
    let inner = heads.saturating_mul(head_dim);
    m.norm("norm", inner);
    m.linear("qkv_proj", width, inner.saturating_mul(3), false);
    m.linear("out_proj", inner, width, false);
    m.linear("output_gate", width, inner, false);
}

/// A short convolution between two gates.
pub(in crate::archs) fn short_conv(m: &mut Modules, r: &Recurrent, bias: bool) {
    let Recurrent::ShortConv { width, conv } = *r else { return };
    m.convolution("conv", &[width, 1, conv], bias);
    m.linear("in_proj", width, width.saturating_mul(3), bias);
    m.linear("out_proj", width, width, bias);
}

/// A gated linear recurrence beside a gate, each of its two gates in blocks, one a head.
pub(in crate::archs) fn gated_linear(m: &mut Modules, width: u64, r: &Recurrent, heads: u64) {
    let Recurrent::GatedLinear { width: inner, conv } = *r else { return };
    m.linear("linear_y", width, inner, true);
    m.linear("linear_x", width, inner, true);
    m.linear("linear_out", inner, width, true);
    m.convolution("conv_1d", &[inner, 1, conv], true);
    let block = inner.checked_div(heads).unwrap_or(0);
    m.under("rg_lru", |m| {
        m.parameter("recurrent_param", &[inner]);
        for gate in ["input_gate", "recurrent_gate"] {
            m.parameter(&format!("{gate}_weight"), &[heads, block, block]);
            m.parameter(&format!("{gate}_bias"), &[heads, block]);
        }
    });
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
