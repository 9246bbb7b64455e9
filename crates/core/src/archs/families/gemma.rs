//! Gemma 1 to 3: tied embeddings, windows of growing share, norms on both ends of every part.

use super::{Family, Whole, Wrapper};
use crate::archs::blocks::Style;
use crate::archs::built::layout::{FOUR_NORMS, Layout};
use crate::archs::built::towers::{self, Vision};
use crate::archs::built::{Built, Modules};
use crate::archs::facts::{Facts, PerLayer};
use crate::formats::hf_config::{Config, ConfigError};
use crate::model::Window;

const NORMED: Layout = Layout { norms: FOUR_NORMS, ..Layout::LLAMA };

const STYLE: Style = Style { post_norms: true, ..Style::PLAIN };

pub(super) const FAMILIES: &[Family] = &[
    Family { gguf: &["gemma"], model_types: &["gemma"], ..Family::PLAIN },
    Family {
        gguf: &["gemma2"],
        model_types: &["gemma2"],
        style: STYLE,
        body: |m, text| NORMED.build(m, text),
        config: windowed,
        settle: |f| {
            f.window = f.window.or(Some(Window::Sliding(4096)));
            f.set_windows(2);
        },
        ..Family::PLAIN
    },
    Family {
        gguf: &["gemma3"],
        model_types: &["gemma3_text"],
        style: STYLE,
        body: |m, text| NORMED.build(m, text),
        config: windowed,
        settle: |f| {
            f.qk_norm = true;
            f.set_windows(if f.window.is_some() { 6 } else { 0 });
        },
        ..Family::PLAIN
    },
];

pub(super) const WRAPPERS: &[Wrapper] =
    &[Wrapper { model_types: &["gemma3"], text: "gemma3_text", body: seeing, ..Wrapper::PLAIN }];

/// Gemma 3 with its SigLIP tower.
fn seeing(m: &mut Modules, whole: &Whole<'_>) -> Built {
    let config = whole.config.part("vision_config", "siglip_vision_model")?;
    let vision = Vision::read(&config)?;
    m.under("vision_tower", |m| towers::vision(m, &config, "siglip_vision_model"))?;
    m.under("multi_modal_projector", |m| {
        m.parameter("mm_input_projection_weight", &[vision.width, whole.text.facts.width]);
        m.norm("mm_soft_emb_norm", vision.width);
    });
    whole.language_model(m)
}

fn windowed(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    facts.window = config.uint(&["sliding_window"])?.map(Window::Sliding);
    facts.window_pattern = config.uint(&["sliding_window_pattern"])?.map(PerLayer::All);
    Ok(())
}
