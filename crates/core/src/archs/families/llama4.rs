//! Llama 4: three of four layers look at a chunk, experts in every or every other layer.

use super::{Family, Ties, Whole, Wrapper};
use crate::archs::built::experts::{Routed, Stack};
use crate::archs::built::layout::Layout;
use crate::archs::built::towers::vit;
use crate::archs::built::{Built, Modules};
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
    model_types: &["llama4_text", "llama4"],
    config,
    settle,
    body: |m, text| LLAMA4.build(m, text),
    ..Family::PLAIN
}];

/// The whole has no body of its own: the language model brings its head along.
pub(super) const WRAPPERS: &[Wrapper] = &[Wrapper {
    model_types: &["llama4"],
    text: "llama4_text",
    body: seeing,
    stem: "",
    head: "language_model",
    ties: Ties::Part,
    ..Wrapper::PLAIN
}];

fn seeing(m: &mut Modules, whole: &Whole<'_>) -> Built {
    let vision = whole.config.part("vision_config", "llama4_vision_model")?;
    m.under("vision_model", |m| vit::llama4(m, &vision))?;
    let seen = vision.uint_or("vision_output_dim", 7680)?;
    m.linear("multi_modal_projector.linear_1", seen, whole.text.facts.width, false);
    m.under("language_model.model", |m| (whole.family.body)(m, &whole.text))
}

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
