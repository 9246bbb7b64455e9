//! Suite `layouts`: bytes of every kind of tensor that a quantised layout has on one rank, from the config.

use std::collections::BTreeMap;

use anyhow::Result;
use serde_json::Value;
use vramplan_core::archs::describe;
use vramplan_core::dtype::Format;
use vramplan_core::model::Parameter;
use vramplan_core::packing::{OwnFormat, Packing, Stored};
use vramplan_core::rules::sharding::on_a_rank;

use super::corpus::Corpus;
use super::score::{Outcome, Score};

/// Kinds that the engine makes for itself and no file holds, or makes one of where files hold several.
const ENGINES_OWN: &[&str] =
    &["weight_shape", "k_scale", "v_scale", "q_scale", "k_zero_point", "v_zero_point", "q_zero_point"];

/// The two kinds that experts' matrices go by in the engine, and what they are in files.
const EXPERTS: &[(&str, &str)] =
    &[("w13_weight", ".experts.gate_up_proj"), ("w2_weight", ".experts.down_proj")];

pub(crate) fn run(corpus: &Corpus) -> Result<Score> {
    let mut score = Score::default();
    for record in corpus.records("vllm_sglang.jsonl")?.iter().filter(|r| r["kind"] == "weights_meta") {
        score_record(&mut score, record);
    }
    Ok(score)
}

fn score_record(score: &mut Score, record: &Value) {
    let id = format!(
        "{} {}",
        record["id"].as_str().unwrap_or_default(),
        record["model"].as_str().unwrap_or_default()
    );
    let group = record["quant"].as_str().unwrap_or("16 bits");
    let predicted = predicted(record).unwrap_or_default();
    for (kind, bytes) in record["by_suffix"].as_object().into_iter().flatten() {
        if ENGINES_OWN.contains(&kind.as_str()) {
            continue;
        }
        let ours = predicted.get(kind).copied().unwrap_or(0);
        let bytes = bytes.as_u64().unwrap_or(0);
        score.add(group, &format!("{id} {kind}"), Outcome::of(ours, bytes), &format!("{ours}, {bytes}"));
    }
}

/// Bytes by kind of tensor.
fn predicted(record: &Value) -> Option<BTreeMap<String, u64>> {
    let mut config = record["config"].clone();
    let quantisation = record["quantization_config"].clone();
    if !quantisation.is_null() {
        config.as_object_mut()?.insert("quantization_config".to_owned(), quantisation);
    }
    let described = describe(&config).ok()?;
    let packing = Packing::of_config(&config).ok()?.unwrap_or_else(Packing::none);
    let ranks = record["tp"].as_u64()?;
    let parameters: Vec<Parameter> =
        described.parameters.iter().map(|p| on_a_rank(p, &described.facts, ranks)).collect();
    let mut sums = BTreeMap::new();
    for tensor in packing.store(parameters.iter(), OwnFormat::new(Format::Bf16, "")) {
        *sums.entry(kind(&tensor)).or_default() += loaded(&tensor);
    }
    Some(sums)
}

fn kind(tensor: &Stored) -> String {
    let expert = EXPERTS.iter().find(|(_, name)| tensor.name.contains(name));
    let last = tensor.name.rsplit('.').next().unwrap_or_default();
    expert.map_or(last, |(kind, _)| kind).to_owned()
}

/// The loader widens scales of whole rows to 32 bits.
fn loaded(tensor: &Stored) -> u64 {
    let of_rows = tensor.name.ends_with("weight_scale") && tensor.shape.last() == Some(&1);
    tensor.bytes().0 * if of_rows && tensor.format == Format::Bf16 { 2 } else { 1 }
}
