//! Command R: both parts of a layer behind one norm, the head shared. Command R7B and its like: three of
//! four layers look at a window.

use super::{Family, no_ffn_bias, settle_windows, windows};
use crate::archs::blocks::Style;
use crate::archs::built::layout::{Layout, QkNorms};

const COHERE: Layout =
    Layout { norms: &["input_layernorm"], qk_norms: QkNorms::Rows(["q_norm", "k_norm"]), ..Layout::LLAMA };

pub(super) const FAMILIES: &[Family] = &[
    Family {
        gguf: &["command-r"],
        model_types: &["cohere"],
        config: |c, f| {
            f.qk_norm = c.flag("use_qk_norm")?.unwrap_or(false);
            no_ffn_bias(c, f)
        },
        body: |m, text| COHERE.build(m, text),
        ..Family::RENAMED
    },
    Family {
        gguf: &["cohere2"],
        model_types: &["cohere2"],
        style: Style { ffn_norm: "", ..Style::PLAIN },
        config: |c, f| {
            no_ffn_bias(c, f)?;
            windows(c, f)
        },
        settle: |f| settle_windows(f, 4),
        body: |m, text| COHERE.build(m, text),
        ..Family::PLAIN
    },
];
