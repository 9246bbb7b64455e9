//! What brings a tower's output into the width of a language model.

use crate::archs::built::Modules;

/// Two matrices with a non-linearity between them.
pub(in crate::archs) fn two_matrices(m: &mut Modules, from: u64, to: u64, bias: bool) {
    m.linear("linear_1", from, to, bias);
    m.linear("linear_2", to, to, bias);
}

/// Patches merged `side` by `side` into one, normed before; then two matrices.
pub(in crate::archs) fn merged_patches(m: &mut Modules, from: u64, side: u64, to: u64, bias: bool) {
    m.norm("norm", from);
    m.linear("patch_merger.merging_layer", from.saturating_mul(side).saturating_mul(side), from, false);
    two_matrices(m, from, to, bias);
}
