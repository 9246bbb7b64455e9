//! Llama and what is built like it: Mistral, Mixtral, Yi, DeepSeek's first models.

use super::Family;

/// Llama's layout; `mistral3` differs only in how it scales positions.
pub(super) const FAMILIES: &[Family] = &[
    Family { gguf: &["llama"], model_types: &["llama", "mistral", "mixtral"], ..Family::PLAIN },
    Family { gguf: &["mistral3"], model_types: &["mistral3", "ministral3"], ..Family::PLAIN },
];
