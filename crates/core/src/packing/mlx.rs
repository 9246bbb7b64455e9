//! MLX: what its converters pack, by the type of model, and what a converted config states.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde_json::{Map, Value};

use super::config::{PackingError, Read, bits, group, wrong};
use super::layout::{Layout, MlxMode};
use super::names::Names;
use super::{Beside, Packing};

/// Towers for images and sound stay as they are; what brings their output in does not.
const TOWERS: &[&str] = &["visual", "vision_tower", "vision_model", "audio_tower", "multi_modal_projector"];

/// What a converter does with the modules of a type of model: 8 bits for these, none for those.
///
/// Sources: ml-explore/mlx-lm `models/*.py:quant_predicate`, Blaizzy/mlx-vlm `models/*/`; held against
/// published repositories (suite `sizes`).
const OWN_RULES: &[(&str, &[&str], &[&str])] = &[
    ("qwen", &["mlp.gate", "mlp.shared_expert_gate"], &[]),
    ("minimax", &["mlp.gate"], &[]),
    (
        "gemma4",
        &["mlp.gate_proj", "mlp.up_proj", "mlp.down_proj", "router.proj"],
        &["per_layer_model_projection"],
    ),
];

/// The packing that MLX's converter gives a model of this type in so many bits; `mixed` says whether it has
/// experts.
pub fn mlx(layout: Layout, model_type: &str, mixed: bool) -> Packing {
    let own = OWN_RULES.iter().find(|(start, ..)| model_type.starts_with(start));
    let eight = own.filter(|_| mixed).map_or(&[][..], |(_, eight, _)| eight);
    let left = own.map_or(&[][..], |(.., left)| left);
    let affine = Layout::Mlx { bits: 8, group: 64, mode: MlxMode::Affine };
    let rules = Vec::from([
        (Names::new(eight.iter().copied()), affine),
        (Names::new(["Linear"].into_iter()), layout),
    ]);
    let left = Names::new(TOWERS.iter().chain(left).copied());
    packing(rules, left, !eight.is_empty())
}

fn packing(rules: Vec<(Names, Layout)>, left: Names, routers: bool) -> Packing {
    let beside = Beside { tables: true, routers, experts_alone: false };
    Packing { method: "mlx".into(), rules, left, beside, cache_scales: false }
}

/// What MLX states: one layout for all, others by module, `false` for modules that stay as they are.
pub(super) fn stated(stated: &Map<String, Value>) -> Read<Packing> {
    let layout = mlx_layout(stated)?;
    let mut rules = Vec::new();
    let mut left = Vec::new();
    for (name, own) in stated {
        match own {
            Value::Bool(false) => left.push(name.as_str()),
            Value::Object(own) => rules.push((Names::new([name.as_str()].into_iter()), mlx_layout(own)?)),
            _ => {}
        }
    }
    rules.push((Names::new(["Linear"].into_iter()), layout));
    // Modules that are packed otherwise than the rest are listed, routers too.
    Ok(packing(rules, Names::new(left.into_iter()), true))
}

fn mlx_layout(stated: &Map<String, Value>) -> Read<Layout> {
    let bits = bits(stated, "bits")?;
    let group = group(stated, "group_size")?.ok_or_else(|| wrong("group_size"))?;
    let mode = match stated.get("mode").and_then(Value::as_str) {
        None | Some("affine") => MlxMode::Affine,
        Some("mxfp4" | "mxfp8" | "nvfp4") => MlxMode::Byte,
        Some(other) => return Err(PackingError::UnknownMethod(format!("mlx {other}"))),
    };
    Ok(Layout::Mlx { bits, group, mode })
}
