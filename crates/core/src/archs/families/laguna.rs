//! Laguna: heads that may differ from layer to layer, a gate on attention's output by head or by value, and
//! windows in three of four layers of the smaller model.

use super::{Family, windows};
use crate::archs::built::experts::{Correction, Routed};
use crate::archs::built::layout::Layout;
use crate::archs::built::{Built, Modules, Text};
use crate::archs::facts::{Facts, LayerKind, PerLayer};
use crate::formats::hf_config::{Config, ConfigError};

const LAGUNA: Layout = Layout {
    routed: Routed { correction: Correction::Vector("gate.e_score_correction_bias"), ..Routed::USUAL },
    ..Layout::LLAMA
};

pub(super) const FAMILIES: &[Family] =
    &[Family { gguf: &["laguna"], model_types: &["laguna"], config, settle, body, ..Family::RENAMED }];

fn config(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    facts.ffn_bias = false;
    facts.lead_with_dense(1);
    if let Some(heads) = config.numbers_per_layer("num_attention_heads_per_layer", facts.layers)? {
        facts.heads = PerLayer::Each(heads);
    }
    windows(config, facts)?;
    // A class whose config lists no layers has no windows in them, whatever width it assumes.
    if facts.kinds.is_empty() {
        facts.window = None;
    }
    Ok(())
}

/// A file with a window and without a pattern: the first of every four layers looks at everything.
fn settle(facts: &mut Facts) {
    const PERIOD: u64 = 4;
    facts.qk_norm = true;
    facts.correct_router();
    match (facts.kinds.is_empty(), facts.window.is_some(), facts.window_pattern.is_some()) {
        (true, true, false) => {
            facts.set_kinds(|_, i| if i.is_multiple_of(PERIOD) { LayerKind::Full } else { LayerKind::Window })
        }
        (true, ..) => facts.set_windows(0),
        (false, ..) => {}
    }
}

fn body(m: &mut Modules, text: &Text<'_>) -> Built {
    // A gate a head, unless the config names another kind.
    let by_value = text.config.raw("gating").and_then(|gating| gating.as_str());
    let by_value = by_value.is_some_and(|kind| kind != "per-head")
        || text.config.raw("gating").is_some_and(|gating| gating.as_bool() == Some(false));
    let width = text.facts.width;
    LAGUNA.build_attending(m, text, |m, a, _| {
        let values = if by_value { a.heads.saturating_mul(a.v_dim) } else { a.heads };
        m.linear("g_proj", width, values, false);
    })
}
