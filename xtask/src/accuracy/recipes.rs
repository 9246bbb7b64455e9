//! Suite `recipes`: the formats that a quantisation gives every tensor, from its name alone.

use anyhow::Result;
use serde_json::Value;
use vramplan_core::dtype::Format;
use vramplan_core::quants::{Recipe, apply};

use super::corpus::Corpus;
use super::recorded_model;
use super::score::{Outcome, Score};

/// Scores every model of the corpus: its formats as a whole, and its bytes.
pub(crate) fn run(corpus: &Corpus) -> Result<Score> {
    let mut score = Score::default();
    let models = corpus.json("llama_cpp_models.json")?.unwrap_or_default();
    for (name, entry) in models.as_object().into_iter().flatten() {
        score_model(&mut score, name, entry);
    }
    Ok(score)
}

fn score_model(score: &mut Score, name: &str, entry: &Value) {
    let recipe: Option<Recipe> = entry["ftype"].as_str().and_then(|t| t.parse().ok());
    let (Some(recipe), Ok(recorded)) = (recipe, recorded_model::model(name, entry)) else {
        for group in ["formats", "bytes"] {
            score.add(group, name, Outcome::Missed, "not read");
        }
        return;
    };
    let mut ours = recorded.clone();
    // As the converter leaves them: the recipe must not see what it is held against.
    for tensor in &mut ours.tensors {
        tensor.format = if tensor.dimensions() > 1 { Format::F16 } else { Format::F32 };
    }
    apply(recipe, &mut ours);
    let pairs = ours.tensors.iter().zip(&recorded.tensors);
    let differ: Vec<String> = pairs
        .filter(|(a, b)| a.format != b.format)
        .map(|(a, b)| format!("{} {}, {}", a.name, a.format, b.format))
        .collect();
    let outcome = Outcome::Error(if differ.is_empty() { 0.0 } else { 1.0 });
    score.add("formats", name, outcome, &differ.iter().take(6).cloned().collect::<Vec<_>>().join("; "));
    let (predicted, measured) = (ours.tensor_bytes().0, recorded.tensor_bytes().0);
    score.add("bytes", name, Outcome::of(predicted, measured), &format!("{predicted}, {measured}"));
}
