//! Command R7B and its like: three of four layers look at a window; one norm a layer.

use super::Family;
use crate::archs::blocks::Style;
use crate::archs::facts::{Facts, PerLayer};
use crate::formats::hf_config::{Config, ConfigError};
use crate::model::Window;

pub(super) const FAMILIES: &[Family] = &[Family {
    gguf: &["cohere2"],
    model_types: &["cohere2"],
    style: Style { ffn_norm: "", ..Style::PLAIN },
    config,
    settle: |f| f.set_windows(4),
    ..Family::PLAIN
}];

fn config(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    facts.window = config.uint(&["sliding_window"])?.map(Window::Sliding);
    facts.window_pattern = config.uint(&["sliding_window_pattern"])?.map(PerLayer::All);
    Ok(())
}
