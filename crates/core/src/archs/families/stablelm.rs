//! StableLM: Llama's matrices, norms with shifts, and one norm a layer where both parts run in parallel.

use super::Family;
use crate::archs::built::layout::{Layout, Norm, QkNorms};
use crate::archs::built::{Built, Modules, Text};
use crate::archs::facts::Facts;
use crate::formats::hf_config::{Config, ConfigError};

const STABLELM: Layout = Layout {
    norm: Norm::ScaleAndShift,
    qk_norms: QkNorms::Modules(["q_layernorm", "k_layernorm"]),
    ..Layout::LLAMA
};

pub(super) const FAMILIES: &[Family] =
    &[Family { gguf: &["stablelm"], model_types: &["stablelm"], config, body, ..Family::RENAMED }];

fn config(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    facts.qkv_bias = config.flag("use_qkv_bias")?.unwrap_or(false);
    facts.qk_norm = config.flag("qk_layernorm")?.unwrap_or(false);
    (facts.output_bias, facts.ffn_bias) = (false, false);
    Ok(())
}

fn body(m: &mut Modules, text: &Text<'_>) -> Built {
    let in_parallel = text.config.flag("use_parallel_residual")?.unwrap_or(false);
    let norms = if in_parallel { &STABLELM.norms[..1] } else { STABLELM.norms };
    Layout { norms, ..STABLELM }.build(m, text)
}
