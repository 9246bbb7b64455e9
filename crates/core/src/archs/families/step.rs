//! Step 3.5 and 3.7: windows whose layers may have more heads, a gate a head on attention's output, experts
//! after three dense layers; Step 3.7 with its tower.

use super::{Family, Whole, Wrapper, settle_windows, windows};
use crate::archs::built::layout::Layout;
use crate::archs::built::towers::{Vision, vit};
use crate::archs::built::{Built, Modules};
use crate::archs::facts::{Facts, LayerKind, PerLayer};
use crate::formats::hf_config::{Config, ConfigError};

pub(super) const FAMILIES: &[Family] = &[Family {
    gguf: &["step35"],
    model_types: &["step3p5"],
    config,
    settle: |f| {
        f.qk_norm = true;
        f.correct_router();
        settle_windows(f, 0);
    },
    body: |m, text| {
        let width = text.facts.width;
        Layout::LLAMA.build_attending(m, text, |m, a, _| m.linear("g_proj", width, a.heads, false))
    },
    ..Family::RENAMED
}];

/// The library takes nothing from the outer config; published ones have a part for the language model.
pub(super) const WRAPPERS: &[Wrapper] =
    &[Wrapper { model_types: &["step3p7"], text: "step3p5", body: seeing, flat: false, ..Wrapper::PLAIN }];

fn config(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    windows(config, facts)?;
    let other = config.part("attention_other_setting", "")?;
    let windowed = match config.uint(&["num_sliding_attention_heads"])? {
        Some(heads) => Some(heads),
        None => other.uint(&["num_attention_heads"])?,
    };
    if let Some(windowed) = windowed {
        let full = facts.heads.first();
        let heads =
            (0..facts.layers).map(|i| if facts.kind(i) == LayerKind::Window { windowed } else { full });
        facts.heads = PerLayer::Each(heads.collect());
    }
    let sparse = listed(config, "moe_layers_enum");
    let experts_count = config.required(&["n_routed_experts", "num_experts"])?;
    let shared = config.required(&["share_expert_dim"])?;
    let layers = facts.layers;
    if let Some(experts) = &mut facts.experts {
        (experts.count, experts.shared_width) = (experts_count, shared);
        if experts.layers.is_none() {
            experts.leading_dense = 3;
            experts.layers = sparse.map(|list| (0..layers).map(|i| list.contains(&i)).collect());
        }
    }
    Ok(())
}

/// Layers by number, in a list or in a text with commas between them.
fn listed(config: &Config<'_>, name: &str) -> Option<alloc::vec::Vec<u64>> {
    match config.raw(name)?.as_str() {
        Some(text) => text.split(',').map(|number| number.trim().parse().ok()).collect(),
        None => config.numbers(name).ok().flatten(),
    }
}

fn seeing(m: &mut Modules, whole: &Whole<'_>) -> Built {
    let vision = whole.config.part("vision_config", "step3p5_vision")?;
    m.under("vision_model", |m| vit::step(m, &vision))?;
    whole.language_model(m)?;
    let seen = Vision::read(&vision)?.width.saturating_mul(4);
    let bias = whole.config.flag("projector_bias")?.unwrap_or(false);
    m.linear("multi_modal_projector", seen, whole.text.facts.width, bias);
    Ok(())
}
