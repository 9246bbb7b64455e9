//! Gemma 3n and Gemma 4: window layers with heads of their own size, last layers that read an earlier
//! layer's cache, and in small models an embedding for every layer.

use super::{Family, Whole, Wrapper, kinds_from_words, settle_windows};
use crate::archs::blocks::Style;
use crate::archs::built::layout::FOUR_NORMS;
use crate::archs::built::towers::{gemma, mobilenet};
use crate::archs::built::{Built, Modules, Text, attention, decoder, experts, ffn};
use crate::archs::facts::{Facts, LayerKind, PerLayer};
use crate::archs::renamed::{Fate, Names};
use crate::formats::hf_config::{Config, ConfigError};
use crate::model::Window;

/// Layers of Gemma 3n that keep a cache, in files that do not say.
const LAYERS_WITH_CACHE_3N: u64 = 20;

/// What converters call what stands beside a usual layer.
const CONVERTED_3N: Names = &[
    ("post_attention_layernorm", Fate::As("post_attention_norm")),
    ("per_layer_input_gate", Fate::As("inp_gate")),
    ("per_layer_projection", Fate::As("proj")),
    ("post_per_layer_input_norm", Fate::As("post_norm")),
    ("altup.correct_output_scale", Fate::As("altup_correct_scale")),
    ("altup.correction_coefs", Fate::As("altup_correct_coef")),
    ("altup.prediction_coefs", Fate::As("altup_predict_coef")),
    ("altup.modality_router", Fate::As("altup_router")),
    ("altup.router_norm", Fate::As("altup_router_norm")),
    ("laurel.linear_left", Fate::As("laurel_l")),
    ("laurel.linear_right", Fate::As("laurel_r")),
    ("laurel.post_laurel_norm", Fate::As("laurel_post_norm")),
];

/// The same of the newer one.
const CONVERTED_4: Names = &[
    ("post_attention_layernorm", Fate::As("post_attention_norm")),
    ("per_layer_input_gate", Fate::As("inp_gate")),
    ("per_layer_projection", Fate::As("proj")),
    ("post_per_layer_input_norm", Fate::As("post_norm")),
    ("layer_scalar", Fate::As("layer_output_scale")),
    ("router.scale", Fate::Bare("ffn_gate_inp.scale")),
    ("router.per_expert_scale", Fate::Bare("ffn_down_exps.scale")),
    ("router.proj", Fate::As("ffn_gate_inp")),
    ("experts.gate_up_proj", Fate::As("ffn_gate_up_exps")),
    ("pre_feedforward_layernorm_2", Fate::As("pre_ffw_norm_2")),
    ("post_feedforward_layernorm_1", Fate::As("post_ffw_norm_1")),
    ("post_feedforward_layernorm_2", Fate::As("post_ffw_norm_2")),
];

pub(super) const FAMILIES: &[Family] = &[
    Family {
        gguf: &["gemma3n"],
        model_types: &["gemma3n_text"],
        renames: Some(CONVERTED_3N),
        config: windowed,
        settle: |f| {
            f.qk_norm = true;
            settle_windows(f, 5);
            if f.shared_kv_layers == 0 {
                f.shared_kv_layers = f.layers.saturating_sub(LAYERS_WITH_CACHE_3N);
            }
        },
        body: |m, text| {
            let streams = Streams::read(text)?;
            body(m, text, |m, i| streams.layer(m, text, i), |m| streams.ends(m, text.facts))
        },
        ..Family::RENAMED
    },
    Family {
        gguf: &["gemma4"],
        model_types: &["gemma4_text", "gemma4_unified_text", "gemma4"],
        renames: Some(CONVERTED_4),
        style: Style { post_norms: true, layer_scale: true, keys_are_values: true, ..Style::PLAIN },
        config: two_head_sizes,
        settle: |f| {
            f.qk_norm = true;
            f.rope_factors = true;
            settle_windows(f, 0);
            let dense = f.ffn.first();
            if let Some(experts) = &mut f.experts {
                experts.shared_width = dense;
            }
        },
        body: |m, text| body(m, text, |m, i| usual(m, text, i), |_| Ok(())),
        ..Family::PLAIN
    },
];

pub(super) const WRAPPERS: &[Wrapper] = &[
    Wrapper { model_types: &["gemma3n"], text: "gemma3n_text", body: with_towers_3n, ..Wrapper::PLAIN },
    Wrapper { model_types: &["gemma4"], text: "gemma4_text", body: with_towers_4, ..Wrapper::PLAIN },
    Wrapper {
        model_types: &["gemma4_unified"],
        text: "gemma4_unified_text",
        body: with_patches_alone,
        ..Wrapper::PLAIN
    },
];

fn windowed(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    facts.window = config.uint(&["sliding_window"])?.map(Window::Sliding);
    kinds_from_words(config, facts, &["sliding_attention"], (LayerKind::Window, LayerKind::Full))
}

/// Gemma 4: full layers have wider and fewer key/value heads than window layers.
fn two_head_sizes(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    windowed(config, facts)?;
    if facts.kinds.is_empty() {
        // Every sixth layer looks at everything (class default).
        facts.set_every(6, LayerKind::Full, LayerKind::Window);
    }
    // The last layer looks at everything whatever a config lists.
    if let Some(kind) = facts.kinds.last_mut() {
        *kind = LayerKind::Full;
    }
    facts.window_dims = Some((facts.k_dim, facts.v_dim));
    let full = config.uint_or("global_head_dim", 512)?;
    (facts.k_dim, facts.v_dim) = (full, full);
    let keys_are_values = config.flag("attention_k_eq_v")?.unwrap_or(false);
    if let Some(full_kv) = config.uint(&["num_global_key_value_heads"])?.filter(|_| keys_are_values) {
        let window_kv = facts.kv_heads.first();
        let kv = |k: &LayerKind| if *k == LayerKind::Full { full_kv } else { window_kv };
        facts.kv_heads = PerLayer::Each(facts.kinds.iter().map(kv).collect());
    }
    if !config.flag("enable_moe_block")?.unwrap_or(false) {
        facts.experts = None;
    }
    if config.flag("use_double_wide_mlp")?.unwrap_or(false) {
        let keeping = facts.layers.saturating_sub(facts.shared_kv_layers);
        let wide = |i: u64| facts.ffn.at(i).saturating_mul(if i < keeping { 1 } else { 2 });
        facts.ffn = PerLayer::Each((0..facts.layers).map(wide).collect());
    }
    Ok(())
}

/// The decoder, with an embedding for every layer in models that have one, and `more` beside the layers.
fn body(
    m: &mut Modules,
    text: &Text<'_>,
    layer: impl FnMut(&mut Modules, u64) -> Built,
    more: impl FnOnce(&mut Modules) -> Built,
) -> Built {
    let facts = text.facts;
    decoder::of_layers(m, text, layer)?;
    more(m)?;
    let inputs = facts.per_layer_width.saturating_mul(facts.layers);
    if inputs > 0 {
        m.table("embed_tokens_per_layer", text.config.required(&["vocab_size_per_layer_input"])?, inputs);
        m.linear("per_layer_model_projection", facts.width, inputs, false);
        m.norm("per_layer_projection_norm", facts.per_layer_width);
    }
    Ok(())
}

/// A layer with norms at both ends of both parts, its experts beside the dense part.
fn usual(m: &mut Modules, text: &Text<'_>, i: u64) -> Built {
    let facts = text.facts;
    m.under("self_attn", |m| attend(m, text, i))?;
    m.under("mlp", |m| ffn::gated(m, facts.width, facts.ffn.at(i), false));
    decoder::norms(m, facts, FOUR_NORMS);
    if let Some(e) = &facts.experts {
        m.under("router", |m| {
            m.parameter("scale", &[facts.width]);
            m.parameter("per_expert_scale", &[e.count]);
            experts::router(m, "proj", facts.width, e);
        });
        experts::stacked(m, facts.width, e);
        let norms =
            ["post_feedforward_layernorm_1", "post_feedforward_layernorm_2", "pre_feedforward_layernorm_2"];
        decoder::norms(m, facts, &norms);
    }
    if facts.per_layer_width > 0 {
        m.linear("per_layer_input_gate", facts.width, facts.per_layer_width, false);
        m.linear("per_layer_projection", facts.per_layer_width, facts.width, false);
        decoder::norms(m, facts, &["post_per_layer_input_norm"]);
    }
    Ok(())
}

/// Attention whose keys and values may come from an earlier layer, or be the same.
fn attend(m: &mut Modules, text: &Text<'_>, i: u64) -> Built {
    let facts = text.facts;
    let a = facts.attention(i);
    let keys_are_values = text.config.flag("attention_k_eq_v")?.unwrap_or(false) && a.window.is_none();
    m.linear("q_proj", facts.width, attention::q_width(&a), facts.qkv_bias);
    m.norm("q_norm", a.k_dim);
    if a.shares_cache_with.is_none() {
        m.linear("k_proj", facts.width, a.k_width(), facts.qkv_bias);
        m.norm("k_norm", a.k_dim);
        if !keys_are_values {
            m.linear("v_proj", facts.width, a.v_width(), facts.qkv_bias);
        }
    }
    m.linear("o_proj", a.heads.saturating_mul(a.v_dim), facts.width, facts.output_bias);
    Ok(())
}

/// Gemma 3n's residual streams, and what runs beside attention in low rank.
struct Streams {
    count: u64,
    rank: u64,
}

impl Streams {
    fn read(text: &Text<'_>) -> Result<Self, ConfigError> {
        Ok(Self {
            count: text.config.required(&["altup_num_inputs"])?,
            rank: text.config.required(&["laurel_rank"])?,
        })
    }

    fn layer(&self, m: &mut Modules, text: &Text<'_>, i: u64) -> Built {
        let (width, count) = (text.facts.width, self.count);
        usual(m, text, i)?;
        m.under("altup", |m| {
            m.parameter("correct_output_scale", &[width]);
            m.linear("correction_coefs", count, count, false);
            m.linear("prediction_coefs", count, count.saturating_mul(count), false);
            m.linear("modality_router", width, count, false);
            m.norm("router_norm", width);
        });
        m.under("laurel", |m| {
            m.linear("linear_left", width, self.rank, false);
            m.linear("linear_right", self.rank, width, false);
            m.norm("post_laurel_norm", width);
        });
        Ok(())
    }

    /// What parts and joins the streams.
    fn ends(&self, m: &mut Modules, facts: &Facts) -> Built {
        for name in ["altup_projections", "altup_unembed_projections"] {
            m.each(name, self.count.saturating_sub(1), |m, _| {
                m.parameter("weight", &[facts.width, facts.width]);
                Ok(())
            })?;
        }
        Ok(())
    }
}

fn with_towers_3n(m: &mut Modules, whole: &Whole<'_>) -> Built {
    let vision = whole.config.part("vision_config", "gemma3n_vision")?;
    let audio = whole.config.part("audio_config", "gemma3n_audio")?;
    let seen = vision.required(&["hidden_size"])?;
    m.under("vision_tower.timm_model", |m| mobilenet::tower(m, seen))?;
    whole.language_model(m)?;
    m.under("audio_tower", |m| gemma::sound_3n(m, &audio))?;
    for (name, part) in [("embed_vision", &vision), ("embed_audio", &audio)] {
        let width = part.required(&["hidden_size"])?;
        let rows = part.required(&["vocab_size"])?;
        m.under(name, |m| {
            m.table("embedding", rows, width);
            m.norm("hard_embedding_norm", width);
            m.norm("soft_embedding_norm", width);
            m.linear("embedding_projection", width, whole.text.facts.width, false);
        });
    }
    Ok(())
}

/// Gemma 4's towers, each where the config has a part for it.
fn with_towers_4(m: &mut Modules, whole: &Whole<'_>) -> Built {
    let width = whole.text.facts.width;
    whole.language_model(m)?;
    if whole.config.has("vision_config") {
        let vision = whole.config.part("vision_config", "gemma4_vision")?;
        m.under("vision_tower", |m| gemma::vision(m, &vision))?;
        m.linear("embed_vision.embedding_projection", vision.required(&["hidden_size"])?, width, false);
    }
    if whole.config.has("audio_config") {
        let audio = whole.config.part("audio_config", "gemma4_audio")?;
        m.under("audio_tower", |m| gemma::sound_4(m, &audio))?;
        m.linear("embed_audio.embedding_projection", gemma::sound_4_output(&audio)?, width, false);
    }
    Ok(())
}

/// Gemma 4 without towers: patches and sound go straight into the language model's width.
fn with_patches_alone(m: &mut Modules, whole: &Whole<'_>) -> Built {
    let width = whole.text.facts.width;
    whole.language_model(m)?;
    if whole.config.has("vision_config") {
        let vision = whole.config.part("vision_config", "gemma4_unified_vision")?;
        m.under("embed_vision", |m| gemma::patches_alone(m, &vision, width))?;
    }
    if whole.config.has("audio_config") {
        let audio = whole.config.part("audio_config", "gemma4_unified_audio")?;
        m.linear("embed_audio.embedding_projection", audio.required(&["audio_embed_dim"])?, width, false);
    }
    Ok(())
}
