//! Llama's attention before a feed-forward part of two matrices: Nemotron, Arcee, Apertus.

use super::{Family, no_ffn_bias};
use crate::archs::built::layout::{Layout, Matrices, Norm};
use crate::archs::built::{Built, Modules, Text};
use crate::archs::renamed::Fate;

const ARCEE: Layout = Layout { matrices: Matrices::Plain(["up_proj", "down_proj"]), ..Layout::LLAMA };

const NEMOTRON: Layout = Layout { norm: Norm::ScaleAndShift, ..ARCEE };

const APERTUS: Layout = Layout { norms: &["attention_layernorm", "feedforward_layernorm"], ..ARCEE };

const UNGATED: Family = Family { settle: |f| f.gated_ffn = false, ..Family::RENAMED };

pub(super) const FAMILIES: &[Family] = &[
    Family { gguf: &["arcee"], model_types: &["arcee"], body: |m, text| ARCEE.build(m, text), ..UNGATED },
    Family {
        gguf: &["nemotron"],
        model_types: &["nemotron"],
        body: |m, text| NEMOTRON.build(m, text),
        ..UNGATED
    },
    Family {
        gguf: &["apertus"],
        model_types: &["apertus"],
        // What the activation learnt is written into the metadata.
        renames: Some(&[("act_fn.alpha_p", Fate::Dropped), ("act_fn.alpha_n", Fate::Dropped)]),
        config: |c, f| {
            // The class scales positions as Llama 3.1 does unless told otherwise.
            f.rope_factors = c.rope_type().is_none_or(|scaling| scaling == "llama3");
            no_ffn_bias(c, f)
        },
        settle: |f| (f.gated_ffn, f.qk_norm) = (false, true),
        body: apertus,
        ..UNGATED
    },
];

/// Apertus: the activation of a layer has two parameters of its own.
fn apertus(m: &mut Modules, text: &Text<'_>) -> Built {
    const LEARNT: &str = "xielu";
    let learnt = text.config.text("hidden_act")?.unwrap_or(LEARNT) == LEARNT;
    APERTUS.build_with(m, text, |m, _| {
        if learnt {
            m.parameter("mlp.act_fn.alpha_p", &[1]);
            m.parameter("mlp.act_fn.alpha_n", &[1]);
        }
    })
}
