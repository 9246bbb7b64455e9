//! Qwen 2, 2.5 and 3, dense and with experts.

use super::Family;
use crate::archs::facts::Facts;

pub(super) const FAMILIES: &[Family] = &[
    Family { gguf: &["qwen2"], model_types: &["qwen2"], settle: |f| f.qkv_bias = true, ..Family::PLAIN },
    Family { gguf: &["qwen3"], model_types: &["qwen3"], settle: normed, ..Family::PLAIN },
    Family { gguf: &["qwen3moe"], model_types: &["qwen3_moe"], settle: normed, ..Family::PLAIN },
];

fn normed(facts: &mut Facts) {
    facts.qk_norm = true;
}
