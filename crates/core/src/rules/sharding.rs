//! Tensor parallelism: which part of a parameter does one rank hold?
//!
//! Source: vllm-project/vllm v0.32.0 `model_executor/layers/{linear,vocab_parallel_embedding}.py`,
//! `model_executor/layers/fused_moe/layer.py`.

use alloc::vec::Vec;

use crate::archs::Facts;
use crate::model::{Parameter, ParameterKind};

/// Rows of a vocabulary are padded to a multiple of this before they are split.
const VOCAB_PADDING: u64 = 64;

/// How is a matrix split?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Split {
    /// Not at all: every rank holds it whole.
    Whole,
    /// By outputs.
    Outputs,
    /// By outputs, a key/value head at least on every rank.
    Heads,
    /// By inputs.
    Inputs,
    /// By rows of the padded vocabulary.
    Vocabulary,
}

/// What the ends of module names say of the split; the first that fits holds.
const SPLITS: &[(&str, Split)] = &[
    ("embed_tokens", Split::Vocabulary),
    ("lm_head", Split::Vocabulary),
    ("q_a_proj", Split::Whole),
    ("kv_a_proj_with_mqa", Split::Whole),
    ("shared_expert_gate", Split::Whole),
    ("q_b_proj", Split::Outputs),
    ("kv_b_proj", Split::Outputs),
    ("q_proj", Split::Outputs),
    ("k_proj", Split::Heads),
    ("v_proj", Split::Heads),
    ("gate_proj", Split::Outputs),
    ("up_proj", Split::Outputs),
    ("gate_up_proj", Split::Outputs),
    ("o_proj", Split::Inputs),
    ("down_proj", Split::Inputs),
];

/// The part of `parameter` that each of `ranks` ranks holds.
pub fn on_a_rank(parameter: &Parameter, facts: &Facts, ranks: u64) -> Parameter {
    let module = parameter.name.trim_end_matches(".weight").trim_end_matches(".bias");
    let split =
        SPLITS.iter().find(|(end, _)| module.ends_with(end)).map_or(Split::Whole, |(_, split)| *split);
    Parameter { shape: shape(parameter, split, facts, ranks.max(1)), ..parameter.clone() }
}

fn shape(parameter: &Parameter, split: Split, facts: &Facts, ranks: u64) -> Vec<u64> {
    let mut shape = parameter.shape.clone();
    let is_stack = matches!(parameter.kind, ParameterKind::Experts { .. });
    let (outputs, inputs) = if is_stack { (1, 2) } else { (0, 1) };
    let is_vector = shape.len() < 2;
    let (axis, parts) = match split {
        Split::Whole => return shape,
        // A bias of what is split by inputs is added once.
        Split::Inputs if is_vector => return shape,
        Split::Inputs => (inputs, ranks),
        Split::Outputs => (outputs, ranks),
        Split::Heads => (outputs, ranks.min(facts.kv_heads.first().max(1))),
        Split::Vocabulary => (0, ranks),
    };
    if let Some(extent) = shape.get_mut(axis) {
        let whole = match split {
            Split::Vocabulary => extent.next_multiple_of(VOCAB_PADDING),
            _ => *extent,
        };
        *extent = whole.div_ceil(parts);
    }
    shape
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archs::describe;

    fn shapes(ranks: u64) -> Vec<(alloc::string::String, Vec<u64>)> {
        let described = describe(&serde_json::json!({
            "model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 64,
            "num_hidden_layers": 1, "num_attention_heads": 8, "num_key_value_heads": 2,
            "intermediate_size": 128, "vocab_size": 100, "tie_word_embeddings": false
        }));
        let described = described.unwrap();
        let of = |p: &Parameter| (p.name.clone(), on_a_rank(p, &described.facts, ranks).shape);
        described.parameters.iter().map(of).collect()
    }

    fn shape_of(name: &str, ranks: u64) -> Vec<u64> {
        shapes(ranks).into_iter().find(|(n, _)| n.ends_with(name)).unwrap().1
    }

    #[test]
    fn heads_are_shared_out_until_each_rank_has_one() {
        assert_eq!(shape_of("q_proj.weight", 4), [16, 64]);
        assert_eq!(shape_of("k_proj.weight", 2), [8, 64]);
        assert_eq!(shape_of("k_proj.weight", 4), [8, 64]);
        assert_eq!(shape_of("o_proj.weight", 4), [64, 16]);
        assert_eq!(shape_of("down_proj.weight", 4), [64, 32]);
        assert_eq!(shape_of("input_layernorm.weight", 4), [64]);
        assert_eq!(shape_of("lm_head.weight", 2), [64, 64]);
    }
}
