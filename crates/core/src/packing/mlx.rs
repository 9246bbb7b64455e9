//! MLX: what its converters pack, by the type of model, and what a converted config states.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde_json::{Map, Value};

use super::config::{PackingError, Read, bits, group, wrong};
use super::layout::{Layout, MlxMode};
use super::names::Names;
use super::{Beside, OwnFormat, Packing, RouterPacking};

/// Towers for images and sound stay as they are; what brings their output in does not.
const TOWERS: &[&str] = &["visual", "vision_tower", "vision_model", "audio_tower", "multi_modal_projector"];

/// What converters do with some types of model. The first rule that holds is the one.
///
/// Sources: ml-explore/mlx-lm `models/*.py:{quant,cast}_predicate`, Blaizzy/mlx-vlm `models/*/`, by the days of
/// their releases; held against published repositories (suite `sizes`).
const RULES: &[Rule] = &[
    Rule {
        types: &["qwen3_5"],
        since: "2026-03-07",
        routers: Routers::Eight,
        eight: &["mlp.shared_expert_gate"],
        wide: &["A_log"],
        ..Rule::USUAL
    },
    Rule { types: &["qwen3_5"], wide: &["A_log"], ..Rule::USUAL },
    Rule {
        types: &["qwen3_next"],
        routers: Routers::Eight,
        eight: &["mlp.shared_expert_gate"],
        ..Rule::USUAL
    },
    Rule {
        types: &["qwen3_moe", "qwen3_vl_moe", "gpt_oss"],
        since: "2025-08-05",
        routers: Routers::Eight,
        ..Rule::USUAL
    },
    Rule { types: &["minimax"], routers: Routers::Eight, wide: &["e_score_correction_bias"], ..Rule::USUAL },
    Rule {
        types: &["gemma4"],
        routers: Routers::Eight,
        eight: &["mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"],
        left: &["per_layer_model_projection"],
        ..Rule::USUAL
    },
    Rule {
        types: &["kimi_linear"],
        routers: Routers::Eight,
        wide: &["A_log", "e_score_correction_bias"],
        ..Rule::USUAL
    },
    Rule {
        types: &["longcat_flash"],
        routers: Routers::Eight,
        wide: &["e_score_correction_bias"],
        ..Rule::USUAL
    },
    Rule {
        types: &["granitemoe", "bailing_moe", "lfm2_moe", "jamba", "step3p5", "afmoe", "mellum"],
        routers: Routers::Eight,
        ..Rule::USUAL
    },
    Rule {
        types: &["nemotron_h"],
        // Its third generation and the rule came together.
        since: "2025-12-01",
        routers: Routers::Left,
        wide: &["A_log", "e_score_correction_bias"],
        ..Rule::USUAL
    },
    Rule { types: &["nemotron_h", "laguna"], routers: Routers::Left, ..Rule::USUAL },
    Rule {
        types: &["deepseek", "glm4_moe", "glm_moe", "kimi", "exaone_moe", "mimo_v2", "dots1"],
        routers: Routers::Left,
        wide: &["e_score_correction_bias"],
        ..Rule::USUAL
    },
];

/// The first day of converters that see the format that only the language model's part of a config states.
const READS_PARTS: &str = "2026-02-16";

/// What converters do with a type of model.
struct Rule {
    /// Starts of the types' names.
    types: &'static [&'static str],
    /// First day of the converter that does it.
    since: &'static str,
    routers: Routers,
    /// Modules in 8 bits, of a model with experts.
    eight: &'static [&'static str],
    /// Modules that stay as they are.
    left: &'static [&'static str],
    /// Ends of names that are never brought to the format of the rest.
    wide: &'static [&'static str],
}

impl Rule {
    const USUAL: Self =
        Self { types: &[], since: "", routers: Routers::AsTheRest, eight: &[], left: &[], wide: &[] };

    /// The rule for a type of model that came out on this day; the newest for no day.
    fn of(model_type: &str, release: Option<&str>) -> &'static Self {
        let holds = |rule: &&Self| {
            rule.types.iter().any(|start| model_type.starts_with(start))
                && release.is_none_or(|day| day >= rule.since)
        };
        RULES.iter().find(holds).unwrap_or(&Self::USUAL)
    }
}

/// What becomes of routers?
#[derive(Clone, Copy)]
enum Routers {
    /// Packed like other matrices.
    AsTheRest,
    Eight,
    /// No module of the kind that is packed.
    Left,
}

/// A model as MLX's converters see it.
#[derive(Clone, Copy, Debug)]
pub struct Converted<'a> {
    /// Its config.
    pub config: &'a Value,
    /// Does it have experts?
    pub mixed: bool,
    /// The day it came out, where that is known: conversions are made soon after.
    pub release: Option<&'a str>,
}

impl Converted<'_> {
    /// The packing that a conversion to this layout has.
    pub fn packing(&self, layout: Layout) -> Packing {
        if layout == Layout::Plain {
            return Packing::none();
        }
        let rule = self.rule();
        let affine = Layout::Mlx { bits: 8, group: 64, mode: MlxMode::Affine };
        let eight = if self.mixed { rule.eight } else { &[] };
        let rules = Vec::from([
            (Names::new(eight.iter().copied()), affine),
            (Names::new(["Linear"].into_iter()), layout),
        ]);
        let left = Names::new(TOWERS.iter().chain(rule.left).copied());
        let routers = match rule.routers {
            Routers::AsTheRest => layout,
            Routers::Eight => affine,
            Routers::Left => Layout::Plain,
        };
        packing(rules, left, RouterPacking::As(routers))
    }

    /// The format of what is not packed: where a config states one, nearly everything is brought to it.
    pub fn own_format(&self, of_files: OwnFormat) -> OwnFormat {
        if self.is_cast() { of_files.cast_but(self.rule().wide) } else { of_files }
    }

    fn rule(&self) -> &'static Rule {
        Rule::of(self.config.get("model_type").and_then(Value::as_str).unwrap_or(""), self.release)
    }

    fn is_cast(&self) -> bool {
        let of_the_part = || self.config.get("text_config").and_then(|part| part.get("dtype"));
        let reads_parts = self.release.is_none_or(|day| day >= READS_PARTS);
        let stated = self.config.get("torch_dtype").or_else(|| of_the_part().filter(|_| reads_parts));
        stated.is_some_and(Value::is_string)
    }
}

fn packing(rules: Vec<(Names, Layout)>, left: Names, routers: RouterPacking) -> Packing {
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
    Ok(packing(rules, Names::new(left.into_iter()), RouterPacking::Ruled))
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
