//! Architectures with softmax attention in every layer and nothing else to say about the cache. Their
//! files carry their own tensors; building those from a config is not done for them yet.

use super::Family;
use crate::archs::facts::{Facts, LayerKind};
use crate::model::Window;

/// Keys of architectures whose cache is plain (no window, latent, state or sharing), read off the
/// engine's own hyperparameter loaders (ggml-org/llama.cpp v0.5.0 `src/models/`).
const PLAIN_KEYS: &[&str] = &[
    "apertus",
    "arcee",
    "arctic",
    "baichuan",
    "bailingmoe",
    "bailingmoe2",
    "bitnet",
    "bloom",
    "chameleon",
    "chatglm",
    "codeshell",
    "command-r",
    "dbrx",
    "deepseek",
    "dots1",
    "ernie4_5",
    "ernie4_5-moe",
    "exaone",
    "falcon",
    "glm4",
    "gpt2",
    "gptneox",
    "granite",
    "granitemoe",
    "grok",
    "grovemoe",
    "hunyuan-dense",
    "hunyuan-moe",
    "internlm2",
    "jais",
    "maincoder",
    "minicpm",
    "minimax-m2",
    "mpt",
    "nemotron",
    "olmo",
    "olmoe",
    "openelm",
    "orion",
    "pangu-embedded",
    "phi2",
    "plamo",
    "qwen",
    "qwen2vl",
    "qwen3vl",
    "qwen3vlmoe",
    "refact",
    "seed_oss",
    "smollm3",
    "stablelm",
    "starcoder",
    "starcoder2",
    "xverse",
];

const READ_ONLY: Family = Family { builds: false, ..Family::PLAIN };

pub(super) const FAMILIES: &[Family] = &[
    Family { gguf: PLAIN_KEYS, ..READ_ONLY },
    Family { gguf: &["deci"], settle: attention_where_heads, ..READ_ONLY },
    Family {
        gguf: &["olmo2"],
        settle: |f| f.set_windows(if f.window.is_some() { 4 } else { 0 }),
        ..READ_ONLY
    },
    Family { gguf: &["exaone4"], settle: exaone4, ..READ_ONLY },
];

/// Layers without key/value heads have no attention at all.
fn attention_where_heads(facts: &mut Facts) {
    facts.set_kinds(|f, i| if f.kv_heads.at(i) == 0 { LayerKind::None } else { LayerKind::Full });
}

/// Only the deep variant of this architecture has windows.
fn exaone4(facts: &mut Facts) {
    const LAYERS_WITH_WINDOWS: u64 = 64;
    if facts.layers == LAYERS_WITH_WINDOWS {
        facts.window = facts.window.or(Some(Window::Sliding(4096)));
        facts.set_windows(4);
    }
}
