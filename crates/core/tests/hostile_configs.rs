//! Configs that nobody should write: every one ends in an error that names its field, or in a model whose
//! assumptions are listed; none in a panic, and none in a model that does not add up.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::sync::LazyLock;

use proptest::prelude::*;
use serde_json::{Value, json};
use vramplan_core::answer::Weighed;
use vramplan_core::archs::{Described, describe};
use vramplan_core::formats::hf_config;
use vramplan_core::quants::Recipe;

fn llama() -> Value {
    json!({
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 64,
        "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4,
        "num_key_value_heads": 2, "vocab_size": 100, "max_position_embeddings": 512,
        "tie_word_embeddings": false
    })
}

fn experts() -> Value {
    json!({
        "architectures": ["Qwen3MoeForCausalLM"], "model_type": "qwen3_moe", "hidden_size": 64,
        "intermediate_size": 128, "moe_intermediate_size": 32, "num_hidden_layers": 2,
        "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "vocab_size": 100,
        "num_experts": 8, "num_experts_per_tok": 2, "tie_word_embeddings": false
    })
}

fn latent() -> Value {
    json!({
        "architectures": ["DeepseekV3ForCausalLM"], "model_type": "deepseek_v3", "hidden_size": 64,
        "intermediate_size": 128, "moe_intermediate_size": 32, "num_hidden_layers": 3,
        "num_attention_heads": 4, "vocab_size": 100, "q_lora_rank": 16, "kv_lora_rank": 8,
        "qk_rope_head_dim": 4, "qk_nope_head_dim": 8, "v_head_dim": 8, "n_routed_experts": 8,
        "num_experts_per_tok": 2, "n_shared_experts": 1, "first_k_dense_replace": 1
    })
}

fn hybrid() -> Value {
    json!({
        "architectures": ["Qwen3_5ForConditionalGeneration"], "model_type": "qwen3_5",
        "text_config": {
            "model_type": "qwen3_5_text", "hidden_size": 64, "intermediate_size": 128,
            "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16,
            "linear_num_key_heads": 2, "linear_num_value_heads": 4, "linear_key_head_dim": 8,
            "linear_value_head_dim": 8, "linear_conv_kernel_dim": 4, "vocab_size": 100
        },
        "vision_config": {
            "depth": 2, "hidden_size": 32, "intermediate_size": 64, "num_heads": 2, "patch_size": 4,
            "out_hidden_size": 64, "num_position_embeddings": 16
        }
    })
}

/// The config with another value in this field; `/` leads into parts.
fn with(mut config: Value, field: &str, value: Value) -> Value {
    *place(&mut config, field) = value;
    config
}

fn without(mut config: Value, field: &str) -> Value {
    config.as_object_mut().unwrap().remove(field);
    config
}

fn place<'a>(config: &'a mut Value, field: &str) -> &'a mut Value {
    field.split('/').fold(config, |part, name| &mut part[name])
}

fn error(config: &Value) -> String {
    describe(config).map(|d| d.counts()).unwrap_err().to_string()
}

fn assumed(config: &Value) -> Vec<String> {
    describe(config).unwrap().assumed.into_iter().map(|a| a.field).collect()
}

#[test]
fn a_missing_field_is_filled_by_the_class_and_told() {
    let fields = assumed(&without(without(llama(), "vocab_size"), "intermediate_size"));
    assert!(fields.contains(&"vocab_size".to_owned()), "{fields:?}");
    assert!(fields.contains(&"intermediate_size".to_owned()), "{fields:?}");
    let fields = assumed(&with(hybrid(), "text_config", json!({"model_type": "qwen3_5_text"})));
    assert!(fields.contains(&"text_config.hidden_size".to_owned()), "{fields:?}");
    assert!(!assumed(&llama()).contains(&"hidden_size".to_owned()));
}

#[test]
fn a_missing_field_without_a_class_default_is_an_error() {
    let config = json!({"architectures": ["DeciLMForCausalLM"], "model_type": "nemotron-nas"});
    assert_eq!(error(&config), "config.json: hidden_size: missing");
}

/// Null is a value: what the class takes for it is not what it takes for a field that is not there.
#[test]
fn null_is_kept_apart_from_missing() {
    assert_eq!(error(&with(llama(), "hidden_size", Value::Null)), "config.json: hidden_size: missing");
    let full_queries = describe(&with(latent(), "q_lora_rank", Value::Null)).unwrap();
    assert_eq!(full_queries.facts.latent.unwrap().q_rank, None);
    let compressed = describe(&without(latent(), "q_lora_rank")).unwrap();
    assert_eq!(compressed.facts.latent.unwrap().q_rank, Some(1536));
    // Heads of null width are the stream's width over their number.
    let qwen = with(llama(), "model_type", json!("qwen3"));
    assert_eq!(describe(&with(qwen.clone(), "head_dim", Value::Null)).unwrap().facts.k_dim, 16);
    assert_eq!(describe(&qwen).unwrap().facts.k_dim, 128);
}

#[test]
fn numbers_that_are_none_are_errors() {
    for value in [json!("64"), json!(64.5), json!(-1), json!(true), json!([64]), json!({"n": 64})] {
        let message = error(&with(llama(), "hidden_size", value.clone()));
        assert_eq!(message, "config.json: hidden_size: not a whole number", "{value}");
    }
    // A whole number may be written as a float.
    let same = describe(&with(llama(), "hidden_size", json!(64.0))).unwrap();
    assert_eq!(same.counts(), describe(&llama()).unwrap().counts());
}

#[test]
fn numbers_that_no_model_has_are_errors() {
    for value in ["1e300", "9223372036854775808", "18446744073709551617", "1099511627777"] {
        let text = format!(r#"{{"model_type": "llama", "vocab_size": {value}}}"#);
        let message = error(&hf_config::parse(&text).unwrap());
        let whole = message == "config.json: vocab_size: not a whole number";
        assert!(whole || message.starts_with("config.json: vocab_size: out of range"), "{value}: {message}");
    }
    let layers = error(&with(llama(), "num_hidden_layers", json!(1_000_000_000_u64)));
    assert_eq!(layers, "config.json: num_hidden_layers: out of range (0 to 1024)");
    let message = error(&with(llama(), "num_hidden_layers", json!(0)));
    assert_eq!(message, "config.json: num_hidden_layers: must be at least 1");
    assert_eq!(
        error(&with(llama(), "hidden_size", json!(0))),
        "config.json: hidden_size: must be at least 1"
    );
    let message = error(&with(llama(), "num_attention_heads", json!(1_u64 << 39)));
    assert_eq!(message, "config.json: num_attention_heads: out of range (0 to 4294967296)");
}

#[test]
fn nan_and_infinity_are_errors_where_they_are_read_and_nothing_elsewhere() {
    let fine = r#"{"model_type": "llama", "routed_scaling_factor": NaN, "rope_theta": -Infinity}"#;
    assert!(describe(&hf_config::parse(fine).unwrap()).is_ok());
    for word in ["NaN", "Infinity", "-Infinity"] {
        let text = format!(r#"{{"model_type": "llama", "hidden_size": {word}}}"#);
        let message = error(&hf_config::parse(&text).unwrap());
        assert_eq!(message, "config.json: hidden_size: not a whole number", "{word}");
    }
}

#[test]
fn flags_and_words_of_another_type_are_errors() {
    let message = error(&with(llama(), "tie_word_embeddings", json!("yes")));
    assert_eq!(message, "config.json: tie_word_embeddings: neither true nor false");
    let message = error(&with(llama(), "attention_bias", json!(1)));
    assert_eq!(message, "config.json: attention_bias: neither true nor false");
    let message = error(&with(latent(), "topk_method", json!(7)));
    assert_eq!(message, "config.json: topk_method: not a text");
}

#[test]
fn heads_that_do_not_divide_are_an_error() {
    let message = error(&with(llama(), "num_key_value_heads", json!(3)));
    let wanted = "config.json: num_key_value_heads: layer 0: 4 heads do not divide among 3 key/value heads";
    assert_eq!(message, wanted);
    let message = error(&with(llama(), "num_attention_heads", json!(0)));
    assert!(message.starts_with("config.json: num_key_value_heads: "), "{message}");
}

#[test]
fn lists_that_are_too_short_or_none_are_errors() {
    let layers = json!(["linear_attention", "full_attention"]);
    let message = error(&with(hybrid(), "text_config/layer_types", layers));
    assert_eq!(message, "config.json: text_config.layer_types: 2 entries for 4 layers");
    let message = error(&with(hybrid(), "text_config/layer_types", json!("full_attention")));
    assert_eq!(message, "config.json: text_config.layer_types: not a list of words");
    let message = error(&with(hybrid(), "text_config/layer_types", json!([1, 2, 3, 4])));
    assert_eq!(message, "config.json: text_config.layer_types: not a list of words");
    let message = error(&with(experts(), "mlp_only_layers", json!(["0"])));
    assert_eq!(message, "config.json: mlp_only_layers: not a list of whole numbers");
    // A list longer than the layers is that of a file with layers ahead: what is beyond is not read.
    let longer = json!(["linear_attention", "full_attention", "linear_attention", "full_attention", "x"]);
    assert!(describe(&with(hybrid(), "text_config/layer_types", longer)).is_ok());
}

/// Where a list and a period state the same thing, the list wins, as in the library.
#[test]
fn of_two_fields_that_contradict_the_list_wins() {
    let listed = json!(["full_attention", "linear_attention", "linear_attention", "linear_attention"]);
    let config = with(hybrid(), "text_config/layer_types", listed);
    let config = with(config, "text_config/full_attention_interval", json!(2));
    let model = describe(&config).unwrap();
    let recurrent = (0..4).filter(|i| model.facts.layer(*i).mixer.recurrent().is_some()).count();
    assert_eq!(recurrent, 3);
    // The flag of the whole wins over that of its part.
    let config = with(hybrid(), "text_config/tie_word_embeddings", json!(true));
    assert!(!describe(&with(config, "tie_word_embeddings", json!(false))).unwrap().facts.tied);
}

#[test]
fn experts_that_cannot_be_are_errors_or_add_up() {
    let message = error(&with(experts(), "num_experts", json!(1_000_000_000_000_u64)));
    assert_eq!(message, "config.json: num_experts: out of range (0 to 65536)");
    let message = error(&with(experts(), "num_experts_per_tok", json!(9)));
    assert_eq!(message, "config.json: num_experts_per_tok: out of range (0 to 8)");
    let message = error(&with(experts(), "num_experts_per_tok", Value::Null));
    assert_eq!(message, "config.json: num_experts_per_tok: missing");
    let none = describe(&with(experts(), "num_experts", json!(0))).unwrap();
    assert_eq!(none.counts().active, none.counts().built);
}

#[test]
fn parts_are_objects_and_nest_once() {
    for value in [json!([]), json!("text"), json!(1)] {
        let message = error(&with(hybrid(), "text_config", value));
        assert_eq!(message, "config.json: text_config: not an object");
    }
    // An empty part, or none, is what the class assumes.
    let empty = describe(&with(hybrid(), "text_config", json!({}))).unwrap();
    let none = describe(&without(hybrid(), "text_config")).unwrap();
    assert_eq!(empty.counts(), none.counts());
    assert!(!none.assumed.is_empty());
    // A part within the part is not looked for: its sizes are missing, and the class fills them.
    let twice = with(hybrid(), "text_config", json!({"text_config": {"hidden_size": 8}}));
    assert_eq!(describe(&twice).unwrap().counts(), none.counts());
}

#[test]
fn a_config_without_a_type_is_read_by_its_class_and_told_or_refused() {
    let rules = describe(&without(llama(), "model_type")).unwrap().read_as.unwrap();
    assert_eq!(rules.model_type, "llama");
    let nameless = without(without(llama(), "model_type"), "architectures");
    assert_eq!(error(&nameless), "unknown architecture \"\"");
    let rules = describe(&with(llama(), "model_type", json!(7))).unwrap().read_as.unwrap();
    assert_eq!(rules.model_type, "llama");
    for value in [json!([]), json!({}), json!([7]), json!("LlamaForCausalLM"), json!([["x"]])] {
        // Without a class that can be read, the model type alone decides.
        assert!(describe(&with(llama(), "architectures", value)).is_ok());
    }
    let message = error(&with(llama(), "architectures", json!(["LlamaForQuestionAnswering"])));
    assert_eq!(message, "config.json: architectures: not a type of model that is known");
}

#[test]
fn what_is_no_object_is_an_error() {
    for value in [json!([]), json!(1), json!("config"), Value::Null] {
        assert_eq!(error(&value), "config.json: the file: not an object");
    }
}

#[test]
fn deep_nesting_and_double_keys_end_in_an_error_or_the_last_word() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(hf_config::parse(&deep).is_err());
    let twice = r#"{"model_type": "llama", "hidden_size": 32, "hidden_size": 64}"#;
    assert_eq!(describe(&hf_config::parse(twice).unwrap()).unwrap().facts.width, 64);
}

#[test]
fn huge_towers_end_in_an_error() {
    let message = error(&with(hybrid(), "vision_config/depth", json!(1_000_000_000)));
    assert_eq!(message, "config.json: the file: describes too many tensors");
    let message = error(&with(hybrid(), "vision_config/hidden_size", json!("wide")));
    assert_eq!(message, "config.json: vision_config.hidden_size: not a whole number");
}

/// Whether the parts add up, and nothing that a token runs through is more than there is.
fn adds_up(described: &Described) -> bool {
    let counts = described.counts();
    let sum = counts.by_part.values().fold(0_u64, |sum, n| sum.saturating_add(*n));
    sum == counts.built && counts.active <= counts.built
}

/// Values that a field might hold by accident or on purpose.
fn odd() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(|flag| json!(flag)),
        (0_u64..300).prop_map(|n| json!(n)),
        any::<u64>().prop_map(|n| json!(n)),
        any::<i64>().prop_map(|n| json!(n)),
        any::<f64>().prop_map(|n| json!(n)),
        "[a-z_]{0,12}".prop_map(|word| json!(word)),
        proptest::collection::vec(0_u64..200, 0..8).prop_map(|list| json!(list)),
        proptest::collection::vec("[a-z_]{0,12}", 0..8).prop_map(|list| json!(list)),
        Just(json!({})),
    ]
}

fn fields(config: &Value, path: &str, found: &mut Vec<String>) {
    for (name, value) in config.as_object().into_iter().flatten() {
        let path = if path.is_empty() { name.clone() } else { format!("{path}/{name}") };
        fields(value, &path, found);
        found.push(path);
    }
}

/// Every config of the library's records: all families, towers and wrappers.
static RECORDED: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../observations/transformers/models.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["config"].take()).collect()
});

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// Any config with a few odd values is an error, or a model that adds up.
    #[test]
    fn odd_values_never_make_a_model_that_does_not_add_up(
        which in any::<prop::sample::Index>(),
        odd in proptest::collection::vec((any::<prop::sample::Index>(), odd()), 1..4),
    ) {
        let mut config = which.get(&RECORDED).clone();
        let mut paths = Vec::new();
        fields(&config, "", &mut paths);
        for (index, value) in odd {
            // A value before may have taken the place of the part that this one lies in.
            if let Some(place) = config.pointer_mut(&format!("/{}", index.get(&paths))) {
                *place = value;
            }
        }
        if let Ok(described) = describe(&config) {
            prop_assert!(adds_up(&described), "{config}");
            let sizes = Weighed::of_config("odd", &config, &described).sizes(Some(Recipe::Q4KM));
            prop_assert!(sizes.len() <= 2, "{config}");
        }
    }
}
