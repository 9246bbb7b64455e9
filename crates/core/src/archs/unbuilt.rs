//! What published files hold of a model that the library's class makes no parameter of, and converters keep.

use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use super::facts::Facts;
use super::parts::part_of;
use crate::model::{Parameter, ParameterKind, Part};

/// The values that published files hold beside the class's parameters: a router's corrections, a layer's
/// scale (both buffers to the library), and keys and values of layers that read another layer's cache, which
/// nothing uses. Layers for predicting ahead are not among them.
pub(super) fn parameters(facts: &Facts, built: &[Parameter], scaled: bool) -> Vec<Parameter> {
    let mut list = Vec::new();
    for parameter in built.iter().filter(|p| part_of(&p.name) != Part::Vision) {
        let Some(layer) = layer_of(&parameter.name) else { continue };
        corrections(facts, parameter, layer, built, &mut list);
        unused_keys(facts, parameter, layer, &mut list);
        if let Some(module) = parameter.name.strip_suffix("input_layernorm.weight").filter(|_| scaled) {
            list.push(Parameter {
                name: format!("{module}layer_scalar"),
                shape: vec![1],
                kind: ParameterKind::Other,
            });
        }
    }
    list
}

/// The layer that a name speaks of.
pub(super) fn layer_of(name: &str) -> Option<u64> {
    name.split('.').find_map(|word| word.parse().ok())
}

/// A router's correction of every expert's score.
fn corrections(
    facts: &Facts,
    parameter: &Parameter,
    layer: u64,
    built: &[Parameter],
    list: &mut Vec<Parameter>,
) {
    let Some(experts) = facts.experts.as_ref().filter(|e| e.router_bias && facts.has_experts(e, layer))
    else {
        return;
    };
    let is_router =
        part_of(&parameter.name) == Part::Router && parameter.shape.first() == Some(&experts.count);
    let Some(module) = parameter.name.strip_suffix(".weight").filter(|_| is_router) else { return };
    // Some classes make a parameter of it, by one name or another.
    let is_built = |p: &Parameter| {
        p.name.ends_with("bias") && p.elements() == experts.count && layer_of(&p.name) == Some(layer)
    };
    if !built.iter().any(is_built) {
        list.push(Parameter {
            name: format!("{module}.e_score_correction_bias"),
            shape: vec![experts.count],
            kind: ParameterKind::Other,
        });
    }
}

/// Key and value matrices of a layer that reads an earlier layer's cache.
fn unused_keys(facts: &Facts, parameter: &Parameter, layer: u64, list: &mut Vec<Parameter>) {
    let Some(module) = parameter.name.strip_suffix("self_attn.q_proj.weight") else { return };
    let attention = facts.attention(layer);
    if attention.shares_cache_with.is_none() {
        return;
    }
    let mut add = |name: &str, shape: Vec<u64>, kind: ParameterKind| {
        list.push(Parameter { name: format!("{module}self_attn.{name}.weight"), shape, kind });
    };
    add("k_proj", vec![attention.k_width(), facts.width], ParameterKind::Linear);
    add("v_proj", vec![attention.v_width(), facts.width], ParameterKind::Linear);
    add("k_norm", vec![attention.k_dim], ParameterKind::Other);
}
