//! Every model of the catalogue is understood, and its parameters are those that are stated.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::{machine, model, plan, setup, workload};
use vramplan_core::archs::{self, ArchError};
use vramplan_core::catalogue::{find_model, models};
use vramplan_core::model::Part;
use vramplan_core::quants::Recipe;
use vramplan_core::setup::LlamaCpp;

/// Types of models that are in the catalogue and not understood.
const NOT_UNDERSTOOD: &[&str] = &["deepseek_vl_v2", "phi3_v", "phi3small"];

/// Types of models of which no converted file is known, mostly because llama.cpp has no such architecture.
const NOT_CONVERTED: &[&str] = &[
    "deepseek_v4",
    "ernie4_5_vl_moe",
    "flex_olmo",
    "glm5_next",
    "gpt_neo",
    "gptj",
    "internlm",
    "mimo",
    "minimax",
    "minimax_m3_vl",
    "mllama",
    "mpnet",
    "muse_glimmer",
    "olmo_hybrid",
    "opt",
    "recurrent_gemma",
    "rwkv5",
    "solar_open",
    "t5gemma",
    "whisper",
    "xlm-roberta",
];

#[test]
fn parameters_are_those_stated() {
    let mut wrong = Vec::new();
    let mut stated = 0;
    for row in models().filter(|row| !NOT_UNDERSTOOD.contains(&row.model_type.as_str())) {
        let counts = row.describe().unwrap_or_else(|e| panic!("{}: {e}", row.id)).counts();
        let towers = [Part::Vision, Part::Audio, Part::Projector];
        let text = counts.built - towers.iter().map(|p| counts.part(*p)).sum::<u64>();
        stated += usize::from(row.parameters.is_some());
        if row.parameters.is_some_and(|n| n != counts.built) || row.parameters_text.is_some_and(|n| n != text)
        {
            let (whole, part) = (row.parameters, row.parameters_text);
            wrong.push(format!("{}: {} and {text}, stated {whole:?} and {part:?}", row.id, counts.built));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(stated > 250, "{stated} counts stated");
}

#[test]
fn only_the_listed_types_are_not_understood() {
    let unknown = models().filter(|row| row.describe().is_err()).map(|row| row.model_type);
    assert_eq!(unknown.collect::<BTreeSet<_>>(), NOT_UNDERSTOOD.iter().map(|t| (*t).to_owned()).collect());
}

/// A published count may hold what the library builds no parameter of.
#[test]
fn a_published_count_differs_by_what_the_layer_ahead_repeats() {
    let row = find_model("glm-4.5-air").one().unwrap();
    let glm = model(&row.id, Recipe::F16);
    assert_eq!(Some(glm.parameters() + 2 * glm.vocab * glm.width), row.parameters_published);
}

/// Parts of names of parameters that a converter leaves out: an encoder's pooler, numbers of an activation.
const LEFT_OUT: &[&str] = &["pooler.", "act_fn.alpha"];

/// Files of the converter hold the parameters of the language model: those of the class, and what
/// published files hold beside them.
#[test]
fn converted_files_hold_the_parameters_of_the_class() {
    let mut wrong = BTreeMap::new();
    for row in models() {
        let Ok(described) = row.describe() else { continue };
        let Some(tensors) = archs::converted(&described) else { continue };
        let counts = described.counts();
        let towers = [Part::Vision, Part::Audio, Part::Projector];
        let text = counts.built - towers.iter().map(|p| counts.part(*p)).sum::<u64>();
        let left = described.parameters.iter().filter(|p| LEFT_OUT.iter().any(|n| p.name.contains(n)));
        let left: u64 = left.map(|p| p.elements()).sum();
        let kept: u64 = {
            let unbuilt = described.unbuilt();
            let of_text = unbuilt.iter().filter(|p| !towers.contains(&archs::part_of(&p.name)));
            of_text.map(|p| p.elements()).sum()
        };
        let held: u64 = tensors.iter().filter(|t| !t.name.starts_with("rope_f")).map(|t| t.elements()).sum();
        let ahead = described.facts.mtp_layers > 0;
        // Its class is not in the library, and a few thousand of its values are not placed.
        let known = row.model_type != "kimi_k3";
        if held != text + kept - left && !ahead && known {
            wrong.insert(row.id, (held, text + kept - left));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn models_plan_unless_their_type_is_listed() {
    let cards = machine(&["8x:h200-sxm-141gb"]);
    let mut listed = BTreeSet::new();
    let mut count = 0;
    for row in models() {
        let model = match row.build(Recipe::Q4KM) {
            Ok(model) => model,
            Err(ArchError::NotConverted(_)) => {
                listed.insert(row.model_type);
                continue;
            }
            Err(_) => continue,
        };
        if !model.is_planned() {
            continue;
        }
        let plan = plan(&model, &cards, workload(4096, 1), &setup(LlamaCpp::default()));
        assert!(plan.memories.iter().all(|m| m.need.low <= m.need.likely && m.need.likely <= m.need.high));
        assert!(row.context_length.is_none() || model.context_length == row.context_length, "{}", row.id);
        count += 1;
    }
    assert_eq!(listed, NOT_CONVERTED.iter().map(|t| (*t).to_owned()).collect());
    assert!(count >= 370, "{count} models");
}
