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

/// Kimi K3's fields beside Kimi Linear's. The published count (hub, 2,779,931,837,184) holds a router's
/// correction of 896 values in each of 92 layers beside what is built; 8,352 values of it are not known.
#[test]
fn kimi_k3_narrows_its_experts_and_looks_back_in_depth() {
    let full: Vec<u64> = (1..=23).map(|i| i * 4).chain([93]).collect();
    let model = described(&json!({
        "architectures": ["KimiK3ForConditionalGeneration"], "model_type": "kimi_k3",
        "tie_word_embeddings": false,
        "text_config": {
            "model_type": "kimi_linear", "vocab_size": 163_840, "hidden_size": 7168,
            "intermediate_size": 33_792, "moe_intermediate_size": 3072, "num_hidden_layers": 93,
            "num_attention_heads": 96, "num_key_value_heads": 96, "num_shared_experts": 2,
            "kv_lora_rank": 512, "q_lora_rank": 1536, "qk_rope_head_dim": 64, "qk_nope_head_dim": 128,
            "v_head_dim": 128, "num_experts_per_token": 16, "num_experts": 896,
            "first_k_dense_replace": 1, "routed_expert_hidden_size": 3584, "latent_moe_use_norm": true,
            "mla_use_output_gate": true, "attn_res_block_size": 12, "tie_word_embeddings": false,
            "linear_attn_config": {
                "full_attn_layers": full, "head_dim": 128, "num_heads": 96,
                "short_conv_kernel_size": 4, "use_full_rank_gate": true
            }
        },
        "vision_config": {
            "vt_hidden_size": 1024, "vt_intermediate_size": 4096, "vt_num_hidden_layers": 27,
            "vt_num_attention_heads": 12, "qkv_hidden_size": 1536, "patch_size": 14,
            "init_pos_emb_height": 64, "init_pos_emb_width": 64, "mm_hidden_size": 1024,
            "merge_kernel_size": [2, 2], "mm_projector_type": "patchmergerv2", "norm_type": "rmsnorm",
            "attn_bias": false, "linear_bias": false, "patch_embed_proj_bias": false
        }
    }));
    assert_eq!(model.counts().built, 2_779_931_837_184 - 92 * 896 - 8_352);
    assert_eq!(model.read_as, None);
}

/// Layers that architecture search took apart. The count is the published one (hub).
#[test]
fn layers_of_a_searched_model_have_sizes_of_their_own() {
    let block = |group: Option<u64>, times: f64| {
        let attention = match group {
            Some(group) => json!({"n_heads_in_group": group, "no_op": false}),
            None => json!({"n_heads_in_group": null, "no_op": true}),
        };
        json!({"attention": attention, "ffn": {"ffn_mult": times, "no_op": false}})
    };
    let kinds: [(usize, Option<u64>, f64); 8] = [
        (48, Some(8), 5.25),
        (10, None, 1.3125),
        (8, None, 1.0),
        (6, None, 0.5),
        (5, None, 2.625),
        (1, Some(8), 2.625),
        (1, None, 3.28125),
        (1, None, 5.25),
    ];
    let blocks: Vec<Value> =
        kinds.iter().flat_map(|(n, group, times)| std::iter::repeat_n(block(*group, *times), *n)).collect();
    let model = described(&json!({
        "architectures": ["DeciLMForCausalLM"], "model_type": "nemotron-nas", "hidden_size": 8192,
        "num_hidden_layers": 80, "num_attention_heads": 64, "num_key_value_heads": null,
        "intermediate_size": null, "vocab_size": 128_256, "tie_word_embeddings": false,
        "block_configs": blocks
    }));
    assert_eq!(model.counts().built, 49_867_145_216);
    assert_eq!((0..80).filter(|i| model.facts.kind(*i) == LayerKind::None).count(), 31);
}

/// A type of model that nobody knows is read by the rules that its parts or its class name, and it is said.
#[test]
fn unknown_types_are_read_by_the_rules_of_known_parts_or_refused() {
    let text = json!({"model_type": "qwen2", "hidden_size": 64, "num_hidden_layers": 2, "vocab_size": 100,
        "intermediate_size": 128, "num_attention_heads": 4, "num_key_value_heads": 2});
    let whole = described(&json!({"model_type": "ovis9", "text_config": text}));
    let rules = whole.read_as.unwrap();
    assert_eq!((rules.model_type, rules.in_part), ("qwen2", true));

    let mut own = text;
    own["model_type"] = json!("qwen2_tuned");
    own["architectures"] = json!(["Qwen2ForCausalLM"]);
    let rules = described(&own).read_as.unwrap();
    assert_eq!((rules.model_type, rules.in_part), ("qwen2", false));

    own["architectures"] = json!(["NovelForCausalLM"]);
    let error = describe(&own).unwrap_err();
    assert_eq!(error.to_string(), "unknown architecture \"qwen2_tuned\"");

    // A known whole around an unknown language model says nothing of the latter.
    let error =
        describe(&json!({"model_type": "llava", "text_config": {"model_type": "novel"}})).unwrap_err();
    assert_eq!(error.to_string(), "unknown architecture \"novel\"");
}

/// Classes that are published with their models. The counts are the published ones (hub); GLM-4's holds 32
/// rotary frequencies beside what is built.
#[test]
fn classes_of_published_code_count_as_published() {
    let mixture = json!({
        "architectures": ["DeepseekForCausalLM"], "model_type": "deepseek", "first_k_dense_replace": 1,
        "hidden_size": 2048, "intermediate_size": 10_944, "moe_intermediate_size": 1408,
        "n_routed_experts": 64, "n_shared_experts": 2, "num_attention_heads": 16,
        "num_experts_per_tok": 6, "num_hidden_layers": 28, "num_key_value_heads": 16,
        "tie_word_embeddings": false, "vocab_size": 102_400
    });
    assert_eq!(described(&mixture).counts().built, 16_375_728_128);
    let glm = json!({
        "architectures": ["ChatGLMModel"], "model_type": "chatglm", "add_bias_linear": false,
        "add_qkv_bias": true, "ffn_hidden_size": 13_696, "hidden_size": 4096, "kv_channels": 128,
        "multi_query_group_num": 2, "num_attention_heads": 32, "num_layers": 40,
        "padded_vocab_size": 151_552, "seq_length": 8192, "tie_word_embeddings": false
    });
    assert_eq!(described(&glm).counts().built, 9_399_951_392 - 32);
    let internlm = json!({
        "architectures": ["InternLM2ForCausalLM"], "model_type": "internlm2", "bias": false,
        "hidden_size": 4096, "intermediate_size": 14_336, "num_attention_heads": 32,
        "num_hidden_layers": 32, "num_key_value_heads": 8, "tie_word_embeddings": false,
        "vocab_size": 92_544
    });
    assert_eq!(described(&internlm).counts().built, 7_737_708_544);
    let qwen = json!({
        "architectures": ["QWenLMHeadModel"], "model_type": "qwen", "hidden_size": 4096,
        "intermediate_size": 22_016, "kv_channels": 128, "num_attention_heads": 32,
        "num_hidden_layers": 32, "seq_length": 8192, "tie_word_embeddings": false,
        "vocab_size": 151_936
    });
    assert_eq!(described(&qwen).counts().built, 7_721_324_544);
}
