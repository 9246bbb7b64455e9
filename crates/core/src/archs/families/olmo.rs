//! OLMo: norms that learn nothing. OLMo 2: norms after each part, and of all queries and keys at once.
//! Olmo 3: the same, with a window in three of four layers. OLMoE and FlexOlmo: experts in every layer.

use super::{Family, NORMED_AFTER, no_ffn_bias, settle_stated_windows, windows};
use crate::archs::built::layout::{Layout, Norm, QkNorms};

const OLMO: Layout = Layout { norm: Norm::Nothing, ..Layout::LLAMA };

const OLMO2: Layout = Layout {
    norms: &["post_attention_layernorm", "post_feedforward_layernorm"],
    qk_norms: QkNorms::Wide(["q_norm", "k_norm"]),
    ..Layout::LLAMA
};

const OLMOE: Layout = Layout { qk_norms: QkNorms::Wide(["q_norm", "k_norm"]), ..Layout::LLAMA };

pub(super) const FAMILIES: &[Family] = &[
    Family {
        gguf: &["olmo"],
        model_types: &["olmo"],
        config: no_ffn_bias,
        body: |m, text| OLMO.build(m, text),
        ..Family::RENAMED
    },
    Family {
        gguf: &["olmo2"],
        model_types: &["olmo2", "olmo3"],
        config: |c, f| {
            no_ffn_bias(c, f)?;
            windows(c, f)
        },
        settle: |f| {
            f.qk_norm = true;
            settle_stated_windows(f, 4);
        },
        renames: Some(NORMED_AFTER),
        body: |m, text| OLMO2.build(m, text),
        ..Family::RENAMED
    },
    Family {
        gguf: &["olmoe"],
        model_types: &["olmoe"],
        settle: |f| f.qk_norm = true,
        body: |m, text| OLMOE.build(m, text),
        ..Family::RENAMED
    },
    Family {
        model_types: &["flex_olmo"],
        settle: |f| f.qk_norm = true,
        body: |m, text| OLMO2.build(m, text),
        ..Family::READ_ONLY
    },
];
