//! Gemma 1 to 4: tied embeddings, windows of growing share, norms on both ends of every part.

use super::{Family, Whole, Wrapper, kinds_from_words};
use crate::archs::blocks::Style;
use crate::archs::built::towers::{self, Vision};
use crate::archs::built::{Built, Modules, Text, decoder};
use crate::archs::facts::{Facts, LayerKind, PerLayer};
use crate::formats::hf_config::{Config, ConfigError};
use crate::model::Window;

/// Layers of Gemma 3n that keep a cache; those after them read it.
const LAYERS_WITH_CACHE_3N: u64 = 20;

const STYLE: Style = Style { post_norms: true, ..Style::PLAIN };

pub(super) const FAMILIES: &[Family] = &[
    Family { gguf: &["gemma"], model_types: &["gemma"], ..Family::PLAIN },
    Family {
        gguf: &["gemma2"],
        model_types: &["gemma2"],
        style: STYLE,
        body: four_norms,
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
        body: four_norms,
        config: windowed,
        settle: |f| {
            f.qk_norm = true;
            f.set_windows(if f.window.is_some() { 6 } else { 0 });
        },
        ..Family::PLAIN
    },
    Family {
        gguf: &["gemma3n"],
        builds: false,
        settle: |f| {
            f.set_windows(5);
            f.shared_kv_layers = f.layers.saturating_sub(LAYERS_WITH_CACHE_3N);
        },
        ..Family::PLAIN
    },
    Family {
        gguf: &["gemma4"],
        model_types: &["gemma4", "gemma4_text"],
        style: Style { layer_scale: true, keys_are_values: true, ..STYLE },
        config: two_head_sizes,
        settle: |f| {
            f.qk_norm = true;
            f.rope_factors = true;
            if f.kinds.is_empty() {
                f.set_windows(0);
            }
        },
        ..Family::PLAIN
    },
];

pub(super) const WRAPPERS: &[Wrapper] =
    &[Wrapper { model_types: &["gemma3"], text: "gemma3_text", body: seeing, ..Wrapper::PLAIN }];

/// Gemma 3 with its SigLIP tower.
fn seeing(m: &mut Modules, whole: &Whole<'_>) -> Built {
    let vision = Vision::read(&whole.config.part("vision_config", "siglip_vision_model")?)?;
    m.under("vision_tower", |m| towers::siglip(m, &vision))?;
    m.under("multi_modal_projector", |m| {
        m.parameter("mm_input_projection_weight", &[vision.width, whole.text.facts.width]);
        m.norm("mm_soft_emb_norm", vision.width);
    });
    whole.language_model(m)
}

/// Layers that norm both parts at both ends.
fn four_norms(m: &mut Modules, text: &Text<'_>) -> Built {
    decoder::of_layers(m, text, |m, i| {
        decoder::layer(m, text, i)?;
        decoder::norms(m, text.facts, &["pre_feedforward_layernorm", "post_feedforward_layernorm"]);
        Ok(())
    })
}

fn windowed(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    facts.window = config.uint(&["sliding_window"])?.map(Window::Sliding);
    facts.window_pattern = config.uint(&["sliding_window_pattern"])?.map(PerLayer::All);
    Ok(())
}

/// Gemma 4: full layers have wider and fewer key/value heads than window layers.
fn two_head_sizes(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    facts.window = config.uint(&["sliding_window"])?.map(Window::Sliding);
    kinds_from_words(config, facts, &["sliding_attention"], (LayerKind::Window, LayerKind::Full))?;
    facts.window_dims = Some((facts.k_dim, facts.v_dim));
    let full = config.uint(&["global_head_dim"])?.unwrap_or(facts.k_dim);
    (facts.k_dim, facts.v_dim) = (full, full);
    if let Some(full_kv) = config.uint(&["num_global_key_value_heads"])? {
        let window_kv = facts.kv_heads.first();
        let kv = |k: &LayerKind| if *k == LayerKind::Full { full_kv } else { window_kv };
        facts.kv_heads = PerLayer::Each(facts.kinds.iter().map(kv).collect());
    }
    Ok(())
}
