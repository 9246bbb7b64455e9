//! Phi-3 and Phi-4: fused matrices. Their window is stated but not used by converted files.

use super::Family;
use crate::archs::blocks::Style;

pub(super) const FAMILIES: &[Family] = &[Family {
    gguf: &["phi3"],
    model_types: &["phi3"],
    style: Style { fused_qkv: true, fused_gate_up: true, ..Style::PLAIN },
    settle: |f| f.window = None,
    ..Family::PLAIN
}];
