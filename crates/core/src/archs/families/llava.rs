//! Towers before language models that are families of their own: LLaVA and its line, Mistral Small 3, InternVL,
//! Idefics 3, PaliGemma; and Voxtral, which hears.

use super::{Ties, Whole, Wrapper};
use crate::archs::built::towers::{self, Vision, project, whisper};
use crate::archs::built::{Built, Modules};
use crate::formats::hf_config::{Config, ConfigError};

const CLIP: &str = "clip_vision_model";
const SIGLIP: &str = "siglip_vision_model";

pub(super) const WRAPPERS: &[Wrapper] = &[
    Wrapper {
        model_types: &["llava"],
        text: "llama",
        body: |m, whole| llava(m, whole, CLIP, false),
        ties: Ties::Either,
        ..Wrapper::PLAIN
    },
    Wrapper {
        model_types: &["llava_next"],
        text: "llama",
        body: |m, whole| llava(m, whole, CLIP, true),
        ..Wrapper::PLAIN
    },
    Wrapper {
        model_types: &["llava_onevision"],
        text: "qwen2",
        body: |m, whole| llava(m, whole, SIGLIP, true),
        ties: Ties::Either,
        ..Wrapper::PLAIN
    },
    Wrapper { model_types: &["mistral3"], text: "mistral", body: mistral, ..Wrapper::PLAIN },
    Wrapper { model_types: &["internvl"], text: "qwen2", body: internvl, ..Wrapper::PLAIN },
    Wrapper { model_types: &["idefics3"], text: "llama", body: idefics, ..Wrapper::PLAIN },
    Wrapper { model_types: &["paligemma"], text: "gemma", body: paligemma, ..Wrapper::PLAIN },
    Wrapper { model_types: &["voxtral"], text: "llama", body: voxtral, ties: Ties::Never, ..Wrapper::PLAIN },
];

/// The tower under its usual name, and its width.
fn tower(m: &mut Modules, whole: &Whole<'_>, class: &str) -> Result<u64, ConfigError> {
    let vision = whole.config.part("vision_config", class)?;
    m.under("vision_tower", |m| towers::vision(m, &vision, class))?;
    Ok(Vision::read(&vision)?.width)
}

/// Layers of the tower that are looked at side by side.
fn layers_seen(config: &Config<'_>) -> u64 {
    let listed = config.raw("vision_feature_layer").and_then(|layers| layers.as_array());
    listed.map_or(1, |list| list.len() as u64)
}

fn llava(m: &mut Modules, whole: &Whole<'_>, class: &str, newline: bool) -> Built {
    let width = whole.text.facts.width;
    if newline {
        m.parameter("image_newline", &[width]);
    }
    let seen = tower(m, whole, class)?.saturating_mul(layers_seen(whole.config));
    let bias = whole.config.flag("multimodal_projector_bias")?.unwrap_or(true);
    m.under("multi_modal_projector", |m| project::two_matrices(m, seen, width, bias));
    whole.language_model(m)
}

fn mistral(m: &mut Modules, whole: &Whole<'_>) -> Built {
    let seen = tower(m, whole, "pixtral")?.saturating_mul(layers_seen(whole.config));
    let bias = whole.config.flag("multimodal_projector_bias")?.unwrap_or(false);
    let side = whole.config.uint(&["spatial_merge_size"])?.unwrap_or(2);
    m.under("multi_modal_projector", |m| {
        project::merged_patches(m, seen, side, whole.text.facts.width, bias);
    });
    whole.language_model(m)
}

fn internvl(m: &mut Modules, whole: &Whole<'_>) -> Built {
    let seen = tower(m, whole, "internvl_vision")?;
    let ratio = whole.config.raw("downsample_ratio").and_then(|ratio| ratio.as_f64()).unwrap_or(0.5);
    // Whole patches to a side of what becomes one; a ratio that makes no sense leaves them as they are.
    let side = if ratio > 0.0 && ratio <= 1.0 { (1.0 / ratio) as u64 } else { 1 };
    let merged = seen.saturating_mul(side).saturating_mul(side);
    m.under("multi_modal_projector", |m| {
        m.layer_norm("layer_norm", merged);
        project::two_matrices(m, merged, whole.text.facts.width, true);
    });
    whole.language_model(m)
}

fn idefics(m: &mut Modules, whole: &Whole<'_>) -> Built {
    let vision = whole.config.part("vision_config", "idefics3_vision")?;
    m.under("vision_model", |m| towers::vision(m, &vision, "idefics3_vision"))?;
    let side = whole.config.required(&["scale_factor"])?;
    let seen = Vision::read(&vision)?.width.saturating_mul(side).saturating_mul(side);
    m.linear("connector.modality_projection.proj", seen, whole.text.facts.width, false);
    m.under("text_model", |m| (whole.family.body)(m, &whole.text))
}

fn paligemma(m: &mut Modules, whole: &Whole<'_>) -> Built {
    let seen = tower(m, whole, SIGLIP)?;
    m.linear("multi_modal_projector.linear", seen, whole.config.required(&["projection_dim"])?, true);
    whole.language_model(m)
}

fn voxtral(m: &mut Modules, whole: &Whole<'_>) -> Built {
    let sound = whisper::Sound::read(&whole.config.part("audio_config", "voxtral_encoder")?)?;
    m.under("audio_tower", |m| whisper::encoder(m, &sound))?;
    // Four rows of sound become one.
    let heard = sound.width.saturating_mul(4);
    m.under("multi_modal_projector", |m| project::two_matrices(m, heard, whole.text.facts.width, false));
    whole.language_model(m)
}
