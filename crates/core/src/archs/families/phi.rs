//! Phi-2: both parts of a layer behind one norm, biases everywhere. Phi-3 and Phi-4: fused matrices; the
//! window that their configs state is not used by converted files. Phi-3.5 MoE: experts in every layer.

use super::{Family, biased_head, head_biased_by, window_everywhere};
use crate::archs::blocks::Style;
use crate::archs::built::experts::Routed;
use crate::archs::built::layout::{Layout, Matrices, Norm, Projections, QkNorms};
use crate::archs::built::towers::phi4;
use crate::archs::built::{Built, Modules, Text};

const PHI2: Layout = Layout {
    norms: &["input_layernorm"],
    last_norm: "final_layernorm",
    norm: Norm::ScaleAndShift,
    projections: Projections::Separate(["q_proj", "k_proj", "v_proj", "dense"]),
    qk_norms: QkNorms::Head(["q_layernorm", "k_layernorm"]),
    matrices: Matrices::Plain(["fc1", "fc2"]),
    ..Layout::LLAMA
};

const PHI3: Layout = Layout {
    projections: Projections::Fused(["qkv_proj", "o_proj"]),
    matrices: Matrices::FusedGate(["gate_up_proj", "down_proj"]),
    ..Layout::LLAMA
};

const PHI_MOE: Layout = Layout {
    norm: Norm::ScaleAndShift,
    routed: Routed { router: "router", ..Routed::USUAL },
    ..Layout::LLAMA
};

pub(super) const FAMILIES: &[Family] = &[
    Family {
        gguf: &["phi2"],
        model_types: &["phi"],
        config: |c, f| {
            (f.qkv_bias, f.output_bias, f.ffn_bias) = (true, true, true);
            f.qk_norm = c.flag("qk_layernorm")?.unwrap_or(false);
            Ok(())
        },
        settle: |f| f.gated_ffn = false,
        body: |m, text| PHI2.build(m, text),
        head: biased_head,
        ..Family::RENAMED
    },
    Family {
        gguf: &["phi3"],
        model_types: &["phi3"],
        style: Style { fused_qkv: true, fused_gate_up: true, ..Style::PLAIN },
        config: |c, f| {
            (f.qkv_bias, f.output_bias, f.ffn_bias) = (false, false, false);
            window_everywhere(c, f)
        },
        settle: |f| {
            if f.kinds.is_empty() {
                f.window = None;
            }
        },
        body: |m, text| PHI3.build(m, text),
        ..Family::PLAIN
    },
    Family {
        gguf: &["phimoe"],
        model_types: &["phimoe"],
        body: |m, text| PHI_MOE.build(m, text),
        head: |m, text, class| head_biased_by(m, text, class, "lm_head_bias"),
        ..Family::RENAMED
    },
    Family {
        gguf: &["phi3"],
        model_types: &["phi4_multimodal"],
        config: |c, f| {
            (f.qkv_bias, f.output_bias, f.ffn_bias) = (false, false, false);
            window_everywhere(c, f)
        },
        body: with_towers,
        ..Family::RENAMED
    },
];

/// Phi-4 multimodal, whose towers stand beside the layers.
fn with_towers(m: &mut Modules, text: &Text<'_>) -> Built {
    let width = text.facts.width;
    PHI3.build(m, text)?;
    let vision = text.config.part("vision_config", "phi4_multimodal_vision")?;
    let audio = text.config.part("audio_config", "phi4_multimodal_audio")?;
    m.under("embed_tokens_extend", |m| {
        m.under("image_embed", |m| phi4::images(m, &vision, width))?;
        m.under("audio_embed", |m| phi4::sound(m, &audio, width))
    })
}
