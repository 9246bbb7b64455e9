//! Suite `params`: parameters and tensors that the library's classes create, from config.json alone.

use std::collections::BTreeMap;

use anyhow::Result;
use serde_json::{Map, Value};
use vramplan_core::archs::{Described, describe};
use vramplan_core::model::{Parameter, Part};

use super::corpus::Corpus;
use super::score::{Outcome, Score};

/// Tensors as records group them: by name without its numbers, and shape.
type Tensors = BTreeMap<(String, Vec<u64>), u64>;

/// Scores every record of the suite.
pub(crate) fn run(corpus: &Corpus) -> Result<Score> {
    let mut score = Score::default();
    let configs = configs(corpus)?;
    for record in corpus.records("params.jsonl")? {
        let id = record["id"].as_str().unwrap_or_default();
        match configs.get(id) {
            Some(config) => score_record(&mut score, &record, config),
            None => *score.unmapped.entry(id.to_owned()).or_default() += 1,
        }
    }
    Ok(score)
}

/// The configs of the corpus, or of the data folder beside it, by id.
fn configs(corpus: &Corpus) -> Result<BTreeMap<String, Value>> {
    let mut configs = BTreeMap::new();
    for mut row in corpus.records_near("models.jsonl")? {
        let id = row["id"].as_str().unwrap_or_default().to_owned();
        let model_type = row["model_type"].take();
        if let Value::Object(config) = &mut row["config"] {
            config.entry("model_type").or_insert(model_type);
            configs.insert(id, row["config"].take());
        }
    }
    Ok(configs)
}

fn score_record(score: &mut Score, record: &Value, config: &Value) {
    let id = record["id"].as_str().unwrap_or_default();
    let described = describe(config);
    let detail = match &described {
        Ok(_) => String::new(),
        Err(error) => format!("{}: {error}", record["model_type"]),
    };
    let described = described.ok();
    let counts = described.as_ref().map(Described::counts);
    for (group, predicted) in [
        ("total", counts.as_ref().map(|c| c.built)),
        ("active", counts.as_ref().map(|c| c.active)),
        ("embedding", counts.as_ref().map(|c| c.part(Part::Embedding))),
    ] {
        let Some(wanted) = record[group].as_u64() else { continue };
        let outcome = predicted.map_or(Outcome::Missed, |p| Outcome::of(p, wanted));
        let detail = predicted.map_or(detail.clone(), |p| format!("{} {p}, {wanted}", record["model_type"]));
        score.add(group, id, outcome, &detail);
    }
    if let Some(wanted) = record["by_class"].as_object() {
        let predicted = counts.map(|c| serde_json::to_value(c.by_part).unwrap_or_default());
        let differ = predicted.as_ref().map_or(detail.clone(), |p| classes_that_differ(p, wanted));
        score.add("by_class", id, whole(differ.is_empty(), predicted.is_some()), &differ);
    }
    if let Some(wanted) = record["tensors"].as_array() {
        let predicted = described.map(|d| grouped(&d.parameters));
        let differ = predicted.as_ref().map_or(detail, |p| tensors_that_differ(p, &recorded(wanted)));
        score.add("tensors", id, whole(differ.is_empty(), predicted.is_some()), &differ);
    }
}

/// A list is right as a whole or not at all.
fn whole(equal: bool, predicted: bool) -> Outcome {
    match (predicted, equal) {
        (false, _) => Outcome::Missed,
        (true, equal) => Outcome::Error(if equal { 0.0 } else { 1.0 }),
    }
}

fn classes_that_differ(predicted: &Value, wanted: &Map<String, Value>) -> String {
    let Some(predicted) = predicted.as_object() else { return "no classes".to_owned() };
    let keys = predicted.keys().chain(wanted.keys().filter(|key| !predicted.contains_key(*key)));
    let number = |map: &Map<String, Value>, key: &str| map.get(key).and_then(Value::as_u64).unwrap_or(0);
    let differ = keys.filter(|key| number(predicted, key) != number(wanted, key));
    let differ = differ.map(|key| format!("{key} {}, {}", number(predicted, key), number(wanted, key)));
    differ.collect::<Vec<_>>().join("; ")
}

fn grouped(parameters: &[Parameter]) -> Tensors {
    let mut tensors = Tensors::new();
    for parameter in parameters {
        *tensors.entry((unnumbered(&parameter.name), parameter.shape.clone())).or_default() += 1;
    }
    tensors
}

/// A name with `{}` for every number that stands alone between two dots.
fn unnumbered(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut may_replace = false;
    for (i, word) in name.split('.').enumerate() {
        let numeric = !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
        // Records were made by replacing `.N.` from left to right, so of two numbers in a row only the
        // first one is taken.
        let replace = numeric && may_replace;
        out.push_str(if i > 0 { "." } else { "" });
        out.push_str(if replace { "{}" } else { word });
        may_replace = !replace;
    }
    out
}

fn recorded(list: &[Value]) -> Tensors {
    let mut tensors = Tensors::new();
    for entry in list {
        let shape = entry[1].as_array().into_iter().flatten().filter_map(Value::as_u64).collect();
        let name = entry[0].as_str().unwrap_or_default().to_owned();
        *tensors.entry((name, shape)).or_default() += entry[2].as_u64().unwrap_or(0);
    }
    tensors
}

fn tensors_that_differ(predicted: &Tensors, wanted: &Tensors) -> String {
    let missing = wanted.iter().filter(|(key, n)| predicted.get(*key) != Some(n));
    let extra = predicted.iter().filter(|(key, n)| wanted.get(*key) != Some(n));
    let missing = missing.map(|((name, shape), n)| format!("missing {name} {shape:?} x{n}"));
    let extra = extra.map(|((name, shape), n)| format!("extra {name} {shape:?} x{n}"));
    let (missing, extra): (Vec<_>, Vec<_>) = (missing.take(6).collect(), extra.take(6).collect());
    [missing, extra].concat().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_between_dots_are_taken_out() {
        assert_eq!(unnumbered("model.layers.12.mlp.up.weight"), "model.layers.{}.mlp.up.weight");
        assert_eq!(unnumbered("blocks.3.0.conv1.weight"), "blocks.{}.0.conv1.weight");
        assert_eq!(unnumbered("block.3.layer.0.weight"), "block.{}.layer.{}.weight");
    }
}
