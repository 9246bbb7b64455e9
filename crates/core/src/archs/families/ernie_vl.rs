//! ERNIE 4.5 VL: experts of text and of vision side by side in every layer, one part shared; with its tower.

use super::{Family, Whole, Wrapper, biased_by};
use crate::archs::built::layout::Layout;
use crate::archs::built::towers::{Vision, vit};
use crate::archs::built::{Built, Modules, Text, experts, ffn};
use crate::archs::facts::Experts;
use crate::formats::hf_config::{Config, ConfigError, ConfigProblem};
use crate::model::Ffn;

const WIDTHS: &str = "moe_intermediate_size";

pub(super) const FAMILIES: &[Family] = &[Family {
    model_types: &["ernie4_5_vl_moe_text"],
    config: |c, f| {
        biased_by(c, f, "use_bias")?;
        f.lead_with_dense(1);
        Ok(())
    },
    body,
    ..Family::RENAMED
}];

pub(super) const WRAPPERS: &[Wrapper] = &[Wrapper {
    model_types: &["ernie4_5_vl_moe"],
    text: "ernie4_5_vl_moe_text",
    body: seeing,
    ..Wrapper::PLAIN
}];

/// Widths of the experts of text and of vision.
fn widths(config: &Config<'_>) -> Result<[u64; 2], ConfigError> {
    match config.numbers(WIDTHS)?.unwrap_or_default()[..] {
        [text, vision, ..] => Ok([text, vision]),
        _ => Err(config.error(&[WIDTHS], ConfigProblem::Missing)),
    }
}

fn body(m: &mut Modules, text: &Text<'_>) -> Built {
    let facts = text.facts;
    Layout::LLAMA.around(m, text, |m, i| {
        Layout::LLAMA.mixer(m, facts, i)?;
        m.under("mlp", |m| match (facts.ffn_of(i), &facts.experts) {
            (Ffn::Experts { .. }, Some(e)) => both_kinds(m, text, e),
            _ => {
                ffn::gated(m, facts.width, facts.ffn.at(i), facts.ffn_bias);
                Ok(())
            }
        })?;
        Layout::LLAMA.stream_norms(m, facts);
        Ok(())
    })
}

fn both_kinds(m: &mut Modules, text: &Text<'_>, e: &Experts) -> Built {
    let facts = text.facts;
    for (name, width) in ["text_moe", "vision_moe"].into_iter().zip(widths(text.config)?) {
        let e = Experts { width, ..e.clone() };
        m.under(name, |m| {
            experts::router(m, "gate", facts.width, &e);
            m.parameter("gate.moe_statics.e_score_correction_bias", &[1, e.count]);
            experts::stacked(m, facts.width, &e);
        });
    }
    if e.shared_width > 0 {
        m.under("shared_experts", |m| ffn::gated(m, facts.width, e.shared_width, facts.ffn_bias));
    }
    Ok(())
}

fn seeing(m: &mut Modules, whole: &Whole<'_>) -> Built {
    let config = whole.config.part("vision_config", "ernie4_5_vl_moe_vision")?;
    whole.language_model(m)?;
    m.under("vision_tower", |m| vit::ernie(m, &config))?;
    let v = Vision::read(&config)?;
    let side = config.uint(&["spatial_merge_size"])?.unwrap_or(2);
    let frames = config.uint(&["temporal_merge_size"])?.unwrap_or(2);
    let merged = v.width.saturating_mul(side).saturating_mul(side);
    let width = whole.text.facts.width;
    m.under("resampler_model", |m| {
        for (name, from) in [("spatial_linear", merged), ("temporal_linear", merged.saturating_mul(frames))] {
            m.under(name, |m| {
                m.linear("fc1", from, merged, true);
                m.linear("fc2", merged, merged, true);
                m.layer_norm("ln", merged);
            });
        }
        m.linear("mlp", merged, width, true);
        m.norm("after_norm", width);
    });
    Ok(())
}
