//! Dense feed-forward modules.

use super::Modules;

/// Gate, up and down, named as most models name them.
pub(in crate::archs) fn gated(m: &mut Modules, width: u64, hidden: u64, bias: bool) {
    gated_as(m, ["gate_proj", "up_proj", "down_proj"], width, hidden, bias);
}

/// Gate, up and down by these names.
pub(in crate::archs) fn gated_as(m: &mut Modules, names: [&str; 3], width: u64, hidden: u64, bias: bool) {
    let [gate, up, down] = names;
    m.linear(gate, width, hidden, bias);
    m.linear(up, width, hidden, bias);
    m.linear(down, hidden, width, bias);
}

/// Gate and up as one matrix, beside down.
pub(in crate::archs) fn fused_gate(m: &mut Modules, names: [&str; 2], width: u64, hidden: u64, bias: bool) {
    let [gate_up, down] = names;
    m.linear(gate_up, width, hidden.saturating_mul(2), bias);
    m.linear(down, hidden, width, bias);
}

/// Two matrices: up and down by these names.
pub(in crate::archs) fn plain(m: &mut Modules, names: [&str; 2], width: u64, hidden: u64, bias: bool) {
    let [up, down] = names;
    m.linear(up, width, hidden, bias);
    m.linear(down, hidden, width, bias);
}
