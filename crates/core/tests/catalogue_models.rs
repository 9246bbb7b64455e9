//! Every model of the catalogue builds, and its tensors add up to the parameters that are stated.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::collections::BTreeSet;

use common::{machine, model, plan, setup, workload};
use vramplan_core::catalogue::{ModelRow, find_model, models};
use vramplan_core::model::Model;
use vramplan_core::quants::Recipe;
use vramplan_core::setup::LlamaCpp;

/// Models of which no count is stated that their language model could be held against, and why.
const NOT_STATED: &[(&str, &str)] = &[
    (
        "zai-org/GLM-4.5-Air",
        "published only with its layer ahead, which has an embedding and a head of its own",
    ),
    ("google/gemma-3-27b-it", "stated with its vision tower only"),
    ("google/gemma-4-31B-it", "stated with its vision tower only"),
    ("Qwen/Qwen3.5-35B-A3B", "stated with its vision tower only"),
];

/// Parameters as the library counts them: a router's correction is a buffer there.
fn counted(model: &Model) -> u64 {
    let corrections = model.tensors.iter().filter(|t| t.name.contains("exp_probs_b"));
    model.parameters() - corrections.map(|t| t.elements()).sum::<u64>()
}

/// The stated count of the language model: that of the whole where there is no tower beside it.
fn stated(row: &ModelRow) -> Option<u64> {
    let has_tower = ["vision_config", "audio_config"].iter().any(|key| row.config.get(key).is_some());
    row.parameters_text.or(row.parameters.filter(|_| !has_tower))
}

#[test]
fn tensors_add_up_to_the_stated_parameters() {
    let mut wrong = Vec::new();
    for row in models() {
        let built = counted(&model(&row.id, Recipe::F16));
        if stated(&row).is_some_and(|stated| stated != built) {
            wrong.push(format!("{}: built {built}, stated {:?}", row.id, stated(&row)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A row with nothing to hold it against is listed above, and no other is.
#[test]
fn only_the_listed_models_state_no_count() {
    let silent: BTreeSet<_> = models().filter(|row| stated(row).is_none()).map(|row| row.id).collect();
    let listed: BTreeSet<_> = NOT_STATED.iter().map(|(id, _)| (*id).to_owned()).collect();
    assert_eq!(silent, listed);
}

/// The published count of GLM-4.5-Air has a second embedding and head, and the router's corrections.
#[test]
fn a_published_count_differs_by_what_the_layer_ahead_repeats() {
    let row = find_model("glm-4.5-air").one().unwrap();
    let glm = model(&row.id, Recipe::F16);
    assert_eq!(Some(glm.parameters() + 2 * glm.vocab * glm.width), row.parameters_published);
}

#[test]
fn every_model_plans() {
    let cards = machine(&["8x:h200-sxm-141gb"]);
    let mut count = 0;
    for row in models() {
        let model = model(&row.id, Recipe::Q4KM);
        let plan = plan(&model, &cards, workload(4096, 1), &setup(LlamaCpp::default()));
        assert!(plan.memories.iter().all(|m| m.need.low <= m.need.likely && m.need.likely <= m.need.high));
        assert_eq!(model.context_length, Some(row.context_length), "{}", row.id);
        count += 1;
    }
    assert!(count >= 40, "{count} models");
}
