//! gpt-oss: every other layer looks back 128 tokens; biases and sinks everywhere.

use super::{Family, settle_windows, windows};
use crate::archs::blocks::Style;
use crate::archs::built::experts::{Routed, Stack};
use crate::archs::built::layout::Layout;

const GPT_OSS: Layout = Layout {
    routed: Routed { router: "router", stack: Stack::InputFirstBiased, ..Routed::USUAL },
    ..Layout::LLAMA
};

pub(super) const FAMILIES: &[Family] = &[Family {
    gguf: &["gpt-oss"],
    model_types: &["gpt_oss"],
    style: Style {
        output_bias: true,
        sinks: true,
        ffn_norm: "post_attention_norm.weight",
        expert_bias: true,
        ..Style::PLAIN
    },
    config: windows,
    settle: |f| {
        (f.qkv_bias, f.output_bias) = (true, true);
        settle_windows(f, 2);
    },
    body: |m, text| GPT_OSS.build_attending(m, text, |m, a, _| m.parameter("sinks", &[a.heads])),
    ..Family::PLAIN
}];
