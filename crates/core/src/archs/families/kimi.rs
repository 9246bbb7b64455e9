//! Kimi Linear: Kimi delta attention in most layers, latent attention in the rest. Kimi K2.5: DeepSeek V3's
//! layout behind a vision tower. Kimi K3: Kimi Linear's behind a tower, its experts narrower than the stream,
//! and every part looking back at the outputs of earlier layers.

use super::{Family, Whole, Wrapper, kinds_from_words, settle_by_kv_heads};
use crate::archs::built::recurrent::{self, DecayShape, DeltaGates};
use crate::archs::built::towers::{Vision, vit};
use crate::archs::built::{Built, Modules, Text, decoder, experts, ffn, streams};
use crate::archs::facts::{Facts, LayerKind, config};
use crate::formats::hf_config::{Config, ConfigError};
use crate::model::Recurrent;

pub(super) const FAMILIES: &[Family] = &[
    Family {
        gguf: &["kimi-linear"],
        model_types: &["kimi_linear"],
        config,
        settle: |f| settle_by_kv_heads(f, LayerKind::Latent),
        body,
        ..Family::PLAIN
    },
    Family { gguf: &["kimi-k3"], settle: |f| settle_by_kv_heads(f, LayerKind::Latent), ..Family::READ_ONLY },
];

pub(super) const WRAPPERS: &[Wrapper] = &[
    Wrapper { model_types: &["kimi_k25"], text: "deepseek_v3", body: seeing, ..Wrapper::PLAIN },
    Wrapper { model_types: &["kimi_k3"], text: "kimi_linear", body: seeing, ..Wrapper::PLAIN },
];

fn config(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    facts.latent = Some(config::latent(config)?);
    // Published configs keep the sizes and the lists of layers in a part of their own; the class has
    // fields of other names.
    let own = config.part("linear_attn_config", "")?;
    kinds_from_words(config, facts, &["linear_attention"], (LayerKind::Recurrent, LayerKind::Latent))?;
    if facts.kinds.is_empty() {
        kinds_by_number(&own, facts)?;
    }
    let size = |name, ours| own.uint(&[name])?.map_or_else(|| config.required(&[ours]), Ok);
    facts.recurrent = Some(Recurrent::KimiDelta {
        heads: size("num_heads", "linear_num_heads")?,
        head_dim: size("head_dim", "linear_head_dim")?,
        conv: size("short_conv_kernel_size", "linear_conv_kernel_dim")?,
    });
    if let Some(experts) = &mut facts.experts {
        experts.router_bias = true;
        experts.latent_width = config.uint(&["routed_expert_hidden_size"])?;
        let listed = config.words("mlp_layer_types")?;
        experts.layers = listed.map(|list| list.iter().map(|word| *word == "sparse").collect());
        experts.leading_dense = config.uint(&["first_k_dense_replace"])?.unwrap_or(1);
    }
    Ok(())
}

/// Layers with full attention by their numbers, counted from 1; without a list, every fourth after the
/// first (class default).
fn kinds_by_number(own: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    let listed = own.numbers("full_attn_layers")?;
    let full = |i: u64| match &listed {
        Some(numbers) => numbers.contains(&(i + 1)),
        None => i > 0 && i.is_multiple_of(4),
    };
    facts.set_kinds(|_, i| if full(i) { LayerKind::Latent } else { LayerKind::Recurrent });
    Ok(())
}

fn body(m: &mut Modules, text: &Text<'_>) -> Built {
    let facts = text.facts;
    let own = Variant::read(text.config)?;
    decoder::of_layers(m, text, |m, i| {
        m.under("self_attn", |m| match (facts.kind(i), &facts.recurrent) {
            (LayerKind::Recurrent, Some(r)) => {
                recurrent::kimi_delta(m, facts.width, r, own.decay, own.gates);
            }
            _ => {
                decoder::attend(m, facts, i);
                if own.gated {
                    let values = facts.latent.map_or(0, |l| l.v_dim).saturating_mul(facts.heads.at(i));
                    m.linear("g_proj", facts.width, values, false);
                }
            }
        });
        m.under("mlp", |m| own.feed_forward(m, facts, i));
        decoder::norms(m, facts, &["input_layernorm", "post_attention_layernorm"]);
        if own.attends_to_depth {
            ["attn_res", "ffn_res"]
                .iter()
                .for_each(|name| m.under(name, |m| streams::over_depth(m, facts.width)));
        }
        Ok(())
    })?;
    if own.attends_to_depth {
        m.under("output_res", |m| streams::over_depth(m, facts.width));
    }
    Ok(())
}

/// What Kimi K3 adds to Kimi Linear, by the fields that say so.
struct Variant {
    decay: DecayShape,
    gates: DeltaGates,
    /// Latent attention's output is gated.
    gated: bool,
    /// Every part looks back at the outputs of earlier layers.
    attends_to_depth: bool,
    /// The experts' narrower input is normed.
    normed: bool,
}

impl Variant {
    fn read(config: &Config<'_>) -> Result<Self, ConfigError> {
        let own = config.part("linear_attn_config", "")?;
        let full_rank = own.flag("use_full_rank_gate")?.unwrap_or(false);
        Ok(Self {
            decay: if full_rank { DecayShape::Vector } else { DecayShape::Spread },
            gates: if full_rank { DeltaGates::FullRankOutput } else { DeltaGates::LowRank },
            gated: config.flag("mla_use_output_gate")?.unwrap_or(false),
            attends_to_depth: config.uint(&["attn_res_block_size"])?.is_some_and(|block| block > 0),
            normed: config.flag("latent_moe_use_norm")?.unwrap_or(false),
        })
    }

    fn feed_forward(&self, m: &mut Modules, facts: &Facts, i: u64) {
        let narrow = facts.experts.as_ref().and_then(|e| Some((e, e.latent_width?)));
        let Some((e, latent)) = narrow.filter(|(e, _)| facts.has_experts(e, i)) else {
            return decoder::feed_forward(m, facts, i);
        };
        experts::router(m, "gate", facts.width, e);
        experts::stacked(m, latent, e);
        m.linear("routed_down_latent_proj", facts.width, latent, false);
        m.linear("routed_up_latent_proj", latent, facts.width, false);
        if self.normed {
            m.norm("routed_norm", latent);
        }
        m.under("shared_experts", |m| ffn::gated(m, facts.width, e.shared_width, false));
    }
}

/// Kimi K2.5's tower, and the merger of four patches into a row.
fn seeing(m: &mut Modules, whole: &Whole<'_>) -> Built {
    let vision = whole.config.part("vision_config", "kimi_k25_vision")?;
    m.under("vision_tower", |m| vit::moon(m, &vision))?;
    whole.language_model(m)?;
    let seen = vision.uint(&["mm_hidden_size", "vt_hidden_size", "hidden_size"])?;
    let seen = seen.map_or_else(|| Vision::read(&vision).map(|v| v.width), Ok)?;
    let sides = vision.numbers("merge_kernel_size")?.unwrap_or_default();
    let merged = sides.iter().fold(seen, |width, side| width.saturating_mul(*side));
    // The second kind of merger has no biases, nor a shift in its norm.
    let plain = vision.text("mm_projector_type")? == Some("patchmergerv2");
    m.under("mm_projector", |m| {
        if plain {
            m.norm("pre_norm", seen)
        } else {
            m.layer_norm("pre_norm", seen)
        }
        m.linear("in_proj", merged, merged, !plain);
        m.linear("out_proj", merged, whole.text.facts.width, !plain);
    });
    Ok(())
}
