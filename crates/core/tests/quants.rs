//! The formats our rules give against the recorded ones of the engine's own chooser.

use serde_json::Value;
use vramplan_core::dtype::Format;
use vramplan_core::model::{Attention, Ffn, Latent, Layer, Mixer, Model, Recurrent, Role, Tensor};
use vramplan_core::quants::{Making, Recipe, apply};

const OBSERVATIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../observations/llama.cpp/");

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}

/// One tensor of the list before it is quantised, and the format on record.
fn tensor(group: &Value, layer: Option<u32>) -> (Tensor, Format) {
    let name = group["name"].as_str().unwrap_or_default();
    let name = layer.map_or(name.to_owned(), |l| name.replace("{i}", &l.to_string()));
    let mut shape = [1; 4];
    for (extent, value) in shape.iter_mut().zip(group["shape"].as_array().into_iter().flatten()) {
        *extent = number(value);
    }
    let mut tensor = Tensor { name, shape, format: Format::F16, role: Role::Matrix, layer, offset: 0 };
    if tensor.dimensions() < 2 {
        tensor.format = Format::F32;
    }
    let recorded = group["type"].as_str().and_then(|t| t.parse().ok());
    assert!(recorded.is_some(), "format of {group}");
    (tensor, recorded.unwrap_or(Format::I64))
}

/// The list in file order: what belongs to no layer first, then layer by layer.
fn tensors(entry: &Value) -> Vec<(Tensor, Format)> {
    let mut list = Vec::new();
    for group in entry["tensors"].as_array().into_iter().flatten() {
        match group["layers"].as_array() {
            None => list.push(tensor(group, None)),
            Some(ranges) => list.extend(
                ranges
                    .iter()
                    .flat_map(|r| number(&r[0]) as u32..=number(&r[1]) as u32)
                    .map(|l| tensor(group, Some(l))),
            ),
        }
    }
    list.sort_by_key(|(t, _)| t.layer);
    list
}

/// Mixer and feed-forward part of layer `i`, as far as the quantiser's rules ask.
fn layer(kv: &Value, i: u64) -> Layer {
    let at = |key: &str| kv[key].get(i as usize).map_or(number(&kv[key]), number);
    let (heads, kv_heads) = (at("attention.head_count"), at("attention.head_count_kv"));
    let interval = number(&kv["full_attention_interval"]);
    let mixer = if kv_heads == 0 || (interval > 0 && !(i + 1).is_multiple_of(interval)) {
        Mixer::Recurrent(Recurrent::ShortConv { width: 1, conv: 1 })
    } else if kv["attention.key_length_mla"].is_u64() {
        Mixer::Latent(Latent { heads, kv_rank: 512, rope_dim: 64, k_dim: 128, v_dim: 128, indexer: None })
    } else {
        Mixer::Attention(Attention {
            heads,
            kv_heads,
            k_dim: 128,
            v_dim: 128,
            window: None,
            shares_cache_with: None,
            indexer: None,
        })
    };
    let ffn = match number(&kv["expert_count"]) {
        0 => Ffn::Dense { width: 1, gated: true },
        count => Ffn::Experts { count, used: 1, width: 1, shared_width: 0, gated: true },
    };
    let trunk = number(&kv["block_count"]) - number(&kv["nextn_predict_layers"]);
    Layer { mixer, cross: None, ffn, predicts_ahead: i >= trunk }
}

fn model(name: &str, entry: &Value, tensors: Vec<Tensor>) -> Model {
    let kv = &entry["kv"];
    Model {
        name: name.to_owned(),
        arch: entry["arch"].as_str().unwrap_or_default().to_owned(),
        vocab: 0,
        width: 0,
        context_length: None,
        layers: (0..number(&kv["block_count"])).map(|i| layer(kv, i)).collect(),
        tensors,
        data_offset: 0,
    }
}

fn observations(file: &str) -> Value {
    let text = std::fs::read_to_string(format!("{OBSERVATIONS}{file}")).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

fn recorded_models() -> Value {
    observations("llama_cpp_models.json")
}

fn bare_model(name: &str, entry: &Value) -> Model {
    model(name, entry, tensors(entry).into_iter().map(|(t, _)| t).collect())
}

/// Names and formats where our rules and the record part.
fn differences(name: &str, entry: &Value) -> Vec<String> {
    let recipe: Recipe = entry["ftype"].as_str().unwrap_or_default().parse().unwrap_or(Recipe::F32);
    assert_eq!(u64::from(recipe.file_type()), number(&entry["file_type"]), "{name}");
    let (list, recorded): (Vec<Tensor>, Vec<Format>) = tensors(entry).into_iter().unzip();
    let mut model = model(name, entry, list);
    apply(recipe, &mut model);
    let pairs = model.tensors.iter().zip(recorded);
    pairs
        .filter(|(t, format)| t.format != *format)
        .map(|(t, format)| format!("{name} {}: {} here, {format} recorded", t.name, t.format))
        .collect()
}

#[test]
fn every_tensor_gets_the_format_the_engine_gave_it() {
    let models = recorded_models();
    let entries = models.as_object().unwrap();
    assert_eq!(entries.len(), 43);
    let all: Vec<String> = entries.iter().flat_map(|(name, entry)| differences(name, entry)).collect();
    assert!(all.is_empty(), "{} differ:\n{}", all.len(), all[..all.len().min(30)].join("\n"));
}

#[test]
fn offsets_run_in_file_order_at_multiples_of_32() {
    let models = recorded_models();
    let entry = &models["lfm2-1.2b.Q4_K_M"];
    let mut model = bare_model("lfm2", entry);
    apply(Recipe::Q6K, &mut model);
    let mut end = 0;
    for tensor in &model.tensors {
        assert_eq!(tensor.offset, end, "{}", tensor.name);
        end += tensor.size().0.next_multiple_of(32);
    }
}

#[test]
fn no_recipe_leaves_a_row_that_is_not_whole_blocks() {
    let models = recorded_models();
    for name in ["glm-4.5-air.Q4_K_M", "nemotron-h-8b.Q4_K_M", "gpt-oss-20b.MXFP4_MOE", "lfm2-1.2b.Q4_K_M"] {
        let entry = &models[name];
        let mut model = bare_model(name, entry);
        for recipe in Recipe::ALL.iter().copied() {
            apply(recipe, &mut model);
            let broken = model.tensors.iter().find(|t| t.format.row_bytes(t.shape[0]).is_none());
            assert_eq!(broken, None, "{name} {recipe}");
        }
    }
}

#[test]
fn every_recipe_takes_the_bytes_the_engines_dry_run_gave() {
    let (models, sizes) = (recorded_models(), observations("quantised_sizes.json"));
    let mut compared = 0;
    for (name, row) in sizes["sizes"].as_object().unwrap() {
        let entry = models.get(name).unwrap_or(&sizes["shapes"][name]);
        let mut model = bare_model(name, entry);
        for (recipe, recorded) in row.as_object().unwrap() {
            for imatrix in [false, true] {
                let recipe: Recipe = recipe.parse().unwrap();
                apply(Making { imatrix, ..recipe.into() }, &mut model);
                let bytes = number(&recorded[usize::from(imatrix)]);
                assert_eq!(model.tensor_bytes().0, bytes, "{name} {recipe}, importance matrix: {imatrix}");
                compared += 1;
            }
        }
    }
    assert!(compared > 1000, "{compared} compared");
}
