//! CLIP: an encoder of text and one of images, brought into one width.

use super::{Family, Whole, Wrapper};
use crate::archs::built::towers::{Vision, clip};
use crate::archs::built::{Built, Modules};
use crate::archs::facts::LayerKind;

pub(super) const FAMILIES: &[Family] = &[Family {
    model_types: &["clip_text_model"],
    settle: |f| {
        f.set_kinds(|_, _| LayerKind::Bidirectional);
        f.gated_ffn = false;
    },
    body: |m, text| clip::text(m, text.config),
    ..Family::READ_ONLY
}];

pub(super) const WRAPPERS: &[Wrapper] =
    &[Wrapper { model_types: &["clip"], text: "clip_text_model", body: both, stem: "", ..Wrapper::PLAIN }];

fn both(m: &mut Modules, whole: &Whole<'_>) -> Built {
    let vision = whole.config.part("vision_config", "clip_vision_model")?;
    let joint = whole.config.required(&["projection_dim"])?;
    m.parameter("logit_scale", &[]);
    m.under("text_model", |m| (whole.family.body)(m, &whole.text))?;
    m.under("vision_model", |m| clip::clip(m, &vision))?;
    m.linear("visual_projection", Vision::read(&vision)?.width, joint, false);
    m.linear("text_projection", whole.text.facts.width, joint, false);
    Ok(())
}
