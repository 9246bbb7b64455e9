//! Models as repositories keep them (a config.json, with or without safetensors files), whole and broken,
//! against the real program.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::process::{Command, Output};

use serde_json::{Map, Value, json};
use tempfile::TempDir;

/// A small model whose tensors are written by hand below, so that no rule of the program makes them.
fn config() -> Value {
    json!({
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 64,
        "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4,
        "num_key_value_heads": 2, "vocab_size": 100, "max_position_embeddings": 4096,
        "tie_word_embeddings": false, "rms_norm_eps": 1e-5
    })
}

/// The config with one field changed.
fn with(field: &str, value: Value) -> Value {
    let mut config = config();
    config[field] = value;
    config
}

fn tensors() -> Vec<(String, Vec<u64>)> {
    let mut list: Vec<(String, Vec<u64>)> = vec![
        ("model.embed_tokens.weight".into(), vec![100, 64]),
        ("model.norm.weight".into(), vec![64]),
        ("lm_head.weight".into(), vec![100, 64]),
    ];
    for i in 0..2 {
        for (name, shape) in [
            ("self_attn.q_proj", vec![64, 64]),
            ("self_attn.k_proj", vec![32, 64]),
            ("self_attn.v_proj", vec![32, 64]),
            ("self_attn.o_proj", vec![64, 64]),
            ("mlp.gate_proj", vec![128, 64]),
            ("mlp.up_proj", vec![128, 64]),
            ("mlp.down_proj", vec![64, 128]),
            ("input_layernorm", vec![64]),
            ("post_attention_layernorm", vec![64]),
        ] {
            list.push((format!("model.layers.{i}.{name}.weight"), shape));
        }
    }
    list
}

/// A safetensors file of bfloat16 tensors; its data are a hole.
fn safetensors(tensors: &[(String, Vec<u64>)]) -> (Vec<u8>, u64) {
    let mut header = Map::new();
    let mut end = 0;
    for (name, shape) in tensors {
        let start = end;
        end += shape.iter().product::<u64>() * 2;
        header.insert(name.clone(), json!({"dtype": "BF16", "shape": shape, "data_offsets": [start, end]}));
    }
    let text = serde_json::to_string(&header).unwrap();
    let bytes = [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat();
    let size = bytes.len() as u64 + end;
    (bytes, size)
}

struct Place {
    dir: TempDir,
}

impl Place {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    /// A folder with this config alone.
    fn of(config: &Value) -> Self {
        let place = Self::new();
        place.write("config.json", &config.to_string());
        place
    }

    fn write(&self, name: &str, bytes: &(impl AsRef<[u8]> + ?Sized)) {
        fs::write(self.dir.path().join(name), bytes).unwrap();
    }

    fn store(&self, name: &str, tensors: &[(String, Vec<u64>)]) {
        let (bytes, size) = safetensors(tensors);
        self.write(name, &bytes);
        fs::OpenOptions::new().append(true).open(self.dir.path().join(name)).unwrap().set_len(size).unwrap();
    }

    fn run(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_vram")).args(args).current_dir(self.dir.path()).output().unwrap()
    }

    fn shown(&self, name: &str) -> Value {
        let output = self.run(&["models", "show", name, "--json"]);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// One error: exit code 2, nothing printed, and these words in it.
    fn refused(&self, name: &str, words: &[&str]) {
        for args in [&["models", "show", name][..], &["plan", name, "--on", "rtx-4090"]] {
            let output = self.run(args);
            let error = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{error}");
            assert!(output.stdout.is_empty());
            assert!(error.starts_with("error: ") && !error.contains("panicked"), "{error}");
            for word in words {
                assert!(error.contains(word), "{word:?} is not in {error}");
            }
        }
    }
}

#[test]
fn every_form_of_a_model_gives_one_answer() {
    let place = Place::of(&config());
    let built: u64 = tensors().iter().map(|(_, shape)| shape.iter().product::<u64>()).sum();
    let alone = place.shown("./config.json");
    assert_eq!(alone["parameters"]["built"], built);
    assert_eq!(alone["form"], "config");
    assert_eq!(place.shown(".")["parameters"], alone["parameters"]);

    place.store("model.safetensors", &tensors());
    for name in [".", "./model.safetensors"] {
        let stored = place.shown(name);
        assert_eq!(stored["form"], "safetensors");
        assert_eq!(stored["parameters"]["built"], built);
        assert_eq!(stored["parameters"]["stored"], built);
        assert_eq!(stored["stored"]["bytes"], built * 2);
        assert_eq!(stored["layers"], alone["layers"]);
    }
}

#[test]
fn a_model_in_several_files_is_read_whole() {
    let place = Place::of(&config());
    let all = tensors();
    place.store("model-00001-of-00002.safetensors", &all[..5]);
    place.refused(".", &["model-00002-of-00002.safetensors is missing"]);
    place.store("model-00002-of-00002.safetensors", &all[5..]);
    let by_name = place.shown(".");
    let map: Map<String, Value> = all
        .iter()
        .enumerate()
        .map(|(i, (name, _))| {
            let number = if i < 5 { 1 } else { 2 };
            (name.clone(), json!(format!("model-0000{number}-of-00002.safetensors")))
        })
        .collect();
    place.write("model.safetensors.index.json", &json!({"metadata": {}, "weight_map": map}).to_string());
    assert_eq!(place.shown("."), by_name);
    assert_eq!(place.shown("./model.safetensors.index.json")["parameters"], by_name["parameters"]);
    assert_eq!(place.shown("./model-00002-of-00002.safetensors")["parameters"], by_name["parameters"]);
}

#[test]
fn a_folder_plans_as_the_file_it_would_become() {
    let place = Place::of(&config());
    let output = place.run(&["plan", ".", "--on", "rtx-4090", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let plan: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(plan["model"]["quant"], "Q4_K_M");
    assert_eq!(plan["assumed"][0], json!({"assumption": "quant", "quant": "Q4_K_M"}));
    let output = place.run(&["plan", "./config.json", "--on", "rtx-4090", "--quant", "F16", "--json"]);
    let plan: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(plan["model"]["parameters"], place.shown(".")["parameters"]["built"]);
}

#[test]
fn several_candidates_are_listed_and_none_is_picked() {
    let place = Place::of(&config());
    place.refused("/", &["is a folder without a model"]);
    place.write("a-Q4_K_M.gguf", "GGUF");
    place.write("a-Q8_0.gguf", "GGUF");
    place.write("mmproj-a.gguf", "GGUF");
    place.refused(".", &["several models", "a-Q4_K_M.gguf", "a-Q8_0.gguf", "name one of them"]);
    let none = Place::new();
    none.refused(".", &["is a folder without a model"]);
    none.store("model.safetensors", &tensors());
    none.refused(".", &["no config.json beside it"]);
    none.refused("./model.safetensors", &["no config.json beside it"]);
}

#[test]
fn files_and_config_must_be_of_one_model() {
    let wide = Place::of(&with("hidden_size", json!(128)));
    wide.store("model.safetensors", &tensors());
    wide.refused(".", &["mixes two models", "[100, 64] in the files, [100, 128] by config.json"]);
    let deep = Place::of(&with("num_hidden_layers", json!(3)));
    deep.store("model.safetensors", &tensors());
    deep.refused(".", &["mixes two models", "2 layers in the files, 3 by config.json"]);
    let shallow = Place::of(&with("num_hidden_layers", json!(1)));
    shallow.store("model.safetensors", &tensors());
    shallow.refused(".", &["2 layers in the files, 1 by config.json"]);
}

#[test]
fn broken_weights_are_said_to_be_broken() {
    let place = Place::of(&config());
    let (bytes, size) = safetensors(&tensors());
    place.write("model.safetensors", "");
    place.refused(".", &["model.safetensors: empty"]);
    for length in (1..bytes.len()).step_by(97) {
        place.write("model.safetensors", &bytes[..length]);
        place.refused(".", &["ends too early", "fetch it again"]);
    }
    place.write("model.safetensors", &bytes);
    place.refused(".", &["ends too early", "the header of model.safetensors promises", &thousands(size)]);
    place.write("model.safetensors", "version https://git-lfs.github.com/spec/v1\noid sha256:0123\nsize 9\n");
    place.refused(".", &["is broken", "model.safetensors"]);
    place.write("model.safetensors.index.json", "{\"weight_map\": {\"a\": \"../../etc/passwd\"}}");
    place.refused(".", &["is broken", "outside the folder"]);
}

/// A whole number as the program prints it; these have four to six digits.
fn thousands(n: u64) -> String {
    format!("{},{:03}", n / 1000, n % 1000)
}

#[test]
fn configs_that_describe_no_model() {
    let place = Place::new();
    let refused = |text: &str, words: &[&str]| {
        place.write("config.json", text);
        place.refused("./config.json", words);
    };
    refused("", &["is empty"]);
    refused("{", &["is no config of a model"]);
    refused("[1, 2]", &["config.json"]);
    refused("\u{feff}{}", &["is no config of a model"]);
    refused(&"[".repeat(100_000), &["is no config of a model"]);
    let mut brandnew = with("model_type", json!("brandnew"));
    brandnew["architectures"] = json!(["BrandNewForCausalLM"]);
    refused(&brandnew.to_string(), &["not understood: brandnew"]);
    refused(&with("hidden_size", json!("wide")).to_string(), &["hidden_size", "whole number"]);
    refused(&with("num_hidden_layers", json!(1_000_000_000)).to_string(), &["out of range"]);
    place.write("config.json", &vec![0xff; 64]);
    place.refused("./config.json", &["not UTF-8"]);
    place.write("config.json", &vec![b' '; 5 << 20]);
    place.refused("./config.json", &["more than a config has"]);
}

/// A type of model that nobody knows, of a class that is known: read by its rules, and that is said.
#[test]
fn rules_that_stand_in_for_unknown_ones_are_told() {
    let place = Place::of(&with("model_type", json!("brandnew")));
    assert_eq!(place.shown(".")["read_as"], json!({"model_type": "llama", "in_part": false}));
    for args in [&["models", "show", "."][..], &["plan", ".", "--on", "rtx-4090"]] {
        let output = place.run(args);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains("rules of llama"), "{text}");
    }
}

#[test]
fn what_python_writes_for_no_number_is_read() {
    let text = with("rope_theta", json!("X")).to_string().replace("\"X\"", "Infinity");
    let place = Place::new();
    place.write("config.json", &text);
    assert_eq!(place.shown(".")["layers"][0]["last"], 1);
    place.write("config.json", &with("hidden_size", json!("X")).to_string().replace("\"X\"", "NaN"));
    place.refused(".", &["hidden_size"]);
}
