//! What is to be done: inference with so much context for so many sequences.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::Tokens;

/// What is the model to do?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Workload {
    /// Generate text.
    Inference(Inference),
}

/// Generation: how long and how many at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Inference {
    /// Context in tokens of all sequences together, as llama.cpp counts it.
    pub context: Tokens,
    /// Sequences (slots) served at the same time.
    pub sequences: u64,
}
