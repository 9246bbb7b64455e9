//! Qwen2-VL to Qwen3.5: a vision tower before one of Qwen's language models.

use super::{Ties, Whole, Wrapper};
use crate::archs::built::towers::qwen;
use crate::archs::built::{Built, Modules};
use crate::formats::hf_config::Config;

pub(super) const WRAPPERS: &[Wrapper] = &[
    Wrapper {
        model_types: &["qwen2_vl"],
        text: "qwen2_vl_text",
        body: |m, whole| seeing(m, whole, "qwen2_vl_vision", qwen::qwen2),
        ties: Ties::Either,
        ..Wrapper::PLAIN
    },
    Wrapper {
        model_types: &["qwen2_5_vl"],
        text: "qwen2_5_vl_text",
        body: |m, whole| seeing(m, whole, "qwen2_5_vl_vision", qwen::qwen2_5),
        ties: Ties::Either,
        ..Wrapper::PLAIN
    },
    Wrapper {
        model_types: &["qwen3_vl"],
        text: "qwen3_vl_text",
        body: |m, whole| seeing(m, whole, "qwen3_vl_vision", |m, c| qwen::qwen3(m, c, true)),
        ..Wrapper::PLAIN
    },
    Wrapper {
        model_types: &["qwen3_vl_moe"],
        text: "qwen3_vl_moe_text",
        body: |m, whole| seeing(m, whole, "qwen3_vl_moe_vision", |m, c| qwen::qwen3(m, c, true)),
        ..Wrapper::PLAIN
    },
    Wrapper {
        model_types: &["qwen3_5"],
        text: "qwen3_5_text",
        body: |m, whole| seeing(m, whole, "qwen3_5_vision", |m, c| qwen::qwen3(m, c, false)),
        ..Wrapper::PLAIN
    },
    Wrapper {
        model_types: &["qwen3_5_moe"],
        text: "qwen3_5_moe_text",
        body: |m, whole| seeing(m, whole, "qwen3_5_moe_vision", |m, c| qwen::qwen3(m, c, false)),
        ..Wrapper::PLAIN
    },
];

fn seeing(
    m: &mut Modules,
    whole: &Whole<'_>,
    class: &str,
    tower: impl FnOnce(&mut Modules, &Config<'_>) -> Built,
) -> Built {
    let vision = whole.config.part("vision_config", class)?;
    m.under("visual", |m| tower(m, &vision))?;
    whole.language_model(m)
}
