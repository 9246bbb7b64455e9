//! Arcee's AFMoE (Trinity): windows in three of four layers, a gate on attention's output, norms at both ends
//! of both parts, experts after dense first layers.

use super::{Family, NORMED_AFTER, settle_stated_windows, windows};
use crate::archs::built::experts::{Correction, Routed};
use crate::archs::built::layout::Layout;
use crate::archs::facts::{Facts, PerLayer};
use crate::formats::hf_config::{Config, ConfigError};

const AFMOE: Layout = Layout {
    norms: &["input_layernorm", "post_attention_layernorm", "pre_mlp_layernorm", "post_mlp_layernorm"],
    routed: Routed { router: "router.gate", correction: Correction::Vector("expert_bias"), ..Routed::USUAL },
    ..Layout::LLAMA
};

pub(super) const FAMILIES: &[Family] = &[Family {
    gguf: &["afmoe"],
    model_types: &["afmoe"],
    renames: Some(NORMED_AFTER),
    config,
    settle: |f| {
        f.qk_norm = true;
        f.correct_router();
        settle_stated_windows(f, 4);
    },
    body: |m, text| {
        let width = text.facts.width;
        AFMOE.build_attending(m, text, |m, a, _| {
            m.linear("gate_proj", width, a.heads.saturating_mul(a.v_dim), false);
        })
    },
    ..Family::RENAMED
}];

fn config(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    facts.ffn_bias = false;
    windows(config, facts)?;
    if facts.kinds.is_empty() {
        facts.window_pattern = config.uint(&["global_attn_every_n_layers"])?.map(PerLayer::All);
    }
    Ok(())
}
