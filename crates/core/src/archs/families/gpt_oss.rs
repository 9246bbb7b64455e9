//! gpt-oss: every other layer looks back 128 tokens; biases and sinks everywhere.

use super::Family;
use crate::archs::blocks::Style;
use crate::archs::facts::Facts;
use crate::formats::hf_config::{Config, ConfigError};
use crate::model::Window;

pub(super) const FAMILIES: &[Family] = &[Family {
    gguf: &["gpt-oss"],
    model_types: &["gpt_oss"],
    style: Style {
        output_bias: true,
        sinks: true,
        ffn_norm: "post_attention_norm.weight",
        expert_bias: true,
        ..Style::PLAIN
    },
    config,
    settle: |f| {
        f.qkv_bias = true;
        f.set_windows(2);
    },
    ..Family::PLAIN
}];

fn config(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    facts.window = config.uint(&["sliding_window"])?.map(Window::Sliding);
    Ok(())
}
