//! Quantised repositories from their configs: what is packed, what is left, and configs that nobody should write.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};
use vramplan_core::answer::Weighed;
use vramplan_core::archs::describe;
use vramplan_core::catalogue::find_model;
use vramplan_core::dtype::Format;
use vramplan_core::packing::{Layout, MlxMode, OwnFormat, Packing, PackingError, Stored, bytes_by_format};

const WIDTH: u64 = 256;
const FFN: u64 = 512;
const VOCAB: u64 = 1000;
/// Weights of a layer's linear layers: queries and outputs, keys and values, three of the feed-forward part.
const LINEAR: u64 = WIDTH * WIDTH * 2 + WIDTH * 128 * 2 + WIDTH * FFN * 3;
const LAYERS: u64 = 2;

fn config(quantisation: &Value) -> Value {
    json!({
        "model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": WIDTH,
        "num_hidden_layers": LAYERS, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 64,
        "intermediate_size": FFN, "vocab_size": VOCAB, "tie_word_embeddings": false,
        "quantization_config": quantisation
    })
}

fn stored(config: &Value) -> Vec<Stored> {
    let described = describe(config).unwrap();
    let packing = Packing::of_config(config).unwrap().unwrap();
    packing.store(described.stored().iter(), OwnFormat::new(Format::Bf16, "llama"))
}

fn bytes(quantisation: &Value) -> BTreeMap<Format, u64> {
    bytes_by_format(&stored(&config(quantisation))).into_iter().map(|(f, bytes)| (f, bytes.0)).collect()
}

/// What stays in 16 bits where all linear layers but the head are packed: tables and norms.
const LEFT: u64 = (VOCAB * WIDTH * 2 + WIDTH * (2 * LAYERS + 1)) * 2;

/// Linear layers of a layer by outputs and inputs.
const MATRICES: [(u64, u64); 7] =
    [(256, 256), (128, 256), (128, 256), (256, 256), (512, 256), (512, 256), (256, 512)];

fn over(bytes: impl Fn(u64, u64) -> u64) -> u64 {
    LAYERS * MATRICES.iter().map(|(outputs, inputs)| bytes(*outputs, *inputs)).sum::<u64>()
}

#[test]
fn every_method_has_its_scales() {
    let all = LAYERS * LINEAR;
    let fp8 = bytes(&json!({"quant_method": "fp8", "weight_block_size": [128, 128]}));
    assert_eq!(fp8[&Format::Fp8E4M3], all);
    assert_eq!(fp8[&Format::F32], over(|o, i| o.div_ceil(128) * i.div_ceil(128) * 4));
    assert_eq!(fp8[&Format::Bf16], LEFT);
    let gptq = bytes(&json!({"quant_method": "gptq", "bits": 4, "group_size": 128}));
    assert_eq!(gptq[&Format::I32], all / 2 + over(|o, i| i / 128 * o / 2 + i * 4));
    assert_eq!(gptq[&Format::F16], over(|o, i| i / 128 * o * 2));
    let awq = bytes(&json!({"quant_method": "awq", "bits": 4, "group_size": 128}));
    assert_eq!(awq[&Format::I32], all / 2 + over(|o, i| i / 128 * o / 2));
    let modelopt = bytes(&json!({"quant_algo": "NVFP4", "exclude_modules": ["lm_head"]}));
    assert_eq!((modelopt[&Format::U8], modelopt[&Format::Fp8E4M3]), (all / 2, all / 16));
    assert_eq!(modelopt[&Format::F32], LAYERS * 7 * 8);
    let nf4 = json!({"quant_method": "bitsandbytes", "load_in_4bit": true});
    assert_eq!(bytes(&nf4)[&Format::U8], all / 2 + LAYERS * 7 * 84);
    assert_eq!(bytes(&nf4)[&Format::F32], all / 64 * 4 + LAYERS * 7 * 64);
    let torchao = bytes(&json!({"quant_method": "torchao", "quant_type": "int4_weight_only"}));
    assert_eq!(torchao[&Format::U8], all / 2);
}

#[test]
fn compressed_tensors_follow_their_groups() {
    let group = |weights: Value, format: &str| {
        json!({"quant_method": "compressed-tensors", "format": format, "ignore": ["lm_head"],
               "config_groups": {"group_0": {"targets": ["Linear"], "weights": weights}}})
    };
    let all = LAYERS * LINEAR;
    let w4 = group(
        json!({"num_bits": 4, "type": "int", "group_size": 128, "strategy": "group"}),
        "pack-quantized",
    );
    assert_eq!(bytes(&w4)[&Format::I32], all / 2);
    assert_eq!(bytes(&w4)[&Format::I64], LAYERS * 7 * 16);
    assert_eq!(bytes(&w4)[&Format::Bf16], LEFT + all / 128 * 2);
    let uneven = json!({"num_bits": 4, "type": "int", "group_size": 128, "symmetric": false});
    assert_eq!(
        bytes(&group(uneven, "pack-quantized"))[&Format::I32],
        all / 2 + over(|o, i| o / 8 * (i / 128) * 4)
    );
    let w8 = group(json!({"num_bits": 8, "type": "int", "strategy": "channel"}), "int-quantized");
    assert_eq!(bytes(&w8)[&Format::I8], all);
    let rows = group(json!({"num_bits": 8, "type": "float", "strategy": "channel"}), "float-quantized");
    assert_eq!(bytes(&rows)[&Format::Fp8E4M3], all);
}

#[test]
fn lists_of_modules_are_left_as_they_are() {
    let all = LAYERS * LINEAR;
    let without_mlp = LAYERS * (LINEAR - WIDTH * FFN * 3);
    for (list, packed) in [
        (json!(["lm_head"]), all),
        (json!(["lm_head", "re:.*mlp.*"]), without_mlp),
        (
            json!(["lm_head", "model.layers.0", "model.layers.1.mlp"]),
            without_mlp - (LINEAR - WIDTH * FFN * 3),
        ),
        (json!(["lm_head", "*.mlp.*"]), without_mlp),
        (json!([]), all + VOCAB * WIDTH),
    ] {
        let quantisation =
            json!({"quant_method": "fp8", "weight_block_size": [128, 128], "modules_to_not_convert": list});
        assert_eq!(bytes(&quantisation)[&Format::Fp8E4M3], packed, "{quantisation}");
    }
}

#[test]
fn mlx_packs_tables_too_and_takes_exceptions() {
    let mut config = config(&Value::Null);
    config["quantization"] = json!({"bits": 4, "group_size": 64, "lm_head": {"bits": 8, "group_size": 32}, "model.layers.0.mlp": false});
    let stored = stored(&config);
    let of = |name: &str| stored.iter().find(|t| t.name.starts_with(name)).unwrap();
    assert_eq!(
        (of("model.embed_tokens").format, of("model.embed_tokens").shape[1]),
        (Format::U32, WIDTH / 8)
    );
    assert_eq!(of("lm_head").shape, [VOCAB, WIDTH / 4]);
    assert_eq!(of("model.layers.0.mlp.gate_proj").format, Format::Bf16);
    assert_eq!(of("model.layers.1.mlp.gate_proj").format, Format::U32);
}

const FOUR_BITS: Layout = Layout::Mlx { bits: 4, group: 64, mode: MlxMode::Affine };

/// Bytes of a row of the catalogue as MLX's converter of some day makes it.
fn mlx_bytes(id: &str, release: Option<&str>, dtype: Option<&str>, layout: Layout) -> u64 {
    let mut row = find_model(id).one().unwrap();
    if let Some(dtype) = dtype {
        row.config["torch_dtype"] = dtype.into();
    }
    let described = row.describe().unwrap();
    let weighed = Weighed { release, ..Weighed::of_row(&row, &described) };
    weighed.mlx_bytes(layout).0
}

#[test]
fn older_mlx_converters_pack_routers_like_the_rest() {
    let bytes = |release| mlx_bytes("Qwen/Qwen3.5-35B-A3B", release, None, FOUR_BITS);
    // 40 layers of 256 experts and a gate for the shared one, 2,048 wide: half a byte more each.
    let gained = 40 * 257 * 2048 / 2;
    assert_eq!(bytes(None) - bytes(Some("2026-02-24")), gained);
    assert_eq!(bytes(None), bytes(Some("2026-04-01")));
}

#[test]
fn mlx_brings_everything_to_the_stated_format_but_what_its_class_keeps() {
    let bytes = |day, dtype| mlx_bytes("nvidia/NVIDIA-Nemotron-Nano-9B-v2", Some(day), dtype, Layout::Plain);
    // The decay of 128 heads in 27 layers, in 32 bits or 16.
    let decay = 27 * 128 * 2;
    let as_it_is = bytes("2025-08-12", None);
    assert_eq!(as_it_is - bytes("2025-08-12", Some("bfloat16")), decay);
    assert_eq!(as_it_is, bytes("2026-01-01", Some("bfloat16")), "newer ones keep it");
}

#[test]
fn files_hold_the_limits_of_clipped_matrices() {
    let row = find_model("google/gemma-4-E2B-it").one().unwrap();
    let described = row.describe().unwrap();
    let limits = described.stored().iter().filter(|p| p.shape.is_empty()).count();
    // Seven matrices in each of 16 layers that see, ten in each of 12 that hear, four limits each.
    assert_eq!(limits, 4 * (7 * 16 + 10 * 12));
    assert!(described.parameters.iter().all(|p| !p.shape.is_empty()), "no parameters to the library");
}

#[test]
fn what_is_not_known_is_said() {
    let of = |quantisation: Value| Packing::of_config(&config(&quantisation));
    assert!(
        matches!(of(json!({"quant_method": "aqlm"})), Err(PackingError::UnknownMethod(m)) if m == "aqlm")
    );
    assert!(matches!(of(json!({"quant_method": "gptq"})), Err(PackingError::Field { .. })));
    assert!(matches!(of(json!({"quant_method": "gptq", "bits": 0})), Err(PackingError::Field { .. })));
    assert!(of(Value::Null).unwrap().is_none());
}

fn odd() -> impl Strategy<Value = Value> {
    let word = prop_oneof![
        Just("fp8"),
        Just("gptq"),
        Just("awq"),
        Just("compressed-tensors"),
        Just("modelopt"),
        Just("mxfp4"),
        Just("bitsandbytes"),
        Just("torchao"),
        Just("NVFP4"),
        Just("Linear"),
        Just("re:(a|b)+"),
        Just("*"),
        Just("float"),
        Just("channel"),
        Just("block"),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0_u64..300).prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        word.prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 6, |inner| {
        let key = prop_oneof![
            Just("quant_method"),
            Just("bits"),
            Just("group_size"),
            Just("weight_block_size"),
            Just("ignore"),
            Just("config_groups"),
            Just("group_0"),
            Just("targets"),
            Just("weights"),
            Just("num_bits"),
            Just("type"),
            Just("strategy"),
            Just("symmetric"),
            Just("quant_algo"),
            Just("quantized_layers"),
            Just("modules_to_not_convert"),
            Just("quant_type"),
            Just("dynamic"),
            Just("format"),
        ];
        let map = proptest::collection::btree_map(key.prop_map(str::to_owned), inner.clone(), 0..8);
        prop_oneof![
            proptest::collection::vec(inner, 0..5).prop_map(Value::from),
            map.prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// Whatever a config says of its quantisation is an error, or tensors that hold something.
    #[test]
    fn odd_quantisations_end_in_an_error_or_in_tensors(stated in odd(), mlx in odd()) {
        let mut config = config(&stated);
        config["quantization"] = mlx;
        if let Ok(Some(packing)) = Packing::of_config(&config) {
            let described = describe(&config).unwrap();
            let stored = packing.store(described.stored().iter(), OwnFormat::new(Format::Bf16, "llama"));
            prop_assert!(stored.len() >= described.parameters.len());
        }
    }
}
