//! Tensors of recurrent mixers.

use super::{Sheet, Style};
use crate::archs::facts::Facts;
use crate::model::{Recurrent, StateSpace};

/// Sizes of a state-space mixer, named.
#[derive(Clone, Copy)]
struct Sizes {
    width: u64,
    conv: u64,
    inner: u64,
    state: u64,
    groups: u64,
    rank: u64,
}

impl Sizes {
    /// Channels the convolution runs over.
    fn convolved(self) -> u64 {
        self.inner.saturating_add(self.groups.saturating_mul(self.state).saturating_mul(2))
    }
}

/// The recurrent mixer of a layer.
pub(super) fn mixer(sheet: &mut Sheet<'_>, facts: &Facts, style: &Style) {
    let width = facts.width;
    match facts.recurrent {
        Some(Recurrent::StateSpace { kind, conv, inner, state, groups, rank }) => {
            let sizes = Sizes { width, conv, inner, state, groups, rank };
            match kind {
                StateSpace::Mamba => mamba(sheet, sizes),
                StateSpace::Mamba2 => mamba2(sheet, sizes, style),
                StateSpace::GatedDelta => gated_delta(sheet, sizes, style),
                // No converted file of this kind is built from facts.
                StateSpace::Wkv => {}
            }
        }
        Some(Recurrent::KimiDelta { heads, head_dim, conv }) => {
            kimi_delta(sheet, width, heads, head_dim, conv);
        }
        Some(Recurrent::ShortConv { width, conv }) => short_conv(sheet, width, conv),
        Some(Recurrent::Lightning { .. } | Recurrent::GatedLinear { .. }) | None => {}
    }
}

fn convolution(sheet: &mut Sheet<'_>, conv: u64, channels: u64, bias: bool) {
    sheet.add("ssm_conv1d.weight", &[conv, channels]);
    if bias {
        sheet.add("ssm_conv1d.bias", &[channels]);
    }
}

fn mamba(sheet: &mut Sheet<'_>, s: Sizes) {
    sheet.linear("ssm_in", s.width, s.inner.saturating_mul(2), false);
    convolution(sheet, s.conv, s.inner, true);
    sheet.linear("ssm_x", s.inner, s.rank.saturating_add(s.state.saturating_mul(2)), false);
    sheet.norm("ssm_dt_norm", s.rank);
    sheet.linear("ssm_dt", s.rank, s.inner, true);
    sheet.norm("ssm_b_norm", s.state);
    sheet.norm("ssm_c_norm", s.state);
    sheet.add("ssm_a", &[s.state, s.inner]);
    sheet.add("ssm_d", &[s.inner]);
    sheet.linear("ssm_out", s.inner, s.width, false);
}

fn mamba2(sheet: &mut Sheet<'_>, s: Sizes, style: &Style) {
    let projected = s.inner.saturating_add(s.convolved()).saturating_add(s.rank);
    sheet.linear("ssm_in", s.width, projected, false);
    convolution(sheet, s.conv, s.convolved(), true);
    sheet.add("ssm_dt.bias", &[s.rank]);
    sheet.add("ssm_a", &[1, s.rank]);
    sheet.add("ssm_d", &[1, s.rank]);
    if style.recurrent_norm {
        sheet.add("ssm_norm.weight", &[s.inner / s.groups.max(1), s.groups.max(1)]);
    }
    sheet.linear("ssm_out", s.inner, s.width, false);
}

fn gated_delta(sheet: &mut Sheet<'_>, s: Sizes, style: &Style) {
    sheet.linear("attn_qkv", s.width, s.convolved(), false);
    sheet.linear("attn_gate", s.width, s.inner, false);
    convolution(sheet, s.conv, s.convolved(), false);
    sheet.add("ssm_dt.bias", &[s.rank]);
    sheet.add("ssm_a", &[s.rank]);
    if style.fused_delta_gates {
        sheet.linear("ssm_ba", s.width, s.rank.saturating_mul(2), false);
    } else {
        sheet.linear("ssm_beta", s.width, s.rank, false);
        sheet.linear("ssm_alpha", s.width, s.rank, false);
    }
    sheet.norm("ssm_norm", s.state);
    sheet.linear("ssm_out", s.inner, s.width, false);
}

fn kimi_delta(sheet: &mut Sheet<'_>, width: u64, heads: u64, head_dim: u64, conv: u64) {
    let inner = heads.saturating_mul(head_dim);
    for part in ["q", "k", "v"] {
        sheet.add(&alloc::format!("ssm_conv1d_{part}.weight"), &[conv, 1, inner, 1]);
        sheet.linear(&alloc::format!("attn_{part}"), width, inner, false);
    }
    sheet.linear("ssm_f_a", width, head_dim, false);
    sheet.linear("ssm_f_b", head_dim, inner, false);
    sheet.linear("ssm_beta", width, heads, false);
    sheet.add("ssm_a", &[1, heads, 1, 1]);
    sheet.add("ssm_dt.bias", &[inner]);
    sheet.linear("ssm_g_a", width, head_dim, false);
    sheet.linear("ssm_g_b", head_dim, inner, false);
    sheet.norm("ssm_norm", head_dim);
    sheet.linear("attn_output", inner, width, false);
}

fn short_conv(sheet: &mut Sheet<'_>, width: u64, conv: u64) {
    sheet.add("shortconv.conv.weight", &[conv, width]);
    sheet.linear("shortconv.in_proj", width, width.saturating_mul(3), false);
    sheet.linear("shortconv.out_proj", width, width, false);
}
