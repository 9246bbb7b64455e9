//! One model in its three forms (GGUF keys, config.json, safetensors files) has the same layers, and so
//! the same cache.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod recorded;

use std::collections::BTreeMap;
use std::path::Path;

use recorded::Recorded;
use serde_json::{Map, Value, json};
use vramplan_core::archs::{self, Described, describe, stored};
use vramplan_core::catalogue::find_model;
use vramplan_core::formats::Progress;
use vramplan_core::formats::safetensors;
use vramplan_core::model::Layer;
use vramplan_core::rules::cache;

/// Recorded GGUF models whose configs are not in the catalogue but among the library's records.
const HUB_IDS: &[(&str, &str)] = &[
    ("falcon-h1-7b", "tiiuae/Falcon-H1-7B-Instruct"),
    ("gemma-3-4b", "google/gemma-3-4b-it"),
    ("jamba-v0.1", "ai21labs/Jamba-v0.1"),
    ("lfm2-1.2b", "LiquidAI/LFM2-1.2B"),
    ("llama-4-scout", "meta-llama/Llama-4-Scout-17B-16E-Instruct"),
    ("mamba2-2.7b", "state-spaces/mamba2-2.7b"),
    ("ministral-3-8b", "mistralai/Ministral-3-8B-Instruct-2512"),
];

/// Recorded GGUF models whose config is of another model, and why.
const ANOTHER_CONFIG: &[(&str, &str)] = &[(
    "kimi-linear-48b-a3b",
    "the record's config is the class's defaults: 6 layers with full attention where the model has 7",
)];

fn observations(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../observations");
    std::fs::read_to_string(folder.join(name)).unwrap()
}

/// Configs of the library's records, by hub id.
fn configs() -> BTreeMap<String, Value> {
    let text = observations("transformers/models.jsonl");
    let rows = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    rows.map(|mut row| (row["id"].as_str().unwrap().to_owned(), row["config"].take())).collect()
}

/// What a layer adds to the cache and keeps, whatever its weights are.
fn keeps(layer: &Layer) -> String {
    let row = cache::row_of(layer);
    let window = layer.mixer.window();
    let state = layer.mixer.recurrent().map(|r| (r.conv_values(), r.state_values()));
    let shares = layer.mixer.attention().and_then(|a| a.shares_cache_with);
    format!("{row:?} {window:?} {state:?} {shares:?}")
}

fn trunk(layers: Vec<Layer>) -> Vec<Layer> {
    layers.into_iter().filter(|layer| !layer.predicts_ahead).collect()
}

#[test]
fn gguf_keys_and_configs_give_the_same_layers() {
    let models: Map<String, Value> =
        serde_json::from_str(&observations("llama.cpp/llama_cpp_models.json")).unwrap();
    let configs = configs();
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for entry in models.values() {
        let family = entry["family"].as_str().unwrap();
        if ANOTHER_CONFIG.iter().any(|(name, _)| *name == family) {
            continue;
        }
        let id = HUB_IDS.iter().find(|(name, _)| *name == family).map(|(_, id)| *id);
        let config =
            id.map_or_else(|| find_model(family).one().map(|row| row.config), |id| configs.get(id).cloned());
        let config = config.unwrap_or_else(|| panic!("no config of {family}"));
        let keys = Recorded(entry["kv"].as_object().unwrap());
        let by_keys = archs::facts_of_gguf(entry["arch"].as_str().unwrap(), &keys).unwrap();
        let described = describe(&config).unwrap_or_else(|e| panic!("{family}: {e}"));
        let (gguf, hub) = (trunk(archs::layers(&by_keys)), trunk(archs::layers(&described.facts)));
        if gguf.len() != hub.len() {
            wrong.push(format!("{family}: {} layers, {} layers", gguf.len(), hub.len()));
        }
        for (i, (a, b)) in gguf.iter().zip(&hub).enumerate() {
            if keeps(a) != keeps(b) || a.ffn != b.ffn {
                wrong.push(format!("{family}, layer {i}:\n  GGUF   {a:?}\n  config {b:?}"));
                break;
            }
        }
        compared += 1;
    }
    assert!(compared > 40, "{compared}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The header of a file that stores every parameter in bfloat16.
fn header(described: &Described) -> Vec<u8> {
    let mut map = Map::new();
    let mut end = 0;
    for parameter in &described.parameters {
        let start = end;
        end += parameter.elements() * 2;
        let entry = json!({"dtype": "BF16", "shape": parameter.shape, "data_offsets": [start, end]});
        assert!(map.insert(parameter.name.clone(), entry).is_none(), "{} twice", parameter.name);
    }
    let text = serde_json::to_string(&map).unwrap();
    [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat()
}

#[test]
fn files_that_store_what_is_described_agree_with_their_config() {
    let configs = configs();
    assert!(configs.len() > 300);
    for (id, config) in configs {
        let described = describe(&config).unwrap_or_else(|e| panic!("{id}: {e}"));
        let bytes = header(&described);
        let Ok(Progress::Done(header)) = safetensors::parse(&bytes) else { panic!("{id}") };
        let stored = stored(&described, &header.tensors).unwrap_or_else(|e| panic!("{id}: {e}"));
        assert_eq!(stored.values, described.counts().built, "{id}");
        assert!(stored.beyond.is_empty(), "{id}: {:?}", stored.beyond);
    }
}
