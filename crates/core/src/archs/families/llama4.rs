//! Llama 4: three of four layers look at a chunk, experts in every or every other layer.

use super::Family;
use crate::archs::built::experts::{Routed, Stack};
use crate::archs::built::layout::Layout;
use crate::archs::facts::Facts;
use crate::formats::hf_config::{Config, ConfigError};
use crate::model::Window;

/// Chunk size the architecture uses whatever the file says, unless the file switches chunks off.
const CHUNK: u64 = 8192;

const LLAMA4: Layout = Layout {
    ffn: "feed_forward",
    routed: Routed { router: "router", stack: Stack::InputFirst, shared: "shared_expert", ..Routed::USUAL },
    ..Layout::LLAMA
};

pub(super) const FAMILIES: &[Family] = &[Family {
    gguf: &["llama4"],
    model_types: &["llama4", "llama4_text"],
    config,
    settle,
    body: |m, text| LLAMA4.build(m, text),
    ..Family::PLAIN
}];

fn config(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    let step = config.uint(&["interleave_moe_layer_step"])?.unwrap_or(1);
    if let Some(experts) = &mut facts.experts {
        experts.period = step;
        experts.offset = step.saturating_sub(1);
        experts.shared_width = experts.width;
        if let Some(listed) = config.numbers("moe_layers")? {
            experts.layers = Some((0..facts.layers).map(|i| listed.contains(&i)).collect());
        }
    }
    if let Some(dense) = config.uint(&["intermediate_size_mlp"])? {
        facts.ffn = crate::archs::PerLayer::All(dense);
    }
    Ok(())
}

fn settle(facts: &mut Facts) {
    facts.rope_factors = true;
    facts.window = Some(Window::Chunked(CHUNK));
    facts.set_windows(4);
}
