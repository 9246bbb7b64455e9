//! Tensor lists of converted files must be those that the engine's own converter writes for a model's class.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;
use vramplan_core::archs::{self, describe};
use vramplan_core::catalogue::find_model;
use vramplan_core::quants::{self, Recipe};

/// Shape and format by name.
type List = BTreeMap<String, ([u64; 4], String)>;

/// Models whose recorded list is not the one we build, and why.
const EXCUSED: &[(&str, &str)] = &[
    ("BAAI/bge-reranker-large", "the first two positions are cut off, and no list is built"),
    ("LiquidAI/LFM2-1.2B", "files of the record of models hold the short convolution in 16 bits"),
    ("LiquidAI/LFM2-24B-A2B", "the same"),
    ("meta-models/Muse-Glimmer-30B", "the converter makes up norms, and no list is built"),
    ("nvidia/MiniMax-M3-NVFP4", "no list is built"),
    ("upstage/Solar-Open-100B", "its files go by the key of another family, and no list is built"),
];

fn recorded(record: &Value) -> List {
    let mut list = List::new();
    for tensor in record["tensors"].as_array().unwrap() {
        let mut shape = [1; 4];
        let extents = tensor[1].as_array().unwrap().iter().map(|n| n.as_u64().unwrap());
        extents.filter(|n| *n != 1).zip(shape.iter_mut()).for_each(|(from, to)| *to = from);
        let name = tensor[0].as_str().unwrap();
        let format = tensor[2].as_str().unwrap().to_owned();
        match tensor.get(3).and_then(Value::as_array) {
            None => drop(list.insert(name.into(), (shape, format))),
            Some(runs) => runs.iter().flat_map(layers).for_each(|i| {
                list.insert(name.replace("{}", &i.to_string()), (shape, format.clone()));
            }),
        }
    }
    list
}

fn layers(run: &Value) -> std::ops::RangeInclusive<u64> {
    run[0].as_u64().unwrap()..=run[1].as_u64().unwrap()
}

fn built(id: &str) -> Result<List, String> {
    let row = find_model(id).one().ok_or("not in the catalogue")?;
    let described = describe(&row.config).map_err(|e| e.to_string())?;
    let tensors = archs::converted(&described).ok_or("no list is built")?;
    let mut model = archs::model(row.name, &described.facts, tensors, 0);
    quants::apply(Recipe::F16, &mut model);
    let squeezed = |shape: [u64; 4]| {
        let mut kept = [1; 4];
        shape.into_iter().filter(|n| *n != 1).zip(kept.iter_mut()).for_each(|(from, to)| *to = from);
        kept
    };
    // The record is of the class's parameters, and the class has no layers ahead.
    let trunk = |layer: Option<u32>| layer.is_none_or(|i| u64::from(i) < described.facts.layers);
    let tensors = model.tensors.into_iter().filter(|t| trunk(t.layer));
    Ok(tensors.map(|t| (t.name, (squeezed(t.shape), t.format.name().into()))).collect())
}

#[test]
fn lists_are_the_converters() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../observations/llama.cpp/converter.jsonl");
    let text = fs::read_to_string(path).unwrap();
    let records: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(records.len() > 60);
    let mut wrong = Vec::new();
    for record in &records {
        let id = record["id"].as_str().unwrap();
        let (recorded, built) = (recorded(record), built(id).unwrap_or_default());
        let missing: Vec<_> = recorded.iter().filter(|(n, s)| built.get(*n) != Some(s)).take(3).collect();
        let extra: Vec<_> = built.iter().filter(|(n, s)| recorded.get(*n) != Some(s)).take(3).collect();
        let excused = EXCUSED.iter().any(|(excused, _)| *excused == id);
        if excused == (missing.is_empty() && extra.is_empty()) {
            let arch = &record["arch"];
            wrong.push(format!("{id} {arch}: missing {missing:?}, extra {extra:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), records.len(), wrong.join("\n"));
}
