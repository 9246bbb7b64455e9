//! What configs say in ways of their own: parts, lists and names that a class reads into other fields.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::{Value, json};
use vramplan_core::archs::{Described, LayerKind, describe};

fn described(config: &Value) -> Described {
    describe(config).unwrap()
}

/// The published config keeps its layers in two lists, counted from 1. The published count (hub, 49.1 B)
/// holds a router's correction of 256 values in each of 26 layers beside what is built.
#[test]
fn kimi_linear_lists_its_layers_by_number() {
    let model = described(&json!({
        "architectures": ["KimiLinearForCausalLM"], "model_type": "kimi_linear", "vocab_size": 163_840,
        "hidden_size": 2304, "intermediate_size": 9216, "moe_intermediate_size": 1024,
        "num_hidden_layers": 27, "num_attention_heads": 32, "num_key_value_heads": 32,
        "num_shared_experts": 1, "kv_lora_rank": 512, "q_lora_rank": null, "qk_rope_head_dim": 64,
        "qk_nope_head_dim": 128, "v_head_dim": 128, "num_experts_per_token": 8, "num_experts": 256,
        "first_k_dense_replace": 1, "tie_word_embeddings": false,
        "linear_attn_config": {
            "full_attn_layers": [4, 8, 12, 16, 20, 24, 27],
            "kda_layers": [1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 14, 15, 17, 18, 19, 21, 22, 23, 25, 26],
            "head_dim": 128, "num_heads": 32, "short_conv_kernel_size": 4
        }
    }));
    let full: Vec<_> = (0..27).filter(|i| model.facts.kind(*i) == LayerKind::Latent).collect();
    assert_eq!(full, [3, 7, 11, 15, 19, 23, 26]);
    assert_eq!(model.counts().built, 49_122_681_728 - 26 * 256);
}
