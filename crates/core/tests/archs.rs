//! Tensor lists rebuilt from GGUF keys must equal the lists that the engine's own loader asked for.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod recorded;

use std::collections::BTreeMap;

use recorded::Recorded;
use serde_json::{Map, Value};
use vramplan_core::archs;

type List = BTreeMap<String, [u64; 4]>;

fn recorded_tensors(entry: &Value) -> List {
    let mut list = List::new();
    for group in entry["tensors"].as_array().unwrap() {
        let mut shape = [1; 4];
        for (to, from) in shape.iter_mut().zip(group["shape"].as_array().unwrap()) {
            *to = from.as_u64().unwrap();
        }
        let name = group["name"].as_str().unwrap();
        let Some(ranges) = group.get("layers") else {
            list.insert(name.into(), shape);
            continue;
        };
        for range in ranges.as_array().unwrap() {
            for i in range[0].as_u64().unwrap()..=range[1].as_u64().unwrap() {
                list.insert(name.replace("{i}", &i.to_string()), shape);
            }
        }
    }
    list
}

fn rebuilt_tensors(entry: &Value, recorded: &List) -> List {
    let keys = Recorded(entry["kv"].as_object().unwrap());
    let mut facts = archs::facts_of_gguf(entry["arch"].as_str().unwrap(), &keys).unwrap();
    facts.tied = !recorded.contains_key("output.weight");
    facts.rope_factors = recorded.contains_key("rope_freqs.weight");
    archs::tensors(&facts).into_iter().map(|t| (t.name, t.shape)).collect()
}

#[test]
fn rebuilt_lists_equal_recorded_lists() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../observations/llama.cpp/llama_cpp_models.json");
    let models: Map<String, Value> = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert!(models.len() > 40);
    let mut wrong = Vec::new();
    for (name, entry) in &models {
        let recorded = recorded_tensors(entry);
        let rebuilt = rebuilt_tensors(entry, &recorded);
        let missing: Vec<_> = recorded.iter().filter(|(n, s)| rebuilt.get(*n) != Some(s)).take(4).collect();
        let extra: Vec<_> = rebuilt.iter().filter(|(n, s)| recorded.get(*n) != Some(s)).take(4).collect();
        if !missing.is_empty() || !extra.is_empty() {
            wrong.push(format!("{name}: missing {missing:?}, extra {extra:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
