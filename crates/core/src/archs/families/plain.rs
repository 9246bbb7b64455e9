//! Architectures with softmax attention in every layer and nothing else to say about the cache. Their
//! files carry their own tensors; building those from a config is not done for them yet.

use super::Family;

/// Keys of architectures whose cache is plain (no window, latent, state or sharing), read off the
/// engine's own hyperparameter loaders (ggml-org/llama.cpp v0.5.0 `src/models/`).
const PLAIN_KEYS: &[&str] = &[
    "arctic",
    "bailingmoe",
    "bailingmoe2",
    "chameleon",
    "codeshell",
    "grok",
    "grovemoe",
    "jais",
    "maincoder",
    "openelm",
    "pangu-embedded",
    "plamo",
    "refact",
];

pub(super) const FAMILIES: &[Family] = &[Family { gguf: PLAIN_KEYS, ..Family::READ_ONLY }];
