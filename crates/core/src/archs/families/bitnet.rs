//! BitNet: Llama's layout with one norm more before the last matrix of each part.

use super::{Family, no_ffn_bias};
use crate::archs::built::layout::Layout;
use crate::archs::built::{Built, Modules, Text};

pub(super) const FAMILIES: &[Family] =
    &[Family { gguf: &["bitnet"], model_types: &["bitnet"], config: no_ffn_bias, body, ..Family::RENAMED }];

fn body(m: &mut Modules, text: &Text<'_>) -> Built {
    let facts = text.facts;
    Layout::LLAMA.build_with(m, text, |m, i| {
        m.norm("self_attn.attn_sub_norm", facts.width);
        m.norm("mlp.ffn_sub_norm", facts.ffn.at(i));
    })
}
