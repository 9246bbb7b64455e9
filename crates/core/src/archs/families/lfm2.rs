//! LFM2: short convolutions with attention in some layers.

use super::{Family, kinds_from_words, settle_by_kv_heads};
use crate::archs::blocks::Style;
use crate::archs::facts::{Facts, LayerKind, PerLayer};
use crate::formats::hf_config::{Config, ConfigError};
use crate::model::Recurrent;

pub(super) const FAMILIES: &[Family] = &[Family {
    gguf: &["lfm2", "lfm2moe"],
    model_types: &["lfm2"],
    // The last norm goes by the name of the first one in converted files.
    style: Style { output_norm: "token_embd_norm", ..Style::PLAIN },
    config,
    settle: |f| {
        f.qk_norm = true;
        f.tied = true;
        settle_by_kv_heads(f, LayerKind::Full);
    },
    ..Family::PLAIN
}];

fn config(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    kinds_from_words(config, facts, "conv", (LayerKind::Recurrent, LayerKind::Full))?;
    let conv = config.required(&["conv_L_cache"])?;
    facts.recurrent = Some(Recurrent::ShortConv { width: facts.width, conv });
    if config.flag("block_auto_adjust_ff_dim")?.unwrap_or(true) {
        let multiple = config.uint(&["block_multiple_of"])?.unwrap_or(256).max(1);
        let adjusted = (facts.ffn.first().saturating_mul(2) / 3).div_ceil(multiple);
        facts.ffn = PerLayer::All(adjusted.saturating_mul(multiple));
    }
    Ok(())
}
