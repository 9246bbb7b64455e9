//! An answer as JSON: it reads back as itself, and its fields are those of the schema that is kept.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;

use serde_json::Value;
use vramplan_core::answer::{Answer, Assumption, Request, answer};
use vramplan_core::catalogue::find_model;
use vramplan_core::catalogue::hardware::{Around, HardwareSpec, named_machine};
use vramplan_core::dtype::Format;
use vramplan_core::engines::WeightsSource;
use vramplan_core::setup::{Override, Target, Toggle};
use vramplan_core::units::Tokens;

/// Plans a model of the catalogue in its usual quantisation, changed as `change` says.
fn planned(name: &str, specs: &[&str], change: impl FnOnce(&mut Request<'_>)) -> Answer {
    let row = find_model(name).one().unwrap();
    let recipe = row.usual_recipe();
    let model = row.build(recipe).unwrap();
    let specs: Vec<_> = specs.iter().map(|text| HardwareSpec::parse(text)).collect();
    let named = named_machine(&specs, &Around::default()).unwrap();
    let source = WeightsSource::File("model.gguf");
    let mut request = Request::open(&model, recipe.name(), &named.machine, source);
    request.assumed.push(Assumption::Quant { quant: recipe.name().into() });
    request.assumed.extend(named.filled.iter().map(|filled| Assumption::Machine { filled: *filled }));
    change(&mut request);
    answer(&request).unwrap()
}

/// Answers that between them hold every kind of cache, verdict and placement.
fn answers() -> Vec<Answer> {
    vec![
        planned("llama-3.1-8b", &["rtx-4090"], |request| request.context = Some(Tokens(32_768))),
        planned("llama-3.3-70b", &["rtx-4090"], |_| ()),
        planned("llama-3.3-70b", &["rtx-3090", "rtx-4090"], |r| r.placement.tensor_split = vec![0.1, 0.7]),
        planned("gpt-oss-20b", &["rtx-5060-ti-16gb"], |request| {
            request.sequences = Some(4);
            request.cache = Some((Format::Q8_0, Format::Q8_0));
            request.flash_attention = Some(Toggle::On);
        }),
        planned("qwen3-30b-a3b", &["rtx-4090"], |request| {
            let pattern = "ffn_.*_exps".into();
            request.placement.overrides = vec![Override { pattern, target: Target::Host }];
            request.placement.cache_on_host = true;
        }),
        planned("deepseek-v3.2", &["8x:h200-sxm-141gb"], |_| ()),
        planned("falcon-h1-7b", &["rx-7900-xtx"], |_| ()),
        planned("gemma-3-12b", &["m4:16gb"], |_| ()),
        planned("jamba-v0.1", &["cpu:32gb"], |request| request.ubatch = Some(1024)),
    ]
}

#[test]
fn answers_read_back_as_themselves() {
    for answer in answers() {
        let text = serde_json::to_string(&answer).unwrap();
        let again: Answer = serde_json::from_str(&text).unwrap();
        assert_eq!(again, answer, "{}", answer.model.name);
    }
}

#[test]
fn answers_have_the_fields_of_the_schema() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/answer.schema.json");
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>();
    let promised = keys(&schema["properties"]);
    assert!(promised.contains("verdict"));
    for answer in answers() {
        assert_eq!(keys(&serde_json::to_value(&answer).unwrap()), promised, "{}", answer.model.name);
    }
}
