//! Muse Glimmer: windows in three of four layers, a gate on attention's output, norms at both ends of both
//! parts; with its tower.

use super::{Family, Whole, Wrapper, settle_windows, windows};
use crate::archs::built::layout::{FOUR_NORMS, Layout};
use crate::archs::built::towers::vit;
use crate::archs::built::{Built, Modules};

const MUSE: Layout = Layout { norms: FOUR_NORMS, ..Layout::LLAMA };

pub(super) const FAMILIES: &[Family] = &[Family {
    gguf: &["muse-glimmer"],
    model_types: &["muse_glimmer_text"],
    config: windows,
    settle: |f| settle_windows(f, 4),
    body: |m, text| {
        let width = text.facts.width;
        MUSE.build_attending(m, text, |m, a, _| {
            m.linear("gate_proj", width, a.heads.saturating_mul(a.v_dim), false);
        })
    },
    ..Family::READ_ONLY
}];

pub(super) const WRAPPERS: &[Wrapper] =
    &[Wrapper { model_types: &["muse_glimmer"], text: "muse_glimmer_text", body: seeing, ..Wrapper::PLAIN }];

fn seeing(m: &mut Modules, whole: &Whole<'_>) -> Built {
    let vision = whole.config.part("vision_config", "muse_glimmer_vision")?;
    m.under("vision_tower", |m| vit::muse(m, &vision))?;
    whole.language_model(m)?;
    let merged = whole.config.required(&["out_hidden_size"])?;
    let between = whole.config.required(&["projector_hidden_size"])?;
    m.linear("vision_adapter.fc1", merged, between, false);
    m.linear("vision_adapter.fc2", between, between, false);
    m.linear("vision_projection", between, whole.text.facts.width, false);
    Ok(())
}
