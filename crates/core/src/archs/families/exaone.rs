//! EXAONE 3 is Llama's layout. EXAONE 4: norms after each part, windows in three of four layers of the deep
//! variant. K-EXAONE: Llama's layout with experts, and the same windows.

use super::{Family, NORMED_AFTER, settle_stated_windows, settle_windows, windows};
use crate::archs::built::layout::Layout;
use crate::archs::facts::{Facts, PerLayer};
use crate::formats::hf_config::{Config, ConfigError};
use crate::model::Window;

const EXAONE4: Layout =
    Layout { norms: &["post_attention_layernorm", "post_feedforward_layernorm"], ..Layout::LLAMA };

pub(super) const FAMILIES: &[Family] = &[
    Family { gguf: &["exaone"], model_types: &["exaone"], ..Family::RENAMED },
    Family {
        gguf: &["exaone4"],
        model_types: &["exaone4"],
        renames: Some(NORMED_AFTER),
        config,
        settle,
        body: |m, text| EXAONE4.build(m, text),
        ..Family::RENAMED
    },
    Family {
        gguf: &["exaone-moe"],
        model_types: &["exaone_moe"],
        config,
        settle: |f| {
            f.qk_norm = true;
            f.correct_router();
            settle_stated_windows(f, 4);
        },
        body: |m, text| Layout::LLAMA.build(m, text),
        ..Family::RENAMED
    },
];

/// Windows where the config states one; the pattern is a period, or a word of one letter a layer.
fn config(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    (facts.qkv_bias, facts.output_bias, facts.ffn_bias) = (false, false, false);
    if !config.has("sliding_window") {
        return Ok(());
    }
    let word = config.raw("sliding_window_pattern").and_then(|pattern| pattern.as_str());
    let Some(word) = word else { return windows(config, facts) };
    facts.window = config.uint(&["sliding_window"])?.map(Window::Sliding);
    let letters = word.chars().map(|letter| u64::from(letter == 'L')).cycle();
    facts.window_pattern =
        Some(PerLayer::Each(letters.zip(0..facts.layers).map(|(local, _)| local).collect()));
    Ok(())
}

/// Only the deep variant of this architecture has windows when nothing states them.
fn settle(facts: &mut Facts) {
    const LAYERS_WITH_WINDOWS: u64 = 64;
    facts.qk_norm = true;
    if facts.layers == LAYERS_WITH_WINDOWS || facts.window.is_some() {
        facts.window = facts.window.or(Some(Window::Sliding(4096)));
        settle_windows(facts, 4);
    }
}
