//! Qwen 2, 2.5 and 3, dense and with experts.

use super::{Family, windows};
use crate::archs::facts::{Facts, LayerKind};
use crate::formats::hf_config::{Config, ConfigError};

pub(super) const FAMILIES: &[Family] = &[
    Family {
        gguf: &["qwen2"],
        model_types: &["qwen2"],
        config: |c, f| {
            (f.output_bias, f.ffn_bias) = (false, false);
            windows_in_last_layers(c, f)
        },
        settle: |f| f.qkv_bias = true,
        ..Family::PLAIN
    },
    Family { gguf: &["qwen3"], model_types: &["qwen3"], settle: normed, ..Family::PLAIN },
    Family { gguf: &["qwen3moe"], model_types: &["qwen3_moe"], settle: normed, ..Family::PLAIN },
];

fn normed(facts: &mut Facts) {
    facts.qk_norm = true;
}

/// Windows only where they are switched on: in the layers that are listed, else from one layer on.
fn windows_in_last_layers(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    if !config.flag("use_sliding_window")?.unwrap_or(false) {
        return Ok(());
    }
    windows(config, facts)?;
    if facts.kinds.is_empty() && facts.window.is_some() {
        let first = config.uint(&["max_window_layers"])?.unwrap_or(0);
        facts.set_kinds(|_, i| if i >= first { LayerKind::Window } else { LayerKind::Full });
    }
    Ok(())
}
