//! Tensors of feed-forward parts, dense and of experts.

use super::{Sheet, Style};
use crate::archs::facts::{Experts, Facts};
use crate::model::Ffn;

/// The feed-forward part of layer `i`, norms included.
pub(super) fn ffn(sheet: &mut Sheet<'_>, facts: &Facts, style: &Style, i: u64) {
    let part = facts.layer(i).ffn;
    if part == Ffn::None {
        return;
    }
    if !style.ffn_norm.is_empty() {
        sheet.add(style.ffn_norm, &[facts.width]);
    }
    match (part, &facts.experts) {
        (Ffn::Experts { .. }, Some(experts)) => routed(sheet, facts, style, experts),
        (Ffn::Dense { width, gated }, _) => dense(sheet, facts.width, style, width, gated),
        _ => {}
    }
    if style.post_norms {
        sheet.norm("post_ffw_norm", facts.width);
    }
}

fn dense(sheet: &mut Sheet<'_>, width: u64, style: &Style, hidden: u64, gated: bool) {
    if gated && !style.fused_gate_up {
        sheet.linear("ffn_gate", width, hidden, false);
    }
    sheet.linear("ffn_down", hidden, width, false);
    let up = if style.fused_gate_up { hidden.saturating_mul(2) } else { hidden };
    sheet.linear("ffn_up", width, up, false);
}

fn routed(sheet: &mut Sheet<'_>, facts: &Facts, style: &Style, e: &Experts) {
    sheet.linear("ffn_gate_inp", facts.width, e.count, style.expert_bias);
    if e.router_bias {
        sheet.add("exp_probs_b.bias", &[e.count]);
    }
    let width = e.latent_width.unwrap_or(facts.width);
    let parts = [("gate", width, e.width), ("down", e.width, width), ("up", width, e.width)];
    for (part, input, output) in parts.into_iter().filter(|p| facts.gated_ffn || p.0 != "gate") {
        sheet.add(&alloc::format!("ffn_{part}_exps.weight"), &[input, output, e.count]);
        if style.expert_bias {
            sheet.add(&alloc::format!("ffn_{part}_exps.bias"), &[output, e.count]);
        }
    }
    if e.latent_width.is_some() {
        sheet.linear("ffn_latent_down", facts.width, width, false);
        sheet.linear("ffn_latent_up", width, facts.width, false);
    }
    if e.shared_width > 0 {
        shared(sheet, facts, style, e.shared_width);
    }
}

fn shared(sheet: &mut Sheet<'_>, facts: &Facts, style: &Style, hidden: u64) {
    if style.shared_gate {
        sheet.norm("ffn_gate_inp_shexp", facts.width);
    }
    if facts.gated_ffn {
        sheet.linear("ffn_gate_shexp", facts.width, hidden, false);
    }
    sheet.linear("ffn_down_shexp", hidden, facts.width, false);
    sheet.linear("ffn_up_shexp", facts.width, hidden, false);
}
